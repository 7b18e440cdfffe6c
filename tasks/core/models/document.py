"""A document on its way to a table: lines with their place, votes, plan, slices, cells, table.

Line numbers are 1-based and count in the text that `convert` made of the document.
"""

from __future__ import annotations

from typing import Annotated, Literal

from tasks.core.models.run import StageSpend, Usage
from tasks.core.models.source import ArtifactRef
from tasks.core.models.value import Location, Value

ConvertStatus = Literal["converted", "partial", "as_is", "empty", "image_only", "encrypted", "unreadable"]
"""`as_is` = the file is text already; `partial` = some pages have no text; the last four have no text at all."""
CellStatus = Literal["verified", "derived", "unverified", "conflict", "missing", "unread"]
"""`verified`: the value follows from the quote by `core/values`; `derived`: by checked model code; `unverified`: the
value stands in the text but could not be read to its type; `conflict`: the text says two things and does not decide."""
ColumnType = Literal["text", "integer", "number", "date", "datetime", "boolean", "duration"]
ColumnRole = Literal["key", "data", "noise"]
"""`noise`: kept in the cell table, left out of the table."""


Plain = str | int | float | bool | None
"""A value of a cell."""
DERIVED = "derived"
"""Folder of delivered tables, in the output folder."""


class Place(Value):
    """Where a line of the text stands in its file."""

    path: str
    """Relative to the folder."""
    line: int
    """Line of the file for text files; for others the line of that file's converted text."""
    page: int = 0
    """1-based; 0 where the format has no pages."""
    box: tuple[float, float, float, float] | None = None
    """x0, y0, x1, y1 on the page, in points from the top left corner; None where unknown."""


class PageNote(Value):
    """What became of one page that is not plain text."""

    page: int
    status: Literal["text", "ocr", "image_only", "empty", "unreadable"]
    reason: str = ""


class Converted(Value):
    """A document's text; several files when together they make up one document."""

    stem: str
    """Name of the document: file name without suffix; a table drawn from it has this name."""
    paths: tuple[str, ...]
    """Files, relative to the folder, in reading order."""
    status: ConvertStatus
    reason: str = ""
    text: ArtifactRef | None = None
    """UTF-8 Markdown, one paragraph a line; None when there is none."""
    places: ArtifactRef | None = None
    """JSON list of `Place`, one a line of the text."""
    lines: int = 0
    pages: tuple[PageNote, ...] = ()
    """Pages whose status is not `text`."""
    notes: tuple[str, ...] = ()
    unsettled: Literal["", "stopped"] = ""
    """`stopped` when it, or a page, was given up for a passing reason (time, a change while reading)."""


class Verdicts(Value):
    """Votes on which items matter for a question, aggregated."""

    task_id: str = ""
    all: tuple[str, ...]
    """Judged items, in the order in which they were shown."""
    per_item: dict[str, bool]
    relevant: tuple[str, ...]
    """Voted relevant + always kept."""
    skipped: tuple[str, ...]
    always_keep: tuple[str, ...] = ()
    vote_tally: dict[str, str]
    """`4/5`; `0/0` for an item that was never judged."""
    reasons: dict[str, str]
    rounds_ok: int
    rounds_wanted: int
    error: str = ""
    """Why nothing could be judged; everything is relevant then."""
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""


class PlanColumn(Value):
    """A column of the table to draw."""

    name: str
    """snake_case, or the knowledge's own name."""
    doc_meaning: str
    """How the document writes it."""
    task_meaning: str
    """What the table shall hold, unit included."""
    type: ColumnType = "text"
    unit: str = ""
    """Target unit as the knowledge names it: `ratio`, `percent`, `元`, `万元`, `股`, `USD bn` …; empty for none."""
    role: ColumnRole = "data"


class PlanSection(Value):
    """A range of lines that tells the same columns of many records."""

    id: str
    title: str
    start_line: int
    end_line: int
    """Inclusive."""
    columns: tuple[str, ...]
    """The key first; each other column belongs to one section only."""


class Mention(Value):
    """A record named in a line, found by code with the plan's anchors."""

    record_id: str
    line: int


