"""Documents on their way to an answer: tables, places of cells, what fails alone, what a change costs, crashes."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orchards
import pytest
from endpoint import Endpoint, Status
from samples import SAMPLES
from world import World, crashing, files, last_run, worlds

PROFILE = "[normalise]\nmodel_code = false\n[extract]\nrecords = 2\n"
SHOWN = (
    "SELECT d.district, h.orchard_id, h.harvest FROM harvest h JOIN districts d ON d.orchard_id = h.orchard_id "
    "WHERE h.harvest > 300"
)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., World]]:
    """Worlds with the scripted reader of orchards, or another one."""
    with worlds(tmp_path / "world", monkeypatch) as made:
        yield lambda model=orchards.model: made(model)


def profile(tmp_path: Path, text: str = PROFILE) -> str:
    path = tmp_path / "profile.toml"
    path.write_text(text)
    return str(path)


def asking(sql: str) -> Callable[[dict[str, Any]], str]:
    """The same reader with another query."""
    return lambda body: orchards.model(body).replace(json.dumps(orchards.SQL)[1:-1], json.dumps(sql)[1:-1])


def evidence(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "evidence.json").read_text("utf-8"))
    return found


def prompts(endpoint: Endpoint, mark: str) -> list[str]:
    """First messages of the requests of one kind."""
    texts = [body["messages"][0]["content"] for body in endpoint.requests]
    return [text for text in texts if mark in text]


def test_b13_a_question_is_answered_from_prose_and_every_cell_can_be_traced(
    make: Callable[..., World], tmp_path: Path
) -> None:
    world, out = make(), tmp_path / "out"
    ended = world.answer(orchards.SAMPLE, out, profile=profile(tmp_path))
    gold = SAMPLES / "gold" / "orchards" / "gold.csv"
    assert (out / "answer.csv").read_text("utf-8") == gold.read_text("utf-8")
    assert "derived/harvest.sqlite" in ended.files
    with sqlite3.connect(out / "derived" / "harvest.sqlite") as db:
        rows = db.execute("SELECT orchard_id, harvest, export_share, planted FROM harvest ORDER BY 1").fetchall()
    assert rows[1] == ("OR-102", 152.5, 0.125, "2004-10-17") and rows[4][1] == 381
    found = evidence(out)
    (use,) = found["drawn"]
    assert (use["paths"], use["key"], use["records"]) == (["context/harvest.md"], "orchard_id", 8)
    assert {c["name"]: c["verified"] for c in use["columns"]} == {"orchard_id": 8, "harvest": 8}
    assert {"harvest/plan", "harvest/extract", "relevance"} <= {usage["stage"] for usage in found["usage"]}
    assert next(s for s in found["sources"] if s["path"] == "context/harvest.md")["tables"] == ["harvest"]
    done = world.call("trace", "harvest", "OR-105", "harvest", "--out", str(out), "--json")
    told = json.loads(done.stdout)
    assert (told["value"], told["raw"], told["file_line"], told["status"]) == (381, "381 tonnes", 41, "verified")
    assert [said["relation"] for said in told["statements"]] == ["superseded", "holds"]
    assert world.call("trace", "harvest", "OR-105", "colour", "--out", str(out)).returncode == 2


@pytest.mark.parametrize("limit", [1, 3])
def test_b14_slices_are_read_side_by_side_under_the_limit_of_the_endpoint(
    make: Callable[..., World], tmp_path: Path, limit: int
) -> None:
    def slow(body: dict[str, Any]) -> str:
        time.sleep(0.1)
        return orchards.model(body)

    world = make(slow)
    text = f"{PROFILE.replace('records = 2', 'records = 1')}[endpoints.main]\nconcurrency = {limit}\n"
    world.answer(orchards.SAMPLE, tmp_path / "out", profile=profile(tmp_path, text))
    assert world.endpoint.most_at_once == limit
    assert sum("extract" in entry["stage"] for entry in last_run(world.store)["stages"]) > 3


def test_cells_that_an_answer_takes_over_carry_their_quotes(make: Callable[..., World], tmp_path: Path) -> None:
    world, out = make(asking(SHOWN)), tmp_path / "out"
    world.answer(orchards.SAMPLE, out, profile=profile(tmp_path))
    cells = evidence(out)["cells"]
    lines = (out / "answer.csv").read_text("utf-8").splitlines()
    assert len(lines) == 4 and {cell["column"] for cell in cells} == {"orchard_id", "harvest"}
    for cell in cells:
        row = dict(zip(lines[0].split(","), lines[cell["row"]].split(","), strict=True))
        assert cell["cell"]["record"] == row["orchard_id"] and row["orchard_id"] in cell["cell"]["quote"]
    assert {c["cell"]["line"] for c in cells if c["column"] == "harvest"} == {29, 41, 39}
    assert "spreads" not in json.dumps(cells) and "Cells of the answer" in (out / "report.html").read_text("utf-8")


def test_a_cell_that_may_be_wrong_is_said_where_an_answer_uses_it(make: Callable[..., World], tmp_path: Path) -> None:
    world, out = make(asking("SELECT avg(export_share) AS share FROM harvest")), tmp_path / "out"
    world.answer(orchards.SAMPLE, out, profile=profile(tmp_path))
    found = evidence(out)
    doubtful = found["drawn"][0]["doubtful"]
    assert [(cell["record"], cell["raw"]) for cell in doubtful] == [("OR-104", "Nothing")] and not found["cells"]
    assert any("export_share (1 unverified)" in doubt for doubt in found["doubts"])


def test_b16_prose_without_a_table_stays_readable_and_is_said(make: Callable[..., World], tmp_path: Path) -> None:
    folder = orchards.copy(tmp_path / "orchards")
    (folder / "context" / "letter.txt").write_text("Dear growers,\n\nthe office is closed in July.\n")

    def model(body: dict[str, Any]) -> str:
        if (
            "office is closed" in body["messages"][0]["content"]
            and "records_complete" in body["messages"][0]["content"]
        ):
            return json.dumps({"key": "k", "columns": [], "sections": [], "anchors": [], "records": []})
        return orchards.model(body)

    world, out = make(model), tmp_path / "out"
    world.answer(folder, out, profile=profile(tmp_path))
    source = next(s for s in evidence(out)["sources"] if s["path"] == "context/letter.txt")
    assert source["outcome"] == "document" and source["reason"].startswith("no table")
    assert files(out)["answer.csv"] == (SAMPLES / "gold" / "orchards" / "gold.csv").read_bytes()
    solving = [b["messages"] for b in world.endpoint.requests if "You answer a question" in b["messages"][0]["content"]]
    assert "letter.txt (3 lines; no table" in json.dumps(solving[-1])


def test_documents_that_are_none_are_named_and_are_no_success(make: Callable[..., World], tmp_path: Path) -> None:
    folder, world = tmp_path / "folder", make()
    folder.mkdir()
    (folder / "text.pdf").write_text("Orchard OR-101 covers 12.5 hectares.")
    (folder / "empty.docx").write_bytes(b"PK\x05\x06" + b"\0" * 18)
    done = world.call("document", str(folder), "--out", str(tmp_path / "out"), "--json")
    left_out = json.loads(done.stdout)["left_out"]
    assert set(left_out) == {"text.pdf", "empty.docx"} and left_out["text.pdf"].startswith("not read: ")
    assert done.returncode == 5 and not world.endpoint.calls
    (listed,) = json.loads(world.call("runs", "--json").stdout)
    assert listed["status"] == "failed" and all(f"{name}: {why}" in listed["reason"] for name, why in left_out.items())
    assert "failed" in (said := world.call("runs").stdout) and "why: " in said and "text.pdf: not read: " in said


def test_no_model_is_asked_where_no_document_has_text(make: Callable[..., World], tmp_path: Path) -> None:
    folder, world = tmp_path / "folder", make()
    folder.mkdir()
    (folder / "空.md").write_text("\n \n")
    done = world.call("document", str(folder), "--question", "How many? 多少", "--json")
    assert done.returncode == 5 and "it has no text" in json.loads(done.stdout)["documents"][0]["reason"]
    done = world.call("answer", str(folder), "How many? 多少", "--no-prefect")
    assert done.returncode == 2 and "no table and no document can be read" in done.stderr and "空.md: " in done.stderr
    assert not world.endpoint.calls


def test_one_changed_paragraph_is_extracted_again_alone(make: Callable[..., World], tmp_path: Path) -> None:
    folder, world = orchards.copy(tmp_path / "orchards"), make()
    draw = ("document", str(folder), "--profile", profile(tmp_path), "--out")
    assert world.call(*draw, str(tmp_path / "one")).returncode == 0
    asked = len(prompts(world.endpoint, "Copy values"))
    path = folder / "context" / "harvest.md"
    path.write_text(
        path.read_text("utf-8").replace("OR-104 harvested 71 tonnes", "OR-104 harvested 71 tonnes of fruit")
    )
    assert world.call(*draw, str(tmp_path / "two")).returncode == 0
    assert asked >= 8 and len(prompts(world.endpoint, "Copy values")) == asked + 1


def test_a_folder_without_documents_asks_nothing_more(world: World, tmp_path: Path) -> None:
    from world import ASKED, STAGES, make_folder

    world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    assert world.endpoint.calls == ASKED
    assert sorted(entry["stage"] for entry in last_run(world.store)["stages"]) == sorted(STAGES)


def test_rules_alone_plan_a_document(make: Callable[..., World], tmp_path: Path) -> None:
    world, out = make(), tmp_path / "out"
    text = PROFILE + '[plan]\nwriter = "rules"\n[vote]\nenabled = false\n'
    done = world.call(
        "document", str(orchards.SAMPLE), "--profile", profile(tmp_path, text), "--out", str(out), "--json"
    )
    (about,) = json.loads(done.stdout)["documents"]
    assert (about["table"], about["records"], "plan" in about["stages"]) == ("harvest", 8, False), about
    assert world.call("trace", "harvest", "OR-103", "area", "--out", str(out)).stdout.startswith(
        "harvest.area of OR-103: 31"
    )


@pytest.mark.parametrize(
    "crashed",
    [
        name if name in ("plan_document", "extract_lines") else pytest.param(name, marks=pytest.mark.slow)
        for name in orchards.STAGES
    ],
)
def test_a_rerun_after_a_crash_ends_equal_and_asks_nothing_twice(
    make: Callable[..., World], tmp_path: Path, crashed: str
) -> None:
    world, chosen = make(), profile(tmp_path)
    with crashing(crashed):
        world.answer(orchards.SAMPLE, tmp_path / "one", profile=chosen)
    world.answer(orchards.SAMPLE, tmp_path / "two", profile=chosen)
    asked = len(world.endpoint.requests)
    world.answer(orchards.SAMPLE, tmp_path / "three", profile=chosen)
    assert len(world.endpoint.requests) == asked
    assert files(tmp_path / "two") == files(tmp_path / "three")


KILLS = (*orchards.STAGES, "extract_lines 3", "reply 2", "reply 5", "reply 7", "reply 9")
"""After a stage, after so many slices, after so many replies were journaled and before their stage has ended."""
KILL = """
import os, signal
from tasks import stage
from tasks.core.llm.journal import Journal
seen, keep = [], Journal.keep
def note(name):
    seen.append(name)
    if f"{{name}} {{seen.count(name)}}" == {mark!r}:
        os.kill(os.getpid(), signal.SIGKILL)
