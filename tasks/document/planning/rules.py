"""Lines + knowledge → a plan without a model: the knowledge's fields, ids found by code, sections from the blocks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from random import Random

from tasks.core.models.document import Plan, PlanColumn, PlanSection
from tasks.core.models.semantics import Knowledge
from tasks.core.search.words import words
from tasks.document.planning import discover, fields, standing
from tasks.document.planning.blocks import Block, blocks
from tasks.document.records import anchors as counting

_SAMPLE_LINES = 400
"""Lines of a block whose words are compared with the fields' meanings."""


def plan(stem: str, lines: Sequence[str], knowledge: Knowledge) -> Plan:
    """The plan; `failed` with the reason when the knowledge lists no fields or no ids stand out."""
    columns = fields.columns(stem, knowledge)
    if not columns:
        return _failed(stem, columns, f"the knowledge lists no fields for a table named {stem!r}{_no_fields(stem)}")
    key = columns[0]
    shown = next((d.examples for d in fields.definitions(stem, knowledge) if d.field == key.name), ())
    patterns = _anchors(lines, f"{key.name} {key.doc_meaning}", shown)
    mentions, problems = counting.mentions(lines, patterns)
    if not mentions:
        return _failed(stem, columns, f"no ids of {key.name!r} stand out in the text{_NO_IDS}", *problems)
    sections = _sections(lines, blocks(lines, mentions), columns)
    ranges = [(section.start_line, section.end_line) for section in sections]
    return Plan(
        stem=stem,
        key=key.name,
        columns=columns,
        sections=sections,
        anchors=patterns,
        universe=counting.universe(mentions, ranges),
        mentions=mentions,
        written_by="rules",
        problems=problems,
    )


def _anchors(lines: Sequence[str], label: str, shown: Sequence[str]) -> tuple[str, ...]:
    """By the recurring contexts of the text; where they find nothing, or not the ids of the knowledge's examples, by
    the ids that stand one a paragraph."""
    found = discover.anchors(lines, label)
    told = standing.examples(label, shown)
    if found and (not told or any(counting.mentions(told, found)[0])):
        return found
    return standing.anchors(lines, label, told) or found


def _no_fields(stem: str) -> str:
    return f"""
next: list its fields in knowledge.md, the first the one that names a record, or use a stronger model; for example
  ## Table `{stem}`
  - **id:** Number of the record, like M-01
  - **name (text):** Name as written
  - **amount (decimal, unit: EUR):** What it costs"""


_NO_IDS = """
next: give an example of an id in its meaning in knowledge.md (- **id:** Number of the record, like M-01), have one id
at the beginning of each paragraph, or use a stronger model"""


def _sections(
    lines: Sequence[str], found: tuple[Block, ...], columns: tuple[PlanColumn, ...]
) -> tuple[PlanSection, ...]:
    """A section for each block that has columns of its own; a column goes where its words are most at home.

    A block without columns goes with the one before, so that none of its lines is lost; columns whose words stand
    nowhere are sought in all blocks.
    """
    owners = _owners(lines, found, columns[1:])
    homeless = tuple(column.name for column in columns[1:] if column.name not in owners)
    if len(found) == 1:
        owners, homeless = {column.name: 0 for column in columns}, ()
    made: list[PlanSection] = []
    for index, block in enumerate(found):
        own = tuple(column.name for column in columns[1:] if owners.get(column.name) == index)
        if made and not own:
            made[-1] = made[-1].model_copy(update={"end_line": block.end})
        elif own or len(found) == 1:
            title = block.title or f"lines {block.start}–{block.end}"
            names = (columns[0].name, *own)
            made.append(
                PlanSection(id=f"s{index + 1}", title=title, start_line=block.start, end_line=block.end, columns=names)
            )
    if homeless:
        start, end = found[0].start, found[-1].end
        names = (columns[0].name, *homeless)
        made.append(PlanSection(id="rest", title="all records", start_line=start, end_line=end, columns=names))
    return tuple(made)


def _owners(lines: Sequence[str], found: tuple[Block, ...], columns: tuple[PlanColumn, ...]) -> dict[str, int]:
    spread: list[Counter[str]] = []
    for block in found:
        body = [line for line in lines[block.start - 1 : block.end] if line.strip()]
        if len(body) > _SAMPLE_LINES:  # drawn, because every nth line may be worded alike
            body = Random(len(body)).sample(body, _SAMPLE_LINES)
        counts = Counter(word for line in body for word in words(line))
        shares = Counter({word: count / max(1, len(body)) for word, count in counts.items()})
        spread.append(shares + Counter(dict.fromkeys(words(block.title), 1)))
    wanted = {column.name: words(f"{column.doc_meaning} {column.name}") for column in columns}
    shared = Counter(word for mine in wanted.values() for word in mine)

    def fit(column: str, index: int) -> float:
        total = 0.0
        for word in sorted(wanted[column]):
            everywhere = sum(block[word] for block in spread)
            if everywhere:
                weight = 1 + math.log(len(wanted) / shared[word])
                total += weight * (spread[index][word] / everywhere) * min(1.0, 0.2 + spread[index][word])
        return total

    fits = {column.name: [fit(column.name, index) for index in range(len(found))] for column in columns}
    return {
        name: max(range(len(found)), key=lambda index: (mine[index], -index))
        for name, mine in fits.items()
        if any(mine)
    }


def _failed(stem: str, columns: tuple[PlanColumn, ...], *problems: str) -> Plan:
    key = columns[0].name if columns else ""
    return Plan(
        stem=stem,
        key=key,
        columns=columns,
        sections=(),
        anchors=(),
        universe=(),
        written_by="rules",
        problems=problems,
        failed=True,
    )
