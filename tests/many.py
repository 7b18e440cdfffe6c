"""Number of made tables → the whole answer flow over them with a scripted model: whether it is right, and what each stage took.

`python tests/many.py 300 3000`: each number in a process of its own, so that its memory is its own. The question needs the
table that is last by name. The model is a script behind real HTTP: it keeps the needed table where it is asked about it and
writes a query only once it was shown the needed columns. Exit code 1 when an answer is wrong or a table is lost.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import catalogues  # noqa: E402
from catalogues import Asked  # noqa: E402
from company import ballot, names_in  # noqa: E402
from endpoint import Endpoint  # noqa: E402
from world import World  # noqa: E402

from tasks import stage  # noqa: E402
from tasks.solve.showing.layout import spelled  # noqa: E402

_COSTS = ("tables", "right", "queryable", "columns", "not measured", "needed described", "brief tokens", "model calls",
          "turns", "wall s", "cpu s", "children cpu s", "peak MB", "children MB")  # fmt: skip


@dataclass
class Analyst:
    """A model that knows which table is needed, and writes a query only over columns that it was shown."""

    asked: Asked
    turns: int = 0
    """Of the agent."""
    shown_at_once: bool = False
    """Whether the first prompt already described the needed columns."""

    @property
    def table(self) -> str:
        """The needed one."""
        return self.asked.tables[0]

    @property
    def columns(self) -> tuple[str, str]:
        """Names of what is added up, and of what by."""
        measure, text = (id.rpartition(".")[2] for id in self.asked.columns)
        return measure, text

    @property
    def sql(self) -> str:
        """The answer."""
        measure, text = (spelled(name) for name in self.columns)
        return f"SELECT {text}, round(sum({measure}), 1) AS total FROM {spelled(self.table)} GROUP BY 1 ORDER BY 1"

    def __call__(self, body: dict[str, Any]) -> str:
        """The reply to one request."""
        kind = body.get("response_format", {}).get("json_schema", {}).get("name")
        if kind == "Ballot":
            return ballot({name: name == self.table for name in names_in(body)}, "no step reads {}")
        if kind == "TermsReply":
            return json.dumps({"columns": [], "metrics": [], "values": []})
        if kind == "FilterReply":
            return json.dumps({"tables": [{"name": self.table, "columns": list(self.columns)}], "metrics": []})
        if kind == "ContractReply":
            return json.dumps({"columns": [{"name": self.columns[1]}, {"name": "total"}], "row": "one row per group"})
        return json.dumps({"thought": "", **self._turn(body["messages"])}, ensure_ascii=False)

    def _turn(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        said = [json.loads(message["content"]) for message in messages if message["role"] == "assistant"]
        before = [one["tool"] for one in said]
        self.turns = len(before) + 1
        seen = "\n".join(message["content"] for message in messages if message["role"] != "assistant")
        knows = all(re.search(rf"^- {re.escape(spelled(name))} \w+", seen, re.MULTILINE) for name in self.columns)
        if not before:
            self.shown_at_once = knows
        if not knows:
            tool = "list_tables" if not before else "describe"
            return {"tool": tool, "arguments": {"search": self.asked.text} if not before else {"tables": [self.table]}}
        return {"tool": "submit" if "query" in before else "query", "arguments": {"sql": self.sql}}


@dataclass
class Cost:
    """Seconds by stage: wall clock, processor time of this process and of the children that ended meanwhile."""

    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0, 0.0]))
    _began: dict[str, tuple[float, float]] = field(default_factory=dict)

    def hear(self, name: str, event: stage.StageEvent, seconds: float) -> None:
        """A listener for stages; of stages side by side each has the processor time of all."""
        if event == "start":
            self._began[name] = spent()
        elif event != "retry":
            sums, since = self.stages[name], zip(spent(), self._began[name], strict=True)
            for at, value in enumerate((seconds, *(now - then for now, then in since))):
                sums[at] += value


def spent() -> tuple[float, float]:
    """Processor seconds so far: of this process, and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return used[0].ru_utime + used[0].ru_stime, used[1].ru_utime + used[1].ru_stime


def ask_for_last(folder: Path, count: int, seed: int = 1) -> Asked:
    """Lay the tables; a question whose only table is the last one by name."""
    questions = catalogues.make(folder, count, seed)
    plain = [asked for asked in questions if asked.kind in ("name", "chinese", "alias", "meaning")]
    return max(plain, key=lambda asked: asked.tables)


def expected(folder: Path, asked: Asked) -> list[tuple[str, Decimal]]:
    """The answer's rows, worked out from the files by hand: sums by group, in order."""
    analyst = Analyst(asked)
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for group, amount in _cells(folder, analyst.table, *analyst.columns):
        sums[group] += Decimal(amount)
    return sorted(sums.items())


def _cells(folder: Path, table: str, measure: str, text: str) -> Iterator[tuple[str, str]]:
    path = folder / "context" / "csv" / f"{table}.csv"
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            yield from ((row[text], row[measure]) for row in csv.DictReader(file))
        return
    with closing(sqlite3.connect(folder / "context" / "db" / "warehouse.db")) as connection:
        for group, amount in connection.execute(f'SELECT "{text}", "{measure}" FROM "{table}"'):
            yield group, str(amount)


def answered(out: Path) -> list[tuple[str, Decimal]]:
    """The rows that were published; none where no answer was."""
    if not (out / "answer.csv").exists():
        return []
    with (out / "answer.csv").open(encoding="utf-8", newline="") as file:
        return [(group, Decimal(total)) for group, total in list(csv.reader(file))[1:]]


