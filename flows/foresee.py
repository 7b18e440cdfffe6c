"""slices of a document, in a dry run → what extraction would send; of sections for learned patterns an estimate, since replies decide it."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from flows.patterns import extract
from flows.running.share import Share
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.llm.forecast import Forecast, Foreseen, Prompt
from tasks.core.models.document import Plan, Slice
from tasks.core.models.patterns import Extracted
from tasks.core.settings import Settings
from tasks.document.learning import cost

_WRITING, _READING = ("learn_patterns", "patterns"), ("extract_lines", "extract")
"""Stage and role of the two kinds of requests."""


async def foresee(plan: Plan, slices: tuple[Slice, ...], settings: Settings, share: Share) -> Extracted:
    """As `extract`; a section that patterns would read adds its estimate to the forecast, in place of requests.

    The run's own way would send all its records in slices, as it does when no patterns come: that is not what a run takes.
    """
    by_section: dict[str, list[Slice]] = defaultdict(list)
    for piece in slices:
        by_section[piece.section].append(piece)
    learned = {name for name, pieces in by_section.items() if cost.is_cheaper(pieces, settings.patterns)}
    others = tuple(piece for piece in slices if piece.section not in learned)
    work = [extract(plan, others, settings, share)] if others else []
    work += [_estimated(plan, tuple(by_section[name]), settings) for name in by_section if name in learned]
    parts = await asyncio.gather(*work)
    return Extracted(results=tuple(result for part in parts for result in part.results))


async def _estimated(plan: Plan, slices: tuple[Slice, ...], settings: Settings) -> Extracted:
    """One section. What the run's way notes is kept where it is less than the estimate: then replies of earlier runs lead on."""
    own, outer = Forecast(settings.budget), door.current()
    with door.use(door.Door(outer.settings, stores.current(), own)):
        found = await extract(plan, slices, settings, Share(None))
    assert isinstance(outer.meter, Forecast)
    whole = cost.of_slices(slices)
    written, read = cost.of_patterns(slices, whole, settings.patterns)
    if sum(prompt.sent for prompt in own.prompts) <= written.sent + read.sent:
        outer.meter.prompts += own.prompts
        return found
    lessons = tuple(message for prompt in own.prompts if prompt.role == "patterns" for message in prompt.messages)
    outer.meter.prompts += [
        Prompt(*_WRITING, written.calls, written.sent, written.back, lessons, estimated=True),
        Prompt(*_READING, read.calls, read.sent, read.back, estimated=True),
    ]
    outer.meter.foreseen.append(
        Foreseen(
            document=plan.stem,
            section=slices[0].section,
            records=cost.records(slices),
            calls=written.calls + read.calls,
            tokens=written.tokens + read.tokens,
            slice_calls=whole.calls,
            slice_tokens=whole.tokens,
        )
    )
    return found
