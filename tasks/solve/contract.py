"""question + brief + profile → contract: what the answer must look like, fixed before anything is solved.

A model writes it where it is enabled; elsewhere it stays open, and nothing is invented.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import door
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.answer import Brief, Contract, ContractColumn, Filter, Question
from tasks.core.models.catalogue import Profile
from tasks.core.sections import ContractSettings
from tasks.stage import stage

PROMPT = Path(__file__).parent / "prompts" / "contract.md"
_REFERENCE = re.compile(r'("(?:[^"]|"")+"|[^\W\d]\w*)\.("(?:[^"]|"")+"|[^\W\d]\w*)')


class ColumnReply(BaseModel):
    """One column of the answer."""

    name: str = Field(description="short name for the column")
    meaning: str = Field(default="", description="what it holds, in a few words")
    source: str = Field(default="", description="table.column, or an expression over such; empty if unsure")


class FilterReply(BaseModel):
    """One condition of the question."""

    text: str = Field(description="the condition in words")
    source: str = Field(default="", description="table.column that it is about; empty if unsure")
    unit: str = Field(default="", description="unit of its threshold as stored, empty if none")


class ContractReply(BaseModel):
    """The expected answer."""

    columns: list[ColumnReply] = Field(min_length=1, description="only those the question asks for, in its order")
    row: str = Field(default="", description="what one row is, for example: one row per airline")
    filters: list[FilterReply] = []
    nulls: str = Field(default="", description="what to do with missing values; empty if it does not matter")
    duplicates: Literal["keep", "remove", "unknown"] = "unknown"
    order: str = Field(default="", description="only if the question asks for one")
    limit: int | None = Field(default=None, ge=1, description="only if the question says how many rows")
    ties: Literal["keep_all", "cut", "unknown"] = "unknown"


@stage(roles=("contract",), prompts=("contract.md",))
async def write_contract(question: Question, brief: Brief, profile: Profile, settings: ContractSettings) -> Contract:
    """The expected answer. Without a usable reply the rules' contract says why it is one."""
    if not settings.enabled:
        return Contract()
    text = fill(PROMPT, question=fence(question.text), brief=fence(brief.text))
    try:
        asked = await door.ask("contract", [{"role": "user", "content": text}], ContractReply, samples=1)
    except BudgetError as error:
        return Contract(problems=(error.told,), unsettled="stopped")
    except ModelError as error:
        return Contract(problems=(error.told,), unsettled=error.unsettled)
    return _checked(asked.value, profile).model_copy(update={"usage": asked.usage})


def _checked(reply: ContractReply, profile: Profile) -> Contract:
    """The reply as a contract; a source that names no table and column of ours is dropped, and that is noted."""
    problems: list[str] = []

    def known(source: str) -> str:
        unknown = [".".join(pair) for pair in _REFERENCE.findall(source) if not _exists(pair, profile)]
        problems.extend(f"no such column: {name}" for name in unknown)
        return "" if unknown else source

    columns = tuple(ContractColumn(name=c.name, meaning=c.meaning, source=known(c.source)) for c in reply.columns)
    filters = tuple(Filter(text=f.text, source=known(f.source), unit=f.unit) for f in reply.filters)
    return Contract(
        columns=columns,
        grain=reply.row,
        filters=filters,
        nulls=reply.nulls,
        duplicates=reply.duplicates,
        order=reply.order,
        limit=reply.limit,
        ties=reply.ties,
        written_by="model",
        problems=tuple(dict.fromkeys(problems)),
    )


def _exists(pair: tuple[str, str], profile: Profile) -> bool:
    table, column = (part.strip('"').replace('""', '"') for part in pair)
    found = profile.table(table)
    return found is not None and column.casefold() in {c.name.casefold() for c in found.columns}
