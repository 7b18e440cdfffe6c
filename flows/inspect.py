"""folder → what is in it: outcome of every file, tables, columns and joins as measured, a sample. No model is asked."""

from __future__ import annotations

import os
from collections.abc import Iterator

from flows.running.record import living
from flows.running.request import check_store
from flows.running.session import open_store
from flows.sources import load_sources
from flows.video import explained, read_videos
from tasks.core.errors import QueryError
from tasks.core.files import store as stores
from tasks.core.files.paths import check_folder
from tasks.core.models.catalogue import Catalogue, Column, Profile, Table
from tasks.core.models.metadata import Metadata
from tasks.core.models.semantics import Knowledge
from tasks.core.models.source import SourceFile
from tasks.core.models.value import Cell, Value
from tasks.core.models.video import VideoText
from tasks.core.settings import Settings
from tasks.core.sql.engine import Engine
from tasks.core.sql.forms import recipe
from tasks.core.sql.names import quote
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.intake.loading.problems import kind_of
from tasks.intake.overrides import read_overrides
from tasks.solve.describe import describe_catalogue
from tasks.solve.profile import profile_tables
from tasks.solve.profiling.ranges import by_value

_SAMPLE_ROWS = 5
_SAMPLED_TABLES = 200
_DAYS = {"day": "DATE", "moment": "TIMESTAMP"}


class Remark(Value):
    """Something that intake says, by its stable code (docs/problems.md)."""

    code: str
    is_problem: bool
    """It may make an answer wrong or incomplete."""
    path: str
    """The file."""
    place: str
    """The file, table or `table.column` it is about."""
    text: str
    advice: str


class Sample(Value):
    """The first rows of a table."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Findings(Value):
    """Everything that a question over the folder would start from."""

    catalogue: Catalogue
    knowledge: Knowledge
    profile: Profile
    metadata: Metadata
    video: VideoText = VideoText()
    """What was prepared of videos; they are watched when a question is asked."""
    samples: tuple[Sample, ...] = ()

    @property
    def roles(self) -> dict[tuple[str, str], str]:
        """Role of each column by table and name, and what it refers to."""
        return {
            (info.table, info.name): info.role.replace("_", " ") + (f" → {info.refers_to}" if info.refers_to else "")
            for info in self.metadata.columns
        }

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """All that intake says, in the order of files; problems of a file first."""
        found = [remark for file in self.catalogue.files for remark in _of_file(file)]
        found += [remark for table in self.catalogue.tables for remark in _of_table(table)]
        return tuple(sorted(found, key=lambda remark: (remark.path, not remark.is_problem)))

    @property
    def problems(self) -> tuple[Remark, ...]:
        """What a reader should know before trusting an answer."""
        return tuple(remark for remark in self.remarks if remark.is_problem)


def _remark(said: str, path: str, place: str, text: str = "") -> Remark:
    kind = kind_of(said)
    return Remark(
        code=kind.code, is_problem=kind.problem, path=path, place=place, text=text or said, advice=kind.advice
    )


def _of_file(file: SourceFile) -> list[Remark]:
    if not file.reason:
        return []
    if file.outcome != "table":
        text = f"{file.outcome}: {file.reason}"
        return [_remark(file.reason, file.path, file.path, text)]
    return [_remark(part, file.path, file.path) for part in file.reason.split("; ")]


def _of_table(table: Table) -> list[Remark]:
    own = [_remark(note, table.path, table.name) for note in table.notes]
    columns = [
        _remark(note, table.path, f"{table.name}.{c.name}")
        for c in table.columns
        for note in (*c.notes, *_held_as_text(c))
    ]
    return [*own, *columns]


def _held_as_text(column: Column) -> Iterator[str]:
    """Days and numbers that stay text as their source declares them, where nothing else is said; a prompt needs no such note."""
    form = column.form
    if form is None or column.notes or form.read < form.values:
        return
    if form.kind == "number":
        yield "numbers that the source holds as text: CAST(x AS DOUBLE) reads them"
    elif "-" in form.example:
        yield f"dates in ISO form that the source holds as text: CAST(x AS {_DAYS[form.kind]}) reads them"
    else:
        yield f"dates, year first, that the source holds as text: {recipe(form)} reads them"


async def inspect(folder: str, settings: Settings) -> Findings:
    """Read and measure a folder, over the same records that its questions use."""
    check_folder(folder, "the folder with the tables")
    check_store(folder, settings.store.folder)
    store = open_store(settings)
    with stores.use(store), living(store, f"inspect-{os.getpid()}"):
        inventory = await take_inventory(folder, settings.intake)
        knowledge = await read_knowledge(inventory)
        overrides = await read_overrides(inventory)
        catalogue = await load_sources(inventory, overrides, settings)
        video = await read_videos(inventory, settings.video, watch=False)
        catalogue = catalogue.model_copy(update={"files": explained(catalogue.files, video)})
        measured = await profile_tables(catalogue.measurable, knowledge, settings.profiling, settings.query)
        metadata = await describe_catalogue(catalogue.measurable, measured, knowledge, overrides, settings.metadata)
        async with Engine.over(catalogue, settings.query) as engine:
            samples = [await _sample(engine, table) for table in catalogue.tables[:_SAMPLED_TABLES]]
            tables = [await by_value(engine, table) for table in measured.tables]
        return Findings(
            catalogue=catalogue,
            knowledge=knowledge,
            profile=measured.model_copy(update={"tables": tuple(tables)}),
            metadata=metadata,
            video=video,
            samples=tuple(samples),
        )


async def _sample(engine: Engine, table: Table) -> Sample:
    names = tuple(column.name for column in table.columns)
    try:
        found = await engine.query(f"select * from {quote(table.name)} limit {_SAMPLE_ROWS}", _SAMPLE_ROWS)
    except QueryError:
        return Sample(table=table.name, columns=names, rows=())  # a row that is too large to show
    return Sample(table=table.name, columns=names, rows=found.rows)
