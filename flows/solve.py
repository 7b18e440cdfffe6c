"""catalogue + knowledge + question → answer with its evidence."""

from __future__ import annotations

from tasks.core.models.answer import Answer, Assignment, Question
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.semantics import Knowledge
from tasks.core.settings import Settings
from tasks.solve.agent import solve_question
from tasks.solve.compress import compress
from tasks.solve.contract import write_contract
from tasks.solve.profile import profile_tables
from tasks.solve.publish import publish


async def solve(question: Question, catalogue: Catalogue, knowledge: Knowledge, settings: Settings) -> Answer:
    """Measure the tables, write down what is expected, query until it is there, replay."""
    profile = await profile_tables(catalogue.measurable, knowledge, settings.profiling, settings.query)
    brief = await compress(question, profile, knowledge, settings.brief)
    contract = await write_contract(question, brief, profile, settings.contract)
    given = Assignment(
        question=question, brief=brief, contract=contract, catalogue=catalogue, profile=profile, knowledge=knowledge
    )
    attempt = await solve_question(given, settings.solver)
    return await publish(given, attempt, settings.solver, settings.publish)
