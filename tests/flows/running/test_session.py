"""Runs over a store that is elsewhere, and runs that are seen to live while a model thinks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from world import ANSWER, ASKED, World, make_folder, wait_for
from world import solver as replies


def test_a_store_by_its_url_needs_no_server_and_pays_nothing_twice(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_STORE_BLOCK", f"memory://{tmp_path.name}/store")
    for name in ("店", "shop"):
        make_folder(tmp_path / "in" / name, f"How many orders are there per category? {name}")
    for number in (1, 2):
        done = world.call("batch", str(tmp_path / "in"), str(tmp_path / f"out{number}"), "--no-prefect")
        assert done.returncode == 0, done.stderr
        for name in ("店", "shop"):
            assert (tmp_path / f"out{number}" / name / "prediction.csv").read_text("utf-8") == ANSWER
        assert world.endpoint.calls == 2 * ASKED
    assert len(json.loads(world.call("runs", "--json").stdout)) == 4 and not (world.store / "records").exists()
    assert (world.store / "cache").is_dir(), "copies of what is elsewhere"


def test_a_named_block_without_a_server_says_what_to_do(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_STORE_BLOCK", "remote-file-system/results")
    done = world.call("answer", str(make_folder(tmp_path / "shop")))
    assert done.returncode == 2 and "no Prefect server answers at http://127.0.0.1:9/api" in done.stderr
    assert "the store's URL" in done.stderr and world.endpoint.calls == 0
    for command in ("runs", "clean"):
        done = world.call(command)
        assert done.returncode == 2 and "no Prefect server answers at http://127.0.0.1:9/api" in done.stderr, command


def test_the_record_of_a_run_moves_while_the_model_thinks(world: World, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("[machines]\nbeat_seconds = 0.05\n")
    seen: list[str] = []

    def slow(body: dict[str, object]) -> str:
        if not seen:
            (record,) = (world.store / "runs").iterdir()
            seen.append(record.read_text("utf-8"))
            wait_for(lambda: record.read_text("utf-8") != seen[0], "the record stands still")
        return replies(body)

    world.endpoint.replies = slow
    ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out", profile=str(tmp_path / "p.toml"))
    assert ended.answer.status == "approved" and json.loads(seen[0])["status"] == "running"
    (record,) = (world.store / "runs").iterdir()
    assert json.loads(record.read_text("utf-8"))["status"] == "approved"
