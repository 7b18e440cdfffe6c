"""The files of dirty input, read by DuckDB, pandas and polars with their defaults and by ours → who is silently wrong.

One line for every case in which one of them does not give the expected table, then totals. A peer is `right`; `refused` when it
raises; `shape` when all values are there, though nested in other rows or not divided into columns; `WRONG` when a row or value is lost
or changed and nothing is said; `-` when it has no reader for the file. The exit code is 1 when ours is wrong anywhere.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sqlite3
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "tasks" / "intake")]

import test_csvfile  # noqa: E402
import test_excelfile  # noqa: E402
from alike import Rows, holds_all, holds_text, same_table  # noqa: E402
from intake_cases import Built, build, cases, lay  # noqa: E402

KINDS = ("csv", "late", "json", "sqlite", "xlsx")
TEXTS = (".csv", ".tsv", ".txt", ".xls")
TWO_WAYS = (
    "dates whose order the values decide",
    "full-width commas",
    "features with nested properties",
    "a decimal comma in every field beside semicolons",
    "comma and semicolon divide alike: one is taken, the other is named",
    "Central European in a one-byte encoding: the other one-byte encoding is named",
)
"""Cases in which a peer may be right in a way of its own, or nobody can be."""
LINES = (".jsonl", ".ndjson")


class Case(NamedTuple):
    """A file and the tables that are expected of it; none where it is no table at all."""

    kind: str
    name: str
    file: str
    tables: tuple[tuple[str, Rows], ...]
    """Name inside the file, if it matters, and rows."""


def lay_all(folder: Path) -> list[Case]:
    """Write the files of all cases, each kind in a folder of its own."""
    found = []
    for kind in ("csv", "json", "sqlite"):
        for case in cases(f"{kind}.toml"):
            if case.get("set_aside") or case["name"] in TWO_WAYS:
                continue  # where no reading is right, or more than one, none is wrong
            file = lay(case, folder / kind)
            tables = [] if "unreadable" in case else case.get("table") or [case]
            found.append(Case(kind, case["name"], file, tuple((t.get("called", ""), t["rows"]) for t in tables)))
    return [*found, *_late(folder / "late"), *_workbooks(folder / "xlsx")]


def _late(folder: Path) -> Iterator[Case]:
    folder.mkdir()
    for name, (early, late, kind, read, _) in test_csvfile.LATE.items():
        lines = "".join(f"{at},{early}\n" for at in range(test_csvfile.MANY))
        (folder / f"{name}.csv").write_text(f"id,v\n{lines}{test_csvfile.MANY},{late}\n")
        first = early if kind in ("VARCHAR", "DATE") else float(early) if kind == "DOUBLE" else int(early)
        rows = [*([at, first] for at in range(test_csvfile.MANY)), [test_csvfile.MANY, read]]
        yield Case("late", f"after 30,000 rows: {name}", f"{name}.csv", (("", rows),))


def _workbooks(folder: Path) -> Iterator[Case]:
    from openpyxl import Workbook

    folder.mkdir()
    for at, (name, (rows, formats, _, wanted, _)) in enumerate(test_excelfile.CASES.items()):
        book = Workbook()
        test_excelfile.rows_of(*rows, formats=formats)(book)
        book.save(folder / f"b{at}.xlsx")
        yield Case("xlsx", name, f"b{at}.xlsx", (("", wanted),))


def by_duckdb(path: Path, _table: str) -> Rows | None:
    """DuckDB, whose SQLite and Excel readers must be downloaded, and are not."""
    import duckdb

    suffix = path.suffix.lower()
    if suffix not in (*TEXTS, *LINES, ".json", ".geojson"):
        return None
    reader = "read_csv" if suffix in TEXTS else "read_json"
    with duckdb.connect() as connection:
        return list(connection.execute(f"from {reader}(?)", [str(path)]).fetchall())


def by_pandas(path: Path, table: str) -> Rows | None:
    """pandas."""
    import pandas as pd

    suffix = path.suffix.lower()
    if suffix in (".xlsx", ".xls"):
        frame = pd.read_excel(path)
    elif suffix in TEXTS:
        frame = pd.read_table(path) if suffix == ".tsv" else pd.read_csv(path)
    elif suffix in (*LINES, ".json", ".geojson"):
        frame = pd.read_json(path, lines=suffix in LINES)
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            frame = pd.read_sql_query(_select(connection, table), connection)
    return [list(row) for row in frame.astype(object).itertuples(index=False)]


def by_polars(path: Path, table: str) -> Rows | None:
    """polars, whose Excel reader is another package."""
    import polars as pl

    suffix = path.suffix.lower()
    if suffix in (".xlsx", ".xls"):
        return None
    if suffix in TEXTS:
        frame = pl.read_csv(path, separator="\t" if suffix == ".tsv" else ",")
    elif suffix in (*LINES, ".json", ".geojson"):
        frame = pl.read_ndjson(path) if suffix in LINES else pl.read_json(path)
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            frame = pl.read_database(_select(connection, table), connection)
    return list(frame.rows())


def _select(connection: sqlite3.Connection, table: str) -> str:
    names = [name for (name,) in connection.execute("select name from sqlite_schema where type in ('table', 'view')")]
    return 'select * from "{}"'.format((table or names[0]).replace('"', '""'))


PEERS: dict[str, Callable[[Path, str], Rows | None]] = {"DuckDB": by_duckdb, "pandas": by_pandas, "polars": by_polars}


def judge(case: Case, read: Callable[[str], Rows | None]) -> str:
    """What one reader makes of a case; the worst of its tables counts, but a reader of one table may choose which."""
    if not case.tables:
        outcome, rows = _read(read, "")
        return outcome or ("WRONG" if rows else "right")
    named = all(name for name, _ in case.tables)
    outcomes = []
    for name, wanted in case.tables:
        outcome, rows = _read(read, name)
        if not outcome:
            nested = holds_all(wanted, rows) if case.kind == "json" else holds_text(wanted, rows)
            outcome = "right" if same_table(wanted, rows) else "shape" if nested else "WRONG"
        outcomes.append(outcome)
    order = ("WRONG", "refused", "shape", "right", "-") if named else ("right", "shape", "-", "WRONG", "refused")
    return next(outcome for outcome in order if outcome in outcomes)


def _read(read: Callable[[str], Rows | None], name: str) -> tuple[str, Rows]:
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            rows = read(name)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of polars is no Exception
        return "refused", []
    return ("-", []) if rows is None else ("", rows)


def ours(built: Built, case: Case) -> str:
    """The same judgement of our own reader; every table must be there."""
    found = built.tables(case.file)
    if not case.tables:
        return "WRONG" if found else "refused"
    rows = [built.rows(table.name) for table in found]
    right = len(rows) == len(case.tables) and all(
        same_table(wanted, mine) for (_, wanted), mine in zip(case.tables, rows, strict=True)
    )
    return "right" if right else "WRONG"


def main() -> int:
    """Print the comparison; 1 when ours is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", default="", help="print what each makes of the cases whose name contains this")
    given = parser.parse_args()
    totals: dict[tuple[str, str], Counter[str]] = {}
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        root = Path(name)
        (root / "in").mkdir()
        every = lay_all(root / "in")
        built = {kind: build(root / "in" / kind, root / f"store-{kind}") for kind in KINDS}
        for case in every:
            path = root / "in" / case.kind / case.file
            outcomes = {"ours": ours(built[case.kind], case)}
            for peer, read in PEERS.items():
                outcomes[peer] = judge(case, lambda table, read=read, path=path: read(path, table))
                if given.show and given.show in case.name:
                    print(f"{case.name}\n  {peer}: {_read(lambda table, read=read, path=path: read(path, table), '')}")
            if given.show and given.show in case.name:
                print(f"  expected: {case.tables}")
            for reader, outcome in outcomes.items():
                totals.setdefault((case.kind, reader), Counter())[outcome] += 1
            if set(outcomes.values()) - {"right", "-"}:
                print(" ".join(f"{outcome:8}" for outcome in outcomes.values()), f"{case.kind}: {case.name}")
    print(f"(columns: ours, {', '.join(PEERS)})\n\n{_versions()}\n")
    print(f"{'files':8} {'reader':8} {'cases':>6} {'right':>6} {'shape':>6} {'refused':>8} {'silently wrong':>15}")
    for kind in (*KINDS, "all"):
        for reader in ("ours", *PEERS):
            counts = Counter[str]()
            for (one, who), found in totals.items():
                counts += found if who == reader and kind in (one, "all") else Counter()
            read_at_all = sum(counts.values()) - counts["-"]
            shown = (counts["right"], counts["shape"], counts["refused"], counts["WRONG"])
            print(f"{kind:8} {reader:8} {read_at_all:6} {shown[0]:6} {shown[1]:6} {shown[2]:8} {shown[3]:15}")
    return 1 if any(counts["WRONG"] for (_, who), counts in totals.items() if who == "ours") else 0


def _versions() -> str:
    from importlib.metadata import version

    return ", ".join(f"{name} {version(name)}" for name in ("duckdb", "pandas", "polars"))


if __name__ == "__main__":
    sys.exit(main())
