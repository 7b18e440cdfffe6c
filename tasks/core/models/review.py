"""What validators read and say: evidence package, ledger, obligations, audit."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from tasks.core.models.run import Usage
from tasks.core.models.value import Cell, Value

PACKAGE_VERSION = 1
Capability = Literal[
    "table_structure",
    "field_definition",
    "candidate_relation",
    "source_rows",
    "computed_observation",
    "document_fact",
    "document_structure",
    "extracted_rows",
    "visual_fact",
    "visual_observation_receipt",
    "source_discovery",
]
"""What a tool's result can support. A candidate relation still needs verification; discovering a source verifies nothing."""
OmissionReason = Literal["not_successful", "truncated_result", "evidence_budget"]
Verdict = Literal["approved", "rejected", "not_assessed"]
AuditKind = Literal["checkpoint", "candidate", "answer"]
"""`checkpoint`: on the way, no answer yet; `candidate`: the process behind a candidate; `answer`: its final form."""


class Coverage(Value):
    """What of its source an observation shows."""

    unit: Literal["rows", "lines", "pages", "whole"]
    shown: int = 0
    total: int | None = None
    """None: not known."""
    first: int | None = None
    last: int | None = None
    """Range of lines or pages, from 1; None where it does not apply."""
    cut: bool = False
    """Signs within what is shown were cut too."""


class EvidenceItem(Value):
    """One successful result of a tool: one query is one item."""

    id: str
    """`step_N:call_X`."""
    trace_step_index: int
    tool_call_id: str
    tool: str
    capabilities: tuple[Capability, ...]
    source: str
    """Tables or path that it is about."""
    request: dict[str, JsonValue] = Field(default_factory=dict)
    status: Literal["complete", "partial"]
    truncated: bool = False
    locator: str = ""
    coverage: Coverage
    excerpt: str
    pinned: bool = False
    """Kept whatever the budget: structure and definitions, and what the submission reads."""


class Omission(Value):
    """A result that is in no item; it proves nothing, and alone it rejects nothing."""

    tool: str
    source: str
    reason: OmissionReason


class EvidencePackage(Value):
    """What the validator may rely on; items and omissions in the order of the steps."""

    schema_version: int = PACKAGE_VERSION
    items: tuple[EvidenceItem, ...] = ()
    omitted: tuple[Omission, ...] = ()
    omitted_by_reason: dict[str, int] = Field(default_factory=dict)
    """Counts all of them, also those that `omitted` had no room for."""


class Claim(Value):
    """A statement that evidence supports."""

    text: str
    evidence: tuple[str, ...] = ()
    """Ids of items."""


class Ambiguity(Value):
    """Two readings that the sources do not decide between."""

    text: str
    readings: tuple[Reading, ...] = ()


class Reading(Value):
    """One reading of the question and the query that follows from it."""

    text: str
    sql: str = ""
    evidence: tuple[str, ...] = ()
    """Ids of items, or lines of the knowledge, that speak for it."""
    columns: tuple[str, ...] = ()
    rows: int = 0
    preview: tuple[tuple[Cell, ...], ...] = ()
    digest: str = ""
    error: str = ""


class Ledger(Value):
    """What a validator keeps between its rounds; private to it."""

    intent_summary: str = ""
    verified_claims: tuple[Claim, ...] = ()
    unverified_assumptions: tuple[str, ...] = ()
    unresolved_ambiguities: tuple[Ambiguity, ...] = ()
    drift_risks: tuple[str, ...] = ()


class Obligation(Value):
    """A required action, due before the next submission; later evidence closes it or shows it impossible."""

    text: str
    sources: tuple[str, ...] = ()
    """Tables, `table.column` or paths that evidence must be about; empty: any later evidence closes it."""
    opened_at: int = 0
    """Number of steps when it was required."""
    status: Literal["open", "closed", "impossible"] = "open"
    evidence: str = ""
    """Id of the item, or step, that closed it."""


class Audit(Value):
    """One look of validators at an attempt, and what the solver gets back: issues and actions, nothing else."""

    kind: AuditKind
    steps: int
    """Steps of the attempt when it was made: the place where the solver meets it again."""
    candidate: int | None = None
    verdict: Verdict
    fingerprint: str = ""
    """Of what was looked at, `Checked.fingerprint`: an approval holds for this one alone."""
    shape: str = ""
    """`Checked.shape` of it; an approval of the form (`answer`) holds for this one alone."""
    issues: tuple[str, ...] = ()
    actions: tuple[Obligation, ...] = ()
    settled: tuple[Obligation, ...] = ()
    """Actions that the audit before required, as evidence since then leaves them."""
    ledger: Ledger = Ledger()
    package: EvidencePackage = EvidencePackage()
    problem: str = ""
    """Technical failure, or why nobody looked; the verdict is `not_assessed` then."""
    asked: bool = False
    """A model was asked; False: code alone decided."""
    spends: bool = False
    """A rejection that counts against the review budget."""
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""
    """Why nobody could look in this run; a later run tries again."""


Ambiguity.model_rebuild()
