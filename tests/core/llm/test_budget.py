"""Limits and counts of a run."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tasks.core.errors import BudgetError
from tasks.core.llm import budget
from tasks.core.llm.budget import Meter
from tasks.core.models.run import StageSpend, Usage
from tasks.core.sections import BudgetSettings


def meter(**limits: Any) -> Meter:
    return Meter(BudgetSettings(**{"calls": 0, "tokens": 0, "money": 0, "seconds": 0, "reserve_seconds": 0, **limits}))


REACHED = {
    "calls": ({"calls": 5}, r"budget of calls is used up: 4 of 5, and the next request needs 2"),
    "tokens": ({"tokens": 100}, r"budget of tokens is used up: 90 of 100, and the next request needs 20"),
    "money": ({"money": 0.5}, r"budget of money is used up: 0\.5 of 0\.5"),
}


@pytest.mark.parametrize(("limits", "words"), REACHED.values(), ids=REACHED.keys())
def test_a_limit_stops_the_request_that_would_pass_it(limits: dict[str, Any], words: str) -> None:
    found = meter(**limits)
    found.add(StageSpend(stage="agent", calls=4, tokens_in=60, tokens_out=30, money=0.5, seconds=1))
    with pytest.raises(BudgetError, match=words) as error, found.reserve(calls=2, tokens=20):
        pass
    assert "0 = no limit" in error.value.hint


def test_without_limits_nothing_stops() -> None:
    found = meter()
    found.add(StageSpend(stage="agent", calls=10**6, tokens_in=10**9, money=1e6))
    with found.reserve(calls=10**6, tokens=10**9):
        found.check()
    assert found.seconds_left() is None


def test_exactly_the_limit_is_allowed() -> None:
    found = meter(calls=5)
    with found.reserve(calls=5, tokens=1):
        found.add(StageSpend(stage="agent", calls=5))
    with pytest.raises(BudgetError, match="5 of 5"):
        found.check()


def test_what_is_under_way_counts_and_a_failure_gives_it_back() -> None:
    found = meter(calls=2, tokens=100)
    with found.reserve(1, 60):
        with pytest.raises(BudgetError, match="tokens"), found.reserve(1, 60):
            pass
        with pytest.raises(BudgetError, match="calls"), found.reserve(2, 1):
            pass
    with pytest.raises(RuntimeError), found.reserve(2, 100):
        raise RuntimeError("endpoint gone")
    with found.reserve(2, 100):
        pass


def test_many_threads_share_the_calls_exactly() -> None:
    found = meter(calls=40)

    def work(_: int) -> bool:
        try:
            with found.reserve(1, 0):
                time.sleep(0.001)
                found.add(StageSpend(stage="agent", calls=1))
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        done = sum(pool.map(work, range(200)))
    assert done <= found.spend().total().calls <= 40 and done > 0


def test_the_clock_runs_from_the_start() -> None:
    found = meter(seconds=0.05)
    left = found.seconds_left()
    assert left is not None and 0 < left <= 0.05
    time.sleep(0.06)
    assert found.seconds_left() == 0
    with pytest.raises(BudgetError, match=r"budget of seconds is used up: .* of 0\.05"):
        found.check()


def test_stages_are_labelled_through_tasks() -> None:
    async def inner() -> str:
        await asyncio.sleep(0)
        return budget.current_stage()

    async def outer() -> list[str]:
        with budget.stage("contract"):
            first = asyncio.create_task(inner())
        with budget.stage("agent"):
            return [*await asyncio.gather(first, inner()), budget.current_stage()]

    assert asyncio.run(outer()) == ["contract", "agent", "agent"]
    assert budget.current_stage() == "other"


def test_spend_and_usage_add_up() -> None:
    found = meter()
    for name in ("contract", "agent", "agent"):
        found.add(StageSpend(stage=name, calls=1, journaled=2, tokens_in=3, tokens_out=4, money=0.25, seconds=1))
    assert [(s.stage, s.calls) for s in found.spend().stages] == [("contract", 1), ("agent", 2)]
    assert found.spend().total() == StageSpend(
        stage="total", calls=3, journaled=6, tokens_in=9, tokens_out=12, money=0.75, seconds=3
    )
    one = Usage(calls=1, journaled=2, tokens_in=3, tokens_out=4)
    assert one + one + Usage() == Usage(calls=2, journaled=4, tokens_in=6, tokens_out=8)


def test_a_bell_ends_what_is_under_way_in_other_threads_and_what_comes_later() -> None:
    bell = budget.Bell()

    async def wait() -> float:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            async with bell.within(60):
                await asyncio.sleep(60)
        return time.monotonic() - began

    with ThreadPoolExecutor(2) as pool:
        waits = [pool.submit(asyncio.run, wait()) for _ in range(2)]
        time.sleep(0.2)
        assert bell.seconds_left is None and not any(wait.done() for wait in waits)
        bell.ring()
        assert all(wait.result(timeout=20) < 20 for wait in waits)
    assert bell.seconds_left == 0
    assert asyncio.run(wait()) < 20


def test_a_bell_may_only_be_brought_forward() -> None:
    bell = budget.Bell()
    bell.ring(50)
    bell.ring(100)
    assert 40 < (bell.seconds_left or 0) <= 50
    bell.ring(10)
    assert 5 < (bell.seconds_left or 0) <= 10

    async def shorter() -> None:
        async with bell.within(0.01):
            await asyncio.sleep(5)

    with pytest.raises(TimeoutError):
        asyncio.run(shorter())


def test_runs_under_a_bell_have_no_more_time_than_it() -> None:
    bell = budget.Bell()
    token = budget.bell.set(bell)
    try:
        found, limited = meter(), meter(seconds=5)
    finally:
        budget.bell.reset(token)
    other = meter()
    assert found.seconds_left() is None and 4 < (limited.seconds_left() or 0) <= 5
    bell.ring(2)
    assert 1 < (found.seconds_left() or 0) <= 2 and 1 < (limited.seconds_left() or 0) <= 2
    found.check()
    bell.ring()
    with pytest.raises(BudgetError, match="all tasks together"), found.reserve(calls=1, tokens=1):
        pass
    assert found.over and found.seconds_left() == 0 and other.seconds_left() is None
    other.check()
