"""Process id of a parent, a module and its arguments → the module run as a program that ends when the parent does, however that ends.

A server that its killed starter leaves behind holds its port, and nobody knows whose it is.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

_LOOK_SECONDS = 0.5
_END_SECONDS = 10.0
"""For the module to end by itself; then its process group is killed."""


def main() -> None:
    """Run `python -m flows.running.parented PARENT MODULE …`, started in a session of its own."""
    parent, module = int(sys.argv[1]), sys.argv[2]
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    sys.argv = sys.argv[2:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_END_SECONDS)
    os.killpg(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
