"""From the question to what the solver should see: votes on tables, hits, and the tables and metrics put together of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tasks.core.models.metadata import ColumnInfo, ColumnRole, MetricContext, Overrides, TableRole
from tasks.core.models.run import Usage
from tasks.core.models.semantics import Knowledge
from tasks.core.models.source import ArtifactRef
from tasks.core.models.value import Value

Why = Literal["lexical", "vector", "fused", "scan"]
"""How a hit was found; `scan` = a look through the column itself, whose values are too many for the index."""


class Told(Value):
    """What people say of the tables, beside the question."""

    knowledge: Knowledge = Knowledge()
    video_text: str = ""
    """Lines by time; empty without a video."""
    overrides: Overrides = Overrides()


class TableRelevanceResult(Value):
    """Votes on which tables the answer needs. Names are canonical; maps hold judged tables only."""

    task_id: str = ""
    per_table: dict[str, bool] = Field(default_factory=dict)
    all_tables: tuple[str, ...] = ()
    always_keep: tuple[str, ...] = ()
    """Tables drawn from documents: relevant without a vote."""
    relevant_tables: tuple[str, ...] = ()
    """Voted relevant + always kept."""
    skipped_tables: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    """More tables than prompts could hold: folded, still queryable."""
    fold_keys: tuple[str, ...] = ()
    """Origins of the skipped and not judged tables."""
    vote_tally: dict[str, str] = Field(default_factory=dict)
    reasons: dict[str, str] = Field(default_factory=dict)
    n_rounds_ok: int = 0
    n_rounds_wanted: int = 0
    error: str = ""
    skipped_describe_keys: tuple[str, ...] = ()
    """Origins of tables whose description or sample could not be read; they were judged by name."""
    off: str = ""
    """Why nothing was judged on purpose (few tables, switched off); all are relevant then."""
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""


class Terms(Value):
    """What is looked for: words of the question, the whole question, and what the model adds, by kind."""

    question: str
    keywords: tuple[str, ...] = ()
    """Made by code; the whole question is the last."""
    columns: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    expanded: bool = False
    """A model added terms."""
    problem: str = ""
    """Why it did not."""
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""


class Hit(Value):
    """Something found: a column, a metric or a value."""

    id: str
    """Of the column or metric; for a value that of its column."""
    value: str = ""
    """As it stands in the column; empty for columns and metrics."""
    score: float
    """Within one kind only: the higher the better."""
    why: Why
    reason: str
    """For a reader: which term met which text."""


class Recalled(Value):
    """Hits by kind, best first."""

    terms: Terms
    columns: tuple[Hit, ...] = ()
    metrics: tuple[Hit, ...] = ()
    values: tuple[Hit, ...] = ()
    problems: tuple[str, ...] = ()
    unsettled: Literal["", "stopped", "transient"] = ""


class SearchIndex(Value):
    """An embedded index of columns, metrics and distinct values."""

    file: ArtifactRef
    entries: int
    """Columns, metrics and values in it."""
    unindexed: tuple[str, ...] = ()
    """Ids of text columns with more distinct values than the cap: searched by a bounded look through the table."""
    vectors: ArtifactRef | None = None
    """Of columns, then metrics, in the order of the metadata; None where no embedding model is configured or it failed."""
    problems: tuple[str, ...] = ()
    unsettled: Literal["", "stopped", "transient"] = ""


class TableContext(Value):
    """A table and those of its columns that matter, nested."""

    name: str
    role: TableRole
    description: str = ""
    aliases: tuple[str, ...] = ()
    columns: tuple[ColumnInfo, ...]
    """With the values that were found appended to their examples, each once."""


class Context(Value):
    """What was recalled, put together and completed with keys."""

    tables: tuple[TableContext, ...] = ()
    metrics: tuple[MetricContext, ...] = ()
    unknown: tuple[str, ...] = ()
    """Ids that the metadata lacks: reported, never a crash."""
    keys: dict[str, ColumnRole] = Field(default_factory=dict)
    """Ids of columns that were added as keys, not found."""
    filtered: bool = False
    problem: str = ""
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""
