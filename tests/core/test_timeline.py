"""Who came after whom, as the tasks of an event loop know it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from tasks.core import timeline
from tasks.core.models.timeline import Span, Timeline


async def do(name: str, turns: int = 1) -> None:
    """A part of the run."""
    recorder = timeline.current()
    assert recorder
    number = recorder.begin(Span(stage=name))
    for _ in range(turns):
        await asyncio.sleep(0)
    recorder.end(number, outcome="done")


def record(scene: Coroutine[Any, Any, None]) -> Timeline:
    async def whole() -> Timeline:
        with timeline.recording() as recorder:
            await scene
            return recorder.closed({"main": 4})

    return asyncio.run(whole())


def came_after(found: Timeline) -> dict[str, set[str]]:
    """For each part those that its begin waited for directly, and `end`."""
    names: dict[int, str] = {}
    waited: dict[str, set[str]] = {}
    for number, moment in enumerate(found.moments):
        name = "end" if moment.span is None else found.spans[moment.span].stage
        if name not in waited:
            waited[name] = {names[each] for each in moment.after}
        names[number] = name
    return waited


def test_one_after_another_and_side_by_side() -> None:
    async def scene() -> None:
        await do("first")
        await asyncio.gather(do("left", 1), do("right", 5))
        await do("last")

    found = record(scene())
    assert came_after(found) == {
        "first": set(),
        "left": {"first"},
        "right": {"first"},
        "last": {"first", "left", "right"},
        "end": {"last"},
    }
    assert found.slots == {"main": 4} and all(span.outcome == "done" for span in found.spans)


def test_chains_of_different_tasks_do_not_wait_for_each_other() -> None:
    async def chain(name: str, turns: int) -> None:
        await do(f"{name}1", turns)
        await do(f"{name}2", turns)

    async def scene() -> None:
        await asyncio.gather(chain("a", 1), chain("b", 7))

    found = came_after(record(scene()))
    assert (found["b2"], found["a2"], found["end"]) == ({"b1"}, {"a1"}, {"a2", "b2"})


def test_a_task_that_waits_before_it_does_anything_is_a_branch_when_it_says_so() -> None:
    async def late(name: str) -> None:
        await asyncio.sleep(0.01)
        await asyncio.gather(do(f"{name}1"), do(f"{name}2"))

    async def scene() -> None:
        await asyncio.gather(do("quick"), timeline.branch(late("late")))

    found = came_after(record(scene()))
    assert found["late1"] == found["late2"] == set()
    assert found["end"] == {"quick", "late1", "late2"}


def test_a_cancelled_part_has_ended_and_nothing_is_kept_outside_of_a_run() -> None:
    async def scene() -> None:
        task = asyncio.create_task(do("endless", 1_000_000))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await do("next")

    found = record(scene())
    assert came_after(found)["next"] == {"endless"} and found.spans[0].outcome == ""
    assert timeline.current() is None and timeline.here() is None
