"""Replies that are not paid for twice, recordings, and replay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from endpoint import Call, Cut, Endpoint, Samples, Status
from pydantic import BaseModel

from tasks.core.errors import InputError, ModelError
from tasks.core.llm import budget, journal
from tasks.core.llm.door import Door

MakeDoor = Callable[..., Door]
ASKED = [{"role": "user", "content": "多少订单?"}]
TOOLS = [{"type": "function", "function": {"name": "query", "parameters": {"type": "object", "properties": {}}}}]
KEY = "sk-mine-1234567"


class Query(BaseModel):
    sql: str


def text(door: Door, samples: int = 1, words: str = "多少订单?") -> tuple[str, ...]:
    return asyncio.run(door.ask_text("agent", [{"role": "user", "content": words}], samples=samples)).values


def entries(door: Door) -> list[dict[str, Any]]:
    root = door.journal.store.files.root  # type: ignore[attr-defined]
    return [json.loads(path.read_bytes()) for path in sorted(root.glob("journal/*/*.json"))]


def test_the_same_request_twice_is_one_call(make_door: MakeDoor) -> None:
    with Endpoint(["first", "second"]) as server:
        assert text(make_door(server.url)) == text(make_door(server.url)) == ("first",)
        door = make_door(server.url)
        asked = asyncio.run(door.ask_text("agent", ASKED))
    assert server.calls == 1
    assert (asked.usage.calls, asked.usage.journaled, asked.usage.tokens_out) == (0, 1, 1)
    spent = door.meter.spend().total()
    assert (spent.calls, spent.journaled, spent.tokens_in, spent.tokens_out) == (0, 1, 0, 0)


def test_where_and_how_it_is_asked_does_not_change_the_key(
    make_door: MakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(["one"]) as first, Endpoint([]) as second:
        text(make_door(first.url))
        monkeypatch.setenv("MODEL_API_KEY", KEY)
        role = {"timeout_seconds": 3, "attempts": 9, "repairs": 7}
        door = make_door(second.url, second.url.removesuffix("/v1"), role=role, endpoint={"concurrency": 9})
        assert text(door) == ("one",)
    assert second.calls == 0


CHANGES: dict[str, dict[str, Any]] = {
    "model": {"endpoint": {"model": "another"}},
    "temperature": {"role": {"temperature": 0.1}},
    "top_p": {"role": {"top_p": 0.5}},
    "limit": {"role": {"max_tokens": 5}},
    "thinking": {"role": {"thinking": True}},
    "repeat": {"journal": {"repeat": 1}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_changes_a_reply_is_asked_anew(make_door: MakeDoor, change: dict[str, Any]) -> None:
    with Endpoint(["one", "two"]) as server:
        text(make_door(server.url))
        assert text(make_door(server.url, **change)) == ("two",)


def test_samples_are_kept_one_by_one(make_door: MakeDoor) -> None:
    with Endpoint([Samples(["a", "b", "c"]), Samples(["d", "e"])]) as server:
        assert text(make_door(server.url), samples=3) == ("a", "b", "c")
        assert text(make_door(server.url), samples=2) == ("a", "b")
        assert text(make_door(server.url), samples=5) == ("a", "b", "c", "d", "e")
        door = make_door(server.url)
        assert text(door, samples=5) == ("a", "b", "c", "d", "e")
    assert [body.get("n") for body in server.requests] == [3, 2]
    assert door.meter.spend().total().journaled == 5 and len(entries(door)) == 5


def test_an_interrupted_request_keeps_what_had_arrived(make_door: MakeDoor) -> None:
    script = [Status(400, "n: not supported, param n"), "a", Status(401, "no"), "c"]
    with Endpoint(script, rejects=[]) as server:
        door = make_door(server.url, endpoint={"concurrency": 1})
        with pytest.raises(InputError):
            text(door, samples=3)
        assert len(entries(door)) == 2
    with Endpoint(["b"]) as server:
        values = text(make_door(server.url), samples=3)
    assert sorted(values) == ["a", "b", "c"] and server.calls == 1


def test_every_turn_of_a_repair_is_found_again(make_door: MakeDoor) -> None:
    with Endpoint([Cut('{"sql'), "", "no JSON", '{"sql": "x"}', Call("query", {"a": 1})]) as server:
        for _ in range(2):
            door = make_door(server.url)
            assert asyncio.run(door.ask("agent", ASKED, Query)).value.sql == "x"
            assert asyncio.run(door.ask_tools("agent", ASKED, TOOLS)).calls[0].arguments == {"a": 1}
    assert server.calls == 5
    replayed = make_door("", journal={"mode": "replay"})
    assert asyncio.run(replayed.ask("agent", ASKED, Query)).value.sql == "x"
    assert list(replayed.journal.used) == list(door.journal.used)[:4]


def test_a_torn_entry_is_asked_anew(make_door: MakeDoor) -> None:
    with Endpoint(["one", "two"]) as server:
        door = make_door(server.url)
        text(door)
        (digest,) = door.journal.used
        door.journal.store.write(f"journal/{digest[:2]}/{digest}.json", b'{"kind": "recorded')
        assert text(make_door(server.url)) == ("two",)


def test_an_entry_says_what_it_is_and_holds_no_secret(make_door: MakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", KEY)
    with Endpoint(["ok"], model="scripted-2024-05-13") as server, budget.stage("solve_question"):
        door = make_door(server.url, journal={"mode": "record"})
        text(door)
    (entry,) = entries(door)
    assert (entry["kind"], entry["model"]) == ("recorded model reply", "scripted-2024-05-13")
    assert entry["recorded"][:2] == "20" and (entry["role"], entry["stage"]) == ("agent", "solve_question")
    assert entry["request"]["messages"] == ASKED
    written = json.dumps(entry)
    assert KEY not in written and "127.0.0.1" not in written and server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_record_adds_the_request_to_a_reply_that_live_kept(make_door: MakeDoor) -> None:
    with Endpoint(["ok"]) as server:
        door = make_door(server.url)
        text(door)
        assert "request" not in entries(door)[0]
        text(make_door(server.url, journal={"mode": "record"}))
    assert entries(door)[0]["request"]["model"] == "scripted" and server.calls == 1


def test_replay_asks_nobody(make_door: MakeDoor) -> None:
    with Endpoint(["ok"]) as server:
        text(make_door(server.url))
        door = make_door(server.url, journal={"mode": "replay"})
        assert text(door) == ("ok",)
        missing = r"no recorded reply for role 'agent' in stage 'brief' \([0-9a-f]{64}\)"
        with budget.stage("brief"), pytest.raises(ModelError, match=missing):
            text(door, words="another question")
    assert server.calls == 1


def test_recordings_are_exported_and_replayed_from_their_folder(make_door: MakeDoor, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    with Endpoint([Samples(["a", "b"]), "other"]) as server:
        door = make_door(server.url, journal={"mode": "record"})
        text(door, samples=2)
        assert journal.export(door.journal.store, folder, door.journal.used) == 2
        text(door, words="other")
    assert len(list(folder.glob("*/*.json"))) == 2
    replay = {"mode": "replay", "recordings": str(folder)}
    assert text(make_door("", store="fresh", journal=replay), samples=2) == ("a", "b")
    with pytest.raises(ModelError, match="no recorded reply"):
        text(make_door("", store="fresh", journal=replay), words="other")
    assert len(list(folder.glob("*/*.json"))) == 2


def test_recordings_are_never_given_as_live_answers(make_door: MakeDoor, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    with Endpoint(["recorded", "live"]) as server:
        door = make_door(server.url)
        text(door)
        journal.export(door.journal.store, folder, door.journal.used)
        assert text(make_door(server.url, store="fresh", journal={"recordings": str(folder)})) == ("live",)


def test_what_is_not_there_cannot_be_exported(make_door: MakeDoor, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no reply 00ff"):
        journal.export(make_door("").journal.store, tmp_path / "out", ["00ff"])
