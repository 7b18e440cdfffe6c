"""Tables that can be queried, and what was measured about them."""

from __future__ import annotations

from typing import Literal

from tasks.core.models.document import DerivedTable
from tasks.core.models.run import StageSpend
from tasks.core.models.source import ArtifactRef, SourceFile
from tasks.core.models.value import Value


class Form(Value):
    """How the texts of a column write numbers or days, as all its values show; `sql` was run over all of them."""

    kind: Literal["number", "day", "moment"]
    says: str
    """In words: `numbers with a decimal comma` …"""
    sql: str = ""
    """The value from `{x}`: DOUBLE, DATE or TIMESTAMP; empty when no one reading fits."""
    values: int
    """Texts that are neither NULL nor blank nor a mark such as NA."""
    read: int
    """Those that `sql` reads; it gives NULL for the others."""
    others: int = 0
    """Texts that are blank or a mark."""
    example: str = ""
    """A value that a plain cast reads wrongly or not at all; where not decided, one that may be read in two ways."""
    decided: bool = True
    """Whether the values leave one reading only."""
    reading: str = ""
    """Where not decided: what is taken, and what to write in the knowledge for the other."""
    otherwise: str = ""
    """SQL of the other reading, where there is one."""
    sortable: bool = False
    """Texts stand in the order of their values."""


class Column(Value):
    """A column as queries see it; `type` is DuckDB's name (`BIGINT`, `DOUBLE`, `VARCHAR`, `DATE`, …)."""

    name: str
    type: str
    notes: tuple[str, ...] = ()
    """What was noticed on loading: mixed types, marks read as NULL, percent left as text …"""
    form: Form | None = None
    """Of a column of text that writes numbers or days; else None."""


class Table(Value):
    """A table of the catalogue. `name` is canonical: the one that queries, prompts and reports use."""

    name: str
    path: str
    """Source file, relative to the folder."""
    inner: str = ""
    """Name inside the file (SQLite table, JSON key); empty when the file is one table."""
    columns: tuple[Column, ...]
    rows: int
    set_aside: int = 0
    """Lines of the source that are not in it; they are kept in `<name>__set_aside`, not lost."""
    titles: int = 0
    """Those of them that stood above the header: titles and comments, no rows."""
    notes: tuple[str, ...] = ()
    drawn: DerivedTable | None = None
    """Where its cells stand in a document; None for a table that is one in its file."""

    @property
    def unread(self) -> int:
        """Rows of the source that could not be parsed."""
        return self.set_aside - self.titles

    @property
    def origin(self) -> str:
        """`context/csv/x.csv` for a file, `context/db/b.db::table` for a table in a database."""
        return f"{self.path}::{self.inner}" if self.inner else self.path


class Document(Value):
    """A document's text, kept for reading by line; `path` is that of the file, relative to the folder."""

    path: str
    text: ArtifactRef
    """UTF-8; lines end with `\\n`, as many as in the file."""
    lines: int
    note: str = ""
    """What a reader should know: made from a PDF, no table was drawn from it …; mostly empty."""
    drawable: bool = False
    """No table was drawn from it because it was judged not to matter; one can be, if the solver asks for it."""


class Catalogue(Value):
    """One read-only DuckDB file with every table, and the last word on every file."""

    database: ArtifactRef
    tables: tuple[Table, ...]
    files: tuple[SourceFile, ...]
    """All files of the inventory, with their final outcome."""
    documents: tuple[Document, ...] = ()
    """Documents whose text can be read: as it is (Markdown, plain text), or as converted."""
    derived: ArtifactRef | None = None
    """A second DuckDB file, with the tables drawn from documents; None when there is none."""
    metadata: ArtifactRef | None = None
    """What all tables, columns and metrics are about, for queries of `metadata.column_info` and so on."""
    drawing: tuple[StageSpend, ...] = ()
    """Model calls that the derived tables took, by stage, whoever paid."""
    stopped: tuple[str, ...] = ()
    """What ended the drawing of tables before it was done; a run later may bring more of their cells."""
    unsettled: Literal["", "stopped"] = ""
    """`stopped` when a file was given up for a passing reason (time, a change while reading); the next run tries again."""

    @property
    def measurable(self) -> Catalogue:
        """Only what its tables hold: equal for questions that judge documents otherwise but need the same tables."""
        return self.model_copy(update={"files": (), "documents": (), "drawing": (), "stopped": (), "metadata": None})

    def table(self, name: str) -> Table | None:
        """The table of that name, whatever its case."""
        wanted = name.casefold()
        return next((table for table in self.tables if table.name.casefold() == wanted), None)


class ColumnProfile(Value):
    """What a column holds, over all rows."""

    name: str
    type: str
    null_share: float
    """0 to 1; 0 for an empty table."""
    distinct: int
    """Distinct non-null values."""
    minimum: str | None = None
    maximum: str | None = None
    examples: tuple[str, ...] = ()
    """A few distinct values, the most frequent first, as written."""
    shape: str = ""
    """Common shape of the text, e.g. `dddd-dd-dd`, `d%`, `1,234`; empty when there is none."""
    unit: str = ""
    """From the knowledge or the values; empty when unknown."""
    meaning: str = ""
    """From the knowledge; empty when it says nothing."""
    is_key: bool = False
    """Unique and never NULL in a table with rows."""
    notes: tuple[str, ...] = ()
    form: Form | None = None
    """Of a column of text that writes numbers or days; with what the knowledge says of it."""


class TableProfile(Value):
    """A table's columns, measured."""

    name: str
    origin: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    notes: tuple[str, ...] = ()
    about: str = ""
    """Description and other names; empty when nobody says any."""


class JoinCandidate(Value):
    """Two columns whose values overlap, measured on all rows: `left` refers to `right`."""

    left_table: str
    left_column: str
    right_table: str
    right_column: str
    match_rate: float
    """Share of non-null left rows that find at least one right row, 0 to 1."""
    left_unique: bool
    right_unique: bool
    stated: bool = False
    """True when the knowledge names this link."""


class Profile(Value):
    """All tables of a catalogue, measured."""

    tables: tuple[TableProfile, ...]
    joins: tuple[JoinCandidate, ...]
    notes: tuple[str, ...] = ()
    """What was not measured, and why."""

    def table(self, name: str) -> TableProfile | None:
        """The profile of the table of that name, whatever its case."""
        wanted = name.casefold()
        return next((table for table in self.tables if table.name.casefold() == wanted), None)
