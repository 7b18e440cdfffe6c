"""From the question to the answer: contract, brief, attempt, answer."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import Field, JsonValue

from tasks.core.models.catalogue import Catalogue, Profile
from tasks.core.models.context import SearchIndex, TableRelevanceResult
from tasks.core.models.metadata import MetricInfo
from tasks.core.models.review import Audit
from tasks.core.models.run import StageSpend, Usage
from tasks.core.models.semantics import Knowledge
from tasks.core.models.source import ArtifactRef
from tasks.core.models.value import Cell, Value

Style = Literal["tools", "json", "single", "bare"]
"""How the model works; `bare` is a yardstick, no way to answer."""
Status = Literal["approved", "rejected", "not_assessed", "partial", "failed"]
Unsettled = Literal["", "stopped", "transient"]
"""Why a result holds for this run only and is not recorded: a budget or a refusing endpoint `stopped` it, or
the trouble is `transient` and worth a retry; empty for a result to keep."""


class Question(Value):
    """What is asked, as of which day."""

    text: str
    as_of: date
    task_id: str = ""
    difficulty: str = ""


class ContractColumn(Value):
    """One column that the answer must have."""

    name: str
    meaning: str = ""
    source: str = ""
    """`table.column` or an expression over such; empty when not known yet."""


class Filter(Value):
    """One condition of the question, in words, with the unit of its threshold."""

    text: str
    source: str = ""
    unit: str = ""


class Contract(Value):
    """The expected answer, written before solving; validators hold the answer against it."""

    columns: tuple[ContractColumn, ...] = ()
    grain: str = ""
    """What one row is, e.g. `one row per airline`."""
    filters: tuple[Filter, ...] = ()
    nulls: str = ""
    duplicates: Literal["keep", "remove", "unknown"] = "unknown"
    order: str = ""
    limit: int | None = None
    ties: Literal["keep_all", "cut", "unknown"] = "unknown"
    written_by: Literal["model", "rules"] = "rules"
    revisions: tuple[str, ...] = ()
    """Reasons of later changes, in order."""
    problems: tuple[str, ...] = ()
    """What went wrong while it was written."""
    usage: Usage = Usage()
    unsettled: Unsettled = ""


class Brief(Value):
    """What the solver reads at the start."""

    text: str
    tokens: int
    shown: tuple[str, ...]
    """Tables with their columns in the text."""
    folded: tuple[str, ...] = ()
    """Tables that are only named or counted; still queryable."""
    detailed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Where tables were folded on purpose: columns of the shown ones that are described, the others being named."""


class Addition(Value):
    """A document that the solver asked for as a table: what became of it, and what there is to query from then on."""

    path: str
    table: str = ""
    """Name of its table; empty when none could be drawn."""
    reason: str = ""
    """Why there is none."""
    catalogue: Catalogue
    profile: Profile


class Assignment(Value):
    """All that the solver is given."""

    question: Question
    brief: Brief
    contract: Contract
    catalogue: Catalogue
    profile: Profile
    knowledge: Knowledge = Knowledge()
    relevance: TableRelevanceResult | None = None
    """None where the tables were not looked at before solving."""
    choosing: tuple[StageSpend, ...] = ()
    """Model calls that the choice of tables and columns took, by stage, whoever paid."""
    unsearched: tuple[str, ...] = ()
    """What the search for columns, metrics and values could not do."""
    metrics: tuple[MetricInfo, ...] = ()
    """All that are defined; tables are found by those that they give columns to."""
    index: SearchIndex | None = None
    """Of the cells' values; None where nothing was searched for before solving."""
    added: tuple[Addition, ...] = ()
    """Documents that it asked for so far, in order; it meets each where it asked, and not before."""
    audits: tuple[Audit, ...] = ()
    """What validators said so far, in order; it meets each where its attempt then stood."""

    @property
    def whole(self) -> Assignment:
        """With everything to query that there is in the end."""
        if not self.added:
            return self
        last = self.added[-1]
        return self.model_copy(update={"catalogue": last.catalogue, "profile": last.profile, "added": ()})


