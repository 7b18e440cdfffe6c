"""Catalogue + knowledge → Profile: every column measured over all rows, and the joins that the values bear out."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

from tasks.core.models.catalogue import Catalogue, Column, ColumnProfile, Profile, Table, TableProfile
from tasks.core.models.document import ColumnQuality
from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.search.words import plain
from tasks.core.sections import ProfilingSettings, QuerySettings
from tasks.core.sql.columns import Facts, Measured, measure_columns
from tasks.core.sql.engine import Engine
from tasks.core.sql.forms import told
from tasks.solve.describing.names import table_names
from tasks.solve.profiling import late
from tasks.solve.profiling.links import Field, measure_links
from tasks.solve.profiling.meanings import meanings
from tasks.solve.profiling.wanted import COLUMNS_SHARE, lacking, together, wanted
from tasks.stage import stage

_UNIT = re.compile(r"([$€£¥￥]?) ?(?:d|1,234) ?(%|‰|[万亿千百]?[元人吨件股米]|[万亿]|)")


@stage()
async def profile_tables(
    catalogue: Catalogue,
    knowledge: Knowledge,
    settings: ProfilingSettings,
    limits: QuerySettings,
    known: Measured | None = None,
) -> Profile:
    """Measure all tables within `settings.seconds`, but for what is known; what was not measured is noted."""
    started = time.monotonic()
    columns = wanted(catalogue)
    names = {table.name: table_names(table) for table in catalogue.tables}
    async with Engine.over(catalogue, limits) as engine:
        deadline = started + settings.seconds * COLUMNS_SHARE
        fresh = await measure_columns(engine, lacking(columns, known), settings.examples, deadline)
        facts = together(columns, known, fresh)
        fields = [
            Field(w.table, names[w.table], w.column, w.type, f)
            for w, f in zip(columns, facts, strict=True)
            if not f.problem
        ]
        joins, notes = await measure_links(engine, fields, knowledge.links, settings, started + settings.seconds)
    measured, said = iter(facts), meanings(catalogue, knowledge.definitions)
    tables = tuple(
        _table(
            table,
            [next(measured) for _ in table.columns],
            said[table.name],
            settings.examples,
            knowledge.text,
        )
        for table in catalogue.tables
    )
    return Profile(tables=tables, joins=joins, notes=(*late.said(tables), *notes))


def _table(
    table: Table, facts: Sequence[Facts], known: Mapping[str, Definition], examples: int, knowledge: str
) -> TableProfile:
    said = {quality.name: quality for quality in table.drawn.columns} if table.drawn else {}
    settled = [
        column.model_copy(update={"form": told(column.form, knowledge, column.name)}) if column.form else column
        for column in table.columns
    ]
    columns = tuple(
        _told(_column(column, found, table.rows, known.get(plain(column.name)), examples), said.get(column.name))
        for column, found in zip(settled, facts, strict=True)
    )
    notes = table.notes
    if table.unread:
        notes += (f"{table.unread} rows of the source could not be parsed and are not in this table",)
    return TableProfile(name=table.name, origin=table.origin, rows=table.rows, columns=columns, notes=notes)


def _column(column: Column, facts: Facts, rows: int, known: Definition | None, examples: int) -> ColumnProfile:
    notes = column.notes + ((late.LACKING + facts.problem,) if facts.problem else ())
    unit = known.unit if known else ""
    return ColumnProfile(
        name=column.name,
        type=column.type,
        null_share=1 - facts.filled / rows if rows and not facts.problem else 0.0,
        distinct=facts.distinct,
        minimum=facts.minimum,
        maximum=facts.maximum,
        examples=facts.common[:examples],
        shape=facts.shape,
        unit=unit or _unit(facts.loose),
        meaning=known.meaning if known else "",
        is_key=0 < rows == facts.distinct,
        form=column.form,
        notes=notes,
    )


def _told(column: ColumnProfile, drawn: ColumnQuality | None) -> ColumnProfile:
    """A column drawn from a document holds what its plan says, in the plan's unit; the knowledge was in the plan."""
    if drawn is None:
        return column
    return column.model_copy(update={"unit": drawn.unit or column.unit, "meaning": column.meaning or drawn.meaning})


def _unit(shape: str) -> str:
    """The sign beside the number in a shape such as `$1,234` or `d%`."""
    found = _UNIT.fullmatch(shape)
    return (found[1] or found[2]) if found else ""
