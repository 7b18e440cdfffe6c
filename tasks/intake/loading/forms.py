"""A loaded table → how its text columns write numbers and days, as a field and as a note whose SQL was run over them."""

from __future__ import annotations

from tasks.core.models.catalogue import Column, Form
from tasks.core.sql.build import Builder
from tasks.core.sql.forms import measure, recipe
from tasks.intake.loading.part import Part
from tasks.intake.loading.problems import kind_of

_REPLACED = ("T313", "T314", "T316", "T317", "T324", "T332", "T333", "T334", "T335", "T336", "T337")
"""Codes of what the counts of shapes alone say; the form says it with its SQL."""


def with_forms(part: Part, builder: Builder) -> Part:
    """The table with the forms of its columns; DuckDB holds it already."""
    texts = [column.name for column in part.columns if column.type == "VARCHAR"]
    found = measure(builder.run, part.stored, texts)
    if not found:
        return part
    columns = tuple(_told(column, found[column.name]) if column.name in found else column for column in part.columns)
    return part.model_copy(update={"columns": columns})


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