class Plan(Value):
    """How a document becomes a table."""

    stem: str
    key: str
    """Column whose value names a record."""
    columns: tuple[PlanColumn, ...]
    sections: tuple[PlanSection, ...]
    anchors: tuple[str, ...]
    """Regular expressions with one group, the record's id as written."""
    universe: tuple[str, ...]
    """Record ids in the order of the text, counted by code and compared with the model's list."""
    mentions: tuple[Mention, ...] = ()
    written_by: Literal["model", "rules"] = "model"
    problems: tuple[str, ...] = ()
    """What validation found and the retry did not mend; with `failed` the document is given up."""
    failed: bool = False
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""

    def column(self, name: str) -> PlanColumn:
        """The column of that name; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


class Slice(Value):
    """Lines of one section with the records expected in them: one unit of extraction, cached by its content."""

    section: str
    columns: tuple[PlanColumn, ...]
    """Key first."""
    key: str
    lines: tuple[tuple[int, str], ...]
    """Number and text. Numbers count within the slice, so that a line inserted above it changes no cache key."""
    expected: tuple[str, ...]
    """Record ids that the reply must list, in text order."""
    belongs: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """For each expected record the numbers of the lines that may speak of it."""
    called: tuple[tuple[str, str], ...] = ()
    """What lines here call a record where they do not name its id."""
    named: tuple[tuple[int, tuple[tuple[str, int, int], ...]], ...] = ()
    """By number of the line: the records that it names by id, expected or not, each with start and end in it."""
    alike: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """By number of a line that names no record by id: the records that it names in another way."""
    corrects: tuple[int, ...] = ()
    """Lines that stand under a heading of corrections."""
    places: Annotated[tuple[int, ...], Location()] = ()
    """Line of the document for each of `lines`; empty = their numbers are the document's."""
    rules: str = ""
    """What the knowledge says about these columns; data."""


class Finding(Value):
    """A value that a slice gave for a record, found in its line by code."""

    record_id: str
    column: str
    raw: str
    """As written in the line."""
    quote: str
    """The part of the line that holds it, cut by code."""
    line: int
    corrects: bool = False
    """The text says that this replaces an earlier value."""
    found: bool = True
    """False: the model named a value that does not stand in the text; never merged as a value."""
    doubt: str = ""
    """Why the value may not be this record's, or not whole; never `verified` then."""


class SliceResult(Value):
    """What one slice gave."""

    section: str
    findings: tuple[Finding, ...]
    listed: tuple[str, ...]
    """Records that the replies listed, with or without cells."""
    unlisted: tuple[str, ...] = ()
    """Expected records that no reply listed, after asking again."""
    surplus: tuple[str, ...] = ()
    """Record ids that were listed but are not expected here."""
    failed: bool = False
    problems: tuple[str, ...] = ()
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""


class Source(Value):
    """One statement of the text about a cell."""

    raw: str
    quote: str
    line: int
    section: str
    corrects: bool = False
    doubt: str = ""
    """Why the value may not be this record's, or not whole."""


class MergedCell(Value):
    """All that the text says about one cell; the last source is the one that holds."""

    record_id: str
    column: str
    sources: tuple[Source, ...]
    """Later ones win; earlier ones are what was superseded or contradicted."""
    conflict: bool = False

    @property
    def holding(self) -> tuple[Source, ...]:
        """The statements that hold: the last correction and whatever follows it; all of them where nothing is corrected.

        Two corrections in one line both hold: the text does not say which came later.
        """
        return holding(self.sources)


def holding(sources: tuple[Source, ...]) -> tuple[Source, ...]:
    """Of the statements about a cell, in text order, those that hold; see `MergedCell.holding`."""
    corrected = max((s.line for s in sources if s.corrects), default=0)
    return tuple(s for s in sources if s.line > corrected or (s.line == corrected and s.corrects))


