"""candidate → all that code can say about it: replayed from the stored catalogue, its joins and casts measured, its cells followed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tasks.core.errors import EvidenceError
from tasks.core.evidence import checks, lineage
from tasks.core.evidence.fingerprint import fingerprint, shape
from tasks.core.evidence.outline import outline
from tasks.core.evidence.rows import Tally
from tasks.core.files import store as stores
from tasks.core.models.answer import AnswerTable, Assignment, Candidate, Contract, JoinAudit
from tasks.core.models.evidence import Check, Checked, Outline, Replay
from tasks.core.sections import PublishSettings, SolverSettings
from tasks.core.sql import joins
from tasks.core.sql.engine import Engine
from tasks.solve.checking.counted import counted
from tasks.solve.checking.emptied import emptied, with_reason
from tasks.solve.checking.look import audit_answer, made
from tasks.solve.publishing.casts import audit_casts
from tasks.solve.publishing.follow import follow_cells
from tasks.solve.publishing.replay import Replayed, patient, replay
from tasks.stage import stage


@stage()
async def check_candidate(
    given: Assignment, candidate: Candidate, contract: Contract, solver: SolverSettings, limits: PublishSettings
) -> Checked:
    """The replay, with the answer's file in the store; the table is withheld when it is not what the solver saw."""
    parts = outline(candidate.submission.sql)
    with tempfile.TemporaryDirectory(prefix="tablewright-check-") as folder:
        async with Engine.over(given.catalogue, patient(solver.query, limits.preview_rows)) as engine:
            try:
                replayed = await replay(candidate, parts, engine, solver.sandbox, Path(folder))
            except EvidenceError as error:
                submission = candidate.submission.model_dump(include={"sql", "program"})
                failed = Replay(**submission, expected=candidate.digest, error=error.message)
                used = lineage.used_tables(parts, failed.sql, given.catalogue)
                found = (checks.replay_equal(failed), *checks.tables_whole(used))
                return Checked(replay=failed, outline=parts, checks=found)
            measured = await joins.audit(engine, candidate.submission.sql) if limits.join_audit else ()
            cells = await follow_cells(replayed, parts, given.catalogue, engine)
            casts = await audit_casts(engine, candidate.submission.sql, given.profile)
            meaning = await audit_answer(engine, given, contract, candidate.submission.sql, measured)
            count = await counted(engine, candidate.submission, replayed.replay)
            why = None if replayed.replay.rows else await made("emptied", emptied, engine, candidate.submission.sql)
        table = _keep(replayed)
    used = lineage.used_tables(parts, replayed.replay.sql, given.catalogue)
    found = (
        checks.replay_equal(replayed.replay),
        *checks.tables_whole(used),
        *casts,
        *of_form(contract, replayed.replay, parts, replayed.tally, measured),
        *([count] if count else []),
        *meaning,
    )
    return Checked(
        replay=replayed.replay,
        outline=parts,
        joins=measured,
        cells=cells,
        checks=with_reason(found, why),
        table=table,
        fingerprint=fingerprint(given.question, contract, candidate.submission.sql, candidate.submission.program),
        shape=shape(candidate.submission.sql, replayed.replay.columns),
    )


def of_form(
    contract: Contract, replay: Replay, parts: Outline, tally: Tally, measured: tuple[JoinAudit, ...]
) -> Iterator[Check]:
    """Checks of the answer's form, and of the rows that its joins lost."""
    for check in (
        checks.some_rows(tally),
        checks.columns_match(contract, replay.columns),
        checks.empty_columns(replay.columns, tally),
        checks.empty_cells(replay.columns, tally),
        checks.repeated_rows(contract, tally),
        checks.no_formulas(replay.columns, tally),
        checks.within_limits(contract, replay),
        checks.order_fixed(contract, parts, replay),
    ):
        if check:
            yield check
    yield from checks.join_losses(measured)


def _keep(replayed: Replayed) -> AnswerTable:
    return AnswerTable(
        columns=replayed.replay.columns,
        types=replayed.types,
        rows=replayed.preview,
        row_count=replayed.replay.rows,
        file=stores.current().put_file(replayed.path, "answer.csv"),
    )
