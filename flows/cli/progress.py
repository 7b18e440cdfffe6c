"""Stage events → lines on the terminal; nothing when it is none."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.text import Text

from flows.cli.app import err
from tasks import stage
from tasks.core import notice

if TYPE_CHECKING:
    from flows.running.rows import Row

_MARKS = {"done": ("✓", "green"), "cached": ("=", "cyan"), "failed": ("✗", "red"), "retry": ("↻", "yellow")}


class Progress:
    """Ended stages above, running ones with their clock below."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str], Text] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.running: dict[str, tuple[float, Spinner]] = {}
        self.open: Counter[str] = Counter()
        self.note = ""

    def hear(self, name: str, event: stage.StageEvent, seconds: float) -> None:
        """One stage event; runs of one stage that end alike share a line."""
        if event == "start":
            self.open[name] += 1
            self.running.setdefault(name, (time.monotonic(), Spinner("dots")))
            return
        if event != "retry":
            self.open[name] -= 1
            if self.open[name] <= 0:
                self.running.pop(name, None)
        mark, style = _MARKS[event]
        said = {
            "cached": "from an earlier run",
            "retry": f"tried again in {seconds:g} s",
            "failed": "no result to keep",
        }
        if event == "done":
            self.seconds[name] += seconds
        self.counts[name, event] += 1
        times = f"  × {self.counts[name, event]}" if self.counts[name, event] > 1 else ""
        told = said.get(event, f"{self.seconds[name]:6.1f} s")
        self.lines[name, event] = Text.assemble((f"{mark} ", style), f"{name.replace('_', ' '):<20}", told, times)

    @property
    def ended(self) -> list[Text]:
        """What has ended so far, in order of the first of each."""
        return [*self.lines.values()]

    def say(self, text: str) -> None:
        """A remark that the next one replaces."""
        self.note = text

    def __rich__(self) -> Group:
        now = time.monotonic()
        lines: list[Text | Spinner] = [*self.ended]
        for name, (began, spinner) in [*self.running.items()]:
            spinner.update(text=Text(f"{name.replace('_', ' '):<20}{now - began:6.1f} s", style="bold"))
            lines.append(spinner)
        return Group(*lines, *([Text(self.note, style="dim")] if self.note and self.running else []))


@contextlib.contextmanager
def shown() -> Iterator[Progress]:
    """Show the stages that run inside."""
    progress = Progress()
    if not err.is_terminal:
        yield progress
        return
    heard, said = stage.listener.set(progress.hear), notice.listener.set(progress.say)
    try:
        with Live(progress, console=err, refresh_per_second=8):
            yield progress
    finally:
        stage.listener.reset(heard)
        notice.listener.reset(said)


class Board:
    """A batch: how many tasks have ended and how, and what the others are at."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.counts: Counter[str] = Counter()
        self.running: dict[str, str] = {}
        self.began = time.monotonic()

    def hear(self, task: str, name: str, event: stage.StageEvent) -> None:
        """One stage event of a task."""
        if event == "start":
            self.running[task] = name

    def end(self, row: Row) -> None:
        """A task has ended."""
        self.running.pop(row.task, None)
        self.counts[row.status] += 1

    def __rich__(self) -> Group:
        done = sum(self.counts.values())
        bar = ProgressBar(total=self.total, completed=done, width=40)
        said = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        head = Text(f"{done} of {self.total} tasks, {time.monotonic() - self.began:.0f} s  {said}")
        at = [Text(f"  {task}: {name.replace('_', ' ')}", style="dim") for task, name in sorted(self.running.items())]
        return Group(head, bar, *at)

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Show the board while the block runs."""
        if not err.is_terminal:
            yield
            return
        with Live(self, console=err, refresh_per_second=4):
            yield
