"""Truth tables of checks → what is said of each of their queries, one engine for all of a folder."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from tasks.core.models.answer import Assignment, Brief, Contract, Question
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.evidence import Check
from tasks.core.models.semantics import Knowledge
from tasks.core.settings import load
from tasks.core.sql import joins
from tasks.core.sql.engine import Engine
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.solve.checking.look import audit_answer
from tasks.solve.profile import profile_tables

AS_OF = date(2026, 11, 30)
CASES = Path(__file__).parent / "cases" / "checking"
Said = Mapping[tuple[str, str], tuple[Check, ...]]
"""By question and query."""


class Truth(NamedTuple):
    """What a check has to say of one query: `failed`, `noted`, or nothing where it is `right`."""

    check: str
    question: str
    sql: str
    outcome: str

    @property
    def outcomes(self) -> list[str]:
        """Outcomes that the check must have."""
        return [] if self.outcome == "right" else [self.outcome]


def truths(name: str) -> Iterator[Truth]:
    """All lines of a table of `tests/cases/checking`."""
    for check, cases in tomllib.loads((CASES / name).read_text("utf-8")).items():
        for case in cases:
            for outcome in ("right", "failed", "noted"):
                yield from (Truth(check, case["question"], sql, outcome) for sql in case.get(outcome, []))


def folder_of(folder: Path, files: Mapping[str, str]) -> tuple[Catalogue, Knowledge]:
    """A folder with these files, read."""
    context = folder / "context"
    context.mkdir(parents=True)
    for name, text in files.items():
        (context / name).write_text(text, "utf-8")

    async def read() -> tuple[Catalogue, Knowledge]:
        inventory = await take_inventory.function(str(folder), load().intake)
        return await build_catalogue.function(inventory, load().intake), await read_knowledge.function(inventory)

    return asyncio.run(read())


def said(catalogue: Catalogue, knowledge: Knowledge, wanted: list[Truth]) -> dict[tuple[str, str], tuple[Check, ...]]:
    """What the checks say of each query, asked the question of its case."""
    return asyncio.run(_said(catalogue, knowledge, wanted))


async def _said(catalogue: Catalogue, knowledge: Knowledge, wanted: list[Truth]) -> Any:
    settings = load()
    profile = await profile_tables.function(catalogue, knowledge, settings.profiling, settings.query)
    found = {}
    async with Engine.over(catalogue, settings.query) as engine:
        for each in wanted:
            given = Assignment(
                question=Question(text=each.question, as_of=AS_OF),
                brief=Brief(text="", tokens=0, shown=()),
                contract=Contract(),
                catalogue=catalogue,
                profile=profile,
                knowledge=knowledge,
            )
            measured = await joins.audit(engine, each.sql)
            found[each.question, each.sql] = await audit_answer(engine, given, Contract(), each.sql, measured)
    return found