def recorded(store: Path, name: str, first: bool = False) -> dict[str, Any]:
    """The newest record of a stage, or the first."""
    records = sorted((store / "records" / name).glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    found: dict[str, Any] = json.loads(json.loads(records[0 if first else -1].read_text("utf-8"))["result"])
    return found


def described(brief: dict[str, Any], asked: Asked) -> int:
    """How many of the needed columns the brief describes."""
    return sum(
        name in (brief["detailed"] or {}).get(table, ())
        for table, _, name in (i.rpartition(".") for i in asked.columns)
    )


def unmeasured(profile: dict[str, Any]) -> tuple[int, int]:
    """Columns, and those that were not measured."""
    columns = [column for table in profile["tables"] for column in table["columns"]]
    return len(columns), sum(any(note.startswith("not measured") for note in column["notes"]) for column in columns)


def run(folder: Path, count: int, profile: str = "") -> dict[str, Any]:
    """The flow over `count` tables laid in `folder`; what came of it, as JSON data."""
    asked = ask_for_last(folder / "made", count)
    analyst, cost = Analyst(asked), Cost()
    with Endpoint(analyst) as endpoint, _pointed(World(folder, endpoint)) as world:
        token = stage.listener.set(cost.hear)
        began, before = time.monotonic(), spent()
        try:
            chosen = {"profile": profile} if profile else {}
            ended = world.answer(folder / "made", folder / "out", question=asked.text, **chosen)
        finally:
            stage.listener.reset(token)
        wall, after = time.monotonic() - began, spent()
        memory = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        brief, measured = recorded(world.store, "compress"), recorded(world.store, "profile_tables", first=True)
        columns, missed = unmeasured(measured)
        return {
            "asked": asked.text,
            "right": answered(folder / "out") == expected(folder / "made", asked),
            "status": ended.answer.status,
            "reasons": [ended.answer.reason, *_unread(world.store)],
            "tables": count,
            "queryable": queryable(world.store),
            "columns": columns,
            "missed": missed,
            "described": f"{described(brief, asked)} of {len(asked.columns)}",
            "tokens": brief["tokens"],
            "calls": endpoint.calls,
            "turns": analyst.turns,
            "seconds": [wall, *(now - then for now, then in zip(after, before, strict=True))],
            "memory": memory,
            "stages": dict(cost.stages),
            "notes": measured["notes"],
        }


def row(told: dict[str, Any]) -> list[str]:
    """The cells under `_COSTS`."""
    counts = [f"{told[name]:,}" for name in ("queryable", "columns", "missed")]
    shown = [told["described"], f"{told['tokens']:,}", str(told["calls"]), str(told["turns"])]
    costs = [*(f"{one:.0f}" for one in told["seconds"]), *map(str, told["memory"])]
    return [f"{told['tables']:,}", "yes" if told["right"] else "no", *counts, *shown, *costs]


def _unread(store: Path) -> list[str]:
    files = recorded(store, "build_catalogue")["files"]
    return [f"{file['path']}: {file['reason']}" for file in files if file["outcome"] == "unreadable"]


def queryable(store: Path) -> int:
    """Tables that answer a query with the rows that their catalogue says."""
    import asyncio

    from tasks.core.files.store import Folder, Store, use
    from tasks.core.models.catalogue import Catalogue
    from tasks.core.settings import load
    from tasks.core.sql.engine import Engine
    from tasks.core.sql.names import quote

    catalogue = Catalogue.model_validate(recorded(store, "build_catalogue"))

    async def count() -> int:
        statements = [f"SELECT count(*) FROM {quote(table.name)}" for table in catalogue.tables]
        async with Engine.over(catalogue, load().query) as engine:
            counts = await engine.measure(statements, 600)
        return sum(rows[0][0] == table.rows for rows, table in zip(counts, catalogue.tables, strict=True))

    with use(Store(Folder(store), store / "cache")):
        return asyncio.run(count())


@contextmanager
def _pointed(world: World) -> Iterator[World]:
    """This process's environment points there meanwhile."""
    before = dict(os.environ)
    os.environ.update(world.variables())
    try:
        yield world
    finally:
        os.environ.clear()
        os.environ.update(before)


def main(show: Callable[[str], None] = print) -> int:
    """Run each number of tables; print what every stage took, then one row for each number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[300, 3000], help="numbers of made tables")
    parser.add_argument("--profile", default="", help="settings of the runs, as of the command line")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        with tempfile.TemporaryDirectory() as scratch:
            show(json.dumps(run(Path(scratch), given.one, given.profile)))
        return 0
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    show(f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, load at the start {load}")
    rows, good = [], True
    for size in given.sizes:
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(size), "--profile", given.profile],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        told = json.loads(done.stdout.splitlines()[-1])
        good &= told["right"] and told["queryable"] == size
        rows.append(row(told))
        show(f"\n{size:,} tables: {told['asked']}\n" + line(("stage", "wall s", "cpu s", "children cpu s")))
        show(line(["---"] * 4))
        for name, seconds in told["stages"].items():
            show(line([name, *(f"{one:.1f}" for one in seconds)]))
        for note in [*told["notes"], *filter(None, told["reasons"])]:
            show(f"note: {note}")
    show("\n" + line(_COSTS) + "\n" + line(["---"] * len(_COSTS)) + "".join(f"\n{line(row)}" for row in rows))
    return 0 if good else 1


def line(cells: Any) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    sys.exit(main())
