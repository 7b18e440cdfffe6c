"""The sample region_sales, made folders and suites → how much of what an answer needs is recalled, shown and found, at what cost.

`python tests/recall.py [--sizes 30 300 3000] [--suite DIR] [--gold DIR] [--ask]`: a suite is a folder of task folders whose gold
says how it is computed (tests/needs.py). No model is asked without `--ask`; with it the endpoint of MODEL_API_URL expands the
terms, votes and filters. Made questions carry terms that a model might add. Exit code 1 when a table is lost or a brief is too long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import catalogues  # noqa: E402
import sales  # noqa: E402
from catalogues import Asked  # noqa: E402
from needs import needed, tasks_of  # noqa: E402
from recalling import Outcome, World, build, desk, found, index_bytes, lists, queryable  # noqa: E402

_PROBED = 100
"""Tables of a large folder whose names are searched, the first and the last among them."""
_HEAD = ("questions", "way", "n", "tables @5", "@20", "columns @10", "@30", "in context", "described", "written",
         "named", "listed", "most tokens", "recall s", "brief s")  # fmt: skip
_COSTS = ("tables", "columns", "entries", "read s", "load s", "measure s", "describe s", "index s", "index MB",
          "peak MB", "children MB", "not measured", "queryable", "found by name")  # fmt: skip


def main() -> int:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[30, 300, 3000], help="numbers of made tables")
    parser.add_argument("--suite", type=Path, help="folder of task folders")
    parser.add_argument("--gold", type=Path, help="its gold, where it is not in SUITE/gold")
    parser.add_argument("--ask", action="store_true", help="ask the endpoint of MODEL_API_URL too")
    parser.add_argument("--kinds", action="store_true", help="made questions by their kind")
    parser.add_argument("--made", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask and not os.environ.get("MODEL_API_URL"):
        parser.error("--ask needs MODEL_API_URL")
    if given.made:
        print(json.dumps(asyncio.run(of_made(given.made, given.ask))))
        return 0
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, load at the start {load}\n")
    print(line(_HEAD) + "\n" + line(["---"] * len(_HEAD)))
    with tempfile.TemporaryDirectory() as scratch:
        sales.suite(Path(scratch) / "sales")
        good = of_suite("region_sales", Path(scratch) / "sales", Path(scratch) / "sales" / "gold", given.ask)
        if given.suite:
            gold = given.gold or given.suite / "gold"
            good &= of_suite(given.suite.name, given.suite, gold, given.ask)
    costs = [measured(size, given) for size in given.sizes]
    if costs:
        print("\n" + line(_COSTS) + "\n" + line(["---"] * len(_COSTS)))
    for cost in costs:
        print(line(cost["cost"]))
        good &= cost["good"]
    return 0 if good else 1


def line(cells: Sequence[Any]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def ways(ask: bool, terms: bool = False) -> tuple[str, ...]:
    """How each question is put."""
    return ("words", "kept", *(["terms"] if terms else []), *(["model"] if ask else []))


def of_suite(name: str, suite: Path, gold: Path, ask: bool) -> bool:
    """Print the rows of a suite's tasks together; whether every brief keeps to its budget."""
    outcomes: dict[str, list[Outcome]] = {way: [] for way in ways(ask)}
    worlds: dict[tuple[bytes, ...], World] = {}
    with desk(ask) as settings, tempfile.TemporaryDirectory() as scratch:
        for task in tasks_of(suite, gold, Path(scratch)):
            files = sorted(path for path in (task.folder / "context").rglob("*") if path.is_file())
            key = tuple(path.read_bytes() for path in files)
            world = worlds.get(key) or worlds.setdefault(key, asyncio.run(build(task.folder, settings)))
            tables = {table.name: {c.name: c.type for c in table.columns} for table in world.catalogue.tables}
            need = needed(task.sql, tables)
            asked = Asked("suite", task.question, need.tables, need.columns)
            for way in outcomes:
                outcomes[way].append(asyncio.run(found(world, asked, way)))
        for way, those in outcomes.items():
            print(line(row(name, way, those)), flush=True)
        return fits([one for those in outcomes.values() for one in those], settings.brief.tokens)


