"""Large files, read by ours and by DuckDB, pandas and polars with their defaults → time, peak memory and whether all is there.

Each reader has a process of its own. The exit code is 1 when ours loses or changes a value, holds more memory than it may,
or reads a second time what it has read. `--scale 0.01` makes smaller files, `--only csv` one kind.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import platform
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

COLUMNS = ("id", "code", "name", "amount", "day", "note")
NAMES = ("Müller & Sons", "北京茶叶有限公司", "O'Neil, Inc.", "plain", "Ångström")
ROWS = {"csv": 3_070_000, "json": 1_290_000, "sqlite": 1_000_000, "xlsx": 200_000}
"""300 MB and 200 MB of text; the others as their names say."""
READERS = ("ours", "duckdb", "pandas", "polars")
MOST_MB = 1700
"""What the reading process of ours may hold, whatever the file: DuckDB's third of `intake.memory_mb`, a batch, libraries."""
LONGEST_SECONDS = 1800
_START = date(2020, 1, 1)


def rows(count: int) -> Iterator[tuple[int, str, str, float, str, str]]:
    """The rows of every file; codes are text with leading zeros, amounts have two decimals."""
    for n in range(count):
        day = (_START + timedelta(n % 1500)).isoformat()
        code, amount = f"{n * 7919 % 1_000_003:07d}", n * 37 % 1_000_000 / 100
        yield (
            n + 1,
            code,
            NAMES[n % len(NAMES)],
            amount,
            day,
            f'note {n % 977}: delivered, "signed" at the door {n % 13}',
        )


def truth(count: int) -> list[int]:
    """Rows, sum of ids, of amounts in hundredths, of the codes' characters, of the names' characters."""
    names = sum(len(NAMES[n % len(NAMES)]) for n in range(count))
    return [count, count * (count + 1) // 2, sum(n * 37 % 1_000_000 for n in range(count)), 7 * count, names]


def write(kind: str, path: Path, count: int) -> None:
    """Make the file."""
    if kind == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(_with_header(count))
    elif kind == "json":
        with path.open("w", encoding="utf-8") as file:
            for n, row in enumerate(rows(count)):
                file.write(
                    ("[" if n == 0 else ",\n") + json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False)
                )
            file.write("]\n")
    elif kind == "sqlite":
        with sqlite3.connect(path) as database:
            database.execute(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT, name TEXT, amount REAL, day TEXT, note TEXT)"
            )
            database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows(count))
    else:
        import openpyxl

        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("t")
        for row in _with_header(count):
            sheet.append(row)
        book.save(path)


def _with_header(count: int) -> Iterator[tuple[Any, ...]]:
    yield COLUMNS
    yield from rows(count)


Check = Callable[[], list[int]]
"""What a reader has read: rows and sums, as of `truth`."""


def ours(kind: str, path: Path) -> Check:
    """Inventory and catalogue with the default settings, into a store beside the file."""
    from tasks.core.files.store import Folder, Store, current, use
    from tasks.core.models.catalogue import Catalogue
    from tasks.core.settings import load
    from tasks.core.sql.engine import Engine
    from tasks.intake.catalogue import build_catalogue
    from tasks.intake.inventory import take_inventory

    settings, store = load(), Store(Folder(path.parent.parent / "store"), path.parent.parent / "cache")

    async def read() -> Catalogue:
        return await build_catalogue(await take_inventory(str(path.parent), settings.intake), settings.intake)

    async def sums(catalogue: Catalogue) -> list[int]:
        (table,) = catalogue.tables
        async with Engine(current().local(catalogue.database), settings.query) as engine:
            wanted = "count(*), sum(id), sum(round(amount * 100)), sum(length(code)), sum(length(name))"
            shown = (await engine.query(f'SELECT {wanted} FROM "{table.name}"')).rows[0]
        return [round(float(cell or 0)) for cell in shown]

    def check() -> list[int]:
        with use(store):
            return asyncio.run(sums(catalogue))

    with use(store):
        catalogue = asyncio.run(read())
    return check


def by_duckdb(kind: str, path: Path) -> Check:
    """A table in a database file, as `CREATE TABLE AS` makes it."""
    import duckdb

    database = str(path.parent.parent / "peer.duckdb")
    with duckdb.connect(database) as connection:
        if kind == "sqlite":
            connection.execute("LOAD sqlite")
        if kind == "xlsx":
            connection.execute("LOAD excel")
        source = f"sqlite_scan('{path}', 't')" if kind == "sqlite" else f"'{path}'"
        connection.execute(f"CREATE OR REPLACE TABLE t AS FROM {source}")

    def check() -> list[int]:
        with duckdb.connect(database) as connection:
            found = connection.execute(
                "SELECT count(*), sum(id), sum(round(amount * 100)), sum(length(code::VARCHAR)), sum(length(name)) FROM t"
            ).fetchone()
        return [round(cell) for cell in found or ()]

    return check


def by_pandas(kind: str, path: Path) -> Check:
    """A data frame."""
    import pandas

    if kind == "sqlite":
        with sqlite3.connect(path) as database:
            frame = pandas.read_sql_query("SELECT * FROM t", database)
    else:
        frame = {"csv": pandas.read_csv, "json": pandas.read_json, "xlsx": pandas.read_excel}[kind](path)

    def check() -> list[int]:
        texts = [int(frame[name].astype(str).str.len().sum()) for name in ("code", "name")]
        return [len(frame), int(frame["id"].sum()), round(float((frame["amount"] * 100).round().sum())), *texts]

    return check


