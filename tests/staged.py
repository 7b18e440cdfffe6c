"""Stages that count their runs and fail when told to, called plainly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Any

import pytest

from tasks import stage as stages
from tasks.core.models.value import Location, Value
from tasks.stage import stage


class Place(Value):
    root: Annotated[str, Location()]
    files: tuple[str, ...] = ()


class Sum(Value):
    total: int
    parts: tuple[float, ...] = ()
    note: str = ""
    data: dict[str, Any] = {}  # noqa: RUF012
    unsettled: str = ""


class Counted:
    """A stage body that counts its runs and fails first with the given errors."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.runs = 0

    def __call__(self) -> None:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)


ran = Counted()


@stage()
async def add(a: int, b: int = 2) -> Sum:
    ran()
    return Sum(total=a + b, parts=(a / 3, b), note="合计 — total", data={"__class__": "os.system", "data": "exit 3"})


@stage()
async def nothing(a: int) -> Sum | None:
    ran()
    return None


@stage(fresh=True)
async def look(place: Place) -> Sum:
    ran()
    return Sum(total=len(place.files))


@stage()
async def count(place: Place) -> Sum:
    ran()
    return Sum(total=len(place.files))


@stage()
async def cut_short(a: int, cause: str) -> Sum:
    ran()
    return Sum(total=a, unsettled=cause)


@pytest.fixture(autouse=True)
def fresh_count(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    ran.runs, ran.errors = 0, []
    monkeypatch.setattr(stages, "RETRY_SECONDS", (0.0, 0.0))
    yield


def call(work: Awaitable[Any]) -> Any:
    async def main() -> Any:
        return await work

    return asyncio.run(main())


def events(work: Callable[[], Awaitable[Any]]) -> list[tuple[str, str]]:
    heard: list[tuple[str, str]] = []
    token = stages.listener.set(lambda name, event, _seconds: heard.append((name, event)))
    try:
        asyncio.run(work())  # type: ignore[arg-type]
    finally:
        stages.listener.reset(token)
    return heard
