"""question + profile + knowledge + votes and finds + video → brief: what the solver reads first, under a token budget.

What is folded is never lost: a folded table is named or counted, and still answers queries and `describe`. Where nothing
was judged the tables are those that the words of the question choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.core.llm import door
from tasks.core.llm.tokens import count
from tasks.core.models.answer import Brief, Question
from tasks.core.models.catalogue import JoinCandidate, Profile
from tasks.core.models.context import Context, TableRelevanceResult
from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.search.coined import coined
from tasks.core.sections import BriefSettings
from tasks.solve.compressing.excerpt import Elsewhere, excerpt
from tasks.solve.compressing.extras import metric_lines, video_section
from tasks.solve.compressing.fit import Fitting, Shown, best_first, together
from tasks.solve.compressing.unfold import Unfolded, detailed, unfold
from tasks.solve.judging.rank import Ranking, choose, rank
from tasks.solve.showing.layout import Detail, join_equation, join_line, one_line, spelled
from tasks.stage import stage

_KNOWLEDGE_SHARE, _JOINS_SHARE, _FOLDED_SHARE, _METRICS_SHARE, _VIDEO_SHARE = 0.3, 0.1, 0.06, 0.1, 0.15
"""Most that each part may take of the budget; what it leaves goes to the tables."""
_NAMED_SHARE = 0.15
"""The same for folded tables where they were folded on purpose: each has its own line while they fit."""
_READER = "agent"
"""The role whose model reads the brief in each of its turns."""
_TRIES, _MARGIN = 5, 0.95
"""Briefs made until one fits the model's own tokenizer, and how much smaller than its excess tells each next one is."""
_LEAST_JOINS = 60
"""Tokens for joins in the smallest brief: one line."""
_NOTES, _NOTE_CHARS = 3, 160
_FOLDED = (
    "Folded, not described here. These tables exist and are queried like the others; "
    "describe shows one, list_tables with search finds one by words:"
)

_NOTHING = Context()
_UNJUDGED = TableRelevanceResult(off="not asked")


@stage(roles=(_READER,))
async def compress(
    question: Question,
    profile: Profile,
    knowledge: Knowledge,
    settings: BriefSettings,
    context: Context = _NOTHING,
    relevance: TableRelevanceResult = _UNJUDGED,
    video_text: str = "",
) -> Brief:
    """The first brief, at most `settings.tokens` for the model that reads it: by its own tokenizer, or where that is not at
    hand by our estimate. Its text is data: a prompt fences it."""
    ranking, limit = rank(question.text, profile, knowledge), settings.tokens
    shown = None if relevance.off else unfold(profile, ranking, context, relevance)
    for _ in range(_TRIES):
        within = settings.model_copy(update={"tokens": limit})
        parts = _Parts(question, profile, knowledge, within, video_text)
        brief = _by_votes(parts, ranking, context, shown) if shown else _by_words(parts, ranking)
        tokens = door.size(_READER, brief.text)
        if tokens <= settings.tokens:
            break
        limit = int(limit * settings.tokens / tokens * _MARGIN)
    return brief.model_copy(update={"tokens": tokens})


@dataclass(frozen=True)
class _Parts:
    """What both ways to choose tables write around them."""

    question: Question
    profile: Profile
    knowledge: Knowledge
    settings: BriefSettings
    video_text: str

    def head(self) -> str:
        day = self.question.as_of
        date = f"Today is {day.isoformat()} ({day:%A}, quarter {(day.month + 2) // 3})."
        notes = [f"Note: {one_line(note, _NOTE_CHARS)}" for note in self.profile.notes[:_NOTES]]
        return "\n".join([f"{date} Tables: {len(self.profile.tables)}.", *notes])

    def said(self, told: frozenset[int] = frozenset()) -> str:
        """Statements of the knowledge, but for those on lines that are told elsewhere."""
        room, terse = self.share(_KNOWLEDGE_SHARE), self.settings.layout == "ddl"
        return excerpt(self.question.text, self.knowledge, room, terse, Elsewhere(told, self.terms))

    @property
    def terms(self) -> tuple[Definition, ...]:
        """Definitions of what is no column of any table."""
        return coined(self.knowledge, (column.name for table in self.profile.tables for column in table.columns))

    def video(self) -> str:
        return video_section(self.question.text, self.video_text, self.share(_VIDEO_SHARE))

    def share(self, share: float) -> int:
        """Tokens that a part may take."""
        return int(self.settings.tokens * share)

    def room(self, *parts: str) -> int:
        """Tokens that these parts leave."""
        return self.settings.tokens - sum(count(part) + 2 for part in parts)


def _by_words(parts: _Parts, ranking: Ranking) -> Brief:
    profile, settings = parts.profile, parts.settings
    limit = settings.tables or len(profile.tables)
    matched, others = choose(ranking, profile.joins, limit)
    head, said, video = parts.head(), parts.said(), parts.video()
    joins = _joins(profile, {*matched, *others}, settings)
    names = _names(ranking.order[limit:], settings)
    room = parts.room(head, said, joins, names, *filter(None, [video]))
    find = {table.name: Shown(table, worth=ranking.columns[table.name]) for table in profile.tables}
    fitting = Fitting(_levels(settings), room)
    blocks = together([find[n] for n in matched], [find[n] for n in others], fitting)
    if blocks is None:
        fitting = Fitting(fitting.levels, room - parts.share(_FOLDED_SHARE))
        blocks = best_first([find[n] for n in matched or others], fitting)
    folded = tuple(name for name in ranking.order if name not in blocks)
    order = blocks if folded else [table.name for table in profile.tables]
    joins, names = _joins(profile, set(blocks), settings), _names(folded, settings)
    tables = [blocks[name] for name in order]
    text = "\n\n".join(part for part in (head, *tables, joins, said, video, names) if part)
    return Brief(text=text, tokens=count(text), shown=tuple(order), folded=folded)


