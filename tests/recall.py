"""The sample region_sales, made folders and suites → how much of what an answer needs is recalled, shown and found, at what cost.

`python tests/recall.py [--sizes 30 300 3000] [--suite DIR] [--gold DIR] [--ask [terms]] [--profile P] [--keep DIR] [--questions N]`: a
suite is a folder of task folders whose gold says how it is computed (tests/needs.py). No model is asked without `--ask`; with it that
of the profile (MODEL_API_URL by default) expands the terms, votes and filters, or expands alone; what it replied stays in `--keep`.
`--seed N` and `--words FILE` (of tests/cases) make other folders. Made questions carry terms that a model might add. Exit code 1 when a table is lost or a brief is too long.
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
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import catalogues  # noqa: E402
import sales  # noqa: E402
from catalogues import Asked  # noqa: E402
from needs import needed, tasks_of  # noqa: E402
from recalling import ASKING, Outcome, World, all_found, build, desk, index_bytes, lists, queryable  # noqa: E402

from tasks.core.settings import Settings  # noqa: E402

T = TypeVar("T")
_HEAD = ("questions", "way", "n", "tables @5", "@20", "columns @10", "@30", "in context", "described", "written",
         "named", "listed", "most tokens", "recall s", "brief s")  # fmt: skip
_VOTES = ("votes", "prompts", "tables", "calls made", "rounds × prompts", "saved", "rounds × tables", "unanimous",
          "troubled")  # fmt: skip
_COSTS = ("tables", "columns", "entries", "read s", "load s", "measure s", "describe s", "index s", "index MB",
          "peak MB", "children MB", "not measured", "queryable", "found by name")  # fmt: skip


def main() -> int:
    """Print the tables that the command line asks for."""
    given = arguments()
    if given.made:
        print(json.dumps(asyncio.run(of_made(given.made, given))))
        return 0
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, load at the start {load}\n")
    print(line(_HEAD) + "\n" + line(["---"] * len(_HEAD)))
    voted: list[list[str]] = []
    with tempfile.TemporaryDirectory() as scratch:
        sales.suite(Path(scratch) / "sales")
        good = of_suite(("region_sales", Path(scratch) / "sales", Path(scratch) / "sales" / "gold"), given, voted)
        if given.suite:
            good &= of_suite((given.suite.name, given.suite, given.gold or given.suite / "gold"), given, voted)
    costs = [measured(size, given) for size in given.sizes]
    print_table(_VOTES, voted + [row for cost in costs for row in cost["votes"]])
    print_table(_COSTS, [cost["cost"] for cost in costs])
    return 0 if good and all(cost["good"] for cost in costs) else 1


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[30, 300, 3000], help="numbers of made tables")
    parser.add_argument("--suite", type=Path, help="folder of task folders")
    parser.add_argument("--gold", type=Path, help="its gold, where it is not in SUITE/gold")
    parser.add_argument(
        "--ask", nargs="?", const="all", choices=["all", "terms"], help="ask a model too; terms = only for these"
    )
    parser.add_argument("--profile", default="default", help="settings of the model")
    parser.add_argument("--keep", type=Path, help="folder in which its replies stay")
    parser.add_argument("--questions", type=int, default=0, help="most made questions of a size, evenly; 0 = all")
    parser.add_argument("--words", default=catalogues.WORDS, help="words of the made folders: a file of tests/cases")
    parser.add_argument("--seed", type=int, default=1, help="of the made folders")
    parser.add_argument("--kinds", action="store_true", help="made questions by their kind")
    parser.add_argument("--made", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask and given.profile == "default" and not os.environ.get("MODEL_API_URL"):
        parser.error("--ask needs MODEL_API_URL, or a profile that names an endpoint")
    return given


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table, where it has rows."""
    if rows:
        print("\n" + "\n".join(map(line, (head, ["---"] * len(head), *rows))))


