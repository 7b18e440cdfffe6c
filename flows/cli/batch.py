"""`tablewright batch`: a folder of tasks → a folder of predictions, with `summary.json`; one task's trouble is its own."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.app import app, err, out, print_json, table
from tasks.core.errors import TablewrightError

if TYPE_CHECKING:
    import asyncio

    from flows.batch import Batch
    from tasks.core.settings import Settings


@app.command("batch")
def command(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="Folder of task folders.")],
    target: Annotated[Path, typer.Argument(metavar="OUTPUT", help="TASK/prediction.csv … and summary.json go here.")],
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    concurrency: Annotated[int, typer.Option(min=0, help="Tasks at once; 0: batch.concurrency.")] = 0,
    deadline: Annotated[float, typer.Option(min=0, help="Seconds for all of them; 0: none.")] = 0,
    no_prefect: Annotated[bool, typer.Option("--no-prefect", help="Plain calls, even when a server answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON in place of text.")] = False,
) -> None:
    """Answer every task of a folder. Exit code 0 when each has an answer that nothing speaks against, else 5."""
    from flows.batch import Batch
    from flows.cli import launch
    from tasks.core.settings import load

    settings = load(profile)
    batch = Batch(source, target, profile, deadline)
    in_prefect = launch.choose(settings, no_prefect, lambda text: err.print(text, style="dim"))
    run_batch(batch, settings, concurrency, in_prefect)
    if as_json:
        print_json(batch.summary())
    else:
        _print(batch)
    if batch.ended == "interrupted":
        raise typer.Exit(130)
    fine = all(row.status in ("approved", "not_assessed") for row in batch.rows.values())
    raise typer.Exit(0 if fine else 5)


def run_batch(batch: Batch, settings: Settings, concurrency: int, in_prefect: bool) -> None:
    """Run the tasks of a batch, `concurrency` at once (0: as the settings say), to their end, a deadline or a signal."""
    _Runner(batch, concurrency or settings.batch.concurrency, settings.batch.grace_seconds, in_prefect).run()


class _Runner:
    """Runs a batch in an event loop of another thread: in the main thread Prefect takes SIGTERM for itself, and then
    nobody would write the summary."""

    def __init__(self, batch: Batch, concurrency: int, grace: float, in_prefect: bool) -> None:
        self.batch, self.concurrency, self.grace, self.in_prefect = batch, concurrency, grace, in_prefect
        from flows.cli.progress import Board

        self.board = Board(len(batch.tasks))
        self._cancel: Callable[[], object] = lambda: None
        self._signals = 0

    def run(self) -> None:
        """Run all tasks. A signal stops them; a second one does not wait for them."""
        import asyncio
        import signal
        from concurrent.futures import ThreadPoolExecutor

        kinds = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(kind, self._stop) for kind in kinds]
        try:
            with self.board.shown(), ThreadPoolExecutor(1) as pool:
                running = pool.submit(copy_context().run, asyncio.run, self._all())
                while not running.done():
                    time.sleep(0.1)
                running.result()
        except asyncio.CancelledError:
            self.batch.close("interrupted")
        finally:
            for kind, handler in zip(kinds, before, strict=True):
                signal.signal(kind, handler)

    def _stop(self, *_: object) -> None:
        self._signals += 1
        if self._signals > 1:
            self.batch.close("interrupted")
            os._exit(130)
        self._cancel()

    async def _all(self) -> None:
        import asyncio

        loop, this = asyncio.get_running_loop(), asyncio.current_task()
        self._cancel = lambda: this and loop.call_soon_threadsafe(this.cancel)
        gate = asyncio.Semaphore(self.concurrency)
        try:
            async with asyncio.timeout(self.batch.seconds_left()):
                await asyncio.gather(*(self._one(task, gate) for task in self.batch.tasks))
        except TimeoutError:
            self.batch.close("deadline")
        else:
            self.batch.close("all")

    async def _one(self, task: str, gate: asyncio.Semaphore) -> None:
        from flows.batch import row_of, row_of_error
        from flows.cli.launch import launch
        from tasks import stage

        async with gate:
            began = time.monotonic()
            stage.listener.set(lambda name, event, _: self.board.hear(task, name, event))
            try:
                row = row_of(task, await launch(self.batch.request(task, self.grace), self.in_prefect))
            except Exception as error:  # noqa: BLE001  one task's trouble is its own
                row = row_of_error(task, error, time.monotonic() - began)
                if not isinstance(error, TablewrightError):
                    self.batch.keep_traceback(task, "".join(traceback.format_exception(error)))
            self.batch.add(row)
            self.board.end(row)


def _print(batch: Batch) -> None:
    from rich.markup import escape

    shown = table("task", "status", "s", "tokens", "rows", "why")
    for row in batch.rows.values():
        tokens, rows = f"{row.tokens_in + row.tokens_out:,}", "" if row.rows is None else f"{row.rows:,}"
        shown.add_row(escape(row.task), row.status, f"{row.seconds:.1f}", tokens, rows, escape(row.reason))
    out.print(shown)
    counts = ", ".join(f"{count} {name}" for name, count in batch.summary()["counts"].items())
    out.print(f"{counts}; {batch.seconds:.1f} s; {escape(str(batch.target / 'summary.json'))}")
