"""Signals to a coroutine that the command line runs."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextvars import ContextVar

import pytest
from world import ROOT

from flows.cli import interrupt

KINDS = (signal.SIGINT, signal.SIGTERM)
_seen: ContextVar[str] = ContextVar("seen", default="")


def handlers() -> list[object]:
    return [signal.getsignal(kind) for kind in KINDS]


def test_the_result_comes_back_and_the_signals_are_as_before() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return _seen.get()

    before = handlers()
    token = _seen.set("茶")
    assert interrupt.run(work(), lambda: pytest.fail("nothing was interrupted")) == "茶"
    _seen.reset(token)
    assert handlers() == before


def test_an_error_of_the_work_is_raised_as_it_is() -> None:
    async def work() -> str:
        raise LookupError("no such table")

    before = handlers()
    with pytest.raises(LookupError, match="no such table"):
        interrupt.run(work(), lambda: pytest.fail("nothing was interrupted"))
    assert handlers() == before


TWICE = """
import asyncio, os, sys
from flows.cli import interrupt
async def work():
    for _ in range(2):
        os.kill(os.getpid(), {kind})
    try:
        await asyncio.sleep(600)
    finally:
        print("tidied up")
try:
    interrupt.run(work(), lambda: print("interrupted"))
except interrupt.Interrupted:
    print("ended")
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_that_comes_twice_cancels_the_work_and_is_said_once(kind: signal.Signals) -> None:
    command = [sys.executable, "-c", TWICE.format(kind=int(kind))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (["tidied up", "interrupted", "ended"], "")
    assert done.returncode == 0
