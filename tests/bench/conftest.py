"""What every benchmark gets: `race`, which times a piece of work and keeps what is said of it for tests/performance.py."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

T = TypeVar("T")
_TICKS = os.sysconf("SC_CLK_TCK")


class Limit(NamedTuple):
    """What ours may be: of its peer's seconds and of growth. The peer is named as its own runs name themselves."""

    peer: str = ""
    ratio: float = 0.0
    """Most times its seconds at the largest size; 0 for no peer."""
    seconds: float = 0.0
    """Most seconds at the largest size, where there is no peer that does the same; 0 for none."""
    exponent: float = 1.25
    """Most that seconds may grow with size: n log n between 1,000 and 100,000 gives 1.11, and a busy machine adds to it."""
    why: str = ""
    """What ours does beside its peer."""


class Race:
    """One runner at one size: called with the work, it times rounds of it and returns what the last one returned."""

    def __init__(self, benchmark: Any) -> None:
        self._benchmark = benchmark

    def __call__(
        self,
        of: tuple[str, str, int, str],
        work: Callable[..., Any],
        *,
        prepare: Callable[[], tuple[Any, ...]] = tuple,
        rounds: int = 3,
        limit: Limit | None = None,
    ) -> Any:
        """`of` is what is done, by whom, to how many, of what; `prepare` makes the work's arguments, untimed."""
        spent: list[float] = []
        made: list[Any] = []

        def timed(*given: Any) -> None:
            before = processor_seconds()
            made[:] = [work(*given)]
            spent.append(processor_seconds() - before)

        self._benchmark.pedantic(timed, setup=lambda: (prepare(), {}), rounds=rounds, iterations=1)
        what, who, size, unit = of
        self._benchmark.group = what
        told = {"what": what, "who": who, "size": size, "unit": unit, "cpu": min(spent)}
        self._benchmark.extra_info.update(told | ({"limit": limit._asdict()} if limit else {}))
        return made[0]

    def say(self, **said: str) -> None:
        """What else is to be known of the result: how right it is."""
        self._benchmark.extra_info.update(said=said)


@pytest.fixture
def race(benchmark: Any) -> Race:
    """One benchmark's stopwatch."""
    return Race(benchmark)


def drive(made: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns. `asyncio.run` writes out the result of what it runs, twice, so it runs something without one."""
    kept: list[T] = []

    async def keep() -> None:
        kept.append(await made)

    asyncio.run(keep())
    return kept[0]


def processor_seconds() -> float:
    """Of this process, of its children that ended, and of those that run, with theirs."""
    own = sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    return own + sum(_of(pid) for pid in _below(os.getpid()))


def _below(pid: int) -> list[int]:
    """Its children and theirs; one that ends meanwhile has none."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return [each for child in found for each in (child, *_below(child))]


def _of(pid: int) -> float:
    """Seconds of a process and of its children that ended; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS
