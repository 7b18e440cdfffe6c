"""Tasks at once and a limit of model requests → how near a batch comes to the ideal schedule, with a model that answers after a fixed delay.

`python tests/throughput.py`: 100 made tasks, each with data and a question of its own, behind real HTTP, for 8 and 16 tasks at once,
and for 16 with half as many requests allowed. The ideal takes no time but the model's: tasks wait for their own calls one after
another, and for nothing else. Exit code 1 when a batch comes to less than 0.85 of it, more requests are under way than allowed,
or an answer is wrong.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import resource
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from endpoint import Delay, Endpoint  # noqa: E402
from world import QUESTION, World, make_folder, solver  # noqa: E402

TARGET = 0.85
PLANS = ((8, 8), (16, 16), (16, 8))
"""Tasks at once, and requests allowed at once."""
_COLUMNS = ("tasks at once", "requests allowed", "tasks", "calls", "delay s", "ideal s", "took s", "efficiency",
            "most requests at once", "cpu s a task", "right")  # fmt: skip


class Measured(NamedTuple):
    """One batch."""

    places: int
    limit: int
    tasks: int
    calls: int
    delay: float
    seconds: float
    most: int
    cpu: float
    right: int

    @property
    def ideal(self) -> float:
        """Seconds of a schedule in which nothing takes time but the model."""
        each = self.calls / self.tasks * self.delay
        return max(math.ceil(self.tasks / self.places) * each, math.ceil(self.calls / self.limit) * self.delay)

    @property
    def efficiency(self) -> float:
        """Ideal by measured time."""
        return self.ideal / self.seconds

    @property
    def good(self) -> bool:
        """Whether it is as it shall be."""
        return self.efficiency >= TARGET and self.most <= self.limit and self.right == self.tasks

    def cells(self) -> list[Any]:
        """A row of the table."""
        return [self.places, self.limit, self.tasks, self.calls, f"{self.delay:g}", f"{self.ideal:.1f}", f"{self.seconds:.1f}",
                f"{self.efficiency:.3f}", self.most, f"{self.cpu / self.tasks:.2f}", self.right]  # fmt: skip


def make_tasks(source: Path, count: int, mark: str = "") -> None:
    """Task folders of which no two share a catalogue or a question, nor a question with those of another mark."""
    for number in range(count):
        folder = make_folder(source / f"task_{number}", f"{QUESTION} ({number}{mark})")
        with (folder / "context" / "orders.csv").open("a", newline="") as file:
            csv.writer(file).writerows((f"{number:04}-{order}", 8) for order in range(number % 7 + 1))


def run(scratch: Path, plan: tuple[int, int], count: int, delay: float) -> Measured:
    """One batch with an empty store."""
    places, limit = plan
    make_tasks(scratch / "in", count)
    (profile := scratch / "limit.toml").write_text(f"[endpoints.main]\nconcurrency = {limit}\n")
    with Endpoint(lambda body: Delay(delay, solver(body))) as endpoint:
        world = World(scratch, endpoint, {"PYTHONDONTWRITEBYTECODE": ""})
        before = spent()
        arguments = ("--no-prefect", "--json", "--concurrency", str(places), "--profile", str(profile))
        done = world.run("batch", str(scratch / "in"), str(scratch / "out"), *arguments, seconds=7200)
        cpu = spent() - before
    said = json.loads(done.stdout)
    return Measured(
        places=places,
        limit=limit,
        tasks=count,
        calls=endpoint.calls,
        delay=delay,
        seconds=said["seconds"],
        most=endpoint.most_at_once,
        cpu=cpu,
        right=sum(_is_right(scratch / "out" / f"task_{number}", number) for number in range(count)),
    )


def _is_right(out: Path, number: int) -> bool:
    try:
        return (out / "prediction.csv").read_text("utf-8") == f"category,n\ncake,{number % 7 + 2}\n茶,2\n"
    except OSError:
        return False


def spent() -> float:
    """Processor seconds of children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(show: Callable[[str], None] = print) -> int:
    """Measure each plan; one row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--delay", type=float, default=4.0, help="seconds of one reply")
    parser.add_argument("--plans", nargs="*", default=[f"{places}/{limit}" for places, limit in PLANS])
    given = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    show(f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, load at the start {load}\n")
    show(line(_COLUMNS) + "\n" + line(["---"] * len(_COLUMNS)))
    good = True
    for plan in given.plans:
        places, limit = map(int, plan.split("/"))
        with tempfile.TemporaryDirectory() as scratch:
            measured = run(Path(scratch), (places, limit), given.tasks, given.delay)
        show(line(measured.cells()))
        good &= measured.good
    return 0 if good else 1


def line(cells: Any) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    sys.exit(main())
