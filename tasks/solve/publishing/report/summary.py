"""evidence → a short Markdown summary, as Prefect shows it beside the answer."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.core.evidence.outline import pretty
from tasks.core.models.evidence import Evidence
from tasks.core.wording import counted
from tasks.solve.publishing.report.words import AUDITS, VERDICTS, headline

_LINE_CHARS = 300
_FOLDED = 10
"""The others stand in the artifact of the votes."""


def summarise(evidence: Evidence) -> str:
    """The summary; whatever comes from files or models stands in code spans or blocks, so that it cannot act."""
    return "\n".join(_lines(evidence)) + "\n"


def code(text: str) -> str:
    """The text as a code span on one line, cut at 300 characters."""
    flat = " ".join(text.replace("`", "'").split())
    return f"`{flat[:_LINE_CHARS]}{'…' if len(flat) > _LINE_CHARS else ''}`" if flat else ""


def _lines(evidence: Evidence) -> Iterator[str]:
    yield f"# {headline(evidence)[0]}"
    yield ""
    yield f"{code(evidence.question.text)} as of {evidence.question.as_of}"
    yield ""
    yield f"Status {evidence.status}: {code(evidence.reason)}"
    if evidence.doubts:
        yield from ("", "## What to doubt", *(f"- {code(doubt)}" for doubt in evidence.doubts))
    if evidence.audits:
        yield from ("", "## Validators")
        for audit in evidence.audits:
            said = "; ".join(audit.issues) or audit.problem
            yield f"- {AUDITS[audit.kind]}: {VERDICTS[audit.verdict]}" + (f": {code(said)}" if said else "")
    if evidence.used:
        yield from ("", "## Tables")
        for used in evidence.used:
            yield f"- {code(used.name)} from {code(used.path)}, {counted(used.rows, 'row')}, {used.sha256[:12]}"
    if evidence.replay:
        block = pretty(evidence.replay.sql).replace("```", "'''")
        yield from ("", "## Query", "```sql", block, "```")
    if evidence.replay and evidence.replay.program:
        yield from ("", "## Program", "```python", evidence.replay.program.replace("```", "'''"), "```")
    if evidence.folded:
        yield from ("", "## Folded tables", f"{counted(len(evidence.folded), 'table')} only named in the first prompt")
        for table in evidence.folded[:_FOLDED]:
            yield f"- {code(table.name)} {table.tally or 'not judged'}: {code(table.reason)}"
    outcomes: dict[str, int] = {}
    for source in evidence.sources:
        outcomes[source.outcome] = outcomes.get(source.outcome, 0) + 1
    yield from ("", "## Files", ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items()))
