"""Workers and commands that end badly: killed in time, reaped, replaced, with nothing left open."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from outside import alive, children, descriptors
from world import wait_for

from tasks.core import nursery, process, sections
from tasks.core.process import ChildError, Worker

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases" / "process"
MEMORY_MB = 512
FORKED = False


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers find the test's module in their project folder."""
    monkeypatch.setattr(sections, "PROJECT", CASES)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No test may leave a child or a descriptor behind, once its nurseries have ended."""
    nursery.end()
    children_before, descriptors_before = set(children()), descriptors()
    yield
    nursery.end()
    wait_for(lambda: set(children()) <= children_before, "children were left")
    wait_for(lambda: descriptors() <= descriptors_before, "descriptors were left")


@pytest.fixture(params=["started", "forked"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test with children that are started one by one, and with those that a nursery forks."""
    monkeypatch.setattr(sys.modules[__name__], "FORKED", request.param == "forked")
    way: str = request.param
    return way


def use(body: Callable[[Worker], Awaitable[Any]], memory_mb: int = MEMORY_MB) -> Any:
    async def run() -> Any:
        worker = Worker("answering", memory_mb, FORKED)
        try:
            return await body(worker)
        finally:
            await worker.close()

    return asyncio.run(run())


async def pid_of(worker: Worker) -> int:
    return int((await worker.ask({"do": "echo", "text": ""}, 20))["pid"])


async def failure(worker: Worker, request: dict[str, Any], seconds: float = 20) -> ChildError:
    with pytest.raises(ChildError) as caught:
        await worker.ask(request, seconds)
    return caught.value


def test_requests_are_answered_by_one_child() -> None:
    async def body(worker: Worker) -> None:
        assert (await worker.ask({"do": "echo", "text": "中文 \ud800 \n"}, 20))["text"] == "中文 \ud800 \n"
        assert await pid_of(worker) == await pid_of(worker)

    use(body)


def test_large_requests_and_replies_arrive_whole() -> None:
    async def body(worker: Worker) -> None:
        text = "x" * 20_000_000
        assert (await worker.ask({"do": "echo", "text": text}, 60))["text"] == text
        assert len((await worker.ask({"do": "large", "size": 5_000_000}, 60))["text"]) == 5_000_000

    use(body, 2048)


def test_requests_side_by_side_take_turns() -> None:
    async def body(worker: Worker) -> None:
        asked = [worker.ask({"do": "echo", "text": str(n)}, 30) for n in range(20)]
        assert [reply["text"] for reply in await asyncio.gather(*asked)] == [str(n) for n in range(20)]

    use(body)


@pytest.mark.parametrize("request_", [{"do": "sleep", "seconds": 600}, {"do": "spin"}, {"do": "stop"}])
def test_deadline_kills_the_child_and_the_next_request_gets_another(request_: dict[str, Any]) -> None:
    async def body(worker: Worker) -> None:
        first = await pid_of(worker)
        began = time.monotonic()
        error = await failure(worker, request_, 0.4)
        assert time.monotonic() - began < 8
        assert (error.stopped, error.message) == ("time", "stopped after 0.4 s")
        assert not alive(first)
        assert await pid_of(worker) != first

    use(body)


def test_deadline_kills_what_the_child_started() -> None:
    async def body(worker: Worker) -> None:
        started = (await worker.ask({"do": "child"}, 20))["pid"]
        assert alive(started)
        await failure(worker, {"do": "sleep", "seconds": 600}, 0.3)
        wait_for(lambda: not alive(started), "a grandchild was left")

    use(body)


def test_close_kills_a_child_with_threads_and_children() -> None:
    async def body(worker: Worker) -> None:
        pid = await pid_of(worker)
        await worker.ask({"do": "thread"}, 20)
        started = (await worker.ask({"do": "child"}, 20))["pid"]
        await worker.close()
        await worker.close()
        assert not alive(pid)
        wait_for(lambda: not alive(started))

    use(body)


def test_memory_is_limited() -> None:
    async def body(worker: Worker) -> None:
        limits = await worker.ask({"do": "limits"}, 20)
        assert limits == {"memory": [MEMORY_MB << 20] * 2, "core": [0, 0]}
        assert (await worker.ask({"do": "memory", "mb": 100}, 20))["size"] == 100 << 20
        error = await failure(worker, {"do": "memory", "mb": 2000})
        assert (error.stopped, error.message) == ("memory", "needed more than 512 MB")
        assert (await worker.ask({"do": "memory", "mb": 100}, 20))["size"] == 100 << 20

    use(body)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"do": "exit", "code": 3}, ("exit code 3",)),
        ({"do": "exit", "code": 0}, ("exit code 0",)),
        ({"do": "signal", "number": int(signal.SIGSEGV)}, ("signal 11",)),
        ({"do": "signal", "number": int(signal.SIGKILL)}, ("signal 9",)),
        ({"do": "fail"}, ("exit code 1", "ValueError: spoilt 中文")),
        ({"do": "fail", "long": 100_000}, ("exit code 1", "zzz")),
        ({"do": "nan"}, ("exit code 1", "ValueError")),
        ({"do": "spoil", "descriptor": 3}, ("replied what is no JSON", "no json")),
    ],
)
def test_child_that_ends_by_itself_is_reported_and_replaced(request_: dict[str, Any], words: tuple[str, ...]) -> None:
    async def body(worker: Worker) -> None:
        first = await pid_of(worker)
        error = await failure(worker, request_)
        assert error.stopped == "died"
        assert all(word in error.message for word in words), error.message
        assert len(error.message) < 700
        assert await pid_of(worker) != first

    use(body)


