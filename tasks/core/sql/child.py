"""Requests of the engine → rows of a read-only, locked catalogue. Runs as a worker process only.

The database has one thread: with more, sums of floats, ties and unordered rows change from run to run and
a query could not be replayed. Each request has a connection of its own, so that nothing of one (a temporary table, a
variable) is there for the next.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.core.answering import answer_requests
from tasks.core.sql import described, guard, messages
from tasks.core.sql.cells import Digest, csv_lines, to_cells
from tasks.core.sql.names import literal, quote

if TYPE_CHECKING:
    import duckdb

    from tasks.core.models.value import Cell

_BATCH = 4096
_REPLY_CHARS, _REPLY_CELLS = 16 << 20, 4_000_000
"""Most text of a preview, and most cells: whoever asked holds them as objects, some 100 bytes each."""
_FILE_CHARS = 1 << 30
"""Most text of an export."""
_BESIDE = "derived"
"""Name of the second database; no query may use it."""
_LOSSY = re.compile(r"\bINTERVAL\b|\w+_NS\b")
"""Types whose Python values say less than the column: months become days, nanoseconds are cut."""


_DAYS = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
"""Their infinity comes as the last day that Python knows, and -infinity as the first."""
_ENDS = frozenset([date.max, date.min, datetime.max, datetime.min])


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request: `open`, `query`, `export` or `measure`."""
    import duckdb

    sql = request.get("sql", "")
    schema: dict[str, tuple[str, ...]] = {}
    try:
        database, schema, path = _open(request["database"], request.get("derived", ""), request["memory_mb"])
        with database.cursor() as connection:
            connection.execute(f"SET search_path = {literal(path)}")
            about = described.named(" ".join(_of_a_model(request))) if request.get("metadata") else {}
            if about:
                described.fill(connection, Path(request["metadata"]))
            for statement in _of_a_model(request):
                if problem := guard.check(statement, schema, connection, about):
                    return {"error": problem}
            schema = schema | about
            if request["do"] == "open":
                return {"tables": list(schema)}
            if request["do"] == "measure":
                return {"rows": [_measure(connection, statement) for statement in request["statements"]]}
            return _run(connection, request)
    except (MemoryError, duckdb.OutOfMemoryException):
        return {"memory": True}
    except _TooMuch as error:
        return {"error": str(error)}
    except duckdb.Error as error:
        return {"error": messages.explain(str(error), sql, schema)}
    except OSError as error:
        return {"error": f"the description of the tables cannot be read: {error.strerror}"}


def _of_a_model(request: dict[str, Any]) -> list[str]:
    """Statements in which a model had a part."""
    statements: list[str] = request["statements"] if request.get("guarded") else []
    return [request["sql"]] if request["do"] in ("query", "export") else statements