class Merged(Value):
    """Cells by record and column, before their values are read."""

    stem: str
    records: tuple[str, ...]
    cells: tuple[MergedCell, ...]
    sections_good: int
    sections_all: int
    problems: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    """(record, section) where no reply told of the record: whatever its lines say there, nobody read it."""
    unasked: tuple[tuple[str, str], ...] = ()
    """(record, section) where no line of the section speaks of the record, so that no reply was asked about it."""
    idle: tuple[str, ...] = ()
    """Sections of which nothing was asked."""
    unfound: tuple[tuple[str, str, str], ...] = ()
    """(record, column, text) that a reply gave and that no statement of the lines has which it was asked about."""


class Reading(Value):
    """A raw text read to its column's type and unit."""

    raw: str
    value: Plain
    status: CellStatus
    note: str = ""
    """`about`, `range 3–5`, the unit that was assumed, why it could not be read …"""
    undecided: bool = False
    """The notation is known, but what it means here is not: code of a model could only guess."""
    rounded: bool = False
    """The text marks the number as not exact: about, nearly, over, under."""
    assumed: str = ""
    """The unit that was taken for granted, as the column names it; empty where the text writes it."""


class ColumnReadings(Value):
    """Every distinct raw text of a column, read."""

    column: str
    readings: tuple[Reading, ...]
    by_library: int
    by_model_code: int = 0
    unread: int = 0
    program: str = ""
    """The accepted transform, when model code was used."""
    problems: tuple[str, ...] = ()
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""


class CellCounts(Value):
    """A column's cells counted by status, over all records of its table."""

    name: str
    verified: int = 0
    derived: int = 0
    unverified: int = 0
    conflict: int = 0
    missing: int = 0
    """No value was named: the model read the record's lines and named none, or no line of the column names the record."""
    unread: int = 0
    """Nobody knows what the text states: no reply told of the record, nothing was asked, or what a reply gave was refused."""
    unasked: int = 0
    """Of the missing: records that no line names that was read for this column, so that nothing was asked."""

    @property
    def blank(self) -> bool:
        """Not one value was named, not even a doubtful one: that the text states none is not shown by that."""
        return self.missing > 0 and not (self.verified or self.derived or self.unverified or self.conflict)


class ColumnQuality(CellCounts):
    """A column of a derived table, and how good it is."""

    type: ColumnType
    unit: str = ""
    meaning: str = ""
    stored: bool = True
    """False: kept in the cell table only."""


class DerivedTable(Value):
    """A document's table in a SQLite file: `<stem>`, `_cells`, `_columns`."""

    stem: str
    table: str
    paths: tuple[str, ...]
    database: ArtifactRef
    key: str
    records: int
    columns: tuple[ColumnQuality, ...]
    asked: int = 0
    """Cells that the plan asked for: those of the table's columns beside the key."""
    filled: int = 0
    """Those of them that have a value."""
    perfect: bool
    """Sections are good, no cell is unread, unverified or in conflict, and most cells that the plan asked for have a value."""
    notes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Where it is delivered, relative to the output folder."""
        return f"{DERIVED}/{self.database.name}"


class Derivation(Value):
    """What the document workflow made of a folder."""

    converted: tuple[Converted, ...] = ()
    """Each file's own text, before files that make up one document were put together."""
    documents: tuple[Converted, ...] = ()
    relevance: Verdicts | None = None
    tables: tuple[DerivedTable, ...] = ()
    problems: tuple[str, ...] = ()
    """What concerns no single document."""
    left_out: tuple[tuple[str, str], ...] = ()
    """(path, why), for each file that was not converted."""
    outcomes: tuple[tuple[str, str], ...] = ()
    """(stem, why there is no table of it), for each document without one."""
    asked: tuple[str, ...] = ()
    """Stems of documents that were judged not to matter and drawn from all the same, because the solver asked for it."""
    stopped: tuple[str, ...] = ()
    """What ended work before it was done, trouble with the model or the budget: a run later may bring more."""
    spent: tuple[StageSpend, ...] = ()
    """Model calls by document (its stem; empty for all of them) and stage, whoever paid: `stem/stage`."""

    @property
    def skipped(self) -> tuple[Converted, ...]:
        """Documents that were judged not to matter and that nobody asked for since."""
        stems = set(self.relevance.skipped if self.relevance else ()) - set(self.asked)
        return tuple(document for document in self.documents if document.stem in stems)
