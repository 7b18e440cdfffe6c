"""A loaded table → how its text columns write numbers and days, as a field and as a note whose SQL was run over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tasks.core.models.catalogue import Column, Form
from tasks.core.sql.build import Builder
from tasks.core.sql.forms import SAMPLE, Place, measure, measure_small, recipe
from tasks.intake.loading.part import Part
from tasks.intake.loading.problems import kind_of

_REPLACED = ("T313", "T314", "T316", "T317", "T324", "T332", "T333", "T334", "T335", "T336", "T337")
"""Codes of what the counts of shapes alone say; the form says it with its SQL."""


def with_forms(parts: Sequence[Part], builder: Builder) -> tuple[Part, ...]:
    """The tables with the forms of their columns; DuckDB holds them already. Small tables are looked at together."""
    texts = {part.stored: [column.name for column in part.columns if column.type == "VARCHAR"] for part in parts}
    small = [(part.stored, name) for part in parts if part.rows <= SAMPLE for name in texts[part.stored]]
    found = measure_small(builder.run, small)
    for part in parts:
        if part.rows > SAMPLE:
            measured = measure(builder.run, part.stored, texts[part.stored])
            found |= {(part.stored, name): form for name, form in measured.items()}
    return tuple(_with(part, found) for part in parts)


def _with(part: Part, found: Mapping[Place, Form]) -> Part:
    forms = [found.get((part.stored, column.name)) for column in part.columns]
    if not any(forms):
        return part
    columns = zip(part.columns, forms, strict=True)
    return part.model_copy(
        update={"columns": tuple(_told(column, form) if form else column for column, form in columns)}
    )


def _told(column: Column, form: Form) -> Column:
    said = _notes(form)
    if not said:
        return column.model_copy(update={"form": form})
    old = [note for note in column.notes if _says_less(note, form)]
    at = column.notes.index(old[0]) if old else len(column.notes)
    kept = [note for note in column.notes if note not in old]
    return column.model_copy(update={"form": form, "notes": (*kept[:at], *said, *kept[at:])})


def _says_less(note: str, form: Form) -> bool:
    code = kind_of(note).code
    percent = code == "T315" and "; text" in note
    return code in _REPLACED or percent or (code == "T321" and form.read == form.values)


def _notes(form: Form) -> tuple[str, ...]:
    """What the form says; nothing where a plain cast does it."""
    if not form.sql:
        return (f"{form.says}; text, and {form.reading}",)
    if form.sql == "TRY_CAST({x} AS DOUBLE)" or form.sortable:
        return ()
    rest = f"; {form.values - form.read:,} of {form.values:,} are no such" if form.read < form.values else ""
    unit = " is in percent" if form.says.startswith("percentages") else ""
    if form.kind == "number":
        note = f"{form.read:,} of {form.values:,} values are {form.says}; text: {recipe(form)}{unit}"
    else:
        counted = (
            f"{form.read:,} of {form.values:,} values are "
            if form.says in ("dates, year first", "dates in words")
            else ""
        )
        note = f"{counted}{form.says}; text: {recipe(form)}{rest}"
    return (note, form.reading) if form.reading else (note,)
