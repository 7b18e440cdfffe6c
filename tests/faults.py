"""One fault planted in each of many right queries → how many the checks by code find, and how often they cry without one.

`python tests/faults.py` takes the repository's samples; `--suite DIR [--gold DIR]` (again and again) adds folders of task
folders whose gold says how it is computed (tests/needs.py). A planted fault counts only where it changes the result. Tasks are
halved by the digest of their files: rules may be tuned on the first half, the second tells how they do elsewhere.
Exit code 1 when fewer than 60 % are found, or more than 5 % of the right queries fail a check.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import sales  # noqa: E402
from assigned import AS_OF, assigned  # noqa: E402
from mutants import HALVES, Case, alarms, is_good, missed, of_data, sample, table, told  # noqa: E402
from needs import Task, tasks_of  # noqa: E402
from planting import KINDS, Plant  # noqa: E402
from righted import Fix, Right  # noqa: E402
from second_look import Look, asking, looks, opinions  # noqa: E402

from tasks.core.errors import EvidenceError, QueryError  # noqa: E402
from tasks.core.evidence import checks, lineage  # noqa: E402
from tasks.core.evidence.outline import outline  # noqa: E402
from tasks.core.files.store import Folder, Store, use  # noqa: E402
from tasks.core.models.answer import Assignment, Candidate, Contract, Question, Submission  # noqa: E402
from tasks.core.models.evidence import Check  # noqa: E402
from tasks.core.models.query import QueryResult  # noqa: E402
from tasks.core.settings import Settings, load  # noqa: E402
from tasks.core.sql import joins  # noqa: E402
from tasks.core.sql.engine import Engine  # noqa: E402
from tasks.core.values.door import read_value  # noqa: E402
from tasks.solve.check import of_form  # noqa: E402
from tasks.solve.checking.counted import counted  # noqa: E402
from tasks.solve.checking.look import audit_answer  # noqa: E402
from tasks.solve.mending.dialect import parse  # noqa: E402
from tasks.solve.mending.repair import repair  # noqa: E402
from tasks.solve.mending.scopes import Schema  # noqa: E402
from tasks.solve.publishing.casts import audit_casts  # noqa: E402
from tasks.solve.publishing.replay import replay  # noqa: E402

SOLVED = ROOT / "tests" / "cases" / "checking" / "solved.toml"
_EACH = 2
"""Faults of one kind in one task."""


@dataclass
class Found:
    """All cases, and what could not be used."""

    cases: list[Case] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)
    given: dict[str, Assignment] = field(default_factory=dict)
    """By task."""


def main() -> int:
    """Plant, check, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, action="append", default=[], help="folder of task folders")
    parser.add_argument("--gold", type=Path, action="append", default=[], help="its gold, where not in SUITE/gold")
    parser.add_argument("--half", choices=("tuned", "held"), help="only this half")
    parser.add_argument("--kind", help="only faults of this kind")
    parser.add_argument("--task", help="only tasks whose name contains this")
    parser.add_argument("--missed", action="store_true", help="list faults that no check failed, and false alarms")
    _about_asking(parser)
    parser.add_argument("--json", type=Path, help="write all cases there")
    parser.add_argument(
        "--cases", type=Path, help="ask about cases that an earlier --json wrote; nothing is planted anew"
    )
    given = parser.parse_args()
    found = Found()
    golds = dict(zip(given.suite, given.gold, strict=False))
    settings = load()
    if given.cases:
        found.cases = [of_data(told) for told in json.loads(given.cases.read_text("utf-8"))]
    asked = {case.task for case in sample(found.cases, given.ask, given.seed)}
    with tempfile.TemporaryDirectory() as scratch, use(Store(Folder(Path(scratch) / "store"), Path(scratch) / "cache")):
        for suite in _suites(given.suite, golds, Path(scratch)):
            for task in suite.tasks:
                name = f"{suite.name}/{task.name}"
                if given.cases and name in asked:
                    question = Question(text=task.question, as_of=AS_OF)
                    found.given[name] = asyncio.run(assigned(task.folder, question, settings))
                elif not given.cases and (given.task or "") in name:
                    asyncio.run(_of_task(suite, task, settings, given, found))
        print(table(found.cases))
        print(alarms(found.cases), flush=True)
        judged = _asked(found, given)
    print(opinions(judged))
    for text in found.unusable:
        print(f"left out: {text}")
    if given.missed:
        print(missed(found.cases))
    if given.json:
        given.json.write_text(json.dumps([told(case) for case in found.cases], ensure_ascii=False, indent=1), "utf-8")
    return 0 if is_good(found.cases) else 1


def _about_asking(parser: argparse.ArgumentParser) -> None:
    asked = parser.add_argument_group("asking a model", "MODEL_API_URL, MODEL_NAME, MODEL_API_KEY, or --profile local")
    asked.add_argument(
        "--ask", type=int, default=0, help="let the validators judge so many faults, and the right queries"
    )
    asked.add_argument("--profile", default="default", help="whose model judges")
    asked.add_argument(
        "--no-form", action="store_true", help="only the validator of the process: half as many requests"
    )
    asked.add_argument("--store", type=Path, help="keeps the replies: the same command goes on where it stopped")
    asked.add_argument("--seed", type=int, default=0, help="draws another sample")
    asked.add_argument("--at-once", type=int, default=1, help="requests at the same time")
    asked.add_argument("--timeout", type=float, default=0, help="seconds for one reply; 0: as the settings say")
    asked.add_argument("--seconds", type=float, default=float("inf"), help="begin no request after so many seconds")


