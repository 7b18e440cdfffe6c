"""Prompts that begin alike: the first goes alone where the endpoint has a cache, and what the cache gave is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from simulated import Pace, Simulated

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.llm.prefixes import Prefixes
from tasks.core.llm.request import Request
from tasks.core.models.run import StageSpend
from tasks.core.settings import load

LONG = "The orders of the shop, one row each. 每行一个订单。 " * 200


def request(text: str) -> Request:
    messages = ({"role": "user", "content": text},)
    return Request("extract", "m", messages, samples=1, temperature=0, top_p=1, max_tokens=9, thinking=False)


def order(seconds: float, *texts: str, sends: bool = True) -> list[str]:
    """Who was sent and answered when, of requests that start together."""
    prefixes, seen = Prefixes(), list[str]()

    async def one(name: str, text: str) -> None:
        asked = request(text)
        async with prefixes.turn(asked, seconds):
            if sends:
                prefixes.sent(asked)
            seen.append(f"{name} sent")
            await asyncio.sleep(0.01)
            seen.append(f"{name} answered")

    async def scene() -> None:
        await asyncio.gather(*(one("abc"[number], text) for number, text in enumerate(texts)))

    asyncio.run(scene())
    return seen


def test_those_that_begin_alike_wait_for_the_first() -> None:
    seen = order(60, LONG + "one", LONG + "two", LONG + "three")
    assert seen[:2] == ["a sent", "a answered"] and set(seen[2:4]) == {"b sent", "c sent"}
    assert order(60, LONG, LONG, sends=False)[:2] == ["a sent", "a answered"], "it ended without being sent"


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        (0, (LONG, LONG)),
        (60, (LONG, "Another beginning. " + LONG)),
        (60, ("short", "short")),
    ],
    ids=("off", "other beginnings", "too short for a cache"),
)
def test_all_others_go_together(seconds: float, texts: tuple[str, ...]) -> None:
    assert order(seconds, *texts)[:2] == ["a sent", "b sent"]


def test_none_waits_longer_than_it_is_told() -> None:
    prefixes = Prefixes()

    async def scene() -> None:
        second = asyncio.Event()

        async def first() -> None:
            async with prefixes.turn(request(LONG), 0.01):
                prefixes.sent(request(LONG))
                await asyncio.wait_for(second.wait(), 60)

        async def follow() -> None:
            async with prefixes.turn(request(LONG), 0.01):
                second.set()

        await asyncio.gather(first(), follow())

    asyncio.run(scene())


def test_a_beginning_that_was_read_is_not_waited_for_and_one_that_failed_is_read_by_the_next() -> None:
    prefixes, seen = Prefixes(), list[str]()

    async def one(text: str, fails: bool = False) -> None:
        async with prefixes.turn(request(text), 60):
            seen.append("sent")
            await asyncio.sleep(0)
            seen.append("answered")
            if fails:
                raise ValueError

    async def scene() -> None:
        await asyncio.gather(one(LONG, fails=True), one(LONG), return_exceptions=True)
        assert seen == ["sent", "answered"] * 2
        await asyncio.gather(one(LONG + "1"), one(LONG + "2"))
        assert seen[4:] == ["sent", "sent", "answered", "answered"]

    asyncio.run(scene())


@pytest.fixture
def ask(store: Store) -> Callable[..., StageSpend]:
    """Three requests at once over an endpoint with a prefix cache; what they took."""

    def asked(**endpoint: Any) -> StageSpend:
        with Simulated(lambda _: "Yes.", Pace(first=0.05, prefill=0, decode=0, cache=16)) as server:
            place = {"url": server.url, "model": "simulated", **endpoint}
            settings = load(overrides={"endpoints": {"main": place}})
            meter = Meter(settings.budget)

            async def scene() -> None:
                with door.use(Door(settings, store, meter)):
                    messages = [[{"role": "user", "content": f"{LONG}{number}"}] for number in range(3)]
                    await asyncio.gather(*(door.ask_text("contract", each) for each in messages))

            asyncio.run(scene())
        return meter.spend().total()

    return asked


def test_tokens_of_the_cache_are_counted(ask: Callable[..., StageSpend]) -> None:
    spent = ask(prefix_seconds=60)
    assert spent.calls == 3 and 0.6 < spent.tokens_cached / spent.tokens_in < 0.67
