"""`tablewright container`: what the image runs: /input → /output, all that is said to /logs/runtime.log too."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.app import app, err, leave, out
from flows.cli.batch import print_batch
from tasks.core.errors import TablewrightError

if TYPE_CHECKING:
    from flows.running.rows import Row
    from tasks.core.settings import Settings

_CHUNK = 1 << 16
_DRAIN_SECONDS = 1.0
"""For what was said last; a child that lives on may hold the pipe open."""


@app.command("container")
def command(
    source: Annotated[Path, typer.Option("--input", help="Folder of task folders, only read.")] = Path("/input"),
    target: Annotated[Path, typer.Option("--output", help="TASK/prediction.csv … and summary.json go here.")] = Path(
        "/output"
    ),
    logs: Annotated[Path, typer.Option(help="Folder of runtime.log.")] = Path("/logs"),
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "container",
    concurrency: Annotated[int, typer.Option(min=0, help="Tasks at once; 0: as cores and endpoints allow.")] = 0,
    deadline: Annotated[float, typer.Option(min=0, help="Seconds for all of them; 0: none.")] = 0,
) -> None:
    """Answer every task of a benchmark's folder without a Prefect server. Exit code 0 when all were gone through."""
    began = time.monotonic()
    with _logged(logs):
        from flows.batch import run_batch
        from flows.running.plan import places
        from flows.running.session import check_model
        from flows.running.tasks import Batch
        from tasks.core.settings import load

        settings = load(profile)
        check_model(settings, "agent")
        at_once = places(settings, concurrency)
        batch = Batch(source, target, profile, deadline)
        _say_what_there_is(settings, f"{len(batch.tasks)} tasks of {source}, {at_once} at once")
        if deadline:
            batch.deadline = began + deadline
        run_batch(batch, settings, at_once, None, Lines(len(batch.tasks)))
        print_batch(batch)
    if batch.ended == "interrupted":
        leave(130)


class Lines:
    """A batch's board as lines of a log: one for each task that ends."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0

    def shown(self) -> contextlib.AbstractContextManager[None]:
        """Nothing stays on the screen."""
        return contextlib.nullcontext()

    def hear(self, task: str, name: str, event: Any) -> None:
        """Stages are not told one by one."""

    def end(self, row: Row) -> None:
        """A task has ended."""
        self.done += 1
        told = f"{row.task} {row.status}, {row.seconds:.1f} s, {row.calls} calls: {row.reason}"
        err.print(f"{time.strftime('%H:%M:%S')} {self.done} of {self.total}: {told}", markup=False)


def _say_what_there_is(settings: Settings, what: str) -> None:
    """Versions, cores, memory, model and isolation, so that a log tells what another machine had."""
    import asyncio

    from flows.doctor import examine
    from flows.running import machine

    memory = machine.memory_mb()
    err.print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {what}; {machine.cores()} cores, {memory or '?'} MB", markup=False)
    for check in asyncio.run(examine(settings.profile)):
        if check.name != "Prefect server":
            err.print(f"  {check.state:<8} {check.name}: {check.detail}", markup=False)


@contextlib.contextmanager
def _logged(folder: Path) -> Iterator[None]:
    """What this process and its children say goes to `runtime.log` as well, until the block ends.

    Where that cannot be written it goes on without.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = (folder / "runtime.log").open("ab", buffering=0)
    except OSError as error:
        err.print(f"no log in {folder}: {error.strerror}", markup=False)
        yield
        return
    kept = [os.dup(1), os.dup(2)]
    ends = [(_piped(fd), (to, log.fileno())) for fd, to in zip((1, 2), kept, strict=True)]
    copiers = [threading.Thread(target=_copy, args=end, daemon=True) for end in ends]
    for copier in copiers:
        copier.start()
    try:
        yield
    except BaseException as error:  # whoever prints it does so after the block
        with contextlib.suppress(OSError):
            log.write((f"error: {error}\n" if isinstance(error, TablewrightError) else traceback.format_exc()).encode())
        raise
    finally:
        for file in (out.file, err.file):
            file.flush()
        for fd, to in zip((1, 2), kept, strict=True):
            os.dup2(to, fd)
        for copier in copiers:
            copier.join(timeout=_DRAIN_SECONDS)


def _piped(descriptor: int) -> int:
    """Lead a descriptor of this process into a pipe; the end to read from."""
    reading, writing = os.pipe()
    os.dup2(writing, descriptor)
    os.close(writing)
    return reading


def _copy(source: int, targets: tuple[int, int]) -> None:
    """Copy all that comes, until nobody can write any more; a full disk costs the log alone."""
    while chunk := os.read(source, _CHUNK):
        for target in targets:
            with contextlib.suppress(OSError):
                os.write(target, chunk)
