"""question + profile + knowledge → brief: the tables, joins and rules that the solver reads first, under a token budget.

What does not fit is folded, never lost: a folded table is named or counted, and still answers queries and `describe`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.core.llm.tokens import count
from tasks.core.models.answer import Brief, Question
from tasks.core.models.catalogue import Profile, TableProfile
from tasks.core.models.semantics import Knowledge
from tasks.core.sections import BriefSettings
from tasks.solve.compressing.excerpt import excerpt
from tasks.solve.compressing.rank import Ranking, choose, rank
from tasks.solve.showing.layout import Detail, join_equation, join_line, one_line, spelled, table_lines
from tasks.stage import stage

_KNOWLEDGE_SHARE, _JOINS_SHARE, _FOLDED_SHARE = 0.3, 0.1, 0.06
"""Most that each part may take of the budget; what it leaves goes to the tables."""
_LEAST_JOINS = 60
"""Tokens for joins in the smallest brief: one line."""
_NOTES, _NOTE_CHARS = 3, 160
_TABLE_SHARE = 0.5
"""Most that one table may take of the tables' room, as long as others wait."""


@stage()
async def compress(question: Question, profile: Profile, knowledge: Knowledge, settings: BriefSettings) -> Brief:
    """The first brief, at most `settings.tokens` by our estimate. Its text is data: a prompt fences it."""
    ranking = rank(question.text, profile, knowledge)
    limit = settings.tables or len(profile.tables)
    matched, others = choose(ranking, profile.joins, limit)
    head = _head(question, profile)
    said = excerpt(question.text, knowledge, int(settings.tokens * _KNOWLEDGE_SHARE), settings.layout == "ddl")
    joins = _joins(profile, {*matched, *others}, settings)
    names = _names(ranking.order[limit:], settings)
    room = settings.tokens - sum(count(part) + 2 for part in (head, said, joins, names))
    find = {table.name: table for table in profile.tables}
    blocks = _together([find[n] for n in matched], [find[n] for n in others], settings, room)
    if blocks is None:
        room -= int(settings.tokens * _FOLDED_SHARE)
        blocks = _best_first([find[n] for n in matched or others], ranking, settings, room)
    folded = tuple(name for name in ranking.order if name not in blocks)
    order = blocks if folded else [table.name for table in profile.tables]
    tables = [blocks[name] for name in order]
    joins, names = _joins(profile, set(blocks), settings), _names(folded, settings)
    text = "\n\n".join(part for part in (head, *tables, joins, said, names) if part)
    return Brief(text=text, tokens=count(text), shown=tuple(order), folded=folded)


def _head(question: Question, profile: Profile) -> str:
    day = question.as_of
    date = f"Today is {day.isoformat()} ({day:%A}, quarter {(day.month + 2) // 3})."
    notes = [f"Note: {one_line(note, _NOTE_CHARS)}" for note in profile.notes[:_NOTES]]
    return "\n".join([f"{date} Tables: {len(profile.tables)}.", *notes])


def _levels(settings: BriefSettings) -> tuple[Detail, Detail, Detail]:
    """From rich to names alone."""
    chars, form = settings.example_chars, settings.layout
    return (
        Detail(form, 5 if form == "plain" else 3, chars),
        Detail(form, 2, min(chars, 25), notes=False),
        Detail(form, 0, names_only=True),
    )


def _together(
    matched: list[TableProfile], others: list[TableProfile], settings: BriefSettings, room: int
) -> dict[str, str] | None:
    """The blocks of all tables, those of the question in no less detail than the others; None when they do not fit."""
    rich, short, bare = _levels(settings)
    for one, other in ((rich, rich), (rich, short), (rich, bare), (short, short), (short, bare), (bare, bare)):
        blocks: dict[str, str] = {}
        left = room
        for table in (*matched, *others):
            blocks[table.name] = "\n".join(table_lines(table, one if len(blocks) < len(matched) else other))
            left -= count(blocks[table.name]) + 2
            if left < 0:
                break
        else:
            return blocks
    return None


def _best_first(tables: list[TableProfile], ranking: Ranking, settings: BriefSettings, room: int) -> dict[str, str]:
    """As many tables as the room takes, each in the most detail that half of what is left allows."""
    blocks: dict[str, str] = {}
    for number, table in enumerate(tables):
        is_last = number == len(tables) - 1
        block = _richest(table, ranking, settings, room if is_last else int(room * _TABLE_SHARE))
        if block:
            blocks[table.name] = block
            room -= count(block) + 2
    return blocks


def _richest(table: TableProfile, ranking: Ranking, settings: BriefSettings, room: int) -> str:
    """A table within the room; one too wide for it shows the columns that matter most, or is left out."""
    levels = _levels(settings)
    for level in levels:
        block = "\n".join(table_lines(table, level))
        if count(block) <= room:
            return block
    scores = ranking.columns[table.name]
    by_worth = sorted(table.columns, key=lambda column: (not column.is_key, -scores[column.name]))
    keep = len(by_worth)
    while keep := keep // 2:
        block = "\n".join(table_lines(table, levels[-1], {column.name for column in by_worth[:keep]}))
        if count(block) <= room:
            return block
    return ""


def _joins(profile: Profile, shown: set[str], settings: BriefSettings) -> str:
    """Links between shown tables, the surest first; those left out are counted."""
    between = [join for join in profile.joins if join.left_table in shown and join.right_table in shown]
    surest = sorted(between, key=lambda join: (not join.stated, not join.right_unique, -join.match_rate))
    if settings.layout == "ddl":
        surest = [join for join in surest if join.stated or join.left_unique or join.right_unique]
    line = join_line if settings.layout == "plain" else join_equation
    head = "Joins, measured on all rows:"
    return _capped(
        head, [f"- {line(join)}" for join in surest], max(int(settings.tokens * _JOINS_SHARE), _LEAST_JOINS), "\n"
    )


def _names(folded: Sequence[str], settings: BriefSettings) -> str:
    names = [spelled(name) for name in folded]
    return _capped("Also available, not shown here:", names, int(settings.tokens * _FOLDED_SHARE), ", ")


def _capped(head: str, items: list[str], room: int, separator: str) -> str:
    """The head and as many items as fit, the rest counted; nothing for no items."""
    kept: list[str] = []
    used = count(head) + 8
    for item in items:
        used += count(item) + 1
        if used > room:
            break
        kept.append(item)
    left = len(items) - len(kept)
    kept += [f"and {left} more"] * bool(left)
    space = "\n" if separator == "\n" else " "
    return head + space + separator.join(kept) if items else ""
