"""Questions as tasks of a Prefect task runner: threads and a Dask cluster of this machine, for a batch and for a benchmark."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from suites import GOLD, make_suite
from throughput import make_tasks
from world import ASKED, World, files, patient, task_runs

from flows.running.grid import BenchmarkRequest

needs_dask = pytest.mark.skipif(
    not __import__("importlib.util").util.find_spec("prefect_dask"),
    reason="prefect-dask is not installed: pip install -r requirements-machines.txt",
)


def profile(folder: Path, runner: str, shares: int = 2, more: str = "") -> str:
    path = folder / f"{runner}.toml"
    path.write_text(f'[machines]\nrunner = "{runner}"\nshares = {shares}\n{more}[endpoints.main]\nconcurrency = 4\n')
    return str(path)


@pytest.mark.service
@pytest.mark.parametrize("runner", ["threads", pytest.param("dask", marks=needs_dask)])
def test_a_batch_as_tasks_gives_what_plain_calls_give(
    server_url: str, world: World, tmp_path: Path, runner: str
) -> None:
    world.environment |= {"PREFECT_API_URL": server_url}
    make_tasks(tmp_path / "in", 3, runner)
    arguments = ("--json", "--profile", profile(tmp_path, runner))
    done = world.run("batch", str(tmp_path / "in"), str(tmp_path / "out"), *arguments, seconds=600)
    said = json.loads(done.stdout)
    assert done.returncode == 0 and said["counts"] == {"tasks": 3, "approved": 3}, done.stderr
    assert [row["calls"] for row in said["tasks"]] == [ASKED] * 3 and world.endpoint.calls == 3 * ASKED
    assert world.endpoint.most_at_once <= 4
    plain = world.run("batch", str(tmp_path / "in"), str(tmp_path / "plain"), "--no-prefect")
    assert plain.returncode == 0 and world.endpoint.calls == 3 * ASKED
    for number in range(3):
        task = f"task_{number}"
        assert files(tmp_path / "out" / task) == files(tmp_path / "plain" / task)
        assert (tmp_path / "out" / task / "prediction.csv").read_text("utf-8") == (
            f"category,n\ncake,{number % 7 + 2}\n茶,2\n"
        )


@pytest.mark.service
@pytest.mark.parametrize("runner", ["threads", pytest.param("dask", marks=needs_dask)])
def test_a_prediction_is_there_while_a_task_elsewhere_still_asks_its_validators(
    server_url: str, world: World, tmp_path: Path, runner: str
) -> None:
    world.environment |= {"PREFECT_API_URL": server_url}
    make_tasks(tmp_path / "in", 1, runner)
    prediction = tmp_path / "out" / "task_0" / "prediction.csv"
    world.endpoint.replies = patient(prediction)
    arguments = ("--json", "--profile", profile(tmp_path, runner, more="beat_seconds = 0.2\n"))
    done = world.run("batch", str(tmp_path / "in"), str(tmp_path / "out"), *arguments, seconds=600)
    assert done.returncode == 0 and json.loads(done.stdout)["counts"] == {"tasks": 1, "approved": 1}, done.stderr
    assert prediction.read_text("utf-8") == "category,n\ncake,2\n茶,2\n"


@pytest.mark.service
@pytest.mark.parametrize("runner", ["threads", pytest.param("dask", marks=needs_dask)])
def test_a_sweeps_questions_are_tasks_on_the_configured_runner(
    prefect_api: str, world: World, tmp_path: Path, runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.client.orchestration import get_client

    from flows.deployed import benchmark_flow

    monkeypatch.setenv("PREFECT_API_URL", prefect_api)
    suite = make_suite(tmp_path / "suite")
    request = BenchmarkRequest(
        suites=[str(suite)], profiles=[profile(tmp_path, runner)], results=str(tmp_path / "results")
    )

    async def measured() -> tuple[Any, Any, list[Any]]:
        state: Any = await benchmark_flow(request, return_state=True)
        found = await state.aresult(raise_on_failure=False)
        run = state.state_details.flow_run_id
        async with get_client() as client:
            return found, await client.read_flow_run(run), await task_runs(run, 1 + len(GOLD) + 2)

    found, run, runs = asyncio.run(measured())
    assert run.state_name == "Completed", found
    assert found.setups[0].score == pytest.approx((1 + 0.45 + 1) / 3) and world.endpoint.calls == len(GOLD) * ASKED
    asked = sorted(task.name for task in runs if task.name.startswith("suite/"))
    assert asked == [f"suite/{task}  {runner} #0" for task in sorted(GOLD)]


def test_a_runner_that_needs_a_server_says_so_where_there_is_none(world: World, tmp_path: Path) -> None:
    make_tasks(tmp_path / "in", 1)
    for runner in ("threads", "dask", "pool"):
        arguments = ("--profile", profile(tmp_path, runner), "--no-prefect")
        done = world.call("batch", str(tmp_path / "in"), str(tmp_path / "out"), *arguments)
        assert done.returncode == 2 and f"machines.runner = '{runner}' needs a Prefect server" in done.stderr
    suite = make_suite(tmp_path / "suite", 2)
    arguments = ("--profile", profile(tmp_path, "pool"), "--results", str(tmp_path / "results"), "--no-prefect")
    done = world.call("benchmark", "run", "--suite", str(suite), *arguments)
    assert done.returncode == 2 and "machines.runner = 'pool'" in done.stderr and world.endpoint.calls == 0
