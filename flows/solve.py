"""catalogue + knowledge + question → answer with its evidence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tasks.core.models.answer import Addition, Answer, Assignment, Question
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.semantics import Knowledge
from tasks.core.settings import Settings
from tasks.solve.agent import solve_question
from tasks.solve.compress import compress
from tasks.solve.contract import write_contract
from tasks.solve.profile import profile_tables
from tasks.solve.publish import publish

Draw = Callable[[str], Awaitable[Catalogue]]
"""Path of a skipped document → the catalogue with its table, where one can be drawn."""


async def solve(
    question: Question, catalogue: Catalogue, knowledge: Knowledge, settings: Settings, draw: Draw
) -> Answer:
    """Measure the tables, write down what is expected, query until it is there, replay.

    Where the solver needs a document that was judged not to matter, it is drawn, and the solver goes on with its table.
    """
    profile = await profile_tables(catalogue.measurable, knowledge, settings.profiling, settings.query)
    brief = await compress(question, profile, knowledge, settings.brief)
    contract = await write_contract(question, brief, profile, settings.contract)
    given = Assignment(
        question=question, brief=brief, contract=contract, catalogue=catalogue, profile=profile, knowledge=knowledge
    )
    attempt = await solve_question(given, settings.solver)
    while attempt.wanted:
        addition = await _add(attempt.wanted, await draw(attempt.wanted), knowledge, settings)
        given = given.model_copy(update={"added": (*given.added, addition)})
        attempt = await solve_question(given, settings.solver)
    return await publish(given.whole, attempt, settings.solver, settings.publish)


async def _add(path: str, catalogue: Catalogue, knowledge: Knowledge, settings: Settings) -> Addition:
    """What became of the document, with all tables measured together with its own."""
    table = next((table.name for table in catalogue.tables if table.drawn and path in table.drawn.paths), "")
    note = next((document.note for document in catalogue.documents if document.path == path), "")
    profile = await profile_tables(catalogue.measurable, knowledge, settings.profiling, settings.query)
    return Addition(path=path, table=table, reason="" if table else note, catalogue=catalogue, profile=profile)
