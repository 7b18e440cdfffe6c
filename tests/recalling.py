"""Folder + questions with known needs → what was recalled, what the brief shows, what the search of tables finds, and the time.

The stages are those of the solve workflow, called one by one. Where no model votes, `kept` stands for a vote that keeps what
was recalled, and `words` for today's brief of a folder that nobody judged. `expanded` is `kept` with the terms that a model
adds; `model` asks it for everything: terms, votes and the cut.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Any
from unittest.mock import patch

from catalogues import Asked

from tasks.core.files.store import Folder, Store, current, use
from tasks.core.llm import door, votes
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Assignment, Brief, Contract, Question
from tasks.core.models.catalogue import Catalogue, Profile
from tasks.core.models.context import Context, Recalled, SearchIndex, TableRelevanceResult
from tasks.core.models.document import Verdicts
from tasks.core.models.metadata import Metadata, Overrides
from tasks.core.models.semantics import Knowledge
from tasks.core.settings import Settings, load
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.intake.overrides import read_overrides
from tasks.solve.compress import compress
from tasks.solve.describe import describe_catalogue
from tasks.solve.filter import filter_context
from tasks.solve.index import index_catalogue
from tasks.solve.merge import merge_context
from tasks.solve.profile import profile_tables
from tasks.solve.recall import recall
from tasks.solve.relevance import judge_tables, why_not
from tasks.solve.showing.about import add_words
from tasks.solve.showing.layout import spelled
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.reading import list_tables
from tasks.solve.terms import write_terms

AS_OF = date(2026, 11, 30)
ASKING = ("expanded", "model")
"""Ways that ask a model."""
_AT_ONCE = 8
"""Questions under way together, where a model answers them."""
OFF = TableRelevanceResult(off="nobody is asked")


@dataclass(frozen=True)
class World:
    """A folder after everything that does not depend on a question."""

    settings: Settings
    catalogue: Catalogue
    knowledge: Knowledge
    profile: Profile
    metadata: Metadata
    index: SearchIndex
    overrides: Overrides
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage."""
    bench: list[Bench] = field(default_factory=list)
    """That of the searches, made at the first."""


@dataclass(frozen=True)
class Outcome:
    """What became of one question, one way."""

    asked: Asked
    order: tuple[str, ...]
    """Ids of columns as they were found: hits of the three kinds in turn, those of a metric with its inputs."""
    context: frozenset[str]
    """Ids of all columns in context, keys included."""
    described: frozenset[str]
    """Ids of the needed columns that the brief describes."""
    written: frozenset[str]
    """The same, and those that it only names beside them."""
    named: frozenset[str]
    """Needed tables that the brief names."""
    listed: frozenset[str]
    """Needed tables that `list_tables` shows when the question is searched, with the terms that were added to it."""
    tokens: int
    recall_seconds: float
    brief_seconds: float
    polls: tuple[Verdicts, ...] = ()
    """One for each prompt that tables were voted on in."""
    problems: tuple[str, ...] = ()
    """What of the model's work could not be used."""

    def columns_at(self, most: int) -> float:
        """Share of the needed columns among the first finds."""
        return _share(self.asked.columns, self.order[:most])

    def tables_at(self, most: int) -> float:
        """Share of the needed tables among the first tables found."""
        tables = dict.fromkeys(id.rpartition(".")[0] for id in self.order)
        return _share(self.asked.tables, list(tables)[:most])


def _share(wanted: Sequence[str], found: Sequence[str]) -> float:
    return sum(one in set(found) for one in wanted) / len(wanted) if wanted else 1.0


@contextlib.contextmanager
def desk(profile: str = "default", keep: Path | None = None) -> Iterator[Settings]:
    """Settings of a profile, and a store: the folder `keep`, whose replies are not asked for again, or a fresh one.

    Folders of any size are judged: those of the sample are small.
    """
    settings = load(profile, {"relevance": {"from_tokens": 1}})
    with tempfile.TemporaryDirectory() as scratch:
        home = keep or Path(scratch)
        store = Store(Folder(home / "store"), home / "store" / "cache")
        with use(store), door.use(Door(settings, store, Meter(settings.budget))), patch.object(votes, "vote", _counted):
            yield settings


