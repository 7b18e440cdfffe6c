"""Request, sample and attempt → the reply that was given to it, text → its vector: nothing is paid for twice.

The key leaves out URL, key, time-out and endpoint: they do not change what a model says.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import sys
from array import array
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError, ModelError
from tasks.core.files import lock
from tasks.core.files.store import Folder, Store
from tasks.core.llm import budget
from tasks.core.llm.request import Reply, Request
from tasks.core.sections import JournalSettings

KIND = "recorded model reply"
VECTOR = "recorded vector"


class Journal:
    """Replies of one run, in its store; in replay also from a folder of recordings."""

    def __init__(self, store: Store, settings: JournalSettings) -> None:
        self.store = store
        self.settings = settings
        self.used: dict[str, None] = {}
        """Digests of all replies read or written, in order: what an export of this run needs."""

    def digest(self, request: Request, sample: int, attempt: int) -> str:
        """Key of one reply."""
        parts = {**request.content(), "sample": sample, "attempt": attempt, "repeat": self.settings.repeat}
        return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def find(self, request: Request, sample: int, attempt: int = 0) -> Reply | None:
        """The journaled reply, if any. Raises ModelError in replay when there is none."""
        digest = self.digest(request, sample, attempt)
        entry = self._entry(digest)
        if entry is None:
            if self.settings.mode == "replay":
                raise ModelError(
                    f"no recorded reply for role {request.role!r} in stage {budget.current_stage()!r} ({digest})",
                    "prompts, settings or inputs differ from the recorded run; record again with journal.mode = record",
                )
            return None
        self.used[digest] = None
        reply = Reply(**{**entry["reply"], "calls": tuple(tuple(call) for call in entry["reply"]["calls"])})
        if self.settings.mode == "record" and "request" not in entry:
            self.keep(request, sample, attempt, reply)
        return reply

    def keep(self, request: Request, sample: int, attempt: int, reply: Reply) -> None:
        """Write one reply as it arrived."""
        digest = self.digest(request, sample, attempt)
        entry = {
            "kind": KIND,
            "model": reply.model or request.model,
            "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
            "role": request.role,
            "stage": budget.current_stage(),
            "sample": sample,
            "attempt": attempt,
            "repeat": self.settings.repeat,
            "reply": asdict(reply),
            **({"request": request.content()} if self.settings.mode == "record" else {}),
        }
        self.store.write(f"journal/{_path(digest)}", json.dumps(entry, ensure_ascii=False, indent=1).encode())
        self.used[digest] = None

    @contextlib.asynccontextmanager
    async def turn(self, request: Request, attempt: int, seconds_left: float | None) -> AsyncIterator[None]:
        """Ask for the request inside, once no other run of this machine asks for it; look for its replies first.

        It is waited for as long as the settings say, and no longer than this run has time.
        """
        seconds = self.settings.wait_seconds if seconds_left is None else min(self.settings.wait_seconds, seconds_left)
        name = self.digest(request, request.first, attempt)
        async with lock.turn(self.store.cache / "locks" / name, seconds):
            yield

    def find_vector(self, model: str, text: str) -> array[float] | None:
        """The journaled vector of a text, if any. Raises ModelError in replay when there is none."""
        digest = _vector_digest(model, text)
        entry = self._entry(digest, VECTOR)
        if entry is None:
            if self.settings.mode == "replay":
                raise ModelError(
                    f"no recorded vector of model {model!r} ({digest})", "record with journal.mode = record"
                )
            return None
        self.used[digest] = None
        vector = array("f", base64.b64decode(entry["vector"]))
        return _little(vector)

    def keep_vector(self, model: str, text: str, vector: array[float]) -> None:
        """Write one vector: 32-bit floats, little end first."""
        digest = _vector_digest(model, text)
        data = base64.b64encode(_little(array("f", vector)).tobytes()).decode()
        entry = {"kind": VECTOR, "model": model, "vector": data}
        self.store.write(f"journal/{_path(digest)}", json.dumps(entry, ensure_ascii=False).encode())
        self.used[digest] = None

    def _entry(self, digest: str, kind: str = KIND) -> dict[str, Any] | None:
        """A torn or foreign file counts as none."""
        data = self.store.fetch(f"journal/{_path(digest)}")
        if data is None and self.settings.mode == "replay" and self.settings.folder:
            data = Folder(self.settings.folder).read(_path(digest))
        try:
            entry = json.loads(data or b"")
        except ValueError:
            return None
        return entry if isinstance(entry, dict) and entry.get("kind") == kind else None


def export(store: Store, folder: Path, digests: Iterable[str]) -> int:
    """Copy replies into a folder that `journal.recordings` can name; gives their number.

    Raises InputError when one is not in the store.
    """
    target, count = Folder(folder), 0
    for digest in digests:
        data = store.read(f"journal/{_path(digest)}")
        if data is None:
            raise InputError(f"the journal has no reply {digest}", "export from the store that the run used")
        target.write(_path(digest), data)
        count += 1
    return count


def _vector_digest(model: str, text: str) -> str:
    """Of model and text alone: a vector has no samples, and no repetition gives another."""
    return hashlib.sha256(
        json.dumps({"vector": model, "text": text}, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()


def _little(vector: array[float]) -> array[float]:
    if sys.byteorder == "big":
        vector.byteswap()
    return vector


def _path(digest: str) -> str:
    return f"{digest[:2]}/{digest}.json"
