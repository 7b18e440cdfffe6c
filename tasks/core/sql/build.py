"""Rows from the readers → typed tables in one DuckDB file: all text first, then whole columns.

DuckDB reads no source by guessing: each type rests on a count over every value of the column.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.core.sql.names import literal, quote

_BLANKS = (9, 10, 13, 32, 160, 12288)
"""Tab, line ends, space, no-break space, ideographic space. DuckDB reads no \\u in strings, so by number."""


_BLOCK_BYTES, _SMALL_BLOCK_BYTES = 1 << 18, 1 << 14
"""DuckDB's own block, which suits large tables, and its smallest. A file that is there keeps its own."""
_WIDE = 25
"""Columns whose values are worked on in one statement."""


@dataclass(frozen=True)
class Tally:
    """Values of one column that have one shape."""

    count: int
    example: str
    padded: int
    """Those with blanks around them."""
    digits: int
    """Most digits in one of them, leading zeros and exponents aside; 0 when none has more than 15 characters."""


@dataclass(frozen=True)
class Target:
    """A column as it shall be: name, DuckDB type, and its value from `{x}`, the draft's text."""

    name: str
    type: str = "VARCHAR"
    value: str = "{x}"


def warm() -> None:
    """Import what every builder needs."""
    import duckdb  # noqa: F401
    import pyarrow  # noqa: F401


class Builder:
    """Writes one DuckDB file; for the loading child only. `scratch` takes what does not fit in memory.

    `small`: of tables that are small, so that thousands of them take little room.
    """

    def __init__(self, path: Path, scratch: Path, memory_mb: int, small: bool = False) -> None:
        import duckdb

        self._connection = duckdb.connect(
            str(path),
            config={
                "memory_limit": f"{memory_mb}MB",
                "threads": "2",
                "default_block_size": str(_SMALL_BLOCK_BYTES if small else _BLOCK_BYTES),
                "temp_directory": str(scratch),
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "preserve_insertion_order": "true",
            },
        )

    def rehearse(self) -> None:
        """Do a little of everything, so that a child with too little memory fails before it reads a file."""
        draft = self.draft(1)
        draft.add([["x"] * 10_000])
        draft.tallies("'text'")
        draft.settle("tablewright_rehearsal", [Target("x")])
        self.run("drop table tablewright_rehearsal")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All tables that are made inside, or none of them."""
        self.run("begin")
        try:
            yield
        except BaseException:
            self.run("rollback")
            raise
        self.run("commit")

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one statement of ours; its rows."""
        return list(self._connection.execute(sql).fetchall())

    def draft(self, width: int) -> Draft:
        """A new text table of so many columns, in place of the one before."""
        return Draft(self, width)

    def create(self, table: str, columns: Sequence[tuple[str, str]]) -> None:
        """An empty table with these names and DuckDB types."""
        self.run(f"create table {quote(table)} ({', '.join(f'{quote(name)} {kind}' for name, kind in columns)})")

    def insert(self, table: str, batch: Any, select: str = "*") -> None:
        """Append an Arrow table, whose columns fit by position."""
        self._connection.register("arriving", batch)
        self.run(f"insert into {quote(table)} select {select} from arriving")
        self._connection.unregister("arriving")

    def count(self, table: str) -> int:
        """Rows of a table."""
        return int(self.run(f"select count(*) from {quote(table)}")[0][0])

    def discard(self, prefix: str) -> None:
        """Drop the tables of a source that failed: those whose name is the prefix, or begins with it and `_`."""
        for table in self._tables():
            if table == prefix or table.startswith(f"{prefix}_"):
                self.run(f"drop table {quote(table)}")

    def finish(self, names: Sequence[tuple[str, str]]) -> None:
        """Give tables their final names; one that is not named, as of a child that was killed, is dropped."""
        kept = {stored for stored, _ in names}
        for table in self._tables():
            if table not in kept:
                self.run(f"drop table {quote(table)}")
        away = "_"  # a source may be called like another table's stored name, so all of these give way first
        while any(name.startswith(away) for pair in names for name in pair):
            away += "_"
        with self.transaction():
            for number, (stored, _) in enumerate(names):
                self.run(f"alter table {quote(stored)} rename to {quote(f'{away}{number}')}")
            for number, (_, name) in enumerate(names):
                self.run(f"alter table {quote(f'{away}{number}')} rename to {quote(name)}")
        self.close()

    def _tables(self) -> list[str]:
        return [row[0] for row in self.run("select table_name from duckdb_tables() where not temporary")]

    def close(self) -> None:
        """Write everything to the file; no side file stays."""
        self.run("checkpoint")
        self._connection.close()


