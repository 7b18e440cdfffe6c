"""readings of a question, each with a query → what each of them gives; two that give the same are no ambiguity."""

from __future__ import annotations

from tasks.core.errors import QueryError
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
