"""catalogue + what people say + question → answer with its evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from flows.review import check, review
from tasks.core.models.answer import Addition, Answer, Assignment, Question
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import Context, Recalled, SearchIndex, TableRelevanceResult, Terms, Told
from tasks.core.models.metadata import Metadata
from tasks.core.models.run import StageSpend, Usage
from tasks.core.settings import Settings
from tasks.core.sql.columns import Measured
from tasks.solve.agent import solve_question
from tasks.solve.compress import compress
from tasks.solve.contract import write_contract
from tasks.solve.describe import describe_catalogue
from tasks.solve.filter import filter_context
from tasks.solve.index import index_catalogue
from tasks.solve.merge import merge_context
from tasks.solve.profile import profile_tables
from tasks.solve.profiling.late import late, with_late
from tasks.solve.publish import publish
from tasks.solve.recall import recall
from tasks.solve.relevance import judge_tables, why_not
from tasks.solve.showing.about import add_words
from tasks.solve.terms import write_terms

Draw = Callable[[str], Awaitable[Catalogue]]
"""Path of a skipped document → the catalogue with its table, where one can be drawn."""


class Ground(NamedTuple):
    """What a question is asked over."""

    catalogue: Catalogue
    told: Told
    measured: Measured | None
    """Facts of columns that were measured before."""


async def solve(question: Question, ground: Ground, settings: Settings, draw: Draw) -> Answer:
    """Measure and describe the tables, choose those of the question, write down what is expected, query, replay.

    Where the solver needs a document that was judged not to matter, it is drawn, and the solver goes on with its table.
    """
    catalogue, told, measured = ground
    tables, knowledge, video = catalogue.measurable, told.knowledge, told.video_text
    profile = await profile_tables(tables, knowledge, settings.profiling, settings.query, measured)
    metadata = await describe_catalogue(tables, profile, knowledge, told.overrides, settings.metadata)
    catalogue = catalogue.model_copy(update={"metadata": metadata.database})
    off = why_not(tables, profile, settings.vote, settings.relevance)
    profile = add_words(profile, metadata, told.overrides if off else None)
    found, index = Recalled(terms=Terms(question=question.text)), None
    if not off:
        found, index = await _recall(question, tables, metadata, told, settings)
    limits = (settings.vote, settings.relevance, settings.query)
    relevance = await judge_tables(question, tables, profile, knowledge, found, metadata, video, off, *limits)
    context = Context()
    if not off:
        merged = await merge_context(found, metadata, relevance)
        context = await filter_context(question, merged, metadata, settings.recall)
        if (missed := late(tables, profile, context)).tables:
            reached = await profile_tables(missed, knowledge, settings.profiling, settings.query)
            profile = with_late(profile, reached, metadata)
    brief = await compress(question, profile, knowledge, settings.brief, context, relevance, video)
    contract = await write_contract(question, brief, profile, settings.contract)
    given = Assignment(
        question=question,
        brief=brief,
        contract=contract,
        catalogue=catalogue,
        profile=profile,
        knowledge=knowledge,
        relevance=relevance.model_copy(update={"usage": relevance.usage.whoever_paid()}),
        choosing=_choosing(found, relevance, context),
        unsearched=found.problems,
        metrics=metadata.metrics,
        index=index,
    )
    attempt = await solve_question(given, settings.solver)
    while attempt.wanted or attempt.due:
        if attempt.wanted:
            grown = ground._replace(catalogue=await draw(attempt.wanted))
            addition = await _add(attempt.wanted, grown, settings)
            given = given.model_copy(update={"added": (*given.added, addition)})
        else:
            checked = await check(given.whole, attempt, settings)
            said = await review(given.whole, attempt, checked, settings)
            given = given.model_copy(update={"audits": (*given.audits, *said)})
            if attempt.due == "candidate" and all(audit.verdict != "rejected" for audit in said):
                break
        attempt = await solve_question(given, settings.solver)
    else:
        checked = await check(given.whole, attempt, settings)
    return await publish(given.whole, attempt, checked, settings.agent)


async def _recall(
    question: Question, tables: Catalogue, metadata: Metadata, told: Told, settings: Settings
) -> tuple[Recalled, SearchIndex]:
    """What in a large folder the question may mean, and the index, which is that of all questions."""
    terms, index = await asyncio.gather(
        write_terms(question, metadata, told.knowledge, told.video_text, settings.recall),
        index_catalogue(tables, metadata, settings.recall, settings.query),
    )
    found = await recall(terms, index, tables, metadata, settings.recall, settings.query, settings.stores)
    return found, index


def _choosing(found: Recalled, relevance: TableRelevanceResult, context: Context) -> tuple[StageSpend, ...]:
    """Model calls by role, whoever paid."""
    spent = {"recall": found.terms.usage, "relevance": relevance.usage, "filter": context.usage}
    return tuple(
        StageSpend(stage=name, **usage.whoever_paid().model_dump(exclude={"journaled"}))
        for name, usage in spent.items()
        if usage != Usage()
    )


async def _add(path: str, ground: Ground, settings: Settings) -> Addition:
    """What became of the document, with all tables measured together with its own."""
    catalogue, told, measured = ground
    table = next((table.name for table in catalogue.tables if table.drawn and path in table.drawn.paths), "")
    note = next((document.note for document in catalogue.documents if document.path == path), "")
    profile = await profile_tables(catalogue.measurable, told.knowledge, settings.profiling, settings.query, measured)
    return Addition(path=path, table=table, reason="" if table else note, catalogue=catalogue, profile=profile)
