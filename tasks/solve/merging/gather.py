"""Chosen columns + metadata → tables in context: grouped, with every key, and with the tables that join two of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tasks.core.models.context import TableContext
from tasks.core.models.metadata import ColumnInfo, ColumnRole, Metadata, MetricContext, MetricInfo

_KEYS: tuple[ColumnRole, ...] = ("primary_key", "foreign_key")
_BRIDGE = 2
"""Most tables that are added to join two others."""


@dataclass
class Gathering:
    """Columns by id, in the order in which they were added, under their tables; never a caller's object changed."""

    metadata: Metadata
    columns: dict[str, ColumnInfo] = field(default_factory=dict)
    tables: dict[str, None] = field(default_factory=dict)
    keys: dict[str, ColumnRole] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._columns = {column.id: column for column in self.metadata.columns}
        self._by_table: dict[str, list[ColumnInfo]] = defaultdict(list)
        for column in self.metadata.columns:
            self._by_table[column.table].append(column)
        self._tables = {table.name: table for table in self.metadata.tables}
        self._near = _neighbours(self.metadata)

    def add_column(self, id: str, value: str = "") -> None:
        """The column once, and the value once among its examples; an id that the metadata lacks is noted."""
        column = self.columns.get(id) or self._columns.get(id)
        if column is None or column.table not in self._tables:
            self.unknown[id] = None
            return
        if value and value not in column.examples:
            column = column.model_copy(update={"examples": (*column.examples, value)})
        self.columns[id] = column
        self.tables[column.table] = None

    def add_table(self, name: str) -> None:
        """The table, even when none of its columns was found."""
        if name in self._tables:
            self.tables[name] = None
        else:
            self.unknown[name] = None

    def complete(self) -> None:
        """Tables that join two present ones by measured links, then the primary and foreign keys of every table."""
        for name in _bridges(tuple(self.tables), self._near):
            self.tables[name] = None
        for name in self.tables:
            for column in self._by_table[name]:
                if column.role in _KEYS and column.id not in self.columns:
                    self.columns[column.id] = column
                    self.keys[column.id] = column.role

    def contexts(self) -> tuple[TableContext, ...]:
        """The tables with their columns, in the order of the finds."""
        grouped: dict[str, list[ColumnInfo]] = {name: [] for name in self.tables}
        for column in self.columns.values():
            grouped[column.table].append(column)
        found = []
        for name, columns in grouped.items():
            told = self._tables[name].model_dump(include={"name", "role", "description", "aliases"})
            found.append(TableContext(**told, columns=tuple(columns)))
        return tuple(found)


def metric_context(metric: MetricInfo) -> MetricContext:
    """The metric without its internal id."""
    return MetricContext(**metric.model_dump(include=set(MetricContext.model_fields)))


def _neighbours(metadata: Metadata) -> Mapping[str, tuple[str, ...]]:
    """Tables that a foreign key joins, both ways, the best link first."""
    table_of = {column.id: column.table for column in metadata.columns}
    near: dict[str, dict[str, None]] = defaultdict(dict)
    links = [column for column in metadata.columns if column.role == "foreign_key"]
    for column in sorted(links, key=lambda column: -(column.match_rate if column.match_rate is not None else 1.0)):
        other = table_of.get(column.refers_to, "")
        if other and other != column.table:
            near[column.table][other] = None
            near[other][column.table] = None
    return {name: tuple(others) for name, others in near.items()}


def _bridges(present: Sequence[str], near: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    """Tables that join parts of the present ones which no link joins yet, by the shortest chains."""
    added: dict[str, None] = {}
    part = _parts(present, near)
    for start in present:
        for path in _paths(start, near, part):
            end = path[-1]
            if part[start] != part[end]:
                added |= dict.fromkeys(path[1:-1])
                old, new = part[end], part[start]
                part = {name: new if where == old else where for name, where in part.items()}
    return added


def _parts(present: Sequence[str], near: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """The number of the connected part that each table is in."""
    part: dict[str, int] = {}
    wanted = set(present)
    for number, start in enumerate(present):
        waiting = [start] if start not in part else []
        while waiting:
            name = waiting.pop()
            part[name] = number
            waiting += [other for other in near.get(name, ()) if other in wanted and other not in part]
    return part


def _paths(start: str, near: Mapping[str, tuple[str, ...]], part: Mapping[str, int]) -> Iterable[list[str]]:
    """Chains from a table over absent ones to present ones, shortest first."""
    trails, seen = [[start]], {start}
    for _ in range(_BRIDGE + 1):
        longer = []
        for trail in trails:
            for other in near.get(trail[-1], ()):
                if other in seen:
                    continue
                seen.add(other)
                if other not in part:
                    longer.append([*trail, other])
                elif len(trail) > 1:
                    yield [*trail, other]
        trails = longer