class Step(Value):
    """One model or tool step of an attempt, in order."""

    index: int
    kind: Literal["model", "tool"]
    name: str
    """Role for a model step, tool for a tool step."""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    result: str = ""
    """As the model saw it, cut at the tool's limit."""
    ok: bool = True
    truncated: bool = False
    usage: Usage = Usage()
    """Of a model step; none for a tool step."""


class Submission(Value):
    """What the solver hands in: a query, or a program over query results. Never rows."""

    sql: str
    """One SELECT; with a `program`, the query whose rows the program gets as `rows`."""
    program: str = ""
    """Sandboxed Python over the query's rows; empty for a plain query."""
    columns: tuple[str, ...] = ()
    """Column names of the answer when they shall differ from the query's."""
    reason: str = ""


class Candidate(Value):
    """A submission that ran, and what its result looks like."""

    submission: Submission
    digest: str = ""
    """Of the result rows in canonical form, order ignored; equal digests are equal answers."""
    columns: tuple[str, ...] = ()
    rows: int = 0
    preview: tuple[tuple[Cell, ...], ...] = ()
    """At most 5 rows."""
    votes: int = 1
    """Samples that gave this result."""
    error: str = ""


class Attempt(Value):
    """One run of the solver: every step, every candidate, and the one it stands by."""

    style: Style
    steps: tuple[Step, ...]
    candidates: tuple[Candidate, ...] = ()
    chosen: int | None = None
    """Index into `candidates`; None when nothing ran."""
    samples: int = 1
    """Votes cast in all (`single` style); 1 elsewhere."""
    contract: Contract
    """As the solver left it."""
    ended: Literal[
        "submitted", "turns", "budget", "loop", "model_error", "unreachable", "no_query", "document", "audit"
    ]
    """`document`: it waits for the table of a document, and begins again with it; `audit`: for what validators say."""
    wanted: str = ""
    """Path of that document."""
    due: Literal["", "checkpoint", "candidate"] = ""
    """What is to be audited before it goes on; empty at its end."""
    problems: tuple[str, ...] = ()
    usage: Usage = Usage()
    """All model calls of the attempt, single samples and repairs included."""
    tier: str = ""
    """What isolated the programs that were run; empty when none was."""
    unsettled: Unsettled = ""

    @property
    def candidate(self) -> Candidate | None:
        """The chosen candidate."""
        return None if self.chosen is None else self.candidates[self.chosen]

    @property
    def agreement(self) -> float | None:
        """Share of samples that gave the chosen result; None outside the `single` style. One that gave no query that runs speaks
        for no other result, and counts half."""
        candidate = self.candidate
        return candidate.votes / (self.samples - self.silent / 2) if self.style == "single" and candidate else None

    @property
    def silent(self) -> int:
        """Samples of the `single` style that gave no query that runs."""
        return sum(one.votes for one in self.candidates if not one.digest) if self.style == "single" else 0


class JoinAudit(Value):
    """One join of the replayed query, measured: rows in, lost and multiplied."""

    left: str
    right: str
    condition: str
    kind: str
    left_rows: int = 0
    right_rows: int = 0
    joined_rows: int = 0
    left_unmatched: int = 0
    right_unmatched: int = 0
    left_multiplied: int = 0
    """Left rows that found more than one right row."""
    problem: str = ""
    """Why this join could not be measured; the counts say nothing then."""


class AnswerTable(Value):
    """The answer's cells, replayed."""

    columns: tuple[str, ...]
    types: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...]
    """At most `publish.preview_rows`; all of them are in the artifact."""
    row_count: int
    file: ArtifactRef
    """`answer.csv`: UTF-8, comma, header, `\\n`, NULL as an empty field."""


class Answer(Value):
    """What a run ends with."""

    question: Question
    status: Status
    reason: str
    """Why this status, in one sentence for the reader."""
    table: AnswerTable | None
    evidence: ArtifactRef
    """`evidence.json`."""
    report: ArtifactRef
    """`report.html`."""

    def summary(self) -> dict[str, Any]:
        """What a batch summary and `--json` print of it."""
        return {
            "status": self.status,
            "reason": self.reason,
            "rows": self.table.row_count if self.table else None,
            "columns": list(self.table.columns) if self.table else [],
        }
