"""A configured store + the embedded one → whichever works; what the first could not do is said once, and the second does it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from tasks.core.errors import InputError

S = TypeVar("S")
R = TypeVar("R")


class Preferred(Generic[S]):
    """Of one content; for several threads."""

    def __init__(
        self,
        embedded: Callable[[], AbstractContextManager[S]],
        configured: Callable[[], AbstractContextManager[Any]] | None,
    ) -> None:
        self._embedded, self._configured = embedded, configured
        self._lock = threading.Lock()
        self._filled = False
        self.problem = ""
        """What, where and the next step; empty while all goes well."""

    def run(self, use: Callable[[S], R]) -> R:
        """What `use` makes of the store. A `use` that began with the configured one may begin again with the other."""
        if self._configured and self._fill(self._configured):
            try:
                with self._configured() as store:
                    return use(store)
            except InputError as error:
                self._give_up(error)
        with self._embedded() as store:
            return use(store)

    def _fill(self, configured: Callable[[], AbstractContextManager[Any]]) -> bool:
        with self._lock:
            if not self._filled and not self.problem:
                try:
                    with configured() as store:
                        store.fill()
                    self._filled = True
                except InputError as error:
                    self._give_up(error)
            return not self.problem

    def _give_up(self, error: InputError) -> None:
        self.problem = f"{error.message}; the embedded one was used; next: {error.hint}"