def _asked(found: Found, given: argparse.Namespace) -> list[Look]:
    """What validators say of a sample."""
    if not given.ask:
        return []
    deadline = time.monotonic() + given.seconds
    with asking(given.profile, given.timeout, given.store, not given.no_form) as settings:
        drawn = sample(found.cases, given.ask, given.seed)
        print(
            f"asking about {len(drawn)} submissions, {sum(bool(case.kind) for case in drawn)} of them faulty",
            flush=True,
        )
        return asyncio.run(looks(drawn, found.given, settings, given.at_once, deadline))


class Suite(NamedTuple):
    """Tasks, and where their gold lies."""

    name: str
    gold: Path
    tasks: Iterable[Task]


def _suites(suites: Sequence[Path], golds: dict[Path, Path], scratch: Path) -> Iterator[Suite]:
    sales.suite(scratch / "sales")
    yield Suite("region_sales", scratch, tasks_of(scratch / "sales", scratch / "sales" / "gold", scratch))
    if SOLVED.is_file():
        told = tomllib.loads(SOLVED.read_text("utf-8"))["question"]
        own = [Task(q["name"], ROOT / "data" / "samples" / q["sample"], q["text"], q["sql"]) for q in told]
        yield Suite("samples", scratch, own)
    for suite in suites:
        gold = golds.get(suite, suite / "gold")
        yield Suite(suite.name, gold, tasks_of(suite, gold, scratch / suite.name))


async def _of_task(suite: Suite, task: Task, settings: Settings, only: argparse.Namespace, found: Found) -> None:
    """Add the task's right query and its faults."""
    files = sorted(path for path in (task.folder / "context").rglob("*") if path.is_file())
    digest = hashlib.blake2b(b"".join(path.read_bytes() for path in files), digest_size=4).digest()
    name, half = f"{suite.name}/{task.name}", HALVES[digest[0] % 2]
    if only.half and not half.startswith(only.half):
        return
    given = await assigned(task.folder, Question(text=task.question, as_of=AS_OF), settings)
    found.given[name] = given
    schema = Schema(given.profile)
    async with Engine.over(given.catalogue, settings.query) as engine:
        try:
            sql, result = await _right(engine, task.sql, schema)
        except QueryError as error:
            found.unusable.append(f"{name}: {error.message[:150]}")
            return
        tree, _ = parse(sql)
        assert tree is not None
        found.cases.append(
            Case(name, half, "", task.question, sql, await _checks(engine, given, sql, result, settings))
        )
        right = Right(tree, schema, result, tuple(_corrections(suite.gold / task.name / "truth.json")))
        for kind, plant in KINDS.items():
            if only.kind and only.kind != kind:
                continue
            for wrong, changed in await _planted(engine, right, plant):
                checks = await _checks(engine, given, wrong, changed, settings)
                found.cases.append(Case(name, half, kind, task.question, wrong, checks))


async def _right(engine: Engine, sql: str, schema: Schema) -> tuple[str, QueryResult]:
    """The right query as DuckDB runs it, and its result."""
    try:
        return sql, await engine.query(sql)
    except QueryError as error:
        mended = repair(sql, error.message, schema)
        if mended is None:
            raise
        return mended.sql, await engine.query(mended.sql)


async def _planted(engine: Engine, right: Right, plant: Plant) -> list[tuple[str, QueryResult]]:
    """Faults that run and change the result, the first few."""
    found: dict[str, QueryResult] = {}
    for tree in plant(right):
        sql = tree.sql("duckdb")
        if sql in found:
            continue
        try:
            result = await engine.query(sql)
        except QueryError:
            continue
        if result.digest != right.result.digest:
            found[sql] = result
        if len(found) == _EACH:
            break
    return list(found.items())


async def _checks(
    engine: Engine, given: Assignment, sql: str, result: QueryResult, settings: Settings
) -> tuple[Check, ...]:
    """All that code says of a submission, as `check_candidate` says it; one engine serves all queries of a folder."""
    candidate = Candidate(
        submission=Submission(sql=sql), digest=result.digest, columns=result.columns, rows=result.row_count
    )
    parts = outline(sql)
    with tempfile.TemporaryDirectory() as folder:
        try:
            replayed = await replay(candidate, parts, engine, settings.sandbox, Path(folder))
        except EvidenceError as error:
            return (Check(name="replay", outcome="failed", detail=error.message),)
    measured = await joins.audit(engine, sql)
    count = await counted(engine, candidate.submission, replayed.replay)
    return (
        checks.replay_equal(replayed.replay),
        *checks.tables_whole(lineage.used_tables(parts, sql, given.catalogue)),
        *await audit_casts(engine, sql, given.profile),
        *of_form(Contract(), replayed.replay, parts, replayed.tally, measured),
        *([count] if count else []),
        *await audit_answer(engine, given, Contract(), sql, measured),
    )


def _corrections(truth: Path) -> Iterator[Fix]:
    """What the documents of a task first said and then took back; one cell of each column stands in where none was."""
    if not truth.is_file():
        return
    for document in json.loads(truth.read_text("utf-8"))["docs"].values():
        kinds = document["columns"]
        for fix in document["corrections"]:
            kind = kinds[fix["column"]]
            kind_name = "number" if kind["type"] == "integer" else kind["type"]
            value = read_value(fix["superseded"], kind_name, kind["unit"].split("（")[0]).value
            if value is not None:
                yield fix["record_id"], fix["column"], str(value)
        for column in kinds:
            told = [(r[document["key"]], r[column]) for r in document["records"] if r[column] is not None]
            if len(told) > 1 and column != document["key"]:
                yield str(told[0][0]), column, str(told[-1][1])


if __name__ == "__main__":
    sys.exit(main())
