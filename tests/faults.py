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
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import sales  # noqa: E402
from needs import Task, tasks_of  # noqa: E402
from planting import KINDS, Fix, Plant, Right  # noqa: E402
from recalling import AS_OF, desk  # noqa: E402
from second_look import second_look  # noqa: E402

from tasks.core.errors import EvidenceError, QueryError  # noqa: E402
from tasks.core.evidence import checks, lineage  # noqa: E402
from tasks.core.evidence.outline import outline  # noqa: E402
from tasks.core.models.answer import Assignment, Brief, Candidate, Contract, Question, Submission  # noqa: E402
from tasks.core.models.evidence import Check  # noqa: E402
from tasks.core.models.query import QueryResult  # noqa: E402
from tasks.core.models.review import Audit  # noqa: E402
from tasks.core.settings import Settings  # noqa: E402
from tasks.core.sql import joins  # noqa: E402
from tasks.core.sql.engine import Engine  # noqa: E402
from tasks.core.values.door import read_value  # noqa: E402
from tasks.intake.catalogue import build_catalogue  # noqa: E402
from tasks.intake.inventory import take_inventory  # noqa: E402
from tasks.intake.knowledge import read_knowledge  # noqa: E402
from tasks.solve.check import of_form  # noqa: E402
from tasks.solve.checking.look import audit_answer  # noqa: E402
from tasks.solve.mending.dialect import parse  # noqa: E402
from tasks.solve.mending.repair import repair  # noqa: E402
from tasks.solve.mending.scopes import Schema  # noqa: E402
from tasks.solve.profile import profile_tables  # noqa: E402
from tasks.solve.publishing.casts import audit_casts  # noqa: E402
from tasks.solve.publishing.replay import replay  # noqa: E402

SOLVED = ROOT / "tests" / "cases" / "checking" / "solved.toml"
_EACH = 2
"""Faults of one kind in one task."""
_HALVES = ("tuned", "held out")


@dataclass(frozen=True)
class Case:
    """A query over a folder, right or with one fault, and what the checks say of it."""

    task: str
    half: str
    kind: str
    """Empty for the right query."""
    question: str
    sql: str
    checks: tuple[Check, ...] = ()

    @property
    def failed(self) -> bool:
        """A check failed."""
        return any(check.outcome == "failed" for check in self.checks)

    @property
    def flagged(self) -> bool:
        """A check failed or has something to note."""
        return any(check.outcome != "passed" for check in self.checks)


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
    parser.add_argument(
        "--ask", type=int, default=0, help="let the endpoint of MODEL_API_URL judge so many of them too"
    )
    parser.add_argument("--json", type=Path, help="write all cases there")
    given = parser.parse_args()
    found = Found()
    golds = dict(zip(given.suite, given.gold, strict=False))
    with desk(False) as settings, tempfile.TemporaryDirectory() as scratch:
        for suite in _suites(given.suite, golds, Path(scratch)):
            for task in suite.tasks:
                if not given.task or given.task in f"{suite.name}/{task.name}":
                    asyncio.run(_of_task(suite, task, settings, given, found))
        judged = asyncio.run(_asked(found, given.ask, settings)) if given.ask else []
    print(table(found.cases))
    print(opinions(judged))
    print(alarms(found.cases))
    for text in found.unusable:
        print(f"left out: {text}")
    if given.missed:
        print(missed(found.cases))
    if given.json:
        given.json.write_text(json.dumps([_told(case) for case in found.cases], ensure_ascii=False, indent=1), "utf-8")
    return 0 if _good(found.cases) else 1


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
    name, half = f"{suite.name}/{task.name}", _HALVES[digest[0] % 2]
    if only.half and not half.startswith(only.half):
        return
    given = await _given(task, settings)
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


