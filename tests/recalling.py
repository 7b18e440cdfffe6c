"""Folder + questions with known needs → what was recalled, what the brief shows, what the search of tables finds, and the time.

The stages are those of the solve workflow, called one by one. Where no model votes, `kept` stands for a vote that keeps what
was recalled, and `words` for today's brief of a folder that nobody judged.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import zip_longest
from pathlib import Path

from catalogues import Asked

from tasks.core.files.store import Folder, Store, current, use
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Assignment, Brief, Contract, Question
from tasks.core.models.catalogue import Catalogue, Profile
from tasks.core.models.context import Context, Recalled, SearchIndex, TableRelevanceResult, Terms
from tasks.core.models.metadata import Metadata
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
OFF = TableRelevanceResult(off="nobody is asked")


@dataclass(frozen=True)
class World:
    """A folder after everything that does not depend on a question."""

    settings: Settings
    catalogue: Catalogue
    knowledge: Knowledge
    profile: Profile
    off: str
    """Why no table is judged."""
    metadata: Metadata
    index: SearchIndex
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage."""
    pages: dict[str, str] = field(default_factory=dict)
    """First pages of `list_tables` by search, kept for the other ways of the same question."""


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
    """Needed tables that `list_tables` shows when the question is searched."""
    tokens: int
    recall_seconds: float
    brief_seconds: float

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
def desk(ask: bool) -> Iterator[Settings]:
    """A fresh store, and settings that ask a model only where `ask`."""
    settings = load()
    if not ask:
        changes = {"recall": {"expand": False, "filter": False}, "vote": {"enabled": False}}
        parts = {name: getattr(settings, name).model_copy(update=change) for name, change in changes.items()}
        settings = settings.model_copy(update=parts)
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Folder(Path(scratch) / "store"), Path(scratch) / "cache")
        with use(store), door.use(Door(settings, store, Meter(settings.budget))):
            yield settings


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
    off = why_not(catalogue, profile, settings.vote, settings.relevance)
    profile = add_words(profile, metadata, overrides if off else None)
    clock.lap("describe")
    index = await index_catalogue.function(catalogue, metadata, settings.recall, settings.query)
    clock.lap("index")
    return World(settings, catalogue, knowledge, profile, off, metadata, index, clock.seconds)


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


async def found(world: World, asked: Asked, way: str) -> Outcome:
    """One question, one way: `words`, `kept`, `terms` (kept, with the question's given terms) or `model`."""
    settings, clock = world.settings, Clock()
    question = Question(text=asked.text, as_of=AS_OF)
    terms = await write_terms.function(question, world.metadata, world.knowledge, "", settings.recall)
    if way == "terms":
        terms = terms.model_copy(update={"columns": asked.terms, "values": asked.terms, "expanded": True})
    recalled = await _recalled(world, terms)
    context, relevance = await _judged(world, question, recalled, way)
    seconds = clock.lap("recall")
    brief = await compress.function(question, world.profile, world.knowledge, settings.brief, context, relevance)
    return _outcome(world, asked, (recalled, context, brief), (seconds, clock.lap("brief")))


async def _recalled(world: World, terms: Terms) -> Recalled:
    bounds = (world.settings.recall, world.settings.query, world.settings.stores)
    return await recall.function(terms, world.index, world.catalogue, world.metadata, *bounds)


async def _judged(
    world: World, question: Question, recalled: Recalled, way: str
) -> tuple[Context, TableRelevanceResult]:
    settings = world.settings
    if way != "model":
        context = await merge_context.function(recalled, world.metadata, OFF)
        return context, OFF if way == "words" else _keeping(world, context)
    relevance = await judge_tables.function(
        question, world.catalogue, world.profile, world.knowledge, recalled, world.metadata, "", world.off,
        settings.vote, settings.relevance, settings.query,
    )  # fmt: skip
    context = await merge_context.function(recalled, world.metadata, relevance)
    return await filter_context.function(question, context, world.metadata, settings.recall), relevance


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
    return Outcome(
        asked=asked,
        order=_order(recalled, world.metadata),
        context=frozenset(column.id for table in context.tables for column in table.columns),
        described=described,
        written=described | {id for id in asked.columns if _writes(brief, id)},
        named=frozenset(name for name in asked.tables if spelled(name) in brief.text),
        listed=frozenset(name for name in asked.tables if lists(world, asked.text, name)),
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
    page = world.pages.get(search) or world.pages.setdefault(search, _page(world, search))
    return any(line.startswith(f"{spelled(table)}:") for line in page.splitlines())


def _page(world: World, search: str) -> str:
    question = Question(text=search, as_of=AS_OF)
    empty = Brief(text="", tokens=0, shown=())
    given = Assignment(
        question=question, brief=empty, contract=Contract(), catalogue=world.catalogue, profile=world.profile
    )
    engine = Engine.over(world.catalogue, world.settings.query)
    return list_tables(Bench(given, engine, world.settings.solver, given.contract), search).text


async def queryable(world: World) -> int:
    """Tables that answer a query."""
    async with Engine.over(world.catalogue, world.settings.query) as engine:
        statements = [f"SELECT count(*) FROM {quote(table.name)}" for table in world.catalogue.tables]
        counts = await engine.measure(statements, 600)
    return sum(rows[0][0] == table.rows for rows, table in zip(counts, world.catalogue.tables, strict=True))


def index_bytes(world: World) -> int:
    """Size of the search index."""
    return current().local(world.index.file).stat().st_size
