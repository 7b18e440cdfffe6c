"""Documents of many records → tokens, wrong and missing cells and seconds of two ways to read them: slices, and learned patterns.

`python tests/extractors.py [--sizes 100 1000] [--suite DIR …] [--patterns-url URL] [--write FILE]`: the made registers of
tests/registers.py, or the task folders of a suite with truth (`gold/*/truth.json`). The whole document workflow runs over real HTTP. Slices
are answered by a simulated reader that knows the truth and errs at stated rates (tests/knower.py); patterns were written by
one who answered from the requests and also knew the program, and are recorded in tests/recordings/extractors. Exit code 1 when patterns have
more wrong cells than slices.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import registers  # noqa: E402
from endpoint import Endpoint  # noqa: E402
from knower import OMITTED, SWAPPED, UNLISTED, Knower, Known  # noqa: E402
from registers import Told  # noqa: E402

from tasks.core.models.document import DerivedTable  # noqa: E402

RECORDINGS = ROOT / "tests" / "recordings" / "extractors"
SIZES = (100, 1000)
BEGIN, END = "<!-- measured by make extractors -->", "<!-- end of measured -->"
_PROFILE = """[endpoints.main]
url = "{url}"
model = "knower"
concurrency = 4
[plan]
writer = "rules"
[normalise]
model_code = false
[roles.default]
timeout_seconds = 1800
attempts = 1
"""
_UNBOUND = "[budget]\ncalls = 0\ntokens = 0\nseconds = 0\n"
_HEAD = (
    "document",
    "records",
    "way",
    "calls",
    "tokens",
    "share",
    "by patterns",
    "cells",
    "wrong",
    "missing",
    "seconds",
)


@dataclass
class Row:
    """One way over one document."""

    name: str
    records: int
    way: str
    calls: int
    tokens: int
    by_patterns: int
    cells: int
    wrong: int
    missing: int
    seconds: float
    notes: tuple[str, ...] = ()
    share: float = 1.0

    def parts(self) -> tuple[str, ...]:
        """As in the table's head."""
        counts = (self.calls, self.tokens)
        rest = (self.by_patterns, self.cells, self.wrong, self.missing)
        return (
            self.name,
            f"{self.records:,}",
            self.way,
            *(f"{number:,}" for number in counts),
            f"{self.share:.1%}",
            *(f"{number:,}" for number in rest),
            f"{self.seconds:.0f}",
        )


def main() -> int:
    """Print the table, and write it where told."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="records of the made registers")
    parser.add_argument("--names", nargs="+", default=sorted(registers.MAKERS), help="made registers")
    parser.add_argument(
        "--suite", nargs="+", type=Path, default=[], help="folders of tasks with truth, in place of the registers"
    )
    parser.add_argument(
        "--patterns-url", default="", help="OpenAI-compatible address that writes patterns that no recording has"
    )
    parser.add_argument("--ways", nargs="+", default=["slices", "patterns"])
    parser.add_argument("--write", type=Path, help="document that takes the table between its marks")
    chosen = parser.parse_args()
    documents = _suites(chosen.suite) if chosen.suite else made(chosen.names, chosen.sizes)
    rows = [row for name, known in documents for row in measured(name, known, chosen.ways, chosen.patterns_url)]
    text = table(rows)
    print(text)
    if chosen.write:
        _write(chosen.write, text)
    pairs = list(zip(rows[::2], rows[1::2], strict=True)) if len(chosen.ways) == 2 else []
    return int(any(patterns.wrong > slices.wrong for slices, patterns in pairs))


def measured(name: str, known: Known, ways: list[str], url: str) -> Iterator[Row]:
    """A row for each way, each over an empty store."""
    whole = 0
    for way in ways:
        row = _run(name, known, way, url)
        whole = whole or row.tokens
        row.share = row.tokens / whole
        print(" ".join(row.parts()), *row.notes, sep="\n    ", file=sys.stderr, flush=True)
        yield row


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = [f"| {' | '.join(_HEAD)} |", f"|{'---|' * len(_HEAD)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row.parts())} |" for row in rows)])


def draw(known: Known, knower: Knower, scratch: Path, more: str = "") -> tuple[DerivedTable, float]:
    """The document's table in `scratch`/out, by the whole workflow, and seconds; `more` is laid over the profile."""
    from flows.document import document
    from flows.running.request import DocumentRequest

    folder, profile = scratch / "task", scratch / "profile.toml"
    (folder / "doc").mkdir(parents=True, exist_ok=True)
    (folder / "doc" / f"{known.stem}.md").write_text("\n".join(known.lines), "utf-8")
    (folder / "knowledge.md").write_text(known.knowledge, "utf-8")
    with Endpoint(knower) as endpoint:
        profile.write_text(_PROFILE.format(url=endpoint.url) + (more if "[budget]" in more else f"{more}{_UNBOUND}"))
        request = DocumentRequest(folder=str(folder), profile=str(profile), out=str(scratch / "out"))
        started = time.monotonic()
        drawn = asyncio.run(document(request))
    if not drawn.derivation.tables:
        raise SystemExit(f"{known.stem}: {drawn.derivation.outcomes} {drawn.derivation.stopped}")
    return drawn.derivation.tables[0], time.monotonic() - started


