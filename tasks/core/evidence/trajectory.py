"""steps of an attempt + catalogue → evidence package: what its results prove, how far they reach, and what proves nothing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from tasks.core.auditing import ProcessSettings
from tasks.core.evidence import observed
from tasks.core.evidence.observed import Known, Shown
from tasks.core.llm.tokens import count
from tasks.core.models.answer import Step
from tasks.core.models.review import Coverage, EvidenceItem, EvidencePackage, Omission, OmissionReason

_PINNED = {"table_structure", "field_definition"}
_CUT = "…"


@dataclass(frozen=True)
class Submitted:
    """The query that the package is to be judged with; empty on the way to one."""

    sql: str = ""
    tables: frozenset[str] = frozenset()
    """Canonical names of those that it reads."""


def collect(
    steps: Sequence[Step],
    known: Known,
    limits: ProcessSettings,
    submitted: Submitted | None = None,
    given: Sequence[EvidenceItem] = (),
) -> EvidencePackage:
    """Items and omissions in the order of the steps, `given` ones first; the newest of equal results counts.

    Over the budget of items go, after what is pinned, first those about other tables than the submission's, then the oldest.
    """
    submitted = submitted or Submitted()
    found: list[EvidenceItem] = []
    omitted: list[tuple[int, Omission]] = []
    seen: set[str] = set()
    for step, call in reversed(_calls(steps)):
        source = observed.about(step, known)
        own = _is_of(step, submitted)
        shown = observed.read(step, own) if step.ok else None
        if shown is None:
            omitted.append((step.index, _omission(step, source, "truncated_result" if step.ok else "not_successful")))
        elif (key := _key(step, source)) not in seen:
            seen.add(key)
            kept = fitted(shown, limits.string_tokens, limits.list_items)
            kinds = observed.capabilities(step, known)
            changes = {
                "capabilities": kinds,
                "truncated": step.truncated or len(kept.body) < len(shown.body),
                "pinned": own or bool(_PINNED.intersection(kinds)),
            }
            found.append(_item(step, call, source, kept).model_copy(update=changes))
    chosen, left = _chosen(found, limits.evidence_items, submitted)
    omitted += [
        (item.trace_step_index, Omission(tool=item.tool, source=item.source, reason="evidence_budget")) for item in left
    ]
    ordered = [omission for _, omission in sorted(omitted, key=lambda pair: pair[0])]
    return EvidencePackage(
        items=(*given, *sorted(chosen, key=lambda item: item.trace_step_index)),
        omitted=tuple(ordered[-limits.evidence_items :]),
        omitted_by_reason=dict(sorted(Counter(omission.reason for omission in ordered).items())),
    )


def _calls(steps: Sequence[Step]) -> list[tuple[Step, int]]:
    """Tool steps that look at a source, each with its number among the calls of its turn."""
    found, call = [], 0
    for step in steps:
        call = call + 1 if step.kind == "tool" else 0
        if step.kind == "tool" and step.name not in observed.ACTS:
            found.append((step, call))
    return found


def _chosen(
    found: list[EvidenceItem], most: int, submitted: Submitted
) -> tuple[list[EvidenceItem], list[EvidenceItem]]:
    """Those that are kept, and those that there is no room for; `found` has the newest first."""
    order = sorted(
        range(len(found)),
        key=lambda at: (not found[at].pinned, not submitted.tables.intersection(found[at].source.split(", ")), at),
    )
    room = max(most, sum(item.pinned for item in found))
    kept = set(order[:room])
    return [found[at] for at in sorted(kept)], [found[at] for at in range(len(found)) if at not in kept]


def _is_of(step: Step, submitted: Submitted) -> bool:
    """Whether the step ran the submitted query before."""
    own = " ".join(observed.text_of(step.arguments.get("sql")).rstrip("; \n").split())
    return bool(submitted.sql) and own == " ".join(submitted.sql.rstrip("; \n").split())


def _item(step: Step, call: int, source: tuple[str, ...], shown: Shown) -> EvidenceItem:
    return EvidenceItem(
        id=f"step_{step.index}:call_{call}",
        trace_step_index=step.index,
        tool_call_id=f"call_{call}",
        tool=step.name,
        capabilities=(),
        source=", ".join(source) or "catalogue",
        request=_request(step.arguments),
        status="complete" if observed.is_complete(shown.coverage) else "partial",
        locator=locator(shown.coverage),
        coverage=shown.coverage,
        excerpt="\n".join((*shown.head, *shown.body, *shown.tail)),
    )


def fitted(shown: Shown, tokens: int, lines: int) -> Shown:
    """Whole lines of the body up to so many tokens and lines; the coverage says what is left."""
    kept: list[str] = []
    room = tokens
    for line in shown.body[:lines]:
        room -= count(line) + 1
        if room < 0:
            break
        kept.append(line)
    if len(kept) == len(shown.body):
        return shown
    lost = len(shown.body) - len(kept)
    cover = shown.coverage
    changes: dict[str, object] = {"shown": max(cover.shown - lost, 0)}
    if cover.unit == "whole":
        changes = {"unit": "lines", "shown": len(kept), "total": len(shown.body)}
    elif cover.last is not None:
        changes["last"] = cover.last - lost
    note = f"{_CUT} ({lost} more left out here)"
    return replace(
        shown, body=tuple(kept), tail=(note, *shown.tail), coverage=Coverage.model_validate({**dict(cover), **changes})
    )


def locator(cover: Coverage) -> str:
    """What is shown, in words: `rows 1 to 20 of 300`."""
    if cover.unit == "whole":
        return "all of it"
    total = "an unknown number" if cover.total is None else str(cover.total)
    if cover.first is not None and cover.last is not None:
        return f"{cover.unit} {cover.first} to {cover.last} of {total}"
    return f"{cover.shown} of {total} {cover.unit}"


def _omission(step: Step, source: tuple[str, ...], reason: OmissionReason) -> Omission:
    return Omission(tool=step.name, source=", ".join(source) or "catalogue", reason=reason)


def _request(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """What was asked, without the solver's own account of why."""
    return {name: value for name, value in arguments.items() if name not in ("thought", "reason")}


def _key(step: Step, source: tuple[str, ...]) -> str:
    """Equal for calls that asked for the same and got the same: a table that grew since gives another result."""
    parts = [step.name, _request(step.arguments), source, step.result]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
