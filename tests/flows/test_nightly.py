"""The benchmark on a real Prefect server: questions as task runs, artifacts, a night that is worse, its form and schedule."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from suites import GOLD, make_suite
from world import ASKED, ROOT, World, solver, task_runs

from flows.running.grid import BenchmarkRequest
from tasks.core.errors import InputError


async def measured(request: BenchmarkRequest, tasks: int) -> tuple[Any, Any, list[Any], dict[str, Any]]:
    """A flow run of the benchmark: what it found, the flow run, its task runs, its artifacts by key."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    from flows.deployed import benchmark_flow

    state: Any = await benchmark_flow(request, return_state=True)
    found = await state.aresult(raise_on_failure=False)
    run_id = state.state_details.flow_run_id
    runs = await task_runs(run_id, tasks)
    async with get_client() as client:
        own = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run_id]))
        artifacts = {str(a.key): a for a in await client.read_artifacts(artifact_filter=own)}
        return found, await client.read_flow_run(run_id), runs, artifacts


def test_e4_questions_are_task_runs_and_the_report_is_shown(prefect_api: str, world: World, tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite")
    request = BenchmarkRequest(suites=[str(suite)], results=str(tmp_path / "results"), accept="yes")
    found, run, runs, artifacts = asyncio.run(measured(request, 1 + len(GOLD) + 2))
    assert (run.name, run.state_name) == ("suite: default", "Completed") and world.endpoint.calls == len(GOLD) * ASKED
    questions = sorted(task.name for task in runs if task.name.startswith("suite/"))
    assert questions == [f"suite/{task}  default #0" for task in sorted(GOLD)]
    assert {task.name for task in runs} - {*questions} == {"open_suite", "score_trials", "write_report"}
    assert found.setups[0].score == pytest.approx((1 + 0.45 + 1) / 3)
    shown = {"benchmark-progress", "benchmark-scores", "benchmark-plots", "benchmark-report"}
    assert set(artifacts) == shown and float(artifacts["benchmark-progress"].data) == 100
    picture = str(artifacts["benchmark-plots"].data).removeprefix("data:image/png;base64,")
    assert base64.b64decode(picture) == (Path(found.folder) / "plots.png").read_bytes()
    assert '"0.817"' in str(artifacts["benchmark-scores"].data) and found.run in str(artifacts["benchmark-report"].data)


@pytest.mark.service
def test_over_a_store_elsewhere_no_question_is_taken_for_a_retry_of_another(
    prefect_api: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_STORE_BLOCK", f"memory://{tmp_path.name}/store")
    request = BenchmarkRequest(suites=[str(make_suite(tmp_path / "suite"))], results=str(tmp_path / "results"))
    found, run, *_ = asyncio.run(measured(request, 1 + len(GOLD) + 2))
    assert run.state_name == "Completed" and world.endpoint.calls == len(GOLD) * ASKED
    for task in GOLD:
        (evidence,) = Path(found.folder).glob(f"**/{task}/evidence.json")
        assert f"({task})" in json.loads(evidence.read_text("utf-8"))["question"]["text"]


def test_a_night_that_is_worse_fails_and_is_not_accepted(
    prefect_api: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = make_suite(tmp_path / "suite", 7)
    night = f'suites = ["{suite}"]\nresults = "{tmp_path / "results"}"\naccept = "unless worse"\n'
    (tmp_path / "night.toml").write_text(night, "utf-8")
    request = BenchmarkRequest(config=str(tmp_path / "night.toml"))
    first, run, *_ = asyncio.run(measured(request, 1 + 7 + 2))
    assert (run.name, run.state_name) == ("suite: default", "Completed") and first.against is None
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "another"))
    world.endpoint.replies = lambda body: solver(body).replace("count(*)", "count(*) + 1")
    second, run, *_ = asyncio.run(measured(request, 1 + 7 + 2))
    said = f"worse than {first.run}: 6 tasks fell, 0 rose (sign test p = 0.0312)"
    assert (run.state_name, run.state.message) == ("Failed", said) and second.against.worse
    listed = world.call("benchmark", "list", "--results", str(tmp_path / "results")).stdout
    assert listed.count("(accepted)") == 1 and first.run in listed and second.run in listed


def test_the_form_has_titles_help_choices_and_defaults_that_work() -> None:
    from prefect.utilities.callables import parameter_schema

    from flows.deployed import benchmark_flow

    schema = parameter_schema(benchmark_flow.fn).model_dump()
    fields = schema["definitions"]["BenchmarkRequest"]["properties"]
    assert set(fields) == set(BenchmarkRequest.model_fields)
    assert all(field["title"] and field["description"] for field in fields.values())
    assert fields["against"]["enum"] == ["accepted", "previous", "none"] and fields["repeats"]["minimum"] == 1
    assert fields["accept"]["enum"] == ["no", "unless worse", "yes"]
    assert BenchmarkRequest().suites == ["data/samples"] and BenchmarkRequest().setups == [("default", "")]


def test_the_deployment_runs_every_night_with_parameters_that_are_taken() -> None:
    from prefect.utilities.importtools import import_object

    said = yaml.safe_load((ROOT / "deployments" / "prefect.yaml").read_text("utf-8"))
    (nightly,) = [deployment for deployment in said["deployments"] if deployment["name"] == "suites"]
    flow = import_object(nightly["entrypoint"])
    assert flow.validate_parameters(nightly["parameters"])["request"] == BenchmarkRequest(config="benchmark")
    (schedule,) = nightly["schedules"]
    assert (schedule["cron"], schedule["timezone"]) == ("0 2 * * *", "UTC")
    assert nightly["concurrency_limit"] == {"limit": 1, "collision_strategy": "CANCEL_NEW"}


def test_the_samples_are_what_their_manifest_says(world: World) -> None:
    assert world.call("suite", "check", str(ROOT / "data" / "samples")).returncode == 0


def test_a_deployed_benchmark_names_folders_in_the_roots_only(tmp_path: Path) -> None:
    from flows.running.roots import check_suites
    from tasks.benchmark.suite import write

    inside, outside = make_suite(tmp_path / "root" / "suite"), make_suite(tmp_path / "elsewhere")
    roots = (str(tmp_path / "root"),)
    check_suites(BenchmarkRequest(suites=["data/samples", str(inside)]), roots)
    manifest = tmp_path / "root" / "sly.json"
    write(outside, manifest, "", "1", date(2026, 1, 31))
    for given in (
        {"suites": [str(outside)]},
        {"suites": [str(manifest)]},
        {"suites": [str(inside)], "results": str(tmp_path)},
        {"suites": [str(inside)], "into": str(tmp_path / "page.md")},
        {"suites": [str(inside)], "profiles": [str(tmp_path / "root" / "p.toml")]},
    ):
        with pytest.raises(InputError, match=r"may be named here|only names of profiles"):
            check_suites(BenchmarkRequest(**given), roots)
        check_suites(BenchmarkRequest(**given), ())
    with pytest.raises(ValueError, match="pattern"):
        BenchmarkRequest(run="../elsewhere")
