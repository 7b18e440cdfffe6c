"""slice → findings: each value as it is written in its line, found there by code."""

from __future__ import annotations

from tasks.core.models.document import Finding, Slice, SliceResult
from tasks.core.sections import ExtractSettings
from tasks.document.extracting import quote
from tasks.document.extracting.entries import EntryReply
from tasks.document.extracting.follow import Follow
from tasks.stage import stage


async def extract_slice(piece: Slice, settings: ExtractSettings) -> SliceResult:
    """What a slice says about its records, with lines of the document. The stage below is what is cached."""
    result = await extract_lines(piece, settings)
    if not piece.places:
        return result
    places = {number: place for (number, _), place in zip(piece.lines, piece.places, strict=True)}
    placed = (f.model_copy(update={"line": places.get(f.line, 0)}) for f in result.findings)
    return result.model_copy(update={"findings": tuple(placed)})


@stage(roles=("extract",), prompts=("extract.md",))
async def extract_lines(piece: Slice, settings: ExtractSettings) -> SliceResult:
    """The same with the slice's own line numbers. A model that gives nothing usable makes the slice failed."""
    talk = Follow(piece, settings)
    await talk.run()
    return SliceResult(
        section=piece.section,
        findings=_findings(talk),
        listed=tuple(talk.listed),
        unlisted=talk.missing,
        surplus=tuple(talk.surplus),
        failed=bool(piece.expected) and not talk.listed,
        problems=tuple(dict.fromkeys(talk.problems)),
        usage=talk.usage,
        unsettled=talk.unsettled,  # type: ignore[arg-type]
    )


def _findings(talk: Follow) -> tuple[Finding, ...]:
    """One for each value; unknown columns are noted, and what is said twice counts once."""
    columns = {column.name.casefold(): column.name for column in talk.piece.columns}
    found: dict[tuple[str, str, str, int], Finding] = {}
    for entry, corrects in talk.said:
        for cell in entry.cells:
            column = columns.get(cell.c.strip().casefold())
            if column == talk.piece.key:
                continue
            if column is None:
                talk.problems.append(f"a reply names a column that was not asked for: {cell.c[:80]!r}")
                continue
            finding = _finding(talk.piece, entry, column, cell.v, corrects)
            mark = (finding.record_id, column, finding.raw, finding.line)
            if mark not in found or corrects:
                found[mark] = finding
    return tuple(found.values())


def _finding(piece: Slice, entry: EntryReply, column: str, raw: str, corrects: bool) -> Finding:
    own = next((numbers for record, numbers in piece.belongs if record == entry.id), ())
    lines = [line for line in piece.lines if line[0] in own] or list(piece.lines)
    names = (entry.id, *(name for record, name in piece.called if record == entry.id))
    if place := quote.nearest(raw, entry.line, lines, names):
        line, written, clause = place
        return Finding(record_id=entry.id, column=column, raw=written, quote=clause, line=line, corrects=corrects)
    return Finding(
        record_id=entry.id, column=column, raw=raw[:500], quote="", line=entry.line, corrects=corrects, found=False
    )
