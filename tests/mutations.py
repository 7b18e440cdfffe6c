"""500 damaged or hostile files, each in a folder with three good ones → what became of each, and 1 when anything broke.

Taken in by the product's own stages: inventory, knowledge, task file, catalogue in its real child, documents converted.
It is wrong when the run crashes or hangs, a good file is not as it was, a file does not end in exactly one state with its
reason, a child has no limit of memory, or this process grows. Seeded; a case is the same on every machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from intake_cases import said_of  # noqa: E402
from mutating import Case, cases  # noqa: E402

from flows.running.task import read_task  # noqa: E402
from tasks.core.errors import InputError  # noqa: E402
from tasks.core.files.store import Folder, Store, use  # noqa: E402
from tasks.core.models.catalogue import Catalogue  # noqa: E402
from tasks.core.models.source import SourceFile  # noqa: E402
from tasks.core.process import Worker  # noqa: E402
from tasks.core.sections import ConvertSettings, IntakeSettings  # noqa: E402
from tasks.core.settings import load  # noqa: E402
from tasks.document.convert import convert_document  # noqa: E402
from tasks.intake.catalogue import build_catalogue  # noqa: E402
from tasks.intake.inventory import take_inventory  # noqa: E402
from tasks.intake.knowledge import read_knowledge  # noqa: E402
from tasks.intake.loading.problems import UNKNOWN, kind_of  # noqa: E402
from tasks.intake.overrides import read_overrides  # noqa: E402

SEED, COUNT = 20261130, 500
FILE_SECONDS = 30
"""What a file may take by the settings of these runs; those of a user are longer."""
HANG_SECONDS = 240
"""A case of which nothing was heard for so long hangs: the times above, twice, and a busy machine."""
GROWTH_MB = 400
"""What this process may hold more after a case than before it: files are read in children."""
GOOD = {
    "stock.csv": "sku,城市,n\n000001,杭州,3\n000002,Oslo,4\n",
    "staff.json": '[{"name": "李", "age": 41}, {"name": "Ann", "age": 7}]',
    "note.md": "# 说明\n\nThe shop in 杭州 opened in 1999.\n",
}
ROWS = {
    "stock.csv": [("000001", "杭州", 3), ("000002", "Oslo", 4)],
    "staff.json": [("李", 41), ("Ann", 7)],
}


@dataclass
class Outcome:
    """What became of a case; `faults` are empty when all is well."""

    number: int
    kind: str
    how: str
    state: str = ""
    reason: str = ""
    seconds: float = 0.0
    child_mb: int = 0
    faults: list[str] = field(default_factory=list)


class Measured(Worker):
    """The product's child, whose limit and highest memory are looked at after each reply."""

    highest_mb = 0
    faults: list[str] = []  # noqa: RUF012 (one list for all, emptied before each case)

    async def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        reply = await super().ask(request, seconds)
        if self._process is not None:
            self._look(self._process.pid)
        return reply

    def _look(self, pid: int) -> None:
        with contextlib.suppress(OSError):
            limits = Path(f"/proc/{pid}/limits").read_text()
            if f" {self.memory_mb << 20} " not in next(x for x in limits.splitlines() if x.startswith("Max address")):
                Measured.faults.append(f"a child without its limit of {self.memory_mb} MB")
            status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
            Measured.highest_mb = max(Measured.highest_mb, int(status["VmHWM"].split()[0]) >> 10)


