"""question + tables + what was recalled → votes on which tables the answer needs; the others are folded in the first prompt.

All candidates stand in one prompt, so that the model can compare them. Folding hides a table's columns from the first
prompt only: it stays in the database, is named or counted there, and `describe` shows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from tasks.core.llm import votes
from tasks.core.models.answer import Question
from tasks.core.models.catalogue import Catalogue, Profile, Table
from tasks.core.models.context import Recalled, TableRelevanceResult
from tasks.core.models.document import Verdicts
from tasks.core.models.metadata import Metadata
from tasks.core.models.run import Usage
from tasks.core.models.semantics import Knowledge
from tasks.core.sections import QuerySettings, RelevanceSettings, VoteSettings
from tasks.core.sql.engine import Engine
from tasks.solve.judging.candidates import candidates
from tasks.solve.judging.preview import Preview, previews
from tasks.solve.judging.prompts import Frame, frame
from tasks.solve.showing.size import whole_tokens
from tasks.stage import stage

_PREVIEW_SHARE = 0.25
"""Most that one table may take of a prompt's room for tables."""


@stage(roles=("relevance",), prompts=("relevance.md",))
async def judge_tables(
    question: Question,
    catalogue: Catalogue,
    profile: Profile,
    knowledge: Knowledge,
    recalled: Recalled,
    about: Metadata,
    video_text: str,
    off: str,
    vote: VoteSettings,
    settings: RelevanceSettings,
    query: QuerySettings,
) -> TableRelevanceResult:
    """The vote on all tables but those drawn from documents. Without a usable round all judged ones are relevant.

    `off`: what `why_not` says; no vote is held then.
    """
    keep = tuple(table.name for table in catalogue.tables if table.drawn)
    if off:
        every = tuple(table.name for table in catalogue.tables)
        return TableRelevanceResult(task_id=question.task_id, always_keep=keep, relevant_tables=every, off=off)
    about_it = frame(question, knowledge, video_text, settings)
    ranked = candidates(question.text, profile, knowledge, recalled, about)
    by_name = {table.name: table for table in catalogue.tables if not table.drawn}
    order = [by_name[name] for name in ranked.order if name in by_name]
    async with Engine.over(catalogue, query) as engine:
        chosen = await _batches(order, ranked.found, about_it, engine, settings)
    place = {name: at for at, name in enumerate(by_name)}
    batches = [sorted(batch, key=lambda preview: place[preview.name]) for batch in chosen]
    seen = [preview for batch in batches for preview in batch]
    polls = [votes.vote("relevance", _messages(about_it, batch), _slate(batch), vote) for batch in batches]
    result = _result(catalogue, keep, seen, await asyncio.gather(*polls))
    return result.model_copy(update={"task_id": question.task_id, "n_rounds_wanted": vote.rounds})


def why_not(catalogue: Catalogue, profile: Profile, vote: VoteSettings, settings: RelevanceSettings) -> str:
    """Why the tables are not judged; empty where they are. A small folder is not: reading all of it costs less."""
    if not settings.from_tokens:
        return "switched off: relevance.from_tokens is 0"
    if not vote.enabled:
        return "switched off: vote.enabled is false"
    taken = whole_tokens(profile, settings.from_tokens)
    if taken < settings.from_tokens:
        return f"the description of all tables takes {taken} tokens, fewer than relevance.from_tokens ({settings.from_tokens})"
    if all(table.drawn for table in catalogue.tables):
        return "there is no table but those drawn from documents"
    return ""


async def _batches(
    order: Sequence[Table], found: frozenset[str], about: Frame, engine: Engine, settings: RelevanceSettings
) -> list[list[Preview]]:
    """The first prompt takes as many tables as it can; further ones only those for which something was recalled."""
    wanted = [table for at, table in enumerate(order) if at < about.most or table.name in found]
    wanted = wanted[: about.most * settings.batches]
    shown = await previews(wanted, engine, settings, int(about.room * _PREVIEW_SHARE))
    first = about.batches(shown, 1)[0]
    rest = [preview for preview in shown[len(first) :] if preview.name in found]
    return [first, *about.batches(rest, settings.batches - 1)]


def _messages(about: Frame, batch: Sequence[Preview]) -> list[dict[str, str]]:
    return [{"role": "user", "content": about.filled(batch)}]


def _slate(batch: Sequence[Preview]) -> votes.Slate:
    return votes.Slate(tuple(preview.name for preview in batch), field="table_name")


def _result(
    catalogue: Catalogue, keep: tuple[str, ...], seen: Sequence[Preview], polls: Sequence[Verdicts]
) -> TableRelevanceResult:
    """The verdicts of all prompts, tables in the order of the catalogue."""
    judged = {name: relevant for poll in polls for name, relevant in poll.per_item.items()}
    tallies = {name: tally for poll in polls for name, tally in poll.vote_tally.items()}
    reasons = {name: reason for poll in polls for name, reason in poll.reasons.items()}
    tables = [table for table in catalogue.tables if table.name in judged]
    skipped = tuple(table.name for table in tables if not judged[table.name])
    beyond = tuple(table.name for table in catalogue.tables if table.name not in judged and not table.drawn)
    folded = {*skipped, *beyond}
    return TableRelevanceResult(
        per_table={table.name: judged[table.name] for table in tables},
        all_tables=tuple(table.name for table in tables),
        always_keep=keep,
        relevant_tables=(*(table.name for table in tables if judged[table.name]), *keep),
        skipped_tables=skipped,
        not_judged=beyond,
        fold_keys=tuple(table.origin for table in catalogue.tables if table.name in folded),
        vote_tally={table.name: tallies[table.name] for table in tables},
        reasons={table.name: reasons[table.name] for table in tables},
        n_rounds_ok=min(poll.rounds_ok for poll in polls),
        error="; ".join(dict.fromkeys(poll.error for poll in polls if poll.error)),
        skipped_describe_keys=tuple(preview.origin for preview in seen if preview.failed),
        usage=sum((poll.usage for poll in polls), Usage()),
        unsettled=_unsettled(polls),
    )


def _unsettled(polls: Sequence[Verdicts]) -> Literal["", "stopped", "transient"]:
    """A budget that is spent outweighs an endpoint that may come back."""
    causes = {poll.unsettled for poll in polls}
    return "stopped" if "stopped" in causes else "transient" if "transient" in causes else ""