def by_polars(kind: str, path: Path) -> Check:
    """A data frame; Excel through openpyxl, which is installed, as its default engine is a further package."""
    import polars

    if kind == "sqlite":
        with sqlite3.connect(path) as database:
            frame = polars.read_database("SELECT * FROM t", database)
    elif kind == "xlsx":
        frame = polars.read_excel(path, engine="openpyxl")
    else:
        frame = {"csv": polars.read_csv, "json": polars.read_json}[kind](path)

    def check() -> list[int]:
        texts = [frame[name].cast(polars.String).str.len_chars().sum() for name in ("code", "name")]
        return [len(frame), frame["id"].sum(), round((frame["amount"] * 100).round(0).sum()), *texts]

    return check


HOW: dict[str, Callable[[str, Path], Check]] = {
    "ours": ours,
    "duckdb": by_duckdb,
    "pandas": by_pandas,
    "polars": by_polars,
}


def read(reader: str, kind: str, path: Path) -> dict[str, Any]:
    """Be the process that reads: what it found, seconds until the table was there, processor seconds and peak MB."""
    from tasks.core import nursery

    began = time.perf_counter()
    try:
        check = HOW[reader](kind, path)
        loaded = time.perf_counter()
        found = check()
        nursery.end()  # what its children used is known when it has ended
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:80]}"}
    own, below = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "found": found,
        "seconds": loaded - began,
        "work": sum(used.ru_utime + used.ru_stime for used in (own, below)),
        "mb": _peak_mb() if reader != "ours" else max(_peak_mb(), below.ru_maxrss >> 10),
    }


def _peak_mb() -> int:
    """Of this process alone; `ru_maxrss` would begin with that of the process that started it."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) >> 10


def in_a_child(*arguments: str) -> dict[str, Any]:
    """This file again, with other arguments."""
    argv = [sys.executable, str(Path(__file__)), *arguments]
    try:
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {LONGEST_SECONDS} s"}
    last = done.stdout.strip().splitlines()[-1:]
    if done.returncode or not last:
        return {"error": f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"}
    return dict(json.loads(last[0]))


def measure(kind: str, count: int, readers: tuple[str, ...]) -> list[str]:
    """Print a line a reader; what is wrong with ours."""
    with tempfile.TemporaryDirectory(prefix="large-") as name:
        path = Path(name) / "data" / f"t.{kind}"
        path.parent.mkdir()
        in_a_child("--write", kind, str(path), str(count))
        true, size = truth(count), path.stat().st_size // 1_000_000
        wrong: list[str] = []
        runs = [run for reader in readers for run in ([reader, "ours again"] if reader == "ours" else [reader])]
        for run in runs:
            got = in_a_child("--read", run.split()[0], kind, str(path))
            print(f"| {kind}, {size} MB, {count:,} rows | {run} | {shown(got, true)} |", flush=True)
            if run.startswith("ours"):
                wrong += faults(got, true)
            records = {path: path.stat().st_ino for path in (Path(name) / "store" / "records").rglob("*.json")}
            if run == "ours":
                first = records
            elif run == "ours again" and (not records or records != first):
                wrong.append("read a second time")
        return [f"{kind}: {one}" for one in wrong]


def shown(got: dict[str, Any], true: list[int]) -> str:
    """Cells of the table."""
    if "error" in got:
        return f"– | – | – | {got['error']}"
    names = ("rows", "ids", "amounts", "codes", "names")
    lost = [name for name, one, other in zip(names, got["found"], true, strict=True) if one != other]
    right = f"changed: {', '.join(lost)}" if lost else "all there"
    return f"{got['seconds']:.1f} | {got['work']:.1f} | {got['mb']:,} | {right}"


def faults(got: dict[str, Any], true: list[int]) -> list[str]:
    """What ours may not do."""
    if "error" in got:
        return [got["error"]]
    found = [] if got["found"] == true else [f"{got['found']} in place of {true}"]
    return found + ([f"held {got['mb']} MB"] if got["mb"] > MOST_MB else [])


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the files, 1 = as named")
    parser.add_argument("--only", choices=tuple(ROWS), help="one kind of file")
    parser.add_argument("--readers", nargs="+", choices=READERS, default=READERS)
    parser.add_argument("--read", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        kind, path, count = given.write
        write(kind, Path(path), int(count))
        print("{}")
        return 0
    if given.read:
        reader, kind, path = given.read
        print(json.dumps(read(reader, kind, Path(path))))
        return 0
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.release()}, {os.cpu_count()} cores"
    print(f"{date.today()}, {machine}, load at the start {load}\n")
    print("| file | reader | s | CPU s | peak MB | sums |\n|---|---|---|---|---|---|")
    wrong = []
    for kind, count in ROWS.items():
        if given.only in (None, kind):
            wrong += measure(kind, max(1, int(count * given.scale)), tuple(given.readers))
    print("\n" + ("\n".join(wrong) or "ours: every sum right, memory bounded, nothing read twice"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
