"""Catalogue of the sources + tables drawn from documents → one catalogue of both, each in a DuckDB file of its own.

The sources' file is not touched: it may be large, and other questions use it without the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue, Document, Table
from tasks.core.models.document import ColumnQuality, Derivation, DerivedTable
from tasks.core.models.source import ArtifactRef, SourceFile
from tasks.core.sections import IntakeSettings
from tasks.core.sql.names import unique_names
from tasks.core.wording import counted
from tasks.intake.loading.client import Client, hint
from tasks.intake.loading.part import Part
from tasks.stage import stage


@stage()
async def add_derived(catalogue: Catalogue, drawn: tuple[DerivedTable, ...], limits: IntakeSettings) -> Catalogue:
    """The catalogue with every derived table. Raises InputError when one cannot be loaded: it is a file of ours."""
    if not drawn:
        return catalogue
    taken = [table.name for table in catalogue.tables]
    names = unique_names([*taken, *(t.table for t in drawn)], [*("" for _ in taken), *("document" for _ in drawn)])
    names = names[len(taken) :]
    database, parts = await _load(drawn, names, limits)
    tables = (*catalogue.tables, *map(_table, drawn, parts, names))
    return catalogue.model_copy(update={"tables": tables, "derived": database})


def describe_documents(catalogue: Catalogue, derivation: Derivation) -> Catalogue:
    """The catalogue with the text of every document that has one, and with what became of each."""
    called = {path: table.name for table in catalogue.tables if table.drawn for path in table.drawn.paths}
    asked = {path for document in derivation.documents if document.stem in derivation.asked for path in document.paths}
    called |= {path: f"{name}; drawn when it was asked for" for path, name in called.items() if path in asked}
    why = dict(derivation.outcomes)
    reasons = {path: why.get(document.stem, "") for document in derivation.documents for path in document.paths}
    reasons |= dict(derivation.left_out)
    return catalogue.model_copy(
        update={
            "documents": tuple(_documents(catalogue, derivation, reasons, called)),
            "files": tuple(_explained(file, reasons.get(file.path, "")) for file in catalogue.files),
            "drawing": derivation.spent,
            "stopped": derivation.stopped,
        }
    )


async def _load(
    drawn: Sequence[DerivedTable], names: Sequence[str], limits: IntakeSettings
) -> tuple[ArtifactRef, list[Part]]:
    """All of them in one DuckDB file, under these names."""
    store = stores.current()
    with store.scratch("derived-") as place:
        database = Path(place) / "derived.duckdb"
        client = Client(database, "the derived tables", limits)
        try:
            await client.open()
            parts = [part for table in drawn for part in await _parts(client, table, limits)]
            await client.finish([(part.stored, name) for part, name in zip(parts, names, strict=True)])
        finally:
            await client.close()
        return store.put_file(database), parts


async def _parts(client: Client, table: DerivedTable, limits: IntakeSettings) -> tuple[Part, ...]:
    types = {column.name: column.type.upper() for column in table.columns if column.type in ("date", "datetime")}
    path, shown = stores.current().local(table.database), f"the table drawn from {table.stem!r}"
    loaded = await client.load(path, table.database.sha256, "derived", shown, table=table.table, types=types)
    if not loaded.parts:
        raise InputError(f"{shown} cannot be loaded: {loaded.error}", hint(limits))
    return loaded.parts


def _table(drawn: DerivedTable, part: Part, name: str) -> Table:
    quality = {column.name: column for column in drawn.columns}
    columns = tuple(
        column.model_copy(update={"notes": (*column.notes, *_doubts(quality.get(column.name)))})
        for column in part.columns
    )
    said = f"drawn from a document, one row per {drawn.key}" + ("" if drawn.perfect else "; imperfect")
    return Table(
        name=name,
        path=drawn.paths[0],
        columns=columns,
        rows=part.rows,
        notes=(said, *drawn.notes),
        drawn=drawn,
    )


def _doubts(quality: ColumnQuality | None) -> Iterator[str]:
    if not quality:
        return
    counts = [(status, getattr(quality, status)) for status in ("unverified", "conflict")]
    if said := ", ".join(f"{count} {status}" for status, count in counts if count):
        yield f"of its values {said}"
    if quality.unread:
        yield f"{counted(quality.unread, 'cell')} of it {'was' if quality.unread == 1 else 'were'} not read: empty, though the document may state them"
    if quality.blank:
        yield "no value of it was named for any record: empty, though the document may state them"


def _documents(
    catalogue: Catalogue, derivation: Derivation, reasons: dict[str, str], names: dict[str, str]
) -> Iterator[Document]:
    """Text files as they are, others as converted; each with what became of it."""

    drawable = {path for each in derivation.skipped if each.text for path in each.paths}

    def told(path: str) -> dict[str, Any]:
        note = f"its table: {names[path]}" if path in names else reasons.get(path, "")
        return {"note": note, "drawable": path in drawable}

    for document in catalogue.documents:
        yield document.model_copy(update=told(document.path))
    known = {document.path for document in catalogue.documents}
    for each in derivation.converted:
        if each.text and each.paths[0] not in known:
            yield Document(path=each.paths[0], text=each.text, lines=each.lines, **told(each.paths[0]))


def _explained(file: SourceFile, reason: str) -> SourceFile:
    if file.outcome != "document" or not reason:
        return file
    return file.model_copy(update={"reason": "; ".join(filter(None, (file.reason, reason)))})