def _run(connection: duckdb.DuckDBPyConnection, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return _run_once(connection, request, False)
    except _Endless:
        return _run_once(connection, request, True)


def _run_once(connection: duckdb.DuckDBPyConnection, request: dict[str, Any], endless: bool) -> dict[str, Any]:
    started = time.monotonic()
    wanted, most = request["preview"], request["max_rows"]
    names, types, batches = _execute(connection, request["sql"], endless)
    digest, truncated = Digest(types), False
    preview: list[tuple[Cell, ...]] = []
    with _Export(request.get("path"), names) as export:
        for batch in batches:
            if truncated := digest.rows + len(batch) > most:
                batch = batch[: most - digest.rows]
            digest.add(batch)
            if len(preview) < wanted:
                preview += to_cells(batch[: wanted - len(preview)], types)
                _check_size(preview)
            export.write(batch, types)
            if truncated:
                break
    return {
        "columns": names,
        "types": types,
        "rows": preview,
        "row_count": digest.rows,
        "truncated": truncated,
        "digest": digest.hex(),
        "seconds": time.monotonic() - started,
    }


def _execute(
    connection: duckdb.DuckDBPyConnection, sql: str, endless: bool = False
) -> tuple[list[str], list[str], Iterator[list[tuple[Any, ...]]]]:
    """Names, types and batches of rows of a query that the guard has passed.

    Without `endless` the batches raise _Endless where a day may be infinite, which only its text tells.
    """
    cursor = connection.execute(sql)
    names = [str(column[0]) for column in cursor.description or []]
    types = [str(column[1]) for column in cursor.description or []]
    days = [place for place, kind in enumerate(types) if kind in _DAYS]
    if any(_LOSSY.search(kind) for kind in types) or (endless and days):
        inner = [quote(f"c{number}") for number in range(len(names))]
        shown = [_shown(c, kind, endless) for c, kind in zip(inner, types, strict=True)]
        body = f"FROM (\n{sql.strip().rstrip(';')}\n) AS q({', '.join(inner)})"
        cursor = _try(connection, f"SELECT {', '.join(shown)} {body}") or connection.execute(sql)
    batches = iter(lambda: cursor.fetchmany(_BATCH), [])
    return names, types, batches if endless or not days else _finite(batches, days)


def _shown(column: str, kind: str, endless: bool) -> str:
    """A column as text where its Python values say less; in the form that they have otherwise."""
    if _LOSSY.search(kind):
        return f"{column}::VARCHAR"
    if not endless or kind not in _DAYS:
        return column
    if kind == "TIMESTAMP":
        whole = f"microsecond({column}) % 1000000 = 0"
        fine = f"CASE WHEN {whole} THEN {column}::VARCHAR ELSE strftime({column}, '%Y-%m-%d %H:%M:%S.%f') END"
        return f"CASE WHEN isfinite({column}) THEN {fine} ELSE {column}::VARCHAR END"
    return f"{column}::VARCHAR"


class _Endless(Exception):
    """A day may be infinite."""


def _finite(batches: Iterator[list[tuple[Any, ...]]], days: list[int]) -> Iterator[list[tuple[Any, ...]]]:
    for batch in batches:
        for place in days:
            for row in batch:
                value = row[place]
                if isinstance(value, datetime):
                    value = value.replace(tzinfo=None)
                if value in _ENDS:
                    raise _Endless
        yield batch


def _try(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyConnection | None:
    """A statement that wraps another may not parse (`SELECT 1; -- end`); then None."""
    import duckdb

    try:
        return connection.execute(sql)
    except duckdb.ParserException:
        return None


class _TooMuch(Exception):
    """A result holds more than may leave; the message is for the solver."""


def _check_size(preview: list[tuple[Cell, ...]]) -> None:
    if preview and len(preview) * len(preview[0]) > _REPLY_CELLS:
        raise _TooMuch(f"the rows hold more than {_REPLY_CELLS} values: select fewer columns, or aggregate first")
    if sum(len(cell) for row in preview for cell in row if isinstance(cell, str)) > _REPLY_CHARS:
        raise _TooMuch("the rows hold too much text to show: select fewer columns, or left(column, 200)")


class _Export:
    """The CSV file of an export, whole or not there; nothing without a path."""

    def __init__(self, path: str | None, names: list[str]) -> None:
        self.path = Path(path) if path else None
        self.names = names
        self.chars = 0

    def __enter__(self) -> _Export:
        if self.path:
            self.file = part(self.path).open("w", encoding="utf-8", newline="")
            self.file.write(csv_lines([tuple(self.names)]))
        return self

    def write(self, batch: list[tuple[Any, ...]], types: list[str]) -> None:
        """Append rows."""
        if self.path:
            lines = csv_lines(to_cells(batch, types))
            self.chars += len(lines)
            if self.chars > _FILE_CHARS:
                raise _TooMuch(f"the rows hold more than {_FILE_CHARS >> 20} million characters: select fewer columns")
            self.file.write(lines)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.path:
            self.file.close()
            if kind is None:
                part(self.path).replace(self.path)
            else:
                part(self.path).unlink()


def part(path: Path) -> Path:
    """Where an export is written until it is whole."""
    return path.with_name(path.name + ".part")


def _measure(connection: duckdb.DuckDBPyConnection, statement: str) -> list[tuple[Any, ...]]:
    for endless in (False, True):
        _, types, batches = _execute(connection, statement, endless)
        try:
            return [row for batch in batches for row in to_cells(batch, types)]
        except _Endless:
            continue
    return []


@functools.lru_cache(maxsize=1)
def _open(
    database: str, derived: str, memory_mb: int
) -> tuple[duckdb.DuckDBPyConnection, dict[str, tuple[str, ...]], str]:
    """The locked database, its tables with their columns, and where a connection shall look for them by bare names.

    The lock leaves that one setting to each connection. Views of the derived ones would have no `rowid`.
    """
    import duckdb

    connection = duckdb.connect(database, read_only=True)
    attached = _BESIDE if Path(database).stem.casefold() != _BESIDE else f"{_BESIDE}_"
    if derived:
        connection.execute(f"ATTACH {literal(derived)} AS {attached} (READ_ONLY)")
    if Path(database).stem.casefold() != described.SCHEMA:
        described.attach(connection)
    schema: dict[str, tuple[str, ...]] = {}
    for table, column in connection.execute(
        "select table_name, column_name from duckdb_columns() where not internal "
        f"and database_name in (current_database(), '{attached}') "
        "and schema_name = 'main' order by table_name, column_index"
    ).fetchall():
        schema[table] = (*schema.get(table, ()), column)
    own = str((connection.execute("select current_database()").fetchone() or ("",))[0])
    path = ",".join(f"{quote(name)}.main" for name in (own, attached)[: 2 if derived else 1])
    for name, value in {
        "temp_directory": "",
        "threads": "1",
        "memory_limit": f"{memory_mb}MB",
        "TimeZone": "UTC",
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_unsigned_extensions": "false",
        "python_enable_replacements": "false",
        "python_scan_all_frames": "false",
    }.items():
        connection.execute(f"SET GLOBAL {name} = '{value}'")
    connection.execute("SET GLOBAL lock_configuration = true")
    return connection, schema, path


def _warm() -> None:
    """Import what every request needs."""
    import duckdb  # noqa: F401


def main() -> None:
    """Answer until standard input ends."""
    answer_requests(handle, _warm)


if __name__ == "__main__":
    main()
