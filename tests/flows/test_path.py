"""The critical path of timelines whose lengths are known, and of a run over an endpoint whose pace is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from simulated import Pace, Simulated
from world import ASKED, World, make_folder, solver

from flows.path import CriticalPath, critical
from tasks.core.models.timeline import Moment, Span, Timeline


def request(role: str, reply: float, **more: Any) -> Span:
    return Span(stage=f"{role}_stage", role=role, endpoints=("main",), outcome="done", reply=reply, **more)


def path(spans: tuple[Span, ...], *moments: tuple[float, tuple[int, ...], int | None], slots: int = 8) -> CriticalPath:
    """The path over moments (at, after, span)."""
    told = tuple(Moment(at=at, after=after, span=span) for at, after, span in moments)
    return critical("r", Timeline(moments=told, spans=spans, slots={"main": slots}))


def steps(found: CriticalPath) -> list[tuple[str, str, float, float]]:
    return [(step.kind, step.stage, step.began, step.seconds) for step in found.steps]


def test_of_a_diamond_the_longer_side_counts() -> None:
    spans = (Span(stage="read", outcome="done"), request("long", 3), request("short", 2), request("last", 2))
    found = path(
        spans,
        (0, (), 0), (1, (0,), 0),
        (1, (1,), 1), (1, (1,), 2), (3, (3,), 2), (4, (2,), 1),
        (4, (4, 5), 3), (6, (6,), 3),
        (6.5, (7,), None),
    )  # fmt: skip
    assert steps(found) == [
        ("code", "read", 0, 1),
        ("model", "long_stage", 1, 3),
        ("model", "last_stage", 4, 2),
        ("code", "end", 6, 0.5),
    ]
    assert (found.seconds, found.ideal, found.packed) == (6.5, 5, 5)
    assert found.parts == {"model": 5, "slot": 0, "held": 0, "trouble": 0, "code": 1.5}
    assert found.share == pytest.approx(5 / 6.5)
    assert [(each.role, each.requests, each.seconds) for each in found.asked] == [
        ("long", 1, 3),
        ("short", 1, 2),
        ("last", 1, 2),
    ]


def test_what_follows_on_the_clock_alone_is_no_part_of_the_ideal() -> None:
    spans = (request("first", 2), request("second", 2, slot=2.0))
    found = path(spans, (0, (), 0), (0, (), 1), (2, (0,), 0), (4, (1,), 1), (4, (2, 3), None), slots=1)
    assert steps(found) == [("slot", "second_stage", 0, 2), ("model", "second_stage", 2, 2)]
    assert (found.ideal, found.packed, found.share) == (2, 4, 0.5)
    assert found.asked[1].waited == 2


def test_waits_tries_and_the_code_around_a_request_are_told_apart() -> None:
    span = request("agent", 4, held=0.5, slot=1, paused=2, tokens_in=100, tokens_cached=60, tokens_out=9)
    found = path((span,), (1, (), 0), (9, (0,), 0), (9, (1,), None))
    assert steps(found) == [
        ("code", "agent_stage", 0, 1.5),
        ("held", "agent_stage", 1.5, 0.5),
        ("slot", "agent_stage", 2, 1),
        ("trouble", "agent_stage", 3, 2),
        ("model", "agent_stage", 5, 4),
    ]
    assert sum(found.parts.values()) == found.seconds == 9
    (asked,) = found.asked
    assert (asked.tokens_in, asked.tokens_cached, asked.tokens_out, asked.waited) == (100, 60, 9, 1.5)


def test_a_stage_waits_for_the_requests_inside_it() -> None:
    stage = Span(stage="vote", outcome="done")
    votes = tuple(Span(stage="vote", role="vote", reply=seconds, endpoints=("main",)) for seconds in (1, 3))
    found = path(
        (stage, *votes),
        (0, (), 0), (0.5, (0,), 1), (0.5, (0,), 2), (1.5, (1,), 1), (3.5, (2,), 2), (4, (3, 4), 0), (4, (5,), None),
        slots=2,
    )  # fmt: skip
    assert steps(found) == [("code", "vote", 0, 0.5), ("model", "vote", 0.5, 3), ("code", "vote", 3.5, 0.5)]
    assert (found.ideal, found.packed) == (3, 3)


def test_a_run_without_any_request_is_its_own_code() -> None:
    found = path((Span(stage="read", outcome="cached"),), (0, (), 0), (2, (0,), 0), (3, (1,), None))
    assert steps(found) == [("code", "read", 0, 2), ("code", "end", 2, 1)]
    assert (found.ideal, found.share, found.asked) == (0, 0, ())


def test_the_path_of_a_run_over_an_endpoint_of_known_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pace = Pace(first=0.1, prefill=0, decode=0, cache=1)
    with Simulated(solver, pace) as endpoint:
        world = World(tmp_path, endpoint)
        for name, value in world.variables().items():
            monkeypatch.setenv(name, value)
        assert world.call("path").returncode == 2
        ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
        said = json.loads(world.call("path", ended.run, "--json").stdout)
        text = world.call("path")
        assert world.call("path", "no-such-run").returncode == 2
    assert endpoint.calls == ASKED
    model = [step for step in said["steps"] if step["kind"] == "model"]
    assert [step["role"] for step in model] == ["contract", "agent", "agent", "process", "verify"]
    assert all(step["seconds"] >= pace.first for step in model)
    assert said["ideal"] == pytest.approx(said["parts"]["model"], abs=0.01) and said["packed"] == said["ideal"]
    assert said["seconds"] == pytest.approx(sum(step["seconds"] for step in said["steps"]), abs=0.05)
    assert 0 < said["share"] < 1
    agent = next(each for each in said["asked"] if each["role"] == "agent")
    assert 0 < agent["tokens_cached"] < agent["tokens_in"], "the second turn begins with the first"
    assert ended.spend.total().tokens_cached == sum(each["tokens_cached"] for each in said["asked"])
    usage = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))["usage"]
    assert {each["stage"]: each["tokens_cached"] for each in usage}["agent"] == agent["tokens_cached"]
    assert f"{agent['tokens_cached']:,} from a cache" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "own code" in text.stdout and "ideal" in text.stdout and "cached" in text.stdout