def examine(case: Case, place: Path) -> Outcome:
    """Lay the case's folder in `place`, take it in, and look at everything that must hold."""
    folder = place / "folder"
    folder.mkdir(parents=True)
    for name, text in GOOD.items():
        (folder / name).write_text(text, "utf-8")
    (folder / case.name).write_bytes(case.make())
    outcome, before = Outcome(case.number, case.kind, case.how), _resident_mb()
    Measured.highest_mb, Measured.faults[:] = 0, []
    began = time.monotonic()
    workers = [f"tasks.{name}.Worker" for name in ("intake.loading.client", "document.converting.pages")]
    with contextlib.ExitStack() as stack:
        for name in (*workers, "tasks.document.converting.shaped.Worker"):
            stack.enter_context(mock.patch(name, Measured))
        stack.enter_context(use(Store(Folder(place / "store"), place / "store" / "cache")))
        try:
            asyncio.run(_take_in(folder, case, outcome))
        except Exception as error:
            outcome.faults.append(f"{type(error).__name__}: {str(error)[:300]}")
    outcome.seconds = round(time.monotonic() - began, 2)
    outcome.child_mb = Measured.highest_mb
    outcome.faults += Measured.faults
    if (grown := _resident_mb() - before) > GROWTH_MB:
        outcome.faults.append(f"this process holds {grown} MB more than before")
    return outcome


async def _take_in(folder: Path, case: Case, outcome: Outcome) -> None:
    limits: IntakeSettings = load().intake.model_copy(update={"file_seconds": FILE_SECONDS})
    inventory = await take_inventory(str(folder), limits)
    catalogue = await build_catalogue(inventory, limits)
    (bad,) = (file for file in catalogue.files if file.path == case.name)
    outcome.state, outcome.reason = bad.outcome, bad.reason
    if case.name == "task.json":
        _ask(folder, outcome)
    elif case.name == "metadata.yaml":
        try:
            await read_overrides(inventory)
            outcome.state = "metadata read"
        except InputError as error:
            outcome.state, outcome.reason = "metadata told", error.message
    elif bad.outcome == "knowledge":
        knowledge = await read_knowledge(inventory)
        outcome.state, outcome.reason = "knowledge", f"{len(knowledge.text)} characters"
    elif bad.outcome == "document":
        await _convert(folder, bad, outcome)
    outcome.faults += _of_the_rest(catalogue)
    outcome.faults += [f"no code for {said!r}" for said in said_of(catalogue) if kind_of(said).code == UNKNOWN]
    if [file.path for file in catalogue.files].count(case.name) != 1 or len(catalogue.files) != len(GOOD) + 1:
        outcome.faults.append(f"files: {[file.path for file in catalogue.files]}")
    if outcome.state == "table" and not any(table.path == case.name for table in catalogue.tables):
        outcome.faults.append("called a table, and no table is there")
    if outcome.state != "table" and any(table.path == case.name for table in catalogue.tables):
        outcome.faults.append(f"called {outcome.state}, and a table is there")
    if not outcome.reason and outcome.state not in ("table", "converted", "as_is", "task read", "metadata read"):
        outcome.faults.append(f"{outcome.state} without a reason")
    note = next(file for file in inventory.files if file.path == "note.md")
    text = await convert_document(inventory.root, note, load().convert)
    if (text.status, text.lines) != ("as_is", 3):
        outcome.faults.append(f"note.md: {text.status}, {text.lines} lines")


def _ask(folder: Path, outcome: Outcome) -> None:
    try:
        task = read_task(str(folder))
        outcome.state = "task read" if task else "task told"
    except InputError as error:
        outcome.state, outcome.reason = "task told", error.message


async def _convert(folder: Path, bad: SourceFile, outcome: Outcome) -> None:
    settings: ConvertSettings = load().convert.model_copy(
        update={"file_seconds": FILE_SECONDS, "page_seconds": 10, "ocr": False}
    )
    made = await convert_document(str(folder), bad, settings)
    outcome.state, outcome.reason = made.status, made.reason
    if (made.text is None) == (made.status in ("converted", "partial", "as_is")):
        outcome.faults.append(f"{made.status}, and its text is {made.text}")


def _of_the_rest(catalogue: Catalogue) -> list[str]:
    """What is not as it was of the good files."""
    import duckdb

    from tasks.core.files import store as stores

    faults = []
    with duckdb.connect(str(stores.current().local(catalogue.database)), read_only=True) as connection:
        for path, rows in ROWS.items():
            tables = [table for table in catalogue.tables if table.path == path]
            found = [connection.execute(f'select * from "{table.name}"').fetchall() for table in tables]
            if found != [rows]:
                faults.append(f"{path}: {found}")
    kept = [document.lines for document in catalogue.documents if document.path == "note.md"]
    return faults + ([] if kept == [3] else [f"note.md: {kept}"])


