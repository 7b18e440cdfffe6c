"""Lines and the records they name → blocks: ranges in which the same records come up in turn.

Headings begin a block where there are any; without them a block begins where the records start over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from tasks.core.models.document import Mention

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*$")
_SHARE = 0.3
"""Share of the records that a range must name to be a block of its own; less are corrections and remarks."""
_AHEAD = 8
"""Mentions that are looked at to see whether the records start over."""


class Block(NamedTuple):
    """A range of lines, 1-based and inclusive."""

    title: str
    start: int
    end: int
    records: int
    """Different records named in it."""


def blocks(lines: Sequence[str], mentions: Sequence[Mention]) -> tuple[Block, ...]:
    """The blocks that tell of records, in order; each ends at its last mention. Empty when no record is named."""
    if not mentions:
        return ()
    cuts = {number: match[1] for number, line in enumerate(lines, 1) if (match := _HEADING.match(line))}
    cuts |= {line: "" for line in _restarts(mentions) if line not in cuts}
    edges = sorted({1, *cuts, len(lines) + 1})
    ranges = [_block(cuts.get(a, ""), a, b - 1, mentions) for a, b in pairwise(edges)]
    everyone = len({mention.record_id for mention in mentions})
    full = [block for block in ranges if block.records >= max(1, _SHARE * everyone)]
    if not full:
        last = mentions[-1].line
        return (_block("", 1, last, mentions),)
    return tuple(_ended(block, mentions) for block in full)


def _restarts(mentions: Sequence[Mention]) -> list[int]:
    """Lines at which the records start over in their first order."""
    rank: dict[str, int] = {}
    for mention in mentions:
        rank.setdefault(mention.record_id, len(rank))
    count = len(rank)
    found: list[int] = []
    highest = 0
    for at, mention in enumerate(mentions):
        position = rank[mention.record_id]
        ahead = sorted(rank[m.record_id] for m in mentions[at : at + _AHEAD])
        low = position <= 0.05 * count + 1 and ahead[len(ahead) // 2] <= 0.25 * count + _AHEAD / 2
        if count > 1 and low and highest >= 0.75 * (count - 1) and mention.line != mentions[0].line:
            found.append(mention.line)
            highest = 0
        highest = max(highest, position)
    return found


def _block(title: str, start: int, end: int, mentions: Sequence[Mention]) -> Block:
    return Block(title, start, end, len({m.record_id for m in mentions if start <= m.line <= end}))


def _ended(block: Block, mentions: Sequence[Mention]) -> Block:
    return block._replace(end=max(m.line for m in mentions if block.start <= m.line <= block.end))
