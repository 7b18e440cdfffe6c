"""slice → findings: each value as it is written in its line, found there by code."""

from __future__ import annotations

from tasks.core.models.document import Slice, SliceResult
from tasks.core.sections import ExtractSettings
from tasks.document.extracting.findings import findings
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
    found, problems = findings(piece, talk.said)
    return SliceResult(
        section=piece.section,
        findings=found,
        listed=tuple(talk.listed),
        unlisted=talk.missing,
        surplus=tuple(talk.surplus),
        failed=bool(piece.expected) and not talk.listed,
        problems=tuple(dict.fromkeys((*talk.problems, *problems))),
        usage=talk.usage,
        unsettled=talk.unsettled,  # type: ignore[arg-type]
    )