def test_module_that_does_not_start_is_reported() -> None:
    async def run() -> ChildError:
        worker = Worker("no_such_module", MEMORY_MB, FORKED)
        error = await failure(worker, {})
        await worker.close()
        return error

    assert "No module named no_such_module" in asyncio.run(run()).message


def test_child_killed_while_idle_is_replaced_unnoticed() -> None:
    async def body(worker: Worker) -> None:
        first = await pid_of(worker)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: not alive(first))
        assert await pid_of(worker) != first

    use(body)


def test_child_that_prints_much_is_not_held_up() -> None:
    async def body(worker: Worker) -> None:
        for _ in range(3):
            assert await worker.ask({"do": "print", "times": 2000}, 30) == {"printed": True}
        assert worker._errors
        assert os.fstat(worker._errors.fileno()).st_size < 10 << 20

    use(body)


def test_reply_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_LINE_BYTES", 1 << 20)

    async def body(worker: Worker) -> None:
        error = await failure(worker, {"do": "large", "size": 2_000_000})
        assert error.message == "replied with more than 1 MB"
        assert await pid_of(worker)

    use(body)


def test_child_has_no_keys_and_no_descriptor_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MODEL_API_KEY", "AWS_SECRET_ACCESS_KEY", "OTEL_EXPORTER_OTLP_HEADERS", "DB_PASSWORD", "shop_token"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("SHOP_URL", "postgresql://me:secret@db.invalid/shop")
    monkeypatch.setenv("HARMLESS", "kept")
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)

    async def body(worker: Worker) -> None:
        environment = await worker.ask({"do": "environment"}, 20)
        assert not [name for name, value in environment.items() if "secret" in value]
        assert environment["HARMLESS"] == "kept"
        # standard streams, the copy for replies, and the folder that is being listed
        assert len((await worker.ask({"do": "descriptors"}, 20))["open"]) == 5

    use(body)
    os.close(reading)
    os.close(writing)


def test_worker_serves_one_event_loop_after_another() -> None:
    worker = Worker("answering", MEMORY_MB, FORKED)

    async def several() -> set[int]:
        return set(await asyncio.gather(*(pid_of(worker) for _ in range(3))))

    found = asyncio.run(several()) | asyncio.run(several())
    thread = threading.Thread(target=lambda: found.update(asyncio.run(several())))
    thread.start()
    thread.join(30)
    assert len(found) == 1
    asyncio.run(worker.close())


def test_cancelled_request_costs_its_child_only() -> None:
    async def body(worker: Worker) -> None:
        first = await pid_of(worker)
        task = asyncio.create_task(worker.ask({"do": "sleep", "seconds": 600}, 60))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not alive(first)
        assert (await worker.ask({"do": "echo", "text": "next"}, 20))["text"] == "next"

    use(body)


def test_unclosed_worker_ends_with_its_object() -> None:
    async def run() -> int:
        return await pid_of(Worker("answering", MEMORY_MB, FORKED))

    with pytest.warns(ResourceWarning):
        pid = asyncio.run(run())
        wait_for(lambda: not alive(pid), "the child outlived its worker")
        with pytest.raises(ChildProcessError):
            while True:  # the interpreter reaps it with the next child
                subprocess.run([sys.executable, "-S", "-c", ""])
                os.waitpid(pid, os.WNOHANG)


PARENT = """
import asyncio, sys
sys.path.insert(0, {root!r})
from tasks.core import sections
from tasks.core.process import Worker
from pathlib import Path
sections.PROJECT = Path({cases!r})
async def main():
    worker = Worker("answering", 512, {forked})
    print((await worker.ask({{"do": "echo", "text": ""}}, 20))["pid"], flush=True)
    try:
        await worker.ask({{"do": {do!r}, "seconds": 600}}, 600)
    finally:
        await worker.close()
asyncio.run(main())
"""


@pytest.mark.parametrize("do", ["sleep", "spin"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_child_ends_with_its_parent(do: str, number: signal.Signals) -> None:
    script = PARENT.format(root=str(ROOT), cases=str(CASES), do=do, forked=FORKED)
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    with parent:
        assert parent.stdout and parent.stderr
        pid = int(parent.stdout.readline())
        assert alive(pid)
        time.sleep(0.3)
        parent.send_signal(number)
        try:
            wait_for(lambda: not alive(pid), "the child outlived its parent")
            parent.wait(20)
        finally:
            parent.kill()
        if number == signal.SIGINT:
            assert b"KeyboardInterrupt" in parent.stderr.read()