def kept(*arguments):
    keep(*arguments)
    note("reply")
Journal.keep = kept
stage.listener.set(lambda name, event, seconds: note(name) if event == "done" else None)
"""
IN_FLIGHT = 4
"""endpoints.main.concurrency."""


def asked(bodies: list[dict[str, Any]]) -> Counter[str]:
    """How often each conversation was sent."""
    return Counter(json.dumps(body["messages"], ensure_ascii=False) for body in bodies)


def journaled(store: Path) -> Counter[str]:
    """Conversations whose replies the journal holds."""
    entries = (json.loads(path.read_text("utf-8")) for path in (store / "journal").rglob("*.json"))
    return asked([entry["request"] for entry in entries])


def orchards_run(world: World, folder: Path, script: str = "") -> int:
    """A run in a process of its own; its journal keeps the requests."""
    chosen = profile(folder, PROFILE + '[journal]\nmode = "record"\n')
    options = ("--profile", chosen, "--as-of", "2026-01-31", "--no-prefect", "--out", str(folder / "out"))
    done = world.run("answer", str(orchards.SAMPLE), *options, script=script)
    assert script or done.returncode == 0, done.stderr
    return done.returncode


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], Counter[str]]:
    """Files of a run that nothing disturbs, and what it asks."""
    folder = tmp_path_factory.mktemp("whole")
    with Endpoint(orchards.model) as endpoint:
        orchards_run(World(folder, endpoint), folder)
    return files(folder / "out"), asked(endpoint.requests)


@pytest.mark.slow
@pytest.mark.parametrize("killed", KILLS)
def test_a_killed_run_ends_like_one_that_was_not_and_asks_no_journaled_request_again(
    undisturbed: tuple[dict[str, bytes], Counter[str]], tmp_path: Path, killed: str
) -> None:
    with Endpoint(orchards.model) as endpoint:
        world = World(tmp_path, endpoint)
        mark = killed if killed[-1].isdigit() else f"{killed} 1"
        assert orchards_run(world, tmp_path, KILL.format(mark=mark)) == -signal.SIGKILL
        first, kept = asked(endpoint.requests), journaled(world.store)
        orchards_run(world, tmp_path)
    again = asked(endpoint.requests) - first
    whole_files, whole = undisturbed
    assert again + kept == whole, "each reply is paid for once: before the kill, or after it"
    assert first >= kept and (first - kept).total() <= IN_FLIGHT
    found = files(tmp_path / "out")
    assert {"answer.csv", "evidence.json", "derived/harvest.sqlite"} <= set(found)
    assert [name for name in whole_files if found.get(name) != whole_files[name]] == [] and len(found) == len(
        whole_files
    )


CLOSED = Status(429, "busy", {"Retry-After": "3600"})


@pytest.mark.parametrize(
    ("command", "mark"),
    [
        ("answer", "doc_name"),
        ("answer", "Copy values"),
        ("document", "records_complete"),
        ("document", "Copy values"),
    ],
)
def test_an_endpoint_that_asks_for_a_long_wait_ends_the_run_at_once(
    make: Callable[..., World], tmp_path: Path, command: str, mark: str
) -> None:
    closed: list[float] = []

    def model(body: dict[str, Any]) -> Any:
        """Closed from the first request of that kind on; a slice with the first orchard still gets its reply."""
        closing = mark in body["messages"][0]["content"] and (mark != "Copy values" or "OR-101" not in str(body))
        if closed or closing:
            closed.append(time.monotonic())
            return CLOSED
        return orchards.model(body)

    world = make(model)
    options = ("--no-prefect",) if command == "answer" else ()
    done = world.call(
        command,
        str(orchards.SAMPLE),
        "--profile",
        profile(tmp_path),
        "--out",
        str(tmp_path / "out"),
        "--json",
        *options,
    )
    assert done.returncode == 3, done.stdout
    assert time.monotonic() - closed[0] < 15 and 1 <= len(closed) <= IN_FLIGHT
    told = json.loads(done.stdout)
    said = told["reason"] if command == "answer" else told["stopped"][0]
    assert re.search(
        r"asks to wait (3600|35\d\d) s, and at most 120 s are given \(retry.asked_seconds\): run again", said
    )


def test_an_answer_over_half_a_table_is_partial_and_says_so_until_a_rerun_completes_it(
    make: Callable[..., World], tmp_path: Path
) -> None:
    def model(body: dict[str, Any]) -> Any:
        """Extraction is refused from the second slice on; the solver still gets its replies."""
        prompt = str(body["messages"])
        return Status(400, "no") if "Copy values" in prompt and "OR-101" not in prompt else orchards.model(body)

    world, out = make(model), tmp_path / "out"
    command = ("answer", str(orchards.SAMPLE), "--profile", profile(tmp_path), "--as-of", "2026-01-31", "--no-prefect")
    done = world.call(*command, "--out", str(out), "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["status"]) == (5, "partial") and told["rows"] is not None
    assert "tables drawn from documents are not whole: run again to complete them" in told["reason"]
    (first, *_), page = evidence(out)["doubts"], (out / "report.html").read_text("utf-8")
    assert first.startswith("drawing tables from documents ended before it was done") and "rejects the request" in first
    assert "drawing tables from documents ended before it was done" in page and (out / "derived").is_dir()
    world.endpoint.replies = orchards.model
    done = world.call(*command, "--out", str(out), "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "approved")
    assert (out / "answer.csv").read_bytes() == (SAMPLES / "gold" / "orchards" / "gold.csv").read_bytes()
    assert not any("ended before" in doubt for doubt in evidence(out)["doubts"])


@pytest.mark.parametrize(
    ("reply", "more", "code", "said"),
    [
        (Status(401, "no such key"), "", 2, "MODEL_API_KEY"),
        (None, "[budget]\ncalls = 3\n", 4, "the budget of calls is used up"),
        (Status(400, "no"), "", 3, "rejects the request"),
    ],
    ids=["key", "budget", "request"],
)
def test_a_document_run_that_was_cut_short_says_who_must_act(
    make: Callable[..., World], tmp_path: Path, reply: Status | None, more: str, code: int, said: str
) -> None:
    world = make((lambda _: reply) if reply else orchards.model)
    chosen = profile(tmp_path, PROFILE + more)
    done = world.call("document", str(orchards.SAMPLE), "--profile", chosen, "--out", str(tmp_path / "out"))
    assert done.returncode == code and said in " ".join((done.stdout + done.stderr).split()), done
    assert (tmp_path / "out" / "derived" / "harvest.sqlite").exists() == (reply is None)
