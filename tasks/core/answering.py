"""JSON lines on standard input → JSON lines on standard output: the child's side of `process.Worker`.

It imports nothing of ours, because every child of ours does: a model or a setting costs it a third of a second.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_SET_PDEATHSIG = 1


def answer_requests(handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """The child's side of `Worker`: limit memory, then answer each line of standard input until it ends.

    Whatever `handle` prints goes to standard error, so that it cannot spoil a reply.
    """
    memory_mb, parent = int(sys.argv[1]), int(sys.argv[2])
    _die_with(parent)
    _limit(resource.RLIMIT_AS, memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        replies.write(json.dumps(handle(json.loads(line)), allow_nan=False) + "\n")
        replies.flush()


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(kind, (most, most))
    except ValueError:
        if sys.platform == "linux":  # macOS has no limit of address space
            raise


def _die_with(parent: int) -> None:
    """End with the parent: by its death signal, which native code cannot hold up, and where there is none by looking."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
