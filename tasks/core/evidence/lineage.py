"""query parts + catalogue + knowledge → the files, tables and statements that an answer rests on."""

from __future__ import annotations

import re

from tasks.core.models.catalogue import Catalogue, Table
from tasks.core.models.evidence import Origin, Outline, Statement, UsedTable
from tasks.core.models.semantics import Knowledge
from tasks.core.search.coined import called, coined, sentence


def origins(catalogue: Catalogue) -> tuple[Origin, ...]:
    """Every file of the folder with its outcome and its tables."""
    return tuple(
        Origin(
            **file.model_dump(include={"path", "kind", "size", "sha256", "outcome", "reason", "taken_at"}),
            tables=tuple(
                table.name
                for table in catalogue.tables
                if file.path in (table.drawn.paths if table.drawn else (table.path,))
            ),
        )
        for file in catalogue.files
    )


def used_tables(parts: Outline, sql: str, catalogue: Catalogue) -> tuple[UsedTable, ...]:
    """Tables of the catalogue that the query reads; by name alone when it could not be taken apart."""
    digests = {file.path: file.sha256 for file in catalogue.files}
    found = [catalogue.table(name) for name in parts.tables]
    tables = [table for table in found if table] or [table for table in catalogue.tables if _names(sql, table.name)]
    return tuple(_use(table, parts, digests.get(table.path, "")) for table in dict.fromkeys(tables))


def statements(
    used: tuple[UsedTable, ...], question: str, knowledge: Knowledge, catalogue: Catalogue
) -> tuple[Statement, ...]:
    """Definitions of the columns that the query names, metrics and terms that the question names, in line order."""
    columns = {(table.name.casefold(), column.casefold()) for table in used for column in table.columns}
    names = {column for _, column in columns}
    found = [
        Statement(path=knowledge.path, line=item.line, text=_sentence(item.field, item.meaning, item.unit))
        for item in knowledge.definitions
        if ((item.table.casefold(), item.field.casefold()) in columns if item.table else item.field.casefold() in names)
    ]
    found += [
        Statement(
            path=knowledge.path, line=item.line, text=_sentence(item.name, item.formula or item.meaning, item.unit)
        )
        for item in knowledge.metrics
        if item.name.strip() and item.name.casefold() in question.casefold()
    ]
    found += [
        Statement(path=knowledge.path, line=item.line, text=sentence(item))
        for item in coined(knowledge, (column.name for table in catalogue.tables for column in table.columns))
        if any(name.casefold() in question.casefold() for name in called(item))
    ]
    return tuple(dict.fromkeys(sorted(found, key=lambda statement: statement.line)))


def _use(table: Table, parts: Outline, sha256: str) -> UsedTable:
    own = table.name.casefold()
    wanted = {column.casefold() for name, column in parts.columns if name.casefold() in ("", own)}
    everything = not parts.tables or (own, "*") in {(name.casefold(), column) for name, column in parts.columns}
    columns = [column for column in table.columns if everything or column.name.casefold() in wanted]
    names = {column.name for column in columns}
    drawn = table.drawn.columns if table.drawn else ()
    return UsedTable(
        name=table.name,
        path=table.path,
        inner=table.inner,
        sha256=sha256,
        rows=table.rows,
        set_aside=table.unread,
        columns=tuple(column.name for column in columns),
        unread={column.name: column.unread for column in drawn if column.unread and column.name in names},
        blank={c.name: c.missing - c.unasked for c in drawn if c.blank and c.name in names},
        notes=(*table.notes, *(f"{column.name}: {note}" for column in columns for note in column.notes)),
    )


def _names(sql: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) is not None


def _sentence(name: str, meaning: str, unit: str) -> str:
    text = f"{name}: {meaning}" if meaning else name
    return f"{text} [{unit}]" if unit else text
