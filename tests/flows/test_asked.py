"""A document that was judged not to matter and that the solver needs all the same: it becomes a table while it works."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orchards
import pytest
from endpoint import Call, Endpoint
from solver import act
from world import World, crashing, files, worlds

PROFILE = "[normalise]\nmodel_code = false\n"
USED = {"OR-101": 1200, "OR-102": 845.5, "OR-104": 310, "OR-108": 2050}
PROSE = "# Water of the year\n\n" + "\n\n".join(
    f"Orchard {name} drew {used:,} cubic metres from the canal." for name, used in USED.items()
)
SQL = (
    "SELECT d.district, sum(w.used) AS water FROM districts d JOIN water w USING (orchard_id) GROUP BY ALL ORDER BY ALL"
)
ANSWER = "district,water\nEast,310\nNorth,2045.5\nSouth,2050\n"
LOOK = ("list_tables", {})
READ = ("read_document", {"path": "water.md"})
DRAW = ("extract_document", {"path": "water.md"})
QUERY = ("query", {"sql": SQL})
SUBMIT = ("submit", {"sql": SQL, "confirm": True})
WISH = (LOOK, DRAW, QUERY, SUBMIT)
HARVEST = ("submit", {"sql": orchards.SQL, "confirm": True})


def model(
    *script: tuple[str, dict[str, Any]], native: bool = False, drawable: bool = True, needless: str = "water"
) -> Callable[..., Any]:
    """The reader of orchards, who takes water for irrelevant, and a solver that acts by the script."""

    def reply(body: dict[str, Any]) -> Any:
        first, prompt = body["messages"][0]["content"], body["messages"][-1]["content"]
        if "doc_name" in first:
            names = re.findall(r"^doc_name: (\S+)", prompt, re.MULTILINE)
            told = [{"doc_name": n, "reason": "It says so.", "relevant": needless not in n} for n in names]
            return json.dumps({"verdicts": told})
        if "records_complete" in first and "cubic metres" in first:
            return json.dumps(
                plan(first) if drawable else {"key": "k", "columns": [], "sections": [], "anchors": [], "records": []}
            )
        if "Copy values out of numbered lines" in first and "cubic metres" in prompt:
            return json.dumps(entries(prompt))
        if not body.get("tools") and not first.startswith("You answer a question"):
            return orchards.model(body)
        tool, arguments = script[sum(message["role"] == "assistant" for message in body["messages"])]
        return Call(tool, arguments) if native else act(tool, **arguments)

    return reply


def plan(prompt: str) -> dict[str, Any]:
    lines = [int(n) for n in re.findall(r"^(\d+)\t.*cubic metres", prompt, re.MULTILINE)]
    used = {"name": "used", "doc_meaning": "water drawn", "task_meaning": "water in m3", "type": "number", "unit": "m3"}
    key = {"name": "orchard_id", "doc_meaning": "orchard", "task_meaning": "orchard", "type": "text", "role": "key"}
    section = {"id": "s1", "title": "water", "start_line": min(lines), "end_line": max(lines)}
    return {
        "key": "orchard_id",
        "columns": [{**key, "unit": ""}, {**used, "role": "data"}],
        "sections": [{**section, "columns": ["orchard_id", "used"]}],
        "anchors": [r"Orchard (OR-\d+)"],
        "records": list(USED),
        "records_complete": True,
    }


def entries(prompt: str) -> dict[str, Any]:
    found = re.findall(r"^(\d+) Orchard (OR-\d+) drew (\S+ cubic metres)", prompt, re.MULTILINE)
    return {"records": [{"id": r, "line": int(n), "cells": [{"c": "used", "v": v}]} for n, r, v in found]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_water(tmp_path / "orchards")


def with_water(folder: Path) -> Path:
    made = orchards.copy(folder)
    (made / "context" / "water.md").write_text(PROSE, "utf-8")
    return made


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., World]]:
    with worlds(tmp_path / "world", monkeypatch) as made:
        yield made


def profile(tmp_path: Path, more: str = "") -> str:
    path = tmp_path / "profile.toml"
    path.write_text(PROFILE + more)
    return str(path)


def evidence(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "evidence.json").read_text("utf-8"))
    return found


def steps(out: Path, tool: str) -> list[dict[str, Any]]:
    return [step for step in evidence(out)["solving"]["steps"] if (step["kind"], step["name"]) == ("tool", tool)]


def asked(endpoint: Endpoint) -> Counter[str]:
    """How often each conversation was sent, the votes apart: they send one prompt several times."""
    bodies = [body for body in endpoint.requests if "doc_name" not in body["messages"][0]["content"]]
    return Counter(json.dumps(body["messages"], ensure_ascii=False) for body in bodies)


@pytest.mark.parametrize("style", ["json", "tools"])
def test_b16_the_solver_gets_the_table_of_a_skipped_document_once_it_asks(
    make: Callable[..., World], folder: Path, tmp_path: Path, style: str
) -> None:
    world = make(model(LOOK, READ, DRAW, DRAW, QUERY, SUBMIT, native=style == "tools"))
    chosen, out = profile(tmp_path), tmp_path / "out"
    ended = world.answer(folder, out, profile=chosen, style=style)
    assert (out / "answer.csv").read_text("utf-8") == ANSWER and ended.answer.status == "approved"
    assert {"derived/harvest.sqlite", "derived/water.sqlite"} <= set(ended.files)
    found = evidence(out)
    assert [(use["table"], use["paths"]) for use in found["drawn"]] == [("water", ["context/water.md"])]
    assert {"water/plan", "water/extract"} <= {usage["stage"] for usage in found["usage"]}
    source = next(s for s in found["sources"] if s["path"] == "context/water.md")
    assert source["tables"] == ["water"]
    first, again = steps(out, "extract_document")
    assert "context/water.md is now the table water:" in first["result"] and "4 rows" in first["result"]
    assert "used" in first["result"] and first["ok"] and again["ok"]
    assert "water" not in steps(out, "list_tables")[0]["result"]
    assert "2,050 cubic metres" in steps(out, "read_document")[0]["result"]
    assert set(asked(world.endpoint).values()) == {1}, "the turns before the wish are not paid for again"
    calls = world.endpoint.calls
    world.answer(folder, tmp_path / "again", profile=chosen, style=style)
    assert world.endpoint.calls == calls and files(tmp_path / "again") == files(out)


def test_a_document_without_records_stays_prose_and_is_planned_once(
    make: Callable[..., World], folder: Path, tmp_path: Path
) -> None:
    world, out = make(model(DRAW, LOOK, DRAW, HARVEST, drawable=False)), tmp_path / "out"
    ended = world.answer(folder, out, profile=profile(tmp_path))
    assert ended.answer.status == "approved" and "derived/water.sqlite" not in ended.files
    told = steps(out, "extract_document")
    assert len(told) == 2 and all("no table: " in step["result"] and not step["ok"] for step in told)
    source = next(s for s in evidence(out)["sources"] if s["path"] == "context/water.md")
    assert source["reason"].startswith("no table")
    assert set(asked(world.endpoint).values()) == {1}


def test_only_a_skipped_document_can_be_asked_for(make: Callable[..., World], folder: Path, tmp_path: Path) -> None:
    written = ("water.txt", "harvest.md", "knowledge.md", "../water.md/x")
    wishes = [("extract_document", {"path": path}) for path in written]
    world, out = make(model(*wishes, HARVEST)), tmp_path / "out"
    ended = world.answer(folder, out, profile=profile(tmp_path))
    told = steps(out, "extract_document")
    assert [step["arguments"]["path"] for step in told] == [*written]
    for step in told:
        assert step["result"].endswith("a table can be drawn from: context/water.md") and not step["ok"]
    assert ended.answer.status == "approved" and "derived/water.sqlite" not in ended.files


def test_the_tool_is_offered_only_where_a_document_was_skipped(make: Callable[..., World], tmp_path: Path) -> None:
    world = make(orchards.model)
    world.answer(orchards.SAMPLE, tmp_path / "out", profile=profile(tmp_path))
    assert not [text for text in asked(world.endpoint) if "extract_document" in text]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, int]:
    """The answer of a run whose budget is enough, and how many replies it takes."""
    root = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as monkeypatch, worlds(root, monkeypatch) as made:
        world = made(model(*WISH))
        world.answer(with_water(root / "orchards"), root / "out", profile=profile(root))
        return (root / "out" / "answer.csv").read_bytes(), world.endpoint.calls


@pytest.mark.parametrize("short", [5, 4])
def test_a_budget_that_ends_within_the_wish_costs_the_next_run_only_the_rest(
    whole: tuple[bytes, int], make: Callable[..., World], folder: Path, tmp_path: Path, short: int
) -> None:
    """The last six replies: plan, extraction, query, submission, and the audits of process and form."""
    answer, total = whole
    world, out = make(model(*WISH)), tmp_path / "out"
    chosen = profile(tmp_path, f"[budget]\ncalls = {total - short}\n")
    options = (str(folder), "--profile", chosen, "--as-of", "2026-01-31", "--no-prefect", "--out", str(out))
    done = world.call("answer", *options)
    assert done.returncode == 4 and "budget" in done.stdout, done
    assert world.endpoint.calls == total - short
    profile(tmp_path)
    assert world.call("answer", *options).returncode == 0
    assert world.endpoint.calls == total and set(asked(world.endpoint).values()) == {1}
    assert (out / "answer.csv").read_bytes() == answer


@pytest.mark.parametrize("crashed", ["solve_question", "plan_document", "store_table", "add_derived"])
def test_a_rerun_after_a_crash_asks_nothing_twice(
    make: Callable[..., World], folder: Path, tmp_path: Path, crashed: str
) -> None:
    world, chosen = make(model(*WISH)), profile(tmp_path)
    with crashing(crashed, times=1 if crashed == "solve_question" else 2):
        world.answer(folder, tmp_path / "out", profile=chosen)
    world.answer(folder, tmp_path / "out", profile=chosen)
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    assert set(asked(world.endpoint).values()) == {1}


def test_another_question_over_the_same_run_has_the_documents_that_it_needs_when_the_folder_is_gone(
    make: Callable[..., World], folder: Path, tmp_path: Path
) -> None:
    world = make(model(HARVEST))
    chosen = profile(tmp_path)
    first = world.answer(folder, tmp_path / "one", profile=chosen)
    assert "derived/water.sqlite" not in first.files
    shutil.rmtree(folder)
    world.endpoint.replies = model(QUERY, SUBMIT, needless="nothing")
    again = world.answer(
        folder, tmp_path / "two", profile=chosen, base=first.run, question="Water by district? 各区用水"
    )
    assert (tmp_path / "two" / "answer.csv").read_text("utf-8") == ANSWER and again.answer.status == "approved"
    assert {"derived/harvest.sqlite", "derived/water.sqlite"} <= set(again.files)
