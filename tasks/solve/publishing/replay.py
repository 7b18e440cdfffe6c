"""submission + stored catalogue → the answer's rows once more, and whether they are what the solver saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tasks.core.errors import EvidenceError, QueryError, SandboxError
from tasks.core.evidence import rows
from tasks.core.models.answer import Candidate
from tasks.core.models.evidence import Outline, Replay
from tasks.core.models.value import Cell
from tasks.core.sections import QuerySettings, SandboxSettings
from tasks.core.sql.engine import Engine
from tasks.solve.publishing.headings import headings
from tasks.solve.solving.program import compute

PATIENCE = 4
"""A replay may take this many times as long as the solver's run: a busy machine must not void an answer."""
_FEW_ROWS = 20


@dataclass(frozen=True)
class Replayed:
    """A result that equals what the solver saw; its CSV file is the answer."""

    replay: Replay
    types: tuple[str, ...]
    """DuckDB's names; empty for a program's result."""
    preview: tuple[tuple[Cell, ...], ...]
    tally: rows.Tally
    path: Path


@dataclass(frozen=True)
class _Result:
    """What ran, before it is compared."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    preview: tuple[tuple[Cell, ...], ...]
    count: int
    digest: str
    truncated: bool = False
    sorted: bool = False
    tier: str = ""


def patient(limits: QuerySettings, preview_rows: int) -> QuerySettings:
    """The limits of a replay."""
    return limits.model_copy(update={"seconds": limits.seconds * PATIENCE, "preview_rows": preview_rows})


async def replay(
    candidate: Candidate, parts: Outline, engine: Engine, sandbox: SandboxSettings, folder: Path
) -> Replayed:
    """Run the candidate's submission again and write its rows; `folder` is for files.

    Rows that a query leaves in no order are sorted by value, so that every replay writes the same bytes.
    Raises EvidenceError when the submission does not run, or its result is not the candidate's.
    """
    submission = candidate.submission
    try:
        if submission.program:
            result, cells = await _run_program(candidate, engine, sandbox)
        else:
            result, cells = await _run_query(submission.sql, parts.ordered, engine, folder)
    except (QueryError, SandboxError) as error:
        raise EvidenceError(f"the submission did not run again: {error.message}") from error
    if result.digest != candidate.digest:
        differ = (
            f"{result.count} in place of {candidate.rows}" if result.count != candidate.rows else "as many, not equal"
        )
        raise EvidenceError(f"the replay gave other rows than the solver saw ({differ})")
    columns = _header(candidate, result.columns)
    tally = rows.write(folder / "answer.csv", columns, cells)
    record = Replay(
        sql=submission.sql,
        program=submission.program,
        columns=columns,
        expected=candidate.digest,
        digest=result.digest,
        rows=result.count,
        truncated=result.truncated,
        sorted=result.sorted,
        tier=result.tier,
    )
    return Replayed(record, result.types, result.preview, tally, folder / "answer.csv")


def by_value(sql: str) -> str:
    """The query with its rows sorted by all columns, left to right."""
    return f"SELECT * FROM (\n{sql.strip().rstrip(';')}\n) ORDER BY ALL"


async def _run_query(sql: str, ordered: bool, engine: Engine, folder: Path) -> tuple[_Result, rows.Cells]:
    path = folder / "rows.csv"
    statement = sql if ordered else by_value(sql)
    try:
        found = await engine.export(statement, path)
    except QueryError:  # more rows to look at than the solver asked for may hold too much text; or the child was lost
        engine.limits = engine.limits.model_copy(update={"preview_rows": _FEW_ROWS})
        found = await engine.export(statement, path)
    result = _Result(
        found.columns, found.types, found.rows, found.row_count, found.digest, found.truncated, sorted=not ordered
    )
    return result, rows.read_export(path, found.types)


async def _run_program(candidate: Candidate, engine: Engine, sandbox: SandboxSettings) -> tuple[_Result, rows.Cells]:
    """The program's rows in its own order: it gets the query's rows just as the solver's run did."""
    patient_sandbox = sandbox.model_copy(update={"seconds": sandbox.seconds * PATIENCE})
    computed = await compute(engine, candidate.submission.sql, candidate.submission.program, patient_sandbox)
    frame = computed.frame
    preview = frame.rows[: engine.limits.preview_rows]
    result = _Result(frame.columns, (), preview, len(frame.rows), computed.digest, tier=computed.tier)
    return result, ([rows.text_of(cell) for cell in row] for row in frame.rows)


def _header(candidate: Candidate, found: tuple[str, ...]) -> tuple[str, ...]:
    """Names as the solver wants them; else those of the query, with words for what it names nothing."""
    wanted = candidate.submission.columns
    if len(wanted) == len(found):
        return wanted
    seen = candidate.columns if len(candidate.columns) == len(found) else found
    return seen if candidate.submission.program else headings(candidate.submission.sql, seen)
