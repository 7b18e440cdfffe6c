"""Children that a nursery forks: new each time, gone in time, and started in another way where there is no nursery."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from outside import alive, children, descriptors
from world import wait_for

from tasks.core import nursery, sections
from tasks.core.process import ChildError, Worker

CASES = Path(__file__).parents[1] / "cases" / "process"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test may leave a child or a descriptor behind, once its nurseries have ended."""
    monkeypatch.setattr(sections, "PROJECT", CASES)
    nursery.end()
    before = set(children()), descriptors()
    yield
    nursery.end()
    wait_for(lambda: set(children()) <= before[0] and descriptors() <= before[1], "something was left")


async def note(worker: Worker, text: str = "") -> dict[str, Any]:
    return await worker.ask({"do": "note", "text": text}, 30)


def forked(module: str = "answering") -> Worker:
    return Worker(module, 512, forked=True)


def test_a_child_knows_nothing_of_the_one_before() -> None:
    async def body() -> None:
        first, second = forked(), forked()
        told = [await note(first, "秘密"), await note(first, "b")]
        await first.close()
        fresh = await note(second, "c")
        await second.close()
        assert told[1]["noted"] == ["秘密", "b"] and fresh["noted"] == ["c"]
        assert told[0]["parent"] == fresh["parent"] != os.getpid() and fresh["group"]

    asyncio.run(body())


def test_many_at_once_are_children_of_one_nursery() -> None:
    async def body() -> None:
        workers, before = [forked() for _ in range(12)], set(children())
        told = await asyncio.gather(*(note(worker, str(n)) for n, worker in enumerate(workers)))
        assert [one["noted"] for one in told] == [[str(n)] for n in range(12)]
        assert len({one["parent"] for one in told}) == 1 and len(set(children()) - before) == 1
        await asyncio.gather(*(worker.close() for worker in workers))

    asyncio.run(body())


def test_a_nursery_that_dies_costs_its_children_and_is_replaced() -> None:
    async def body() -> None:
        worker = forked()
        parent, child = (await note(worker))["parent"], (await worker.ask({"do": "echo", "text": ""}, 30))["pid"]
        asked = asyncio.create_task(worker.ask({"do": "sleep", "seconds": 600}, 60))
        await asyncio.sleep(0.1)
        os.kill(parent, signal.SIGKILL)
        with pytest.raises(ChildError, match=r"ended by itself \(signal 9\)"):
            await asked
        wait_for(lambda: not alive(child))
        assert (await note(worker, "next"))["noted"] == ["next"]
        await worker.close()

    asyncio.run(body())


def test_what_cannot_be_forked_is_started() -> None:
    async def body() -> None:
        worker = forked("threaded")
        assert (await note(worker))["parent"] == os.getpid()
        await worker.close()
        assert (await note(worker))["parent"] == os.getpid()
        await worker.close()

    asyncio.run(body())


def test_without_descriptors_to_pass_it_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise BlockingIOError("the line is full")

    async def body() -> None:
        worker = forked()
        monkeypatch.setattr("socket.send_fds", full)
        assert (await note(worker))["parent"] == os.getpid()
        await worker.close()

    asyncio.run(body())


def test_another_environment_has_a_nursery_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        old, new = forked(), forked()
        parent = (await note(old))["parent"]
        monkeypatch.setenv("MODEL_API_URL", "http://127.0.0.1:9/v1")
        assert (await note(new))["parent"] == parent, "no child asks a model"
        assert "MODEL_API_URL" not in await new.ask({"do": "environment"}, 30)
        await new.close()
        monkeypatch.setenv("SOMETHING", "other 别的")
        assert (await new.ask({"do": "environment"}, 30))["SOMETHING"] == "other 别的"
        told = await note(new)
        assert told["parent"] != parent and (await note(old, "still"))["noted"] == ["", "still"]
        await old.close()
        wait_for(lambda: not alive(parent), "it stayed without children")
        await new.close()

    asyncio.run(body())


def test_a_nursery_ends_with_its_thread_and_leaves_those_of_others() -> None:
    def here() -> int:
        async def body() -> int:
            worker = forked()
            parent: int = (await note(worker))["parent"]
            await worker.close()
            return parent

        return asyncio.run(body())

    found: list[int] = []
    first = here()
    thread = threading.Thread(target=lambda: found.append(here()))
    thread.start()
    thread.join(60)
    assert found[0] != first == here()
    wait_for(lambda: not alive(found[0]), "it outlived its thread")


def test_a_copy_of_the_process_does_not_ask_the_nursery_of_the_first() -> None:
    async def parent() -> int:
        worker = forked()
        told: int = (await note(worker))["parent"]
        await worker.close()
        return told

    first = asyncio.run(parent())
    reading, writing = os.pipe()
    copy = os.fork()
    if copy == 0:
        try:
            os.write(writing, str(asyncio.run(parent())).encode())
        finally:
            os._exit(0)
    os.waitpid(copy, 0)  # not just any child of this process
    assert int(os.read(reading, 20)) != first and asyncio.run(parent()) == first
    os.close(reading)
    os.close(writing)


def test_a_request_that_is_cancelled_while_the_nursery_starts_leaves_nothing() -> None:
    async def body() -> None:
        worker = forked()
        with pytest.raises(ChildError) as caught:
            await note_within(worker, 0.001)
        assert caught.value.stopped == "time"
        assert (await note(worker, "后来"))["noted"] == ["后来"]
        await worker.close()

    asyncio.run(body())


async def note_within(worker: Worker, seconds: float) -> dict[str, Any]:
    return await worker.ask({"do": "note", "text": ""}, seconds)
