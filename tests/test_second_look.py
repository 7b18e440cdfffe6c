"""A sample of planted faults before validators of a model: the whole path, counted, and paid once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from assigned import assigned, question_of
from mutants import Case
from second_look import Look, asking, looks, opinions
from validators import approved, schema
from world import SQL, World, make_folder

from tasks.core.files.store import Folder, Store, use
from tasks.core.models.evidence import Check

LOST = SQL.replace("ORDER BY ALL", "HAVING count(*) > 1 ORDER BY ALL")
FAILED = Check(name="numbers", outcome="failed", detail="nobody asked for it")
CASES = (
    Case("shop", "tuned", "lost rows", "q", LOST),
    Case("shop", "tuned", "fan-out", "q", SQL.replace("count(*)", "sum(o.product_id)"), (FAILED,)),
    Case("shop", "tuned", "", "q", SQL),
)


def validators(body: dict[str, Any]) -> str:
    """Rejects what counts more than one; gives no verdict on what adds up."""
    text = json.dumps(body["messages"])
    if schema(body) == "ProcessReply" and "HAVING count" in text:
        return json.dumps(
            {"semantic_ledger": {}, "issues": ["no HAVING was asked"], "required_next_actions": [], "valid": False}
        )
    return "hm" if "sum(o.product_id)" in text else approved(body)


def ask(world: World, tmp_path: Path) -> list[Look]:
    world.endpoint.replies = validators
    folder = tmp_path / "shop"
    if not folder.exists():
        make_folder(folder)
    scratch = Store(Folder(tmp_path / "scratch"), tmp_path / "scratch" / "cache")
    with use(scratch), asking("default", 30, tmp_path / "keep") as settings:
        given = asyncio.run(assigned(folder, question_of(folder), settings))
        return asyncio.run(looks(CASES, {"shop": given}, settings, 1, float("inf")))


def test_what_code_and_model_reject_is_counted_and_replies_are_paid_once(world: World, tmp_path: Path) -> None:
    found = ask(world, tmp_path)
    assert [one.process.verdict for one in found] == ["rejected", "not_assessed", "approved"]
    assert found[2].form and found[2].form.verdict == "approved"
    assert [one.status for one in found] == ["rejected", "partial", "approved"]
    lines = opinions(found).splitlines()
    assert "| all faults | 2 | 1 (50%) | 1 (50%) | 2 (100%) | 1 (50%) | partial 1, rejected 1 |" in lines
    assert "| right queries | 1 | 0 (0%) | 0 (0%) | 0 (0%) | 0 (0%) | approved 1 |" in lines
    assert any(line.startswith("no verdict, 1 times: the validator failed") for line in lines)
    approving = [body for body in world.endpoint.requests if schema(body) == "ProcessReply"]
    assert "nobody asked for it" not in json.dumps(approving), "the model is not told what checks failed"
    before = world.endpoint.calls
    assert [one.process.verdict for one in ask(world, tmp_path)[:1]] == ["rejected"]
    assert world.endpoint.calls - before <= before - 3, "only what gave no verdict is asked again"


def test_no_request_is_begun_after_the_deadline(world: World, tmp_path: Path) -> None:
    with (
        use(Store(Folder(tmp_path / "scratch"), tmp_path / "scratch" / "cache")),
        asking("default", 0, None) as settings,
    ):
        assert asyncio.run(looks(CASES, {}, settings, 1, 0)) == [] and opinions([]) == ""
