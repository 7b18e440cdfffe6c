"""deployments/prefect.yaml on a real server: deployed, run by a worker of a process pool, cached the second time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from suites import make_suite
from ui import end
from world import ANSWER, ASKED, ROOT, STAGES, World, make_folder, task_runs, wait_for

pytestmark = pytest.mark.service


def prefect(world: World, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
        cwd=ROOT,
        env={**os.environ, **world.variables()},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_deployment_file_works_with_a_worker(
    server_url: str, prefect_api: str, world: World, tmp_path: Path
) -> None:
    world.environment |= {"PREFECT_API_URL": server_url, "PREFECT_WORKER_QUERY_SECONDS": "2"}
    world.environment["TABLEWRIGHT_ROOTS"] = str(tmp_path)
    prefect(world, "work-pool", "create", "tablewright", "--type", "process", "--overwrite")
    for _ in range(2):
        said = prefect(world, "deploy", "--prefect-file", "deployments/prefect.yaml", "--all")
        assert all(
            name in said for name in ("answer/tables", "solve/catalogue", "document/documents", "benchmark/suites")
        )
    folder = make_folder(tmp_path / "shop")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    worker = subprocess.Popen(
        [sys.executable, "-m", "prefect", "worker", "start", "--pool", "tablewright"],
        cwd=elsewhere,
        env={**os.environ, **world.variables()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for number in (1, 2):
            out = tmp_path / f"out{number}"
            run = asyncio.run(started({"request": {"folder": str(folder), "out": str(out)}}))
            wait_for(lambda run=run: asyncio.run(state(run)) not in ("SCHEDULED", "PENDING", "RUNNING"), seconds=180)
            assert asyncio.run(state(run)) == "COMPLETED"
            assert (out / "answer.csv").read_text("utf-8") == ANSWER and world.endpoint.calls == ASKED
        refused = asyncio.run(started({"request": {"folder": str(ROOT / "data" / "samples" / "shop")}}))
        states = {task.name: task.state_name for task in asyncio.run(task_runs(run, len(STAGES)))}
        assert states == dict.fromkeys(STAGES, "Cached") | {"take_inventory": "Completed", "deliver": "Completed"}
        wait_for(lambda: asyncio.run(state(refused)) not in ("SCHEDULED", "PENDING", "RUNNING"), seconds=180)
        assert asyncio.run(state(refused)) == "FAILED" and len(list((world.store / "runs").iterdir())) == 2
        measured = asyncio.run(started(measuring(tmp_path), "benchmark/suites"))
        wait_for(lambda: asyncio.run(state(measured)) not in ("SCHEDULED", "PENDING", "RUNNING"), seconds=180)
        assert asyncio.run(state(measured)) == "COMPLETED" and list((tmp_path / "results").glob("*/report.html"))
    finally:
        end(worker)


def measuring(root: Path) -> dict[str, Any]:
    """Parameters of a benchmark over two tasks."""
    return {"request": {"suites": [str(make_suite(root / "suite", 2))], "results": str(root / "results")}}


async def started(parameters: dict[str, Any], name: str = "answer/tables") -> str:
    from prefect.deployments import run_deployment

    return str((await run_deployment(name, parameters=parameters, timeout=0)).id)


async def state(run: str) -> str:
    from prefect.client.orchestration import get_client

    async with get_client() as client:
        return str((await client.read_flow_run(run)).state_type.value)  # type: ignore[arg-type, union-attr]
