"""Lines and the records they name → blocks: ranges in which the same records come up in turn.

Headings begin blocks where they part the records; else a block begins where the records come up again.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from tasks.core.models.document import Mention

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*$")
_SHARE = 0.3
"""Share of the records that a range must name to be a block of its own; less are corrections and remarks."""
_SHARED = 0.2
"""Share of a range's records that the range before may name too when both are one block."""
_SEEN = 0.4
"""Share of the records that a block names before another can begin; a block may name many otherwise than by id."""
_AHEAD, _AGAIN = 24, 0.7
"""Mentions that are looked at together, and the share of them that must have come up before."""


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
    heads = {number: match[1] for number, line in enumerate(lines, 1) if (match := _HEADING.match(line))}
    full = _full(heads, lines, mentions)
    if len(full) < 2:
        again = dict.fromkeys(_repeats(mentions), "")
        full = _full(again | heads, lines, mentions) if again else full
    if not full:
        everyone = len({mention.record_id for mention in mentions})
        return (Block("", mentions[0].line, mentions[-1].line, everyone),)
    return tuple(_trimmed(block, mentions) for block in full)


def _full(cuts: dict[int, str], lines: Sequence[str], mentions: Sequence[Mention]) -> list[Block]:
    """Ranges from these lines that name a good part of all records.

    A smaller one in between goes with the one before; so does one that goes on with other records.
    """
    everyone = len({mention.record_id for mention in mentions})
    found: list[tuple[Block, set[str]]] = []
    for start, end in pairwise(sorted({1, *cuts, len(lines) + 1})):
        ids = {m.record_id for m in mentions if start <= m.line < end}
        if found and ids and len(ids & found[-1][1]) <= _SHARED * min(len(ids), len(found[-1][1])):
            block, before = found[-1]
            found[-1] = (block._replace(end=end - 1, records=len(ids | before)), ids | before)
        elif len(ids) >= max(1, _SHARE * everyone):
            if found:
                found[-1] = (found[-1][0]._replace(end=start - 1), found[-1][1])
            found.append((Block(cuts.get(start, ""), start, end - 1, len(ids)), ids))
    return [block for block, _ in found]


def _repeats(mentions: Sequence[Mention]) -> list[int]:
    """Lines at which the records come up again, in whatever order, after a good part of them has come up once."""
    everyone = len({mention.record_id for mention in mentions})
    window = max(3, min(_AHEAD, everyone // 3))
    found: list[int] = []
    block: list[Mention] = []
    seen: set[str] = set()
    recent: deque[bool] = deque(maxlen=window)
    for mention in mentions:
        if block and mention.record_id == block[-1].record_id:
            continue
        recent.append(mention.record_id in seen)
        block.append(mention)
        seen.add(mention.record_id)
        if sum(recent) >= _AGAIN * window and len(seen) >= _SEEN * everyone:
            at = _parting(block)
            found.append(block[at].line)
            block = block[at:]
            seen = {told.record_id for told in block}
            recent.clear()
    return found


def _parting(block: Sequence[Mention]) -> int:
    """Where to part these mentions so that the fewest come up twice in one part; the widest gap of equal ones."""
    left, right = _doubles(block), _doubles(block[::-1])[::-1]
    costs = [left[at - 1] + right[at] for at in range(1, len(block))]
    least = min(costs)
    return max(
        (at for at, cost in enumerate(costs, start=1) if cost == least),
        key=lambda at: (block[at].line - block[at - 1].line, at),
    )


def _doubles(block: Sequence[Mention]) -> list[int]:
    """For each mention how many up to it name a record that another has named before."""
    seen: set[str] = set()
    counts, total = [], 0
    for mention in block:
        total += mention.record_id in seen
        seen.add(mention.record_id)
        counts.append(total)
    return counts


def _trimmed(block: Block, mentions: Sequence[Mention]) -> Block:
    """The block up to its last record; what follows is a remark or a summary."""
    return block._replace(end=max(m.line for m in mentions if block.start <= m.line <= block.end))