def fits(outcomes: Sequence[Outcome], budget: int) -> bool:
    """Whether every brief keeps to its budget."""
    return all(one.tokens <= budget for one in outcomes)


def row(name: str, way: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Means over the questions, each weighing the same; the largest brief; medians of seconds."""
    parts = [
        [one.tables_at(5) for one in outcomes],
        [one.tables_at(20) for one in outcomes],
        [one.columns_at(10) for one in outcomes],
        [one.columns_at(30) for one in outcomes],
        [len(one.context & {*one.asked.columns}) / len(one.asked.columns) for one in outcomes],
        [len(one.described) / len(one.asked.columns) for one in outcomes],
        [len(one.written) / len(one.asked.columns) for one in outcomes],
        [len(one.named) / len(one.asked.tables) for one in outcomes],
        [len(one.listed) / len(one.asked.tables) for one in outcomes],
    ]
    seconds = [[one.recall_seconds for one in outcomes], [one.brief_seconds for one in outcomes]]
    most = max(one.tokens for one in outcomes)
    shares = [f"{statistics.mean(part):.1%}" for part in parts]
    return [name, way, str(len(outcomes)), *shares, f"{most:,}", *(f"{statistics.median(s):.2f}" for s in seconds)]


def measured(size: int, given: argparse.Namespace) -> dict[str, Any]:
    """Of made tables, in a process of their own, so that its memory is theirs; prints the rows of its questions."""
    command = [sys.executable, __file__, "--made", str(size), *(["--ask"] if given.ask else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    for cells in told["rows"] + (told["kinds"] if given.kinds else []):
        print(line(cells), flush=True)
    return told


async def of_made(size: int, ask: bool) -> dict[str, Any]:
    """Rows and costs of a made folder."""
    with desk(ask) as settings, tempfile.TemporaryDirectory() as scratch:
        questions = catalogues.make(Path(scratch), size)
        world = await build(Path(scratch), settings)
        names = [table.name for table in world.catalogue.tables]
        probed = [*sorted(names)[:: max(1, len(names) // _PROBED)], max(names)]
        by_name = sum(lists(world, name, name) for name in probed)
        answering = await queryable(world)
        outcomes = {way: [await found(world, asked, way) for asked in questions] for way in ways(ask, True)}
        every = [one for those in outcomes.values() for one in those]
        name = f"{size:,} tables"
        return {
            "rows": [row(name, way, those) for way, those in outcomes.items()],
            "kinds": [
                row(f"{name}, {kind}", way, [one for one in those if one.asked.kind == kind])
                for kind in catalogues.KINDS
                for way, those in outcomes.items()
                if any(one.asked.kind == kind for one in those)
            ],
            "cost": cost(world, (answering, by_name, len(probed))),
            "good": answering == size and by_name == len(probed) and fits(every, settings.brief.tokens),
        }


def cost(world: World, reached: tuple[int, int, int]) -> list[str]:
    """What building took; tables that answer, and of how many searched names the table was shown."""
    columns = [column for table in world.profile.tables for column in table.columns]
    missed = sum(any(note.startswith("not measured") for note in column.notes) for column in columns)
    mine, children = (
        resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    seconds = [f"{world.seconds[name]:.1f}" for name in ("read", "load", "measure", "describe", "index")]
    counts = [f"{len(world.profile.tables):,}", f"{len(columns):,}", f"{world.index.entries:,}"]
    sizes = [f"{index_bytes(world) / 1e6:.1f}", str(mine), str(children), f"{missed:,}"]
    return [*counts, *seconds, *sizes, f"{reached[0]:,}", f"{reached[1]} of {reached[2]}"]


if __name__ == "__main__":
    sys.exit(main())