def silent(settings: Settings) -> Settings:
    """The same without a model."""
    changes = {"recall": {"expand": False, "filter": False}, "vote": {"enabled": False}}
    parts = {name: getattr(settings, name).model_copy(update=change) for name, change in changes.items()}
    return settings.model_copy(update=parts)


async def build(folder: Path, settings: Settings) -> World:
    """Everything before the first question, timed."""
    clock = Clock()
    inventory = await take_inventory.function(str(folder), settings.intake)
    knowledge = await read_knowledge.function(inventory)
    overrides = await read_overrides.function(inventory)
    clock.lap("read")
    catalogue = (await build_catalogue.function(inventory, settings.intake)).measurable
    clock.lap("load")
    profile = await profile_tables.function(catalogue, knowledge, settings.profiling, settings.query)
    clock.lap("measure")
    metadata = await describe_catalogue.function(catalogue, profile, knowledge, overrides, settings.metadata)
    clock.lap("describe")
    index = await index_catalogue.function(catalogue, metadata, settings.recall, settings.query)
    clock.lap("index")
    return World(settings, catalogue, knowledge, profile, metadata, index, overrides, clock.seconds)


class Clock:
    """Wall seconds between laps."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._at = time.monotonic()

    def lap(self, name: str) -> float:
        """Seconds since the last lap, kept under a name."""
        now = time.monotonic()
        self.seconds[name], self._at = now - self._at, now
        return self.seconds[name]


async def all_found(world: World, questions: Sequence[Asked], way: str) -> list[Outcome]:
    """The questions one way, in their order; side by side where a model is asked."""
    turns = asyncio.Semaphore(_AT_ONCE if way in ASKING else 1)

    async def one(asked: Asked) -> Outcome:
        async with turns:
            return await found(world, asked, way)

    return list(await asyncio.gather(*map(one, questions)))


async def found(world: World, asked: Asked, way: str) -> Outcome:
    """One question, one way: `words`, `kept`, `terms` (kept, with the question's given terms), `expanded` or `model`.

    Each has a budget of its own, as a run has.
    """
    settings = world.settings if way in ASKING else silent(world.settings)
    with door.use(Door(settings, current(), Meter(settings.budget))):
        return await _found(world, asked, way, settings)


async def _found(world: World, asked: Asked, way: str, settings: Settings) -> Outcome:
    clock, question = Clock(), Question(text=asked.text, as_of=AS_OF)
    terms = await write_terms.function(question, world.metadata, world.knowledge, "", settings.recall)
    if way == "terms":
        terms = terms.model_copy(update={"columns": asked.terms, "values": asked.terms, "expanded": True})
    bounds = (settings.recall, settings.query, settings.stores)
    recalled = await recall.function(terms, world.index, world.catalogue, world.metadata, *bounds)
    shown = settings if way == "model" else silent(settings)
    off = why_not(world.catalogue, world.profile, shown.vote, shown.relevance)
    profile = add_words(world.profile, world.metadata, world.overrides if off else None)
    polls: list[Verdicts] = []
    _polls.set(polls)
    if way == "model":
        context, relevance = await _asked(world, (profile, off), question, recalled)
    else:
        context = await merge_context.function(recalled, world.metadata, OFF)
        relevance = OFF if way == "words" else _keeping(world, context)
    seconds = clock.lap("recall")
    brief = await compress.function(question, profile, world.knowledge, settings.brief, context, relevance)
    outcome = _outcome(world, asked, (recalled, context, brief), (seconds, clock.lap("brief")))
    said = [terms.problem if way in ASKING else "", relevance.error, context.problem]
    return replace(outcome, polls=tuple(polls), problems=tuple(filter(None, said)))


async def _asked(
    world: World, judged: tuple[Profile, str], question: Question, recalled: Recalled
) -> tuple[Context, TableRelevanceResult]:
    """A vote on the tables of a profile, unless something speaks against it; the finds merged and cut."""
    settings, (profile, off) = world.settings, judged
    relevance = await judge_tables.function(
        question, world.catalogue, profile, world.knowledge, recalled, world.metadata, "", off,
        settings.vote, settings.relevance, settings.query,
    )  # fmt: skip
    context = await merge_context.function(recalled, world.metadata, relevance)
    return await filter_context.function(question, context, world.metadata, settings.recall), relevance


_polls: ContextVar[list[Verdicts] | None] = ContextVar("polls", default=None)
_vote = votes.vote


async def _counted(*given: Any) -> Verdicts:
    """A vote whose verdicts the question under way keeps."""
    told = await _vote(*given)
    heard = _polls.get()
    if heard is not None:
        heard.append(told)
    return told


def _keeping(world: World, context: Context) -> TableRelevanceResult:
    """As if a vote had kept every table in context and no other."""
    kept = tuple(table.name for table in context.tables)
    rest = tuple(table.name for table in world.catalogue.tables if table.name not in set(kept))
    return TableRelevanceResult(all_tables=kept, relevant_tables=kept, not_judged=rest, n_rounds_ok=1)


def _outcome(
    world: World, asked: Asked, made: tuple[Recalled, Context, Brief], seconds: tuple[float, float]
) -> Outcome:
    recalled, context, brief = made
    described = frozenset(id for id in asked.columns if _describes(brief, id))
    search = " ".join((asked.text, *recalled.terms.columns))
    return Outcome(
        asked=asked,
        order=_order(recalled, world.metadata),
        context=frozenset(column.id for table in context.tables for column in table.columns),
        described=described,
        written=described | {id for id in asked.columns if _writes(brief, id)},
        named=frozenset(name for name in asked.tables if spelled(name) in brief.text),
        listed=frozenset(name for name in asked.tables if lists(world, search, name)),
        tokens=brief.tokens,
        recall_seconds=seconds[0],
        brief_seconds=seconds[1],
    )


def _order(recalled: Recalled, metadata: Metadata) -> tuple[str, ...]:
    inputs = {metric.id: metric.columns for metric in metadata.metrics}
    ways = (
        [(hit.id,) for hit in recalled.columns],
        [inputs.get(hit.id, ()) for hit in recalled.metrics],
        [(hit.id,) for hit in recalled.values],
    )
    return tuple(dict.fromkeys(id for turn in zip_longest(*ways, fillvalue=()) for ids in turn for id in ids))


def _describes(brief: Brief, id: str) -> bool:
    """Whether the column has a line of its own, or its table has one line for all."""
    table, _, column = id.rpartition(".")
    return _writes(brief, id) and (not brief.detailed or column in brief.detailed.get(table, ()))


def _writes(brief: Brief, id: str) -> bool:
    """Whether the column stands in the block of its table."""
    table, _, column = id.rpartition(".")
    heads = (f"{spelled(table)} (", f"CREATE TABLE {spelled(table)} (")
    blocks = [block for block in brief.text.split("\n\n") if block.startswith(heads)]
    return table in brief.shown and any(
        re.search(rf'(?<![\w"]){re.escape(spelled(column))} ', block) for block in blocks
    )


def lists(world: World, search: str, table: str) -> bool:
    """Whether `list_tables` names a table on its first page."""
    page = _page(world, search)
    return any(line.startswith(f"{spelled(table)}:") for line in page.splitlines())


def _page(world: World, search: str) -> str:
    if not world.bench:
        given = Assignment(
            question=Question(text="?", as_of=AS_OF),
            brief=Brief(text="", tokens=0, shown=()),
            contract=Contract(),
            catalogue=world.catalogue,
            profile=add_words(world.profile, world.metadata),
            metrics=world.metadata.metrics,
            index=world.index,
        )
        engine = Engine.over(world.catalogue, world.settings.query)
        world.bench.append(Bench(given, engine, world.settings.solver, given.contract))
    return list_tables(world.bench[0], search).text


async def queryable(world: World) -> int:
    """Tables that answer a query."""
    async with Engine.over(world.catalogue, world.settings.query) as engine:
        statements = [f"SELECT count(*) FROM {quote(table.name)}" for table in world.catalogue.tables]
        counts = await engine.measure(statements, 600)
    return sum(rows[0][0] == table.rows for rows, table in zip(counts, world.catalogue.tables, strict=True))


def index_bytes(world: World) -> int:
    """Size of the search index."""
    return current().local(world.index.file).stat().st_size
