"""Stored attempts judged anew: what validators change, for better and worse, and what it takes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from endpoint import Samples
from judged import Judged, Stored, judged, order, page, read, settings_of
from validators import approved, schema
from world import ANSWER, SQL, World, make_folder

from tasks.core.files import store as stores
from tasks.core.files.store import Folder, Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.run import Usage

SUMMED = SQL.replace("count(*)", "sum(p.id)")
SINGLE = '[agent]\nstyle = "single"\n[contract]\nenabled = false\n[process]\nenabled = false\n[verify]\nenabled = false\n[roles.agent]\nsamples = 2\ntemperature = 0.7\n[roles.greedy]\nsamples = 1\ntemperature = 0.0\n'


@pytest.fixture
def batch(world: World, tmp_path: Path) -> tuple[Path, Path]:
    """A finished batch of one task, of whose ballot most votes are wrong; and its suite with gold."""
    folder = make_folder(tmp_path / "suite" / "shop")
    gold = tmp_path / "suite" / "gold" / "shop"
    gold.mkdir(parents=True)
    (gold / "gold.csv").write_text(ANSWER, "utf-8")
    replies = iter([SUMMED, Samples([SUMMED, SQL])])
    world.endpoint.replies = lambda _: next(replies)
    (tmp_path / "own.toml").write_text(SINGLE, "utf-8")
    world.answer(folder, tmp_path / "out" / "suite" / "shop", profile=str(tmp_path / "own.toml"))
    return tmp_path / "out" / "suite" / "shop", tmp_path / "suite"


def ask(world: World, tmp_path: Path, way: str, batch: tuple[Path, Path], replies: Any) -> tuple[Judged, Stored]:
    world.endpoint.replies = replies
    settings = settings_of(way, "default")
    store = Store(Folder(tmp_path / "judged"), tmp_path / "judged" / "cache")
    with stores.use(store), door.use(Door(settings, store, Meter(settings.budget))):
        stored = asyncio.run(read(*batch, settings))
        return asyncio.run(judged(way, stored, settings)), stored


def test_code_alone_takes_the_next_result_of_the_ballot_where_the_first_fails_a_check(
    world: World, tmp_path: Path, batch: tuple[Path, Path]
) -> None:
    off, stored = ask(world, tmp_path, "off", batch, "")
    code, _ = ask(world, tmp_path, "code", batch, "")
    assert [one.votes for one in stored.attempt.candidates] == [2, 1] and order(stored.attempt) == [0, 1]
    assert (off.chosen, off.score) == (0, 0.45) and (code.chosen, code.score) == (1, 1.0)
    assert code.usage == Usage() and "adds up" in "; ".join(code.said)
    assert "suite/shop under code: 0.45 → 1.00, better" in page([off, code])


def test_a_model_judges_what_code_lets_through_and_its_replies_are_paid_once(
    world: World, tmp_path: Path, batch: tuple[Path, Path]
) -> None:
    full, _ = ask(world, tmp_path, "full", batch, approved)
    assert (full.chosen, full.usage.calls) == (1, 2) and full.score == 1.0
    before = world.endpoint.calls
    again, _ = ask(world, tmp_path, "full", batch, approved)
    assert (again.chosen, again.status, world.endpoint.calls) == (1, full.status, before)


def test_where_all_results_are_sent_back_the_first_is_published_as_what_it_is(
    world: World, tmp_path: Path, batch: tuple[Path, Path]
) -> None:
    def never(body: dict[str, Any]) -> str:
        assert schema(body) == "ProcessReply"
        return json.dumps({"semantic_ledger": {}, "issues": ["no"], "required_next_actions": [], "valid": False})

    full, _ = ask(world, tmp_path, "full", batch, never)
    assert (full.chosen, full.score) == (0, 0.45) and full.status in ("rejected", "partial")


def test_the_page_counts_scores_statuses_and_changes_both_ways() -> None:
    one = Judged("off", "s", "t1", 0, "not_assessed", 1.0, Usage(), 1)
    two = one._replace(task="t2", score=0.0)
    worse = one._replace(way="code", chosen=1, score=0.0, status="partial", said=("a check",))
    better = two._replace(way="code", chosen=1, score=1.0, usage=Usage(calls=2, tokens_in=30, tokens_out=4))
    lines = page([one, two, worse, better]).splitlines()
    assert "| s | off | 2 | 0.500 | 1 | 0 | 0 | 2 |" in lines and "| s | code | 2 | 0.500 | 1 | 2 | 34 | 2 |" in lines
    assert "| code | partial | 1 | 0 |" in lines and "| off | not_assessed | 2 | 1 |" in lines
    assert "- s/t1 under code: 1.00 → 0.00, worse (a check)" in lines
    assert "- s/t2 under code: 0.00 → 1.00, better ()" in lines
