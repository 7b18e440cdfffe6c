"""Distinct raw texts of a column → their values: by the tested library, then by checked model code, else none.

What cannot be read has no value and says so; it never passes for a success.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tasks.core.models.document import CellStatus, ColumnReadings, Plain, PlanColumn, Reading
from tasks.core.sections import NormaliseSettings, SandboxSettings
from tasks.core.values.door import Context, read_value
from tasks.document.normalising import scale
from tasks.document.normalising.conventions import infer
from tasks.document.normalising.currency import advice, currency, noted
from tasks.document.normalising.options import choose, options
from tasks.document.normalising.transform import Job, Version, Written, write_transform
from tasks.stage import stage

_EXAMPLE_CHARS, _NOTE_CHARS = 80, 200


@stage(roles=("normalise",), prompts=("normalise.md",))
async def normalise_column(
    column: PlanColumn, raws: tuple[str, ...], rules: str, settings: NormaliseSettings, sandbox: SandboxSettings
) -> ColumnReadings:
    """A reading for each of `raws` (distinct), in their order.

    `rules` is what the knowledge says about the column and about values at large. Text columns without listed values
    and keys stay as written. Model code serves only what the library cannot read, and where the sandbox can hold it.
    """
    listed = options(column)
    context = infer(column, raws, rules)
    money = currency(column, raws, context)
    read = {raw: _read(raw, column, context, listed, money) for raw in raws}
    known = {raw: reading.value for raw, reading in read.items() if reading.status != "unverified"}
    unread = tuple(raw for raw in read if raw not in known)
    foreign = tuple(raw for raw in unread if not read[raw].undecided)
    written = Written()
    if foreign and settings.model_code:
        written = await write_transform(Job(column, foreign, known, rules, listed), settings, sandbox)
    by_code = _by_code(written.best, foreign, known, closed=bool(listed)) if written.best else {}
    readings = tuple(by_code.get(raw) or reading for raw, reading in read.items())
    if column.type in ("integer", "number"):
        readings = scale.check(column, readings)
    return ColumnReadings(
        column=column.name,
        readings=readings,
        by_library=len(known),
        by_model_code=len(by_code),
        unread=len(unread) - len(by_code),
        program=written.best.program if written.best and by_code else "",
        problems=(*written.problems, *_problems(readings), *((advice(column.name, money),) if money else ())),
        usage=written.usage,
        unsettled=written.unsettled,
    )


def _read(raw: str, column: PlanColumn, context: Context, listed: tuple[str, ...], money: str) -> Reading:
    """By tested code alone; a text column loses nothing, so it keeps what is none of its listed values.

    `money` is the currency of a column without a unit.
    """
    if column.role == "key":
        return Reading(raw=raw, value=raw.strip(), status="verified")
    reading = read_value(raw, column.type, column.unit or money, context)
    reading = noted(reading, money) if money else reading
    if not listed or reading.value is None:
        return reading
    none = f"is none of {', '.join(listed)}"[:_NOTE_CHARS]
    return choose(raw, listed) or Reading(raw=raw, value=raw.strip(), status="unverified", note=none)


def _by_code(version: Version, unread: Sequence[str], known: Mapping[str, Plain], closed: bool) -> dict[str, Reading]:
    """Values that the model's function gave for what the library could not read.

    They are `derived` when the function agrees with the library on every text that both read, or gives listed values
    only; with nothing to check it against, or one disagreement, they stay `unverified`.
    """
    both = sum(value is not None and version.values.get(raw) is not None for raw, value in known.items())
    note = "read by model code"
    if version.disagreements:
        note += f", which disagrees with the library on {version.disagreements} of {both} other texts"
    elif not both and not closed:
        note += ", which nothing in this column could check"
    status: CellStatus = "derived" if note == "read by model code" else "unverified"
    values = {raw: version.values.get(raw) for raw in unread}
    return {
        raw: Reading(raw=raw, value=value, status=status, note=note)
        for raw, value in values.items()
        if value is not None
    }


def _problems(readings: Sequence[Reading]) -> tuple[str, ...]:
    """What is not sure, by reason, with an example of each."""
    notes = Counter(reading.note for reading in readings if reading.status == "unverified")
    first = {reading.note: reading.raw for reading in reversed(readings) if reading.status == "unverified"}
    return tuple(f"{count} texts: {note} (e.g. {first[note][:_EXAMPLE_CHARS]!r})" for note, count in notes.items())
