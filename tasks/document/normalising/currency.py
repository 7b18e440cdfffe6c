"""A column without a unit, its raw texts → the one currency that all its amounts are written in; empty where there is none."""

from __future__ import annotations

from collections.abc import Iterable

from tasks.core.models.document import PlanColumn, Reading
from tasks.core.values.clean import clean
from tasks.core.values.context import Context, Unread
from tasks.core.values.quantity import measure

_MONEY = "money:"


def currency(column: PlanColumn, raws: Iterable[str], context: Context) -> str:
    """ISO code; empty for a column with a unit, or where currencies differ or something else than money is measured."""
    if column.unit or context.bare_unit or column.type not in ("integer", "number"):
        return ""
    found = {dimension for raw in raws if (dimension := _dimension(raw, context))}
    only = found.pop() if len(found) == 1 else ""
    return only.removeprefix(_MONEY) if only.startswith(_MONEY) and "/" not in only else ""


def _dimension(raw: str, context: Context) -> str:
    try:
        return measure(clean(raw), context).unit.dimension
    except Unread:
        return ""


def noted(reading: Reading, code: str) -> Reading:
    """The reading of an amount with what was assumed of its column."""
    if reading.status != "verified" or reading.value is None:
        return reading
    note = "; ".join(part for part in (reading.note, f"the column has no unit: taken as {code}") if part)
    return reading.model_copy(update={"note": note})


def advice(name: str, code: str) -> str:
    """What a user may do about it."""
    return (
        f"no unit is given: amounts are taken as {code}; to give it, write **{name} (unit: {code})** in the knowledge"
    )
