"""what is to be audited → a short request for a model that reads little, and its reply, read as strictly as the long one."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pydantic import BaseModel, Field, StrictBool, StrictStr

from tasks.core.llm import structured
from tasks.core.llm.prompts import fence, fill
from tasks.core.llm.structured import Invalid
from tasks.core.models.review import Claim, EvidenceItem, EvidencePackage, Ledger, Omission
from tasks.solve.auditing import shown
from tasks.solve.auditing.pinned import told_within, within
from tasks.solve.auditing.reply import Judged
from tasks.solve.auditing.request import Audited, numbered_knowledge
from tasks.solve.showing.layout import one_line

PROMPT = Path(__file__).parents[1] / "prompts" / "process_short.md"
TOKENS = (240, 120, 60, 30)
"""Of one table, of the knowledge and of what was measured, tried until the request fits."""
_CHARS = 400


class ShortReply(BaseModel):
    """What is wrong, or which tables show that nothing is."""

    issue: StrictStr
    evidence: list[StrictStr] = Field(default=[], description="ids of tables")
    valid: StrictBool


def tables_of(package: EvidencePackage) -> EvidencePackage:
    """The package with its tables alone; what else was seen is counted as left out for want of room."""
    kept = tuple(item for item in package.items if "table_structure" in item.capabilities and item.pinned)
    left = [item for item in package.items if item not in kept]
    counts = dict(package.omitted_by_reason)
    if left:
        counts["evidence_budget"] = counts.get("evidence_budget", 0) + len(left)
    lost = tuple(Omission(tool=item.tool, source=item.source, reason="evidence_budget") for item in left)
    return package.model_copy(
        update={"items": kept, "omitted": (*package.omitted, *lost), "omitted_by_reason": dict(sorted(counts.items()))}
    )


def request(audited: Audited, tokens: int) -> str:
    """The prompt, with so many tokens of each table, of the knowledge and of what code measured."""
    given, checked = audited.given, audited.checked
    lines = [line for line in shown.measured(checked) if ", passed: " not in line]
    return fill(
        PROMPT,
        evidence=fence("\n".join(_table(item, tokens) for item in audited.package.items) or "none"),
        knowledge=fence(numbered_knowledge(given, tokens * 3) or "none"),
        measured=fence("\n".join(told_within(lines, tokens)) or "nothing to remark"),
        question=fence(given.question.text),
        answer=fence(shown.answer(checked, audited.attempt)),
    )


def read(text: str, ids: Collection[str]) -> Judged:
    """The verdict. Raises Invalid for a pass without a table that exists, and for a reply that contradicts itself."""
    reply = structured.parse(text, ShortReply)
    issue = one_line(reply.issue, _CHARS)
    if not reply.valid:
        if not issue:
            raise Invalid("`valid` is false, but no issue says why.")
        return Judged("rejected", Ledger(), (issue,))
    cited = tuple(dict.fromkeys(name for each in reply.evidence if (name := each.strip().strip("[]`")) in ids))
    if issue:
        raise Invalid("`valid` is true, but there is an issue: leave it empty, or make `valid` false.")
    if not cited:
        raise Invalid("`valid` is true, but no table is cited that exists: cite the ids as they stand.")
    return Judged("approved", Ledger(verified_claims=(Claim(text="the query answers the question", evidence=cited),)))


def _table(item: EvidenceItem, tokens: int) -> str:
    lines = item.excerpt.splitlines()
    kept = within(lines, tokens)
    more = [f"… ({len(lines) - len(kept)} more lines left out here)"] * (len(kept) < len(lines))
    return "\n".join([f"[{item.id}] {item.source}", *kept, *more])
