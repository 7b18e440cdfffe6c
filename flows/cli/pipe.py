"""A standard stream → the same, for readers who may go away: `| head -1` ends the reading, and neither the run nor its exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, TextIO


class Patient:
    """A stream that goes on into nothing where its pipe was closed at the other end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Any:
        return iter(self._stream)

    def write(self, text: str) -> int:
        """As the stream does; without a reader the text is dropped."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._close()
            return len(text)

    def flush(self) -> None:
        """As the stream does."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._close()

    def _close(self) -> None:
        """Lead the stream, and what it still holds, into nothing."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())
        os.close(nothing)
        with contextlib.suppress(OSError):
            self._stream.flush()


def be_patient() -> None:
    """Let both standard streams outlive their readers; streams of a test, or none at all, stay as they are."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, Patient) and _has_file(stream):
            setattr(sys, name, Patient(stream))


def _has_file(stream: TextIO) -> bool:
    try:
        return stream.fileno() >= 0
    except (OSError, ValueError, AttributeError):
        return False
