"""What tables, columns and metrics are about: roles, aliases, links; measured, told by the knowledge, or by metadata.yaml."""

from __future__ import annotations

from typing import Literal

from tasks.core.models.source import ArtifactRef
from tasks.core.models.value import Value

TableRole = Literal["fact", "dimension"]
ColumnRole = Literal["primary_key", "foreign_key", "measure", "dimension"]
Basis = Literal["measured", "knowledge", "metadata"]
"""Who says so; a later one overrides an earlier one."""


class TableInfo(Value):
    """One row of `table_info`."""

    name: str
    """Canonical name, as queries use it."""
    origin: str
    """`context/csv/x.csv` for a file, `context/db/b.db::table` for a table in a database: its fold key."""
    role: TableRole
    description: str = ""
    aliases: tuple[str, ...] = ()
    rows: int
    basis: Basis = "measured"


class ColumnInfo(Value):
    """One row of `column_info`."""

    id: str
    """`table.column`, canonical names; unique."""
    table: str
    name: str
    type: str
    """DuckDB's name."""
    role: ColumnRole
    examples: tuple[str, ...] = ()
    description: str = ""
    aliases: tuple[str, ...] = ()
    unit: str = ""
    refers_to: str = ""
    """Id of the column that a foreign key points to; empty for other roles and where none is known."""
    match_rate: float | None = None
    """Share of its non-null rows that find a row there, 0 to 1; None where it was not measured."""
    basis: Basis = "measured"


class MetricContext(Value):
    """A metric without internal ids."""

    name: str
    description: str = ""
    formula: str = ""
    filters: tuple[str, ...] = ()
    unit: str = ""
    grain: str = ""
    aliases: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """Ids (`table.column`) of the columns that it is computed from; the rows of `column_metric`."""


class MetricInfo(MetricContext):
    """One row of `metric_info`."""

    id: str
    line: int = 0
    """Of the knowledge file, or of metadata.yaml; 0 where unknown."""
    basis: Basis = "knowledge"


class Metadata(Value):
    """Four tables as values, and the same as one file for queries. Building it twice gives equal values and bytes."""

    tables: tuple[TableInfo, ...] = ()
    columns: tuple[ColumnInfo, ...] = ()
    metrics: tuple[MetricInfo, ...] = ()
    problems: tuple[str, ...] = ()
    """What a description names that the catalogue lacks, and the like."""
    database: ArtifactRef | None = None
    """JSON of `table_info`, `column_info`, `metric_info` and `column_metric`, which queries find in the schema `metadata`.
    No DuckDB file: the bytes of those differ from build to build."""


class TableNote(Value):
    """What metadata.yaml says of a table."""

    name: str
    role: TableRole | None = None
    description: str = ""
    aliases: tuple[str, ...] = ()
    line: int


class ColumnNote(Value):
    """What metadata.yaml says of a column."""

    table: str
    name: str
    role: ColumnRole | None = None
    description: str = ""
    aliases: tuple[str, ...] = ()
    unit: str = ""
    refers_to: str = ""
    """`table.column`."""
    line: int


class DatabaseNote(Value):
    """A live database that is a source of tables, read-only."""

    name: str
    url_env: str = ""
    """Name of the environment variable that holds the URL; a password never stands in the file."""
    url: str = ""
    """A URL without a password: `postgresql://user@host/database`."""
    tables: tuple[str, ...] = ()
    """Only these; empty = all."""
    line: int


class Overrides(Value):
    """metadata.yaml, validated; empty when there is none."""

    path: str = ""
    tables: tuple[TableNote, ...] = ()
    columns: tuple[ColumnNote, ...] = ()
    metrics: tuple[MetricInfo, ...] = ()
    databases: tuple[DatabaseNote, ...] = ()