def _by_votes(parts: _Parts, ranking: Ranking, context: Context, shown: Unfolded) -> Brief:
    profile, settings = parts.profile, parts.settings
    names_of = {metric.name for metric in context.metrics}
    shown_terms = frozenset(term.line for term in parts.terms if term.field in names_of)
    lines = frozenset(metric.line for metric in parts.knowledge.metrics if metric.name in names_of)
    said = parts.said(lines | shown_terms)
    metrics = _capped("Metrics:", metric_lines(context.metrics), parts.share(_METRICS_SHARE), "\n")
    head, video = parts.head(), parts.video()
    wanted = [one.table.name for one in (*shown.first, *shown.others)]
    joins = _joins(profile, {*wanted}, settings, shown.linked)
    folded = tuple(name for name in ranking.order if name not in wanted)
    fixed = [part for part in (head, metrics, said, video, joins) if part]
    room = parts.room(*fixed, _folded(profile, folded, settings))
    fitting = Fitting(_levels(settings, "named"), room)
    blocks = together(shown.first, shown.others, fitting)
    if blocks is None:
        fitting = Fitting(fitting.levels, parts.room(*fixed) - parts.share(_NAMED_SHARE))
        blocks = best_first((*shown.first, *shown.others), fitting)
        folded = tuple(name for name in ranking.order if name not in blocks)
        joins = _joins(profile, set(blocks), settings, shown.linked)
    left = parts.room(head, *blocks.values(), *filter(None, [joins, metrics, said, video]))
    listed = _folded(profile, folded, settings, left)
    text = "\n\n".join(part for part in (head, *blocks.values(), joins, metrics, said, video, listed) if part)
    return Brief(
        text=text,
        tokens=count(text),
        shown=tuple(blocks),
        folded=folded,
        detailed=detailed(shown, blocks),
    )


def _levels(settings: BriefSettings, others: Literal["counted", "named"] = "counted") -> tuple[Detail, Detail, Detail]:
    """From rich to names alone."""
    chars, form = settings.example_chars, settings.layout
    return (
        Detail(form, 5 if form == "plain" else 3, chars, others=others),
        Detail(form, 2, min(chars, 25), notes=False, others=others),
        Detail(form, 0, names_only=True),
    )


def _joins(
    profile: Profile, shown: set[str], settings: BriefSettings, linked: frozenset[tuple[str, str]] = frozenset()
) -> str:
    """Links between shown tables, the surest first; those left out are counted, those that columns say themselves not.

    Where columns say how two tables are linked, keys of both that hold the same numbers are no second link.
    """
    known = {frozenset(end.rpartition(".")[0] for end in pair) for pair in linked}
    between = [
        join
        for join in profile.joins
        if join.left_table in shown
        and join.right_table in shown
        and (f"{join.left_table}.{join.left_column}", f"{join.right_table}.{join.right_column}") not in linked
        and not (_is_numbering(join) and frozenset((join.left_table, join.right_table)) in known)
    ]
    surest = sorted(between, key=lambda join: (not join.stated, not join.right_unique, -join.match_rate))
    if settings.layout == "ddl":
        surest = [join for join in surest if join.stated or join.left_unique or join.right_unique]
    line = join_line if settings.layout == "plain" else join_equation
    head = "Joins, measured on all rows:"
    return _capped(
        head, [f"- {line(join)}" for join in surest], max(int(settings.tokens * _JOINS_SHARE), _LEAST_JOINS), "\n"
    )


def _is_numbering(join: JoinCandidate) -> bool:
    """Whether it may be met by numbers alone: both sides are unique, and their names differ."""
    return join.left_unique and join.right_unique and not join.stated and join.left_column != join.right_column


def _names(folded: Sequence[str], settings: BriefSettings) -> str:
    names = [spelled(name) for name in folded]
    return _capped("Also available, not shown here:", names, int(settings.tokens * _FOLDED_SHARE), ", ")


def _folded(profile: Profile, folded: Sequence[str], settings: BriefSettings, left: int = 0) -> str:
    """A line with name and origin for each folded table while their share holds them, else the names while what is left
    holds all of them, else as many names as the share holds and the rest counted."""
    if not folded:
        return ""
    room = int(settings.tokens * _NAMED_SHARE)
    origins = {table.name: table.origin for table in profile.tables}
    lines = [_FOLDED, *(f"- {spelled(name)} ({one_line(origins[name], _NOTE_CHARS)})" for name in folded)]
    if sum(count(line) + 1 for line in lines) <= room:
        return "\n".join(lines)
    names = [spelled(name) for name in folded]
    whole = f"{_FOLDED} {', '.join(names)}"
    return whole if count(whole) + 2 <= left else _capped(_FOLDED, names, room, ", ")


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