async def _given(task: Task, settings: Settings) -> Assignment:
    """What a run over the task's folder would have, without a model."""
    inventory = await take_inventory.function(str(task.folder), settings.intake)
    knowledge = await read_knowledge.function(inventory)
    catalogue = (await build_catalogue.function(inventory, settings.intake)).measurable
    profile = await profile_tables.function(catalogue, knowledge, settings.profiling, settings.query)
    return Assignment(
        question=Question(text=task.question, as_of=AS_OF),
        brief=Brief(text="", tokens=0, shown=()),
        contract=Contract(),
        catalogue=catalogue,
        profile=profile,
        knowledge=knowledge,
    )


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
    return (
        checks.replay_equal(replayed.replay),
        *checks.tables_whole(lineage.used_tables(parts, sql, given.catalogue)),
        *await audit_casts(engine, sql, given.profile),
        *of_form(Contract(), replayed.replay, parts, replayed.tally, measured),
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


def sample(cases: Sequence[Case], number: int) -> list[Case]:
    """Two thirds faults, kind by kind, and one third right queries, each drawn by the digest of the query."""
    drawn = sorted(cases, key=lambda case: hashlib.blake2b(f"{case.task} {case.sql}".encode()).digest())
    turns: dict[str, int] = {}
    ranked = []
    for case in drawn:
        turns[case.kind] = turns.get(case.kind, 0) + 1
        ranked.append((turns[case.kind], case))
    faults = [case for _, case in sorted((pair for pair in ranked if pair[1].kind), key=lambda pair: pair[0])]
    return faults[: number - number // 3] + [case for case in drawn if not case.kind][: number // 3]


async def _asked(found: Found, number: int, settings: Settings) -> list[tuple[Case, Audit]]:
    """Audits of a sample by the model, which does not see what the checks failed."""
    judged = []
    for case in sample(found.cases, number):
        audit = await second_look(found.given[case.task], case.sql, settings)
        judged.append((case, audit))
        print(
            f"{audit.verdict} ({case.kind or 'right'}) {case.task}: {'; '.join(audit.issues) or audit.problem}",
            flush=True,
        )
    return judged


def opinions(judged: Sequence[tuple[Case, Audit]]) -> str:
    """What code, the model and both of them reject, of faults and of right queries."""
    lines = []
    for name, those in (
        ("faults", [pair for pair in judged if pair[0].kind]),
        ("right queries", [pair for pair in judged if not pair[0].kind]),
    ):
        if those:
            code = sum(case.failed for case, _ in those)
            model = sum(audit.verdict == "rejected" for _, audit in those)
            both = sum(case.failed or audit.verdict == "rejected" for case, audit in those)
            silent = sum(audit.verdict == "not_assessed" for _, audit in those)
            lines.append(
                f"{name} of the sample: {len(those)}; rejected by code {code}, by the model {model}, by either {both}; "
                f"not assessed by the model {silent}"
            )
    return "\n".join(lines)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def table(cases: Sequence[Case]) -> str:
    """Detection by kind, and false alarms, in all and by half."""
    heads = [
        f"{part}{which}" for part in ("", *(f"{half}: " for half in _HALVES)) for which in ("n", "failed", "or noted")
    ]
    lines = [_line(["fault", *heads]), _line(["---"] * (len(heads) + 1))]
    planted = [case for case in cases if case.kind]
    groups = [(kind, [case for case in planted if case.kind == kind]) for kind in KINDS]
    groups += [("all faults", planted), ("none (false alarms)", [case for case in cases if not case.kind])]
    for name, those in groups:
        if those:
            halves = [those, *([case for case in those if case.half == half] for half in _HALVES)]
            lines.append(_line([name, *(cell for half in halves for cell in _shares(half))]))
    return "\n".join(lines)


def _shares(cases: Sequence[Case]) -> tuple[str, str, str]:
    if not cases:
        return "0", "", ""
    shares = [sum(case.failed for case in cases), sum(case.flagged for case in cases)]
    return str(len(cases)), *(f"{share / len(cases):.0%}" for share in shares)  # type: ignore[return-value]


def alarms(cases: Sequence[Case]) -> str:
    """By check: faults that it failed and noted, and right queries."""
    counted: dict[str, Counter[str]] = {}
    for case in cases:
        for name, outcome in {(check.name, check.outcome) for check in case.checks if check.outcome != "passed"}:
            counted.setdefault(name, Counter())[f"{'fault' if case.kind else 'right'} {outcome}"] += 1
    heads = ("fault failed", "right failed", "fault noted", "right noted")
    lines = ["", _line(["check", *heads]), _line(["---"] * 5)]
    lines += [_line([name, *(counts[head] for head in heads)]) for name, counts in sorted(counted.items())]
    return "\n".join(lines)


def missed(cases: Sequence[Case]) -> str:
    """Faults that no check failed, and right queries that one did."""
    lines = []
    for case in cases:
        if case.failed == (not case.kind):
            said = [
                f"{check.outcome} {check.name}: {check.detail}" for check in case.checks if check.outcome != "passed"
            ]
            what = f"MISSED {case.kind}" if case.kind else "FALSE ALARM"
            lines += [
                f"\n{what} · {case.task}",
                f"  {case.question}",
                f"  {case.sql}",
                *(f"    {text}" for text in said),
            ]
    return "\n".join(lines)


def _told(case: Case) -> dict[str, object]:
    checks = [check.model_dump() for check in case.checks]
    return {**{name: getattr(case, name) for name in ("task", "half", "kind", "question", "sql")}, "checks": checks}


def _good(cases: Sequence[Case]) -> bool:
    planted, right = ([case for case in cases if bool(case.kind) is which] for which in (True, False))
    found, cried = sum(case.failed for case in planted), sum(case.failed for case in right)
    return found >= 0.6 * len(planted) and cried <= 0.05 * len(right)


if __name__ == "__main__":
    sys.exit(main())