def read_by_patterns(derived: DerivedTable) -> int:
    """Records, a record in each of its sections, that patterns read."""
    found = (re.search(r"(\d+) of \d+ records were read by", note) for note in derived.notes)
    return sum(int(one[1]) for one in found if one)


def _run(name: str, known: Known, way: str, url: str) -> Row:
    knower = Knower(known, RECORDINGS, url)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TABLEWRIGHT_STORE"] = str(Path(scratch) / "store")
        enabled = f"[patterns]\nenabled = {'true' if way == 'patterns' else 'false'}\n"
        derived, seconds = draw(known, knower, Path(scratch), enabled)
        wrong, missing, cells = compared(known, Path(scratch) / "out" / derived.file, derived.table)
    calls, sent, told = (sum(spent[at] for spent in knower.spent.values()) for at in range(3))
    by = read_by_patterns(derived)
    return Row(name, len(known.truth), way, calls, sent + told, by, cells, wrong, missing, seconds, derived.notes)


def compared(known: Known, database: Path, name: str) -> tuple[int, int, int]:
    """Cells that are not the truth, cells that are empty where the truth has a value, and all that the truth has."""
    with sqlite3.connect(database) as db:
        db.row_factory = sqlite3.Row
        rows = {str(row[known.key]): row for row in db.execute(f'SELECT * FROM "{name}"')}
    wrong = missing = cells = 0
    for record, values in known.truth.items():
        for column in known.columns:
            truth, row = values.get(column), rows.get(record)
            got = row[column] if row is not None and column in row.keys() else None  # noqa: SIM118
            cells += truth is not None
            missing += got is None and truth is not None
            wrong += got is not None and (truth is None or not _same(got, truth))
            if os.environ.get("SHOW") and got is not None and (truth is None or not _same(got, truth)):
                print(record, column, repr(got), repr(truth), file=sys.stderr)
    return wrong, missing, cells


def _same(got: Any, truth: Any) -> bool:
    if isinstance(truth, int | float) and isinstance(got, int | float):
        return abs(got - truth) <= 1e-6 * max(abs(got), abs(truth), 1e-9)
    return " ".join(str(got).casefold().split()) == " ".join(str(truth).casefold().split())


def made(names: list[str], sizes: list[int]) -> Iterator[tuple[str, Known]]:
    for name in names:
        for size in sizes:
            one = registers.MAKERS[name](size)
            yield name, Known(one.stem, one.key, one.columns, one.lines, one.knowledge, one.truth, one.told)


def _suites(folders: list[Path]) -> Iterator[tuple[str, Known]]:
    """Of each task the document with the most records, where it is a text."""
    for path in sorted(p for folder in folders for p in folder.rglob("truth.json")):
        told = json.loads(path.read_text("utf-8"))
        task = path.parents[2] / path.parent.name / "context"
        stem = max(told["docs"], key=lambda name: len(told["docs"][name]["records"]))
        text = next(iter(task.rglob(f"{stem}.md")), None)
        if text is not None:
            yield (
                stem,
                _known(stem, told["docs"][stem], text.read_text("utf-8"), (task / "knowledge.md").read_text("utf-8")),
            )


def _known(stem: str, doc: dict[str, Any], text: str, knowledge: str) -> Known:
    key = doc["key"]
    columns = {name: (about["type"], about["unit"]) for name, about in doc["columns"].items() if name != key}
    columns = {name: (kind, "" if kind == "date" else unit) for name, (kind, unit) in columns.items()}
    mended = {(c["record_id"], c["column"]): c for c in doc["corrections"]}
    told: dict[tuple[str, str], list[Told]] = {}
    for record, where in doc["source_lines"].items():
        for name, line in where.items():
            change = mended.get((record, name))
            earlier = doc["superseded_lines"].get(record, {}).get(name, ()) if change else ()
            found = [Told(number, str(change["superseded"])) for number in earlier] if change else []
            told[record, name] = [*found, Told(line, str(change["corrected"]) if change else "", bool(change))]
    return Known(stem, key, columns, text.split("\n"), knowledge, {r[key]: r for r in doc["records"]}, told)


def _write(path: Path, text: str) -> None:
    whole = path.read_text("utf-8")
    before, _, rest = whole.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise SystemExit(f"{path} has no marks for the table")
    rates = f"Simulated reader of slices: {OMITTED:.1%} of values left out, {SWAPPED:.1%} swapped, {UNLISTED:.1%} of records not listed."
    path.write_text(f"{before}{BEGIN}\n{rates}\n\n{text}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