class Draft:
    """The text table of the source that is being read; NULL is NULL, everything else is as written."""

    _NAME = "tablewright_draft"

    def __init__(self, builder: Builder, width: int) -> None:
        self._builder = builder
        self.width = 0
        builder.run(f"drop table if exists temp.{self._NAME}")
        self.widen(width)

    def widen(self, width: int) -> None:
        """Add columns on the right; NULL in the rows that are there."""
        if not self.width and width:
            columns = ", ".join(f"c{i} varchar" for i in range(width))
            self._builder.run(f"create temp table {self._NAME} ({columns})")
            self.width = width
        for position in range(self.width, width):
            self._builder.run(f"alter table {self._NAME} add column c{position} varchar")
        self.width = max(self.width, width)

    def add(self, columns: Sequence[Sequence[str | None]]) -> None:
        """Append rows, given as columns of equal length; the draft widens as needed. Columns not given are NULL."""
        import pyarrow as pa

        self.widen(len(columns))
        arrays = [texts(column) for column in columns]
        batch = pa.table(arrays, names=[f"c{i}" for i in range(len(arrays))])
        rest = "".join(", null" for _ in range(self.width - len(columns)))
        self._builder.insert(self._NAME, batch, f"*{rest}")

    def read_csv(self, path: Path, delimiter: str, quote_mark: str, skip: int) -> int | None:
        """Fill the draft from regular UTF-8 CSV. Returns the rows, or None when any byte of it is irregular."""
        import duckdb

        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(self.width))
        try:
            self._builder.run(
                f"insert into {self._NAME} select * from read_csv({literal(str(path))}, auto_detect=false, "
                f"columns={{{columns}}}, header=false, skip={skip}, delim={literal(delimiter)}, "
                f"quote={literal(quote_mark)}, escape={literal(quote_mark)}, strict_mode=true, null_padding=false, "
                "nullstr='', allow_quoted_nulls=false, max_line_size=67108864)"
            )
        except duckdb.Error:
            return None
        return self.rows()

    def rows(self) -> int:
        """Rows so far."""
        return self._builder.count(self._NAME)

    def tallies(self, shape: str) -> list[dict[str, Tally]]:
        """For each column, its non-null values by shape. `shape` is SQL over `v` (as written) and `t` (trimmed)."""
        found: list[dict[str, Tally]] = [{} for _ in range(self.width)]
        digits = "length(ltrim(replace(replace(split_part(lower(t), 'e', 1), '-', ''), '.', ''), '0'))"
        digits = f"case when length(t) > 15 and shape in ('int', 'big', 'float', 'exponent') then {digits} end"
        sql = f"""
            select k, shape, count(*), min(v), count(*) filter (v <> t), max({digits})
            from (select k, v, t, {shape} as shape
                  from (select k, v, {_trimmed("v")} as t
                        from (unpivot {self._NAME} on columns(*) into name k value v)))
            group by all"""
        for name, kind, count, example, padded, most in self._builder.run(sql) if self.width else ():
            found[int(name[1:])][kind] = Tally(count, example, padded, most or 0)
        return found

    def settle(self, table: str, targets: Sequence[Target | None]) -> int:
        """Make the final table, one target a column, None for a column left out. Returns its rows.

        A value that does not fit its target raises duckdb.Error: types come from counts, so that is a defect.
        """
        values = [
            target.value.format(x=f"c{i}", t=_trimmed(f"c{i}")) if target else "" for i, target in enumerate(targets)
        ]
        worked = [i for i, value in enumerate(values) if value not in ("", f"c{i}")]
        if len(worked) > _WIDE:  # so many expressions in one statement take gigabytes and minutes
            self._builder.run("pragma disable_optimizer")
            for start in range(0, len(worked), _WIDE):
                changes = ", ".join(f"c{i} = {values[i]}" for i in worked[start : start + _WIDE])
                self._builder.run(f"update {self._NAME} set {changes}")
            values = [f"c{i}" for i in range(len(values))]
        parts = [
            f"cast({value} as {target.type}) as {quote(target.name)}"
            for value, target in zip(values, targets, strict=True)
            if target
        ]
        self._builder.run(f"create table {quote(table)} as select {', '.join(parts)} from {self._NAME}")
        self._builder.run("pragma enable_optimizer")
        self._builder.run(f"drop table {self._NAME}")
        return self._builder.count(table)


def _trimmed(value: str) -> str:
    """SQL for a text without blanks around it; trim() itself is slow, so only where there is one."""
    ends = f"unicode({value}) in {_BLANKS} or unicode(right({value}, 1)) in {_BLANKS}"
    return f"case when {ends} then trim({value}, {' || '.join(f'chr({code})' for code in _BLANKS)}) else {value} end"


def texts(column: Sequence[str | None]) -> Any:
    """An Arrow array. `pa.array` would import pandas, which takes longer than reading most files."""
    import pyarrow as pa

    builder = pa.lib.StringBuilder()  # type: ignore[attr-defined]
    builder.append_values(column)
    return builder.finish()