# ---- the whole ------------------------------------------------------------------------------------------------------


def part(count: int, seed: int, first: int, only: str) -> None:
    """Examine cases from the `first` on, one line of JSON each, before and after: `{"begins": n}`, then its outcome."""
    for case in chosen(count, seed, only):
        if case.number < first:
            continue
        print(json.dumps({"begins": case.number}), flush=True)
        with tempfile.TemporaryDirectory(prefix="mutations-") as place:
            outcome = examine(case, Path(place))
        print(json.dumps(asdict(outcome)), flush=True)


def chosen(count: int, seed: int, only: str) -> list[Case]:
    """The cases whose kind or way has this in it."""
    return [case for case in cases(count, seed) if only in f"{case.kind}: {case.how}"]


def _resident_mb() -> int:
    """Memory of this process now, files it made apart."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20


def outcomes(count: int, seed: int, only: str = "") -> Iterator[Outcome]:
    """All outcomes, from a process of their own that is made anew when a case kills it or hangs."""
    listed = {case.number: case for case in chosen(count, seed, only)}
    left = sorted(listed)
    while left:
        argv = [sys.executable, "-B", __file__, "--part", str(left[0])]
        argv += ["--count", str(count), "--seed", str(seed), "--only", only]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT, start_new_session=True) as process:
            begun, ended = left[0], ""
            for line in _lines(process):
                if "begins" in line:
                    begun = line["begins"]
                    continue
                left.remove(line["number"])
                yield Outcome(**line)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if left and begun in left:
            left.remove(begun)
            ended = f"this process ended or said nothing for {HANG_SECONDS} s (exit code {process.returncode})"
            yield Outcome(begun, listed[begun].kind, listed[begun].how, state="BROKE", faults=[ended])


def _lines(process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """What it says, until it ends or is silent for too long."""
    assert process.stdout
    pipe, rest = process.stdout.fileno(), b""
    while select.select([pipe], [], [], HANG_SECONDS)[0] and (said := os.read(pipe, 1 << 16)):
        *lines, rest = (rest + said).split(b"\n")
        yield from map(json.loads, lines)


def main() -> int:
    """Examine all cases and print the counts; 1 when one is wrong, or there is none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", help="only cases whose kind or damage has this in it")
    parser.add_argument("--each", action="store_true", help="a line for each case")
    parser.add_argument("--part", type=int, default=-1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part >= 0:
        part(given.count, given.seed, given.part, given.only)
        return 0
    began, found = time.monotonic(), []
    for outcome in outcomes(given.count, given.seed, given.only):
        found.append(outcome)
        if given.each or outcome.faults:
            said = f"{outcome.state}: {outcome.reason[:120]}"
            print(
                f"{outcome.number:4} {outcome.kind}, {outcome.how}: {said} ({outcome.seconds} s, {outcome.child_mb} MB)"
            )
        for fault in outcome.faults:
            print(f"     WRONG {fault}", flush=True)
    print(summary(found, time.monotonic() - began))
    return 1 if not found or any(outcome.faults for outcome in found) else 0


def summary(found: list[Outcome], seconds: float) -> str:
    """Counts by kind and state, and the longest and largest of each kind."""
    states: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in found:
        states[outcome.kind][outcome.state] += 1
    lines = ["", f"{'kind':11}{'files':>6}{'most s':>8}{'most MB':>9}  states"]
    for kind, counts in sorted(states.items()):
        mine = [outcome for outcome in found if outcome.kind == kind]
        told = ", ".join(f"{count} {state}" for state, count in counts.most_common())
        most = f"{max(o.seconds for o in mine):8.1f}{max(o.child_mb for o in mine):9}"
        lines.append(f"{kind:11}{len(mine):6}{most}  {told}")
    wrong = sum(bool(outcome.faults) for outcome in found)
    return "\n".join([*lines, f"{len(found)} files in {seconds:.0f} s: {wrong} wrong"])


if __name__ == "__main__":
    sys.exit(main())
