"""Data of metadata.yaml → what it may say, checked; its keys are those of the four tables, with two short forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from tasks.core.models.metadata import ColumnRole, TableRole
from tasks.core.models.value import Value
from tasks.intake.overriding.tree import Place

Texts = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]
Aliases = Annotated[Texts, Field(validation_alias=AliasChoices("aliases", "alias"))]
Role = Annotated[TableRole, BeforeValidator(lambda given: "dimension" if given == "dim" else given)]


class ColumnEntry(Value):
    """Of a column."""

    role: ColumnRole | None = None
    description: str = ""
    aliases: Aliases = ()
    unit: str = ""
    refers_to: str = Field(default="", pattern=r"^$|^.+\..+$")


class TableEntry(Value):
    """Of a table."""

    role: Role | None = None
    description: str = ""
    aliases: Aliases = ()
    columns: dict[str, ColumnEntry] = Field(default_factory=dict)


class MetricEntry(Value):
    """Of a metric."""

    description: str = ""
    formula: str = ""
    filters: Texts = ()
    unit: str = ""
    grain: str = ""
    aliases: Aliases = ()
    columns: Annotated[Texts, Field(validation_alias=AliasChoices("columns", "relevant_columns"))] = ()


class DatabaseEntry(Value):
    """Of a live database."""

    url_env: str = Field(default="", pattern=r"^$|^[A-Za-z_][A-Za-z0-9_]*$")
    url: str = ""
    tables: Texts = ()


class File(Value):
    """The whole file."""

    tables: dict[str, TableEntry] = Field(default_factory=dict)
    columns: dict[str, ColumnEntry] = Field(default_factory=dict)
    metrics: dict[str, MetricEntry] = Field(default_factory=dict)
    databases: dict[str, DatabaseEntry] = Field(default_factory=dict)


_ENTRIES: dict[str, type[BaseModel]] = {
    "tables": TableEntry,
    "columns": ColumnEntry,
    "metrics": MetricEntry,
    "databases": DatabaseEntry,
}


def check(data: Any) -> tuple[File | None, list[tuple[Place, str]]]:
    """The file, or the place of each error and what to change."""
    if not isinstance(data, dict):
        return None, [((), f"the file must be a mapping with some of {_keys(File)}")]
    try:
        return File.model_validate(data), []
    except ValidationError as error:
        return None, list(_said(error))


def _said(error: ValidationError) -> Iterator[tuple[Place, str]]:
    for one in error.errors():
        place: Place = tuple(one["loc"])
        name = place[-1] if place else ""
        given = str(one["input"])[:60]
        kind = one["type"]
        if kind == "extra_forbidden":
            yield place, f"unknown key {name!r}: use one of {_keys(_model(place))}"
        elif kind == "literal_error":
            yield place, f"{name} must be {one['ctx']['expected']}, not {given!r}"
        elif kind in ("dict_type", "model_type", "model_attributes_type"):
            yield (
                place,
                f"{name!r} must be a mapping of {'names' if place and place[-1] in _ENTRIES else 'keys'}, not {given!r}",
            )
        elif kind in ("tuple_type", "string_type"):
            wanted = "a text or a list of texts" if kind == "tuple_type" else "a text"
            yield place, f"{name} must be {wanted}, not {type(one['input']).__name__}"
        elif kind == "string_pattern_mismatch":
            form = "table.column" if name == "refers_to" else "the name of an environment variable, not its value"
            yield place, f"{name} must be {form}"
        else:
            yield place, f"{name}: {one['msg']}"


def _model(place: Place) -> type[BaseModel]:
    """The entry that a place lies in."""
    if len(place) < 3:
        return File
    inner = place[0] == "tables" and len(place) > 4 and place[2] == "columns"
    return ColumnEntry if inner else _ENTRIES.get(str(place[0]), File)


def _keys(model: type[BaseModel]) -> str:
    return ", ".join(model.model_fields)


def is_column(name: str) -> bool:
    """Whether a text has the form `table.column`."""
    return bool(re.fullmatch(r".+\..+", name))
