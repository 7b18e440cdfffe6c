"""Where an answer comes from: sources, replay, joins, checks and spend, in a form that two equal runs write alike."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from tasks.core.models.answer import AnswerTable, Candidate, Contract, JoinAudit, Question, Status, Step, Style
from tasks.core.models.context import TableRelevanceResult
from tasks.core.models.document import CellCounts, CellStatus
from tasks.core.models.review import Audit
from tasks.core.models.source import ArtifactRef, FileKind, Outcome
from tasks.core.models.value import Value

SCHEMA_VERSION = 1
CheckOutcome = Literal["passed", "failed", "noted"]


class Origin(Value):
    """One file of the folder, what became of it and which tables it gave."""

    path: str
    kind: FileKind
    size: int
    """Bytes."""
    sha256: str
    outcome: Outcome
    reason: str = ""
    tables: tuple[str, ...] = ()
    taken_at: str = ""
    """Of a live database: when the content with this digest was read, in UTC."""


class UsedTable(Value):
    """A table that the replayed query reads."""

    name: str
    path: str
    """Source file, relative to the folder."""
    inner: str = ""
    """Name inside the file; empty when the file is one table."""
    sha256: str = ""
    """Of the source file."""
    rows: int
    set_aside: int = 0
    """Source rows that could not be parsed and are not in the table; titles above the header are none."""
    columns: tuple[str, ...] = ()
    """Those that the query names; all of them for `*`."""
    unread: dict[str, int] = Field(default_factory=dict)
    """By column of these, of a table drawn from a document: cells that are empty because nobody read them."""
    blank: dict[str, int] = Field(default_factory=dict)
    """Those of these columns, of a table drawn from a document, for which not one value was named: of their records, how
    many the model was asked for."""
    notes: tuple[str, ...] = ()
    """What was noticed when the table and these columns were read."""


class DocumentCell(Value):
    """A cell of a table drawn from a document, with the place in the text that it follows from."""

    record: str
    column: str
    value: str
    """As the table holds it, as text; empty for NULL."""
    raw: str = ""
    quote: str = ""
    path: str = ""
    line: int = 0
    """Line of the file; of a PDF and its like, of the text made from it. 0 where the text says nothing."""
    page: int = 0
    """0 where the format has no pages."""
    status: CellStatus
    note: str = ""


class DrawnColumn(CellCounts):
    """A column that the query reads."""


class DrawnUse(Value):
    """A table drawn from a document that the query reads."""

    table: str
    paths: tuple[str, ...]
    key: str
    records: int
    perfect: bool
    database: str
    """SHA-256 of the table's SQLite file in `derived/`."""
    columns: tuple[DrawnColumn, ...]
    doubtful: tuple[DocumentCell, ...] = ()
    """Cells of these columns that are unverified or in conflict, the first of them."""
    doubtful_all: int = 0
    notes: tuple[str, ...] = ()


class AnswerCell(Value):
    """A cell of the answer that is a cell of a document."""

    row: int
    """Row of the answer, from 1."""
    column: str
    """Column of the answer."""
    table: str
    cell: DocumentCell


class FoldedTable(Value):
    """A table that the first prompt only named or counted."""

    name: str
    origin: str
    tally: str = ""
    """`1/5`: rounds that found it relevant, of those that judged it; empty when nobody judged it."""
    reason: str
    used: bool = False
    """The answer's query reads it all the same."""


class Statement(Value):
    """What the knowledge says about a name that the query uses."""

    path: str
    line: int
    text: str


class Outline(Value):
    """A query, taken apart for a reader; empty parts do not occur in it."""

    tables: tuple[str, ...] = ()
    """As the query names them, in order of appearance."""
    columns: tuple[tuple[str, str], ...] = ()
    """(table as the query names it or empty, column); (table, `*`) for all of its columns."""
    filters: tuple[str, ...] = ()
    """Conditions that rows or groups must meet, each as SQL."""
    groups: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    """Each key as SQL; a position is replaced by the column that it stands for."""
    limit: str = ""
    """How many rows at most, as SQL."""
    distinct: bool = False
    ordered: bool = True
    """Whether the query fixes the order of its rows; a query that cannot be read counts as ordered."""