def line(cells: Sequence[Any]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def ways(ask: str | None, terms: bool = False) -> tuple[str, ...]:
    """How each question is put."""
    asking = ASKING if ask == "all" else ASKING[:1] if ask else ()
    return ("words", "kept", *(["terms"] if terms else []), *asking)


Suite = tuple[str, Path, Path]
"""Name, folder, folder of its gold."""


def of_suite(suite: Suite, given: argparse.Namespace, voted: list[list[str]]) -> bool:
    """Print the rows of a suite's tasks together, add those of its votes; whether every brief keeps to its budget."""
    name, folder, gold = suite
    outcomes: dict[str, list[Outcome]] = {way: [] for way in ways(given.ask)}
    with desk(given.profile, given.keep) as settings, tempfile.TemporaryDirectory() as scratch:
        for world, asked in by_world(folder, gold, Path(scratch), settings):
            for way, those in outcomes.items():
                those += asyncio.run(all_found(world, asked, way))
        if not any(outcomes.values()):
            print(f"{name}: no gold in {gold} says how it is computed (gold.sql or truth.json)", file=sys.stderr)
            return False
        for way, those in outcomes.items():
            print(line(row(name, way, those)), flush=True)
        every = [one for those in outcomes.values() for one in those]
        voted += votes_row(name, every)
        return fits(every, settings.brief.tokens)


def by_world(suite: Path, gold: Path, scratch: Path, settings: Settings) -> list[tuple[World, list[Asked]]]:
    """The tasks of equal folders together, with what their gold needs."""
    found: dict[tuple[bytes, ...], tuple[World, list[Asked]]] = {}
    for task in tasks_of(suite, gold, scratch):
        files = sorted(path for path in (task.folder / "context").rglob("*") if path.is_file())
        key = tuple(path.read_bytes() for path in files)
        if key not in found:
            found[key] = (asyncio.run(build(task.folder, settings)), [])
        world, asked = found[key]
        tables = {table.name: {c.name: c.type for c in table.columns} for table in world.catalogue.tables}
        need = needed(task.sql, tables)
        asked.append(Asked("suite", task.question, need.tables, need.columns))
    return list(found.values())


def votes_row(name: str, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """What early stopping saved in the votes of these questions; no row without votes."""
    polls = [poll for one in outcomes for poll in one.polls]
    if not polls:
        return []
    made, wanted = sum(p.usage.whoever_paid().calls for p in polls), sum(p.rounds_wanted for p in polls)
    items = sum(len(p.all) for p in polls)
    each = sum(len(p.all) * p.rounds_wanted for p in polls)
    agreed = sum(
        tally.partition("/")[0] in ("0", tally.partition("/")[2]) for p in polls for tally in p.vote_tally.values()
    )
    troubled = sum(bool(one.problems) for one in outcomes)
    counts = [len(polls), items, made, wanted, f"{1 - made / wanted:.0%}", each, f"{agreed / items:.1%}", troubled]
    return [[name, *map(str, counts)]]


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
    command = [sys.executable, __file__, "--made", str(size), "--profile", given.profile]
    command += ["--ask", given.ask] if given.ask else []
    command += ["--keep", str(given.keep)] if given.keep else []
    command += ["--questions", str(given.questions), "--words", given.words, "--seed", str(given.seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    for cells in told["rows"] + (told["kinds"] if given.kinds else []):
        print(line(cells), flush=True)
    return told


def evenly(items: Sequence[T], most: int) -> list[T]:
    """At most so many of the items, spread over all of them; 0 = all."""
    count = min(most or len(items), len(items))
    return [items[at * len(items) // count] for at in range(count)]


async def of_made(size: int, given: argparse.Namespace) -> dict[str, Any]:
    """Rows and costs of a made folder."""
    with desk(given.profile, given.keep) as settings, tempfile.TemporaryDirectory() as scratch:
        made = catalogues.make(Path(scratch), size, given.seed, said=given.words)
        questions = evenly(made, given.questions)
        world = await build(Path(scratch), settings)
        by_name = sum(lists(world, table.name, table.name) for table in world.catalogue.tables)
        answering = await queryable(world)
        outcomes = {way: await all_found(world, questions, way) for way in ways(given.ask, True)}
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
            "votes": votes_row(name, every),
            "cost": cost(world, (answering, by_name)),
            "good": answering == by_name == size and fits(every, settings.brief.tokens),
        }


def cost(world: World, reached: tuple[int, int]) -> list[str]:
    """What building took; tables that answer a query, and those that are shown when their name is searched."""
    columns = [column for table in world.profile.tables for column in table.columns]
    missed = sum(any(note.startswith("not measured") for note in column.notes) for column in columns)
    mine, children = (
        resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    seconds = [f"{world.seconds[name]:.1f}" for name in ("read", "load", "measure", "describe", "index")]
    counts = [f"{len(world.profile.tables):,}", f"{len(columns):,}", f"{world.index.entries:,}"]
    sizes = [f"{index_bytes(world) / 1e6:.1f}", str(mine), str(children), f"{missed:,}"]
    return [*counts, *seconds, *sizes, *(f"{count:,}" for count in reached)]


if __name__ == "__main__":
    sys.exit(main())
