"""readings of a question, each with a query → what each of them gives; two that give the same are no ambiguity."""

from __future__ import annotations

from tasks.core.errors import QueryError
from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.review import Ambiguity, Ledger, Reading
from tasks.core.sql.engine import Engine
from tasks.solve.showing.layout import one_line

_ROWS, _ERROR_CHARS = 5, 300


async def run_readings(ledger: Ledger, engine: Engine) -> Ledger:
    """The ledger with the results of its ambiguities' queries; those whose queries all give the same are gone."""
    kept = []
    for ambiguity in ledger.unresolved_ambiguities:
        readings = tuple([await _run(reading, engine) for reading in ambiguity.readings])
        ran = [reading.digest for reading in readings if reading.digest]
        if len(ran) < 2 or len(set(ran)) > 1:
            kept.append(Ambiguity(text=ambiguity.text, readings=readings))
    return ledger.model_copy(update={"unresolved_ambiguities": tuple(kept)})


def better(ledger: Ledger, given: Assignment, attempt: Attempt) -> str:
    """Why another reading than that of the candidate is to be handed in: more evidence speaks for it. Empty where none is.

    It is said once. Of a ballot, only where the next result is the one of that reading: a ballot gives no other.
    """
    candidate = attempt.candidate
    for ambiguity in ledger.unresolved_ambiguities if candidate else ():
        ran = [reading for reading in ambiguity.readings if reading.digest]
        own = next((reading for reading in ran if candidate and reading.digest == candidate.digest), None)
        best = max(ran, key=lambda reading: len(reading.evidence), default=None)
        if own is None or best is None or len(best.evidence) <= len(own.evidence):
            continue
        said = f"two readings are open, and more speaks for another than for that of this answer: {best.text}, not {own.text}"
        told = any(said in audit.issues for audit in given.audits)
        if not told and (attempt.style != "single" or _next(given, attempt) == best.digest):
            return said
    return ""


def _next(given: Assignment, attempt: Attempt) -> str:
    """Digest of the result of a ballot that comes after the present one."""
    gone = {audit.candidate for audit in given.audits if audit.verdict == "rejected"} | {attempt.chosen}
    return next((one.digest for at, one in enumerate(attempt.candidates) if one.digest and at not in gone), "")


async def _run(reading: Reading, engine: Engine) -> Reading:
    if not reading.sql:
        return reading
    try:
        found = await engine.query(reading.sql, preview_rows=_ROWS)
    except QueryError as error:
        return reading.model_copy(update={"error": one_line(error.message, _ERROR_CHARS)})
    return reading.model_copy(
        update={"columns": found.columns, "rows": found.row_count, "preview": found.rows, "digest": found.digest}
    )
