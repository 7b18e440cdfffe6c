"""A batch on the Prefect server: a flow run of its own, whose progress grows with its tasks and whose end says what became of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from world import ASKED, World, make_folder, solver, wait_for

pytestmark = pytest.mark.service


def ask(api: str, what: str, **body: Any) -> list[dict[str, Any]]:
    """A busy server over SQLite answers 503 now and then."""
    reply = wait_for(lambda: (r := httpx.post(f"{api}/{what}/filter", json=body, timeout=30)).status_code == 200 and r)
    found: list[dict[str, Any]] = reply.json()
    return found


def batches(api: str, name: str) -> list[dict[str, Any]]:
    return ask(api, "flow_runs", flows={"name": {"any_": ["batch"]}}, flow_runs={"name": {"any_": [name]}})


def artifacts(api: str, run: str) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in ask(api, "artifacts", artifacts={"flow_run_id": {"any_": [run]}})}


def test_a_batch_is_shown_as_it_grows(
    prefect_api: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_api)
    source = tmp_path / "任务 growing"
    for name in ("one", "两"):
        make_folder(source / name, f"How many orders are there per category in {name}? 多少订单")
    make_folder(source / "wrong", "x").joinpath("task.json").write_text("{", "utf-8")
    seen: list[tuple[str, float, str]] = []

    def shown_at(percent: float) -> None:
        (run,) = wait_for(lambda: batches(prefect_api, source.name), "no flow run of the batch")
        made = wait_for(
            lambda: (one := artifacts(prefect_api, run["id"]).get("batch-progress")) and one["data"] >= percent and one,
            f"not at {percent} %",
        )
        seen.append((run["state_name"], made["data"], made["description"]))

    def replies(body: dict[str, Any]) -> str:
        if world.endpoint.calls == 1:
            shown_at(0)
        if world.endpoint.calls == ASKED + 1:
            shown_at(33)
        return solver(body)

    world.endpoint.replies = replies
    done = world.call("batch", str(source), str(tmp_path / "out"), "--concurrency", "1")
    assert done.returncode == 5 and world.endpoint.calls == 2 * ASKED, done.stderr
    assert [name for name, _, _ in seen] == ["Running", "Running"] and seen[0][1] < seen[1][1] < 100
    assert "1 approved" in seen[1][2] and "of 3 tasks" in seen[0][2]
    (run,) = batches(prefect_api, source.name)
    made = artifacts(prefect_api, run["id"])
    assert (made["batch-progress"]["data"], made["batch-progress"]["type"]) == (100, "progress")
    assert made["batch-progress"]["description"].startswith("3 of 3 tasks: ")
    rows = json.loads(made["batch"]["data"])
    assert {row["task"]: row["status"] for row in rows} == {"one": "approved", "两": "approved", "wrong": "error"}
    assert "task.json" in next(row["reason"] for row in rows if row["task"] == "wrong")
    assert run["state_name"] == "Completed" and str(tmp_path / "out") in run["state"]["message"]


def test_a_batch_that_is_stopped_says_so(
    prefect_api: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "stopped"
    for number in range(3):
        make_folder(source / f"t{number}", f"How many orders are there per category? {number}")
    world.environment["PREFECT_API_URL"] = prefect_api
    process = world.start("batch", str(source), str(tmp_path / "out"), "--concurrency", "1")

    def replies(body: dict[str, Any]) -> str:
        if world.endpoint.calls == ASKED + 1:
            (run,) = wait_for(lambda: batches(prefect_api, source.name))
            wait_for(lambda: artifacts(prefect_api, run["id"])["batch-progress"]["data"] > 33)
            process.terminate()
            wait_for(lambda: process.poll() is not None)
        return solver(body)

    world.endpoint.replies = replies
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    (run,) = batches(prefect_api, source.name)
    assert run["state_name"] == "Cancelled", run["state"]
    assert run["state"]["message"].startswith("2 of 3 tasks: 1 approved, 1 interrupted. Files: ")
