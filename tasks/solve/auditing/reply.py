"""text of the process validator → verdict, issues, actions, ledger; strict, and never more favourable than its own ledger."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, JsonValue, StrictBool, StrictStr, ValidationError

from tasks.core.llm import structured
from tasks.core.llm.structured import Invalid
from tasks.core.models.review import Ambiguity, Claim, Ledger, Reading, Verdict
from tasks.solve.showing.layout import one_line

_CHARS, _ISSUES, _ACTIONS, _ENTRIES, _READINGS = 400, 8, 5, 40, 2
"""What is kept of a reply: signs of one sentence, and entries of one list."""
_KNOWLEDGE = re.compile(r"(?:knowledge|\S*\.md)[ :,]*(?:line|l\.?)?\s*(\d+)", re.IGNORECASE)


def _text(value: Any) -> Any:
    """A bare sentence in place of an object with a text."""
    return {"text": value} if isinstance(value, str) else value


class ClaimReply(BaseModel):
    """A statement that evidence supports."""

    text: StrictStr
    evidence: list[StrictStr] = Field(default=[], description="ids of evidence, or knowledge:LINE")


class AssumptionReply(BaseModel):
    """A statement that nothing supports."""

    text: StrictStr
    material: StrictBool = Field(default=True, description="true if the answer would be another one without it")


class ReadingReply(BaseModel):
    """One reading, and the whole query that would answer it."""

    text: StrictStr
    sql: StrictStr = ""
    evidence: list[StrictStr] = Field(default=[], description="ids of evidence that speaks for it, or knowledge:LINE")


class AmbiguityReply(BaseModel):
    """Two readings that the sources do not decide between."""

    text: StrictStr
    readings: list[Annotated[ReadingReply, BeforeValidator(_text)]] = []


class LedgerReply(BaseModel):
    """What the validator keeps for its next round."""

    intent_summary: StrictStr = ""
    verified_claims: list[Annotated[ClaimReply, BeforeValidator(_text)]] = []
    unverified_assumptions: list[Annotated[AssumptionReply, BeforeValidator(_text)]] = []
    unresolved_ambiguities: list[Annotated[AmbiguityReply, BeforeValidator(_text)]] = []
    drift_risks: list[StrictStr] = []


class ActionReply(BaseModel):
    """What has to be done before the next submission."""

    text: StrictStr
    sources: list[StrictStr] = Field(default=[], description="tables, table.column or paths to look at")


Actions = list[Annotated[ActionReply, BeforeValidator(_text)]]


class ProcessReply(BaseModel):
    """The ledger first, the verdict last."""

    semantic_ledger: LedgerReply
    issues: list[StrictStr]
    required_next_actions: Actions
    valid: StrictBool


class _Outer(BaseModel):
    """The reply with its ledger unread: a malformed one does not void a rejection."""

    semantic_ledger: JsonValue = None
    issues: list[StrictStr] = []
    required_next_actions: Actions = []
    valid: StrictBool


@dataclass(frozen=True)
class Judged:
    """A reply, read and held against itself."""

    verdict: Verdict
    ledger: Ledger
    issues: tuple[str, ...] = ()
    actions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each with the sources that it names."""


def read(text: str, ids: Collection[str], lines: int, previous: Ledger) -> Judged:
    """The verdict that the reply allows. `ids` are those of the evidence shown, `lines` the number of the knowledge's.

    A pass with a material assumption is a rejection. Raises Invalid for what is no such reply, for a pass without evidence,
    and for one that contradicts itself.
    """
    reply = structured.parse(text, _Outer)
    try:
        said = LedgerReply.model_validate(reply.semantic_ledger)
    except ValidationError:
        said = None
    issues = tuple(one_line(issue, _CHARS) for issue in reply.issues if issue.strip())[:_ISSUES]
    actions = tuple((one_line(action.text, _CHARS), tuple(action.sources)) for action in reply.required_next_actions)[
        :_ACTIONS
    ]
    if reply.valid:
        return _passed(said, issues, actions, ids, lines)
    assumed = _material(said) if said else []
    if not issues and not actions and not assumed:
        raise Invalid("`valid` is false, but no issue says why.")
    kept = _ledger(said, ids, lines) if said else previous
    return Judged("rejected", kept, issues or tuple(f"not verified: {one}" for one in assumed), actions)


def _passed(
    said: LedgerReply | None, issues: tuple[str, ...], actions: tuple[Any, ...], ids: Collection[str], lines: int
) -> Judged:
    if said is None:
        raise Invalid("`semantic_ledger` does not have the asked form.")
    if issues or actions:
        raise Invalid("`valid` is true, but there are issues or required actions: give none, or make `valid` false.")
    ledger = _ledger(said, ids, lines)
    if not any(claim.evidence for claim in ledger.verified_claims):
        raise Invalid("`valid` is true, but no verified claim cites evidence that exists: cite the ids as they stand.")
    if assumed := _material(said):
        told = tuple(one_line(one, _CHARS) for one in assumed)[:_ISSUES]
        wanted = tuple((f"Find evidence that decides this: {one}", ()) for one in told)[:_ACTIONS]
        return Judged("rejected", ledger, tuple(f"not verified: {one}" for one in told), wanted)
    return Judged("approved", ledger)


def _material(said: LedgerReply) -> list[str]:
    return [one.text for one in said.unverified_assumptions if one.material and one.text.strip()]


def _ledger(said: LedgerReply, ids: Collection[str], lines: int) -> Ledger:
    """The ledger with citations that exist; a claim without one is no claim but an assumption."""
    claims = [
        Claim(text=one_line(claim.text, _CHARS), evidence=tuple(dict.fromkeys(_cited(claim.evidence, ids, lines))))
        for claim in said.verified_claims
    ]
    assumed = [one.text for one in said.unverified_assumptions] + [one.text for one in claims if not one.evidence]
    return Ledger(
        intent_summary=one_line(said.intent_summary, _CHARS),
        verified_claims=tuple(claim for claim in claims if claim.evidence)[:_ENTRIES],
        unverified_assumptions=tuple(dict.fromkeys(one_line(text, _CHARS) for text in assumed))[:_ENTRIES],
        unresolved_ambiguities=tuple(_ambiguity(one, ids, lines) for one in said.unresolved_ambiguities[:_READINGS]),
        drift_risks=tuple(one_line(risk, _CHARS) for risk in said.drift_risks)[:_ENTRIES],
    )


def _cited(named: list[str], ids: Collection[str], lines: int) -> Iterator[str]:
    for name in named:
        plain = name.strip().strip("[]`")
        line = _KNOWLEDGE.fullmatch(plain)
        if plain in ids:
            yield plain
        elif line and 1 <= int(line[1]) <= lines:
            yield f"knowledge:{line[1]}"


def _ambiguity(said: AmbiguityReply, ids: Collection[str], lines: int) -> Ambiguity:
    readings = tuple(
        Reading(
            text=one_line(one.text, _CHARS),
            sql=one.sql.strip(),
            evidence=tuple(dict.fromkeys(_cited(one.evidence, ids, lines))),
        )
        for one in said.readings[:_READINGS]
    )
    return Ambiguity(text=one_line(said.text, _CHARS), readings=readings)
