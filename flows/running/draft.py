"""A candidate that was replayed → the task's table at once, before validators have seen it; the answer takes its place.

Where a question runs elsewhere, the store says which table it is: who waits for the answer looks there, and fetches it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar

from tasks.core.errors import InputError
from tasks.core.files import store as stores
from tasks.core.files.store import Store
from tasks.core.models.evidence import Checked
from tasks.core.models.source import ArtifactRef

PLACE = "drafts"
"""Folder of the store for what questions that run elsewhere have by now."""
_LAST_SECONDS = 1.0
"""For the look that follows on an end without an answer; a signal leaves no more."""

keeper: ContextVar[Callable[[bytes], None] | None] = ContextVar("keeper", default=None)
"""Takes the CSV file of each candidate; a batch sets it, whoever asks one question waits for the answer."""
_told: ContextVar[str] = ContextVar("told", default="")
"""Where a candidate's table is named for a reader at another machine; empty for none."""


def keep(checked: Checked) -> None:
    """Give away the table, if there is one and somebody wants it."""
    if not checked.table:
        return
    if take := keeper.get():
        take(stores.current().get(checked.table.file))
    if place := _told.get():
        with contextlib.suppress(InputError):  # a store that takes nothing is heard of at the end
            stores.current().write(place, checked.table.file.model_dump_json().encode())


@contextlib.contextmanager
def told(name: str) -> Iterator[None]:
    """Candidates of this run are named in the store under that name; empty: nobody elsewhere waits."""
    token = _told.set(_place(name) if name else "")
    try:
        yield
    finally:
        _told.reset(token)


@contextlib.asynccontextmanager
async def followed(name: str, store: Store, seconds: float) -> AsyncIterator[None]:
    """While a question runs elsewhere: give away the table of each candidate that it names, looked for every so many seconds.

    A block that ends with an error is followed by a last look, which takes a second at most.
    """
    if not (take := keeper.get()):
        yield
        return
    place = _Place(_place(name), store, take)
    following = asyncio.create_task(place.follow(seconds))
    try:
        yield
    except BaseException:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(place.look(), _LAST_SECONDS)
        raise
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def _place(name: str) -> str:
    return f"{PLACE}/{name}.json"


class _Place:
    """Where one question's candidates are named, and who takes them."""

    def __init__(self, path: str, store: Store, take: Callable[[bytes], None]) -> None:
        self.path, self.store, self.take = path, store, take
        self.seen = b""

    async def look(self) -> None:
        """Give away the table that is named now, if it is another one; the next look will see what this one could not read."""
        with contextlib.suppress(InputError, OSError, ValueError):
            said = await asyncio.to_thread(self.store.read, self.path)
            if said and said != self.seen:
                ref = ArtifactRef.model_validate_json(said)
                table = await asyncio.to_thread(self.store.get, ref)
                self.seen = said
                self.take(table)  # not in the thread, which goes on when the answer has come and would write over it

    async def follow(self, seconds: float) -> None:
        """Look every so many seconds, for ever."""
        while True:
            await asyncio.sleep(seconds)
            await self.look()