class Replay(Value):
    """The submission, run once more from the stored catalogue."""

    sql: str
    program: str = ""
    columns: tuple[str, ...] = ()
    """Header of the answer."""
    expected: str = ""
    """Digest of the result that the solver saw."""
    digest: str = ""
    """Digest of the replayed result; empty when it did not run."""
    rows: int = 0
    truncated: bool = False
    """More rows than `query.max_rows`: the rest is not in the answer."""
    sorted: bool = False
    """The query leaves the order open, so the rows were sorted by value."""
    tier: str = ""
    """What isolated the program; empty without one."""
    error: str = ""

    @property
    def equal(self) -> bool:
        """The replay ran and gave what the solver saw."""
        return not self.error and bool(self.digest) and self.digest == self.expected


class Check(Value):
    """One deterministic look at the answer."""

    name: str
    outcome: CheckOutcome
    detail: str = ""


class Checked(Value):
    """A candidate, replayed and measured: all that code can say about it."""

    replay: Replay | None = None
    """None when there was nothing to replay."""
    outline: Outline = Outline()
    joins: tuple[JoinAudit, ...] = ()
    cells: tuple[AnswerCell, ...] = ()
    checks: tuple[Check, ...] = ()
    table: AnswerTable | None = None
    fingerprint: str = ""
    """Of question, contract, sources, filters, joins, grain and measures; a repair of display alone leaves it."""
    shape: str = ""
    """Of what the fingerprint leaves out: output columns, their order and names, row order, limit."""


class StageUsage(Value):
    """Model calls of one stage, whether an endpoint or the journal answered: what the work takes, not what was paid."""

    stage: str
    calls: int
    tokens_in: int
    tokens_cached: int = 0
    """Of `tokens_in`: those that the endpoint had in its prefix cache when it was asked."""
    tokens_out: int


class Solving(Value):
    """How the solver came to its submission."""

    style: Style
    ended: str
    chosen: int | None
    """Index into `candidates`."""
    samples: int
    agreement: float | None
    """Share of samples that gave the chosen result; None outside the `single` style."""
    candidates: tuple[Candidate, ...]
    steps: tuple[Step, ...]
    problems: tuple[str, ...]
    tier: str = ""
    """What isolated the solver's programs; empty when it ran none."""


class Evidence(Value):
    """`evidence.json`. No time, place or secret is in it: equal runs write equal bytes.

    Of the machine it says what isolated a program, and nothing else.
    """

    schema_version: int = SCHEMA_VERSION
    question: Question
    status: Status
    reason: str
    contract: Contract
    replay: Replay | None
    """None when there was nothing to replay."""
    outline: Outline
    used: tuple[UsedTable, ...]
    drawn: tuple[DrawnUse, ...] = ()
    """Of the used tables those that were drawn from documents."""
    cells: tuple[AnswerCell, ...] = ()
    """Cells of the answer that were followed to a document: columns that the query takes over unchanged, in answers of
    at most 200 rows. For other columns `drawn` says what they rest on as a whole."""
    joins: tuple[JoinAudit, ...]
    statements: tuple[Statement, ...]
    checks: tuple[Check, ...]
    audits: tuple[Audit, ...] = ()
    """What validators said, in order; of their evidence packages the items without excerpts."""
    doubts: tuple[str, ...]
    """Sentences for the reader: what speaks against taking the answer at its word."""
    sources: tuple[Origin, ...]
    relevance: TableRelevanceResult | None = None
    """Votes on the tables, or why there was none."""
    folded: tuple[FoldedTable, ...] = ()
    """Tables that the first prompt did not describe on purpose, and why; a query may read them all the same."""
    solving: Solving
    models: dict[str, dict[str, JsonValue]]
    """By role: model, sampling and limits; no address, no key."""
    usage: tuple[StageUsage, ...]
    versions: dict[str, str]


class Delivery(Value):
    """What was written where."""

    folder: str
    """Absolute path."""
    files: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """What could not be shown elsewhere; the files are whole all the same."""
    kept: dict[str, ArtifactRef] = Field(default_factory=dict)
    """The files in the store, by their names in the folder: for those who cannot see it."""
