"""SQLite file → typed tables, each column typed by typeof() over all its rows; views are read with a deadline.

The file is only read. One in WAL mode, or with a journal beside it, is read from a private copy with its side files:
reading it in place would leave files beside it, and opening it as immutable would lose the rows in its WAL.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.models.catalogue import Column
from tasks.core.sql.build import Builder, texts
from tasks.core.sql.names import quote, unique_names
from tasks.intake.loading.part import Loaded, Part

_MAGIC = b"SQLite format 3\0"
_SIDES = ("-wal", "-journal")
_FEW = 1000
"""Values of one column that are written as text."""
_BATCH_CELLS = 200_000
_SAYS = {"table": "table", "view": "view", "virtual": "virtual table"}
_VIEW_SHARE, _VIEWS_SHARE, _READ_SHARE = 0.1, 0.5, 0.75
"""Of the file's time: for one view, for all views, and for reading at all; the rest is for what follows in the child."""
_NAMED = 3
"""Tables named of those that the time did not reach."""
_CHUNK = 50
"""Columns counted in one statement, below SQLite's limit of columns."""
_KINDS = ("integer", "real", "text", "blob")
"""What a cell is, beside NULL."""
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_DENIED = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}
_TEXT = (
    "case typeof({c}) when 'blob' then 'x''' || hex({c}) || '''' when 'real' then "
    "case when cast(printf('%.15g', {c}) as real) = {c} then printf('%.15g', {c}) else printf('%!.17g', {c}) end "
    "else cast({c} as text) end"
)


class _Texts:
    """Decodes texts; those that are not valid UTF-8 are counted."""

    def __init__(self) -> None:
        self.replaced = 0

    def decode(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.replaced += 1
            return raw.decode("utf-8", "replace")

    def notes(self) -> tuple[str, ...]:
        return (f"{self.replaced:,} texts are not valid UTF-8; U+FFFD stands for such bytes",) if self.replaced else ()


@dataclass(frozen=True)
class _Typed:
    """A column's DuckDB type, the SQLite expression that fits it, and what to say."""

    type: str
    value: str
    note: str = ""


def load(path: Path, stored: str, builder: Builder, scratch: Path, seconds: float) -> Loaded:
    """Load all tables and views of a SQLite file as `<stored>_0` …, within `seconds`: those that were left are counted.

    Raises InputError when the file is no readable SQLite database.
    """
    with path.open("rb") as file:
        head = file.read(32)
    if not head.startswith(_MAGIC):
        raise InputError("the file is empty" if not head else "not a SQLite database, or an encrypted one")
    local, notes = _place(path, head, scratch)
    try:
        connection = _open(local, path != local)
        try:
            return _load_all(connection, stored, builder, notes, seconds)
        finally:
            connection.close()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the latter when a damaged name is in the message
        raise InputError(f"the database cannot be read: {error}") from error
    finally:
        if local != path:
            for name in ("", *_SIDES, "-shm"):
                Path(f"{local}{name}").unlink(missing_ok=True)


def load_table(path: Path, stored: str, builder: Builder, name: str, types: dict[str, str]) -> Loaded:
    """Load one table of a SQLite file of ours as `<stored>`; `types` are what its columns shall count as, by name.

    Raises InputError when the file is no readable SQLite database.
    """
    try:
        connection = _open(path, False)
        try:
            info = connection.execute(f"pragma table_xinfo({quote(name)})").fetchall()
            declared = [types.get(row[1], row[2] or "") for row in info]
            return Loaded(parts=(_load_one(connection, name, [r[1] for r in info], declared, (builder, stored, ())),))
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise InputError(f"the database cannot be read: {error}") from error


def _place(path: Path, head: bytes, scratch: Path) -> tuple[Path, list[str]]:
    """Where to read the database, and what to say about its side files."""
    sides = [side for side in _SIDES if _filled(Path(f"{path}{side}"))]
    wal = 2 in head[18:20]
    if not wal and not sides:
        return path, []
    copy = scratch / "copy.db"
    shutil.copyfile(path, copy)
    for side in sides:
        shutil.copyfile(f"{path}{side}", f"{copy}{side}")
    if wal and "-wal" not in sides:
        return copy, [
            "database in WAL mode without its -wal file: if it was copied while in use, its last rows are missing"
        ]
    return copy, []


def _filled(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _open(path: Path, ours: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode={'rw' if ours else 'ro'}", uri=True, isolation_level=None)
    connection.text_factory = _Texts().decode
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("pragma trusted_schema=off")
    connection.execute("pragma query_only=on")
    connection.execute("pragma cell_size_check=on")
    damage = [row[0] for row in connection.execute("pragma quick_check(3)") if row[0] != "ok"]
    if damage:
        connection.close()
        raise InputError(f"the database is damaged: {' '.join('; '.join(damage).split())[:200]}")
    return connection


def _load_all(
    connection: sqlite3.Connection, stored: str, builder: Builder, notes: list[str], seconds: float
) -> Loaded:
    parts: list[Part] = []
    unread: list[str] = []
    left: list[str] = []
    objects = list(_objects(connection, unread))
    connection.set_authorizer(_authorize)
    began = time.monotonic()
    for name, kind, columns, declared in objects:
        now, last = time.monotonic(), began + seconds * (_READ_SHARE if kind == "table" else _VIEWS_SHARE)
        end = last if kind == "table" else min(now + seconds * _VIEW_SHARE, last)
        if now > end:
            left.append(name)
            continue
        connection.set_progress_handler(_deadline(end), 10_000)
        target = f"{stored}_{len(parts)}"
        said = (*notes, *((f"a {_SAYS[kind]}",) if kind != "table" else ()))
        texts = _Texts()
        connection.text_factory = texts.decode
        try:
            builder.run("drop table if exists " + quote(target))
            part = _load_one(connection, name, columns, declared, (builder, target, said))
            parts.append(part.model_copy(update={"notes": (*part.notes, *texts.notes())}))
        except sqlite3.Error as error:
            builder.run("drop table if exists " + quote(target))
            if kind != "table":
                why = f"not finished after {seconds * _VIEW_SHARE:g} s" if time.monotonic() > end else str(error)
                unread.append(f"{_SAYS[kind]} {name!r}: {why}")
            elif time.monotonic() > end:
                left.append(name)
            else:
                raise
    if not objects and not unread:
        raise InputError("the database holds no table")
    return Loaded(parts=tuple(parts), unread=(*_late(left, len(objects)), *unread), passing=bool(left))


def _late(left: list[str], objects: int) -> Iterator[str]:
    """What to say of the tables that the time did not reach; the next run tries again."""
    if left:
        named = ", ".join(map(repr, left[:_NAMED])) + " …" * (len(left) > _NAMED)
        yield f"not read in time: {len(left):,} of {objects:,} tables and views were left ({named})"


def _objects(connection: sqlite3.Connection, unread: list[str]) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Name, kind, columns and declared types of each table and view, tables first."""
    found = connection.execute(
        "select s.name, l.type from sqlite_schema s join pragma_table_list l on l.name = s.name and l.schema = 'main' "
        "where l.type in ('table', 'view', 'virtual') and s.name not like 'sqlite\\_%' escape '\\' "
        "order by l.type = 'view', s.rowid"
    ).fetchall()
    for name, kind in found:
        try:
            info = [row for row in connection.execute(f"pragma table_xinfo({quote(name)})") if row[6] != 1]
        except sqlite3.Error as error:
            unread.append(f"{_SAYS[kind]} {name!r}: {error}")
            continue
        if info:
            yield name, kind, [row[1] for row in info], [row[2] or "" for row in info]


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None:
        return sqlite3.SQLITE_OK  # full-text tables ask for it
    denied = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _DENIED
    return sqlite3.SQLITE_OK if action in _ALLOWED and not denied else sqlite3.SQLITE_DENY


def _deadline(end: float) -> Callable[[], int]:
    return lambda: int(time.monotonic() > end)


def _load_one(
    connection: sqlite3.Connection,
    name: str,
    columns: list[str],
    declared: list[str],
    place: tuple[Builder, str, tuple[str, ...]],
) -> Part:
    import pyarrow as pa

    builder, target, notes = place
    rows, typed = _types(connection, name, columns, declared)
    names = unique_names(columns)
    builder.create(target, [(n, t.type) for n, t in zip(names, typed, strict=True)])
    arrow = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BLOB": pa.binary()}
    kinds = [arrow.get(t.type, pa.string()) for t in typed]
    cursor = connection.execute(f"select {', '.join(t.value for t in typed)} from {quote(name)}")
    select = ", ".join(f"cast(c{i} as {t.type})" for i, t in enumerate(typed))
    written = 0
    while batch := cursor.fetchmany(max(1, _BATCH_CELLS // len(columns))):
        arrays = [_array(values, kind) for values, kind in zip(zip(*batch, strict=True), kinds, strict=True)]
        builder.insert(target, pa.table(arrays, names=[f"c{i}" for i in range(len(arrays))]), select)
        written += len(batch)
    if written != rows:
        raise InputError(f"table {name!r} gave {written:,} rows after {rows:,} were counted; is it being written?")
    made = tuple(
        Column(name=n, type=t.type, notes=(t.note,) if t.note else ()) for n, t in zip(names, typed, strict=True)
    )
    return Part(stored=target, name=name, inner=name, columns=made, rows=rows, notes=notes)


def _array(values: tuple[Any, ...], kind: Any) -> Any:
    """The values as the type, or few of them as text that is cast to it: the former imports pandas."""
    import pyarrow as pa

    if len(values) > _FEW or kind == pa.binary():
        return pa.array(values, kind)
    return texts([value if value is None or isinstance(value, str) else repr(value) for value in values])


def _types(
    connection: sqlite3.Connection, table: str, columns: list[str], declared: list[str]
) -> tuple[int, list[_Typed]]:
    """Rows of the table, and each column's type by what its cells are: all counts only where they are not of the declared kind alone."""
    typed: list[_Typed] = []
    rows = 0
    for start in range(0, len(columns), _CHUNK):
        some = [(quote(name), said.upper()) for name, said in zip(columns, declared, strict=True)][
            start : start + _CHUNK
        ]
        # a column without a declared kind, as those of most views, is counted whole at once: each scan may be slow
        rows, found = _scan(connection, table, [_alone(*one) if one[1] else _counts(*one) for one in some])
        counts = [_counts_alone(said, *one) if said else one for (_, said), one in zip(some, found, strict=True)]
        mixed = [i for i, one in enumerate(counts) if one is None]
        if mixed:
            _, found = _scan(connection, table, [_counts(*some[i]) for i in mixed])
            for i, one in zip(mixed, found, strict=True):
                counts[i] = one
        typed += [_type(name, one or [], said) for (name, said), one in zip(some, counts, strict=True)]
    return rows, typed


def _scan(connection: sqlite3.Connection, table: str, asked: list[list[str]]) -> tuple[int, list[list[int]]]:
    """Rows of the table, and for each list of aggregates its values, 0 for none."""
    parts = [part for some in asked for part in some]
    rows, *found = connection.execute(f"select {', '.join(['count(*)', *parts])} from {quote(table)}").fetchone()
    values = iter(found)
    return rows, [[next(values) or 0 for _ in some] for some in asked]


def _kind(declared: str) -> str:
    """What cells of a column so declared mostly are, by SQLite's rules of affinity."""
    return {"BIGINT": "integer", "DOUBLE": "real", "BLOB": "blob"}.get(_declared(declared), "text")


def _alone(column: str, declared: str) -> list[str]:
    """SQL of how many values there are, how many of the declared kind, and of the texts how many are dates and moments."""
    return [f"count({column})", f"sum(typeof({column}) = '{_kind(declared)}')", *_dates(column, declared)]


def _counts_alone(declared: str, values: int, alike: int, *dates: int) -> list[int] | None:
    """What `_type` asks for, of a column whose values are all of the declared kind, or that has none; else None."""
    if values != alike:
        return None
    kinds = [values if kind == _kind(declared) else 0 for kind in _KINDS]
    return [*kinds, 0, *dates]


def _may_be_date(declared: str) -> bool:
    return any(word in declared for word in ("DATE", "TIME"))


def _counts(column: str, declared: str) -> list[str]:
    """SQL of what `_type` asks for: cells of each kind, half of the largest integer, texts that are dates and moments."""
    return [
        *(f"sum(typeof({column}) = '{kind}')" for kind in _KINDS),
        f"max(case when typeof({column}) = 'integer' then abs({column} / 2) end)",
        *_dates(column, declared),
    ]


def _dates(column: str, declared: str) -> list[str]:
    """SQL of how many texts are dates, and moments: only where the column says so, for that takes longest."""
    return [
        f"sum(case when typeof({column}) = 'text' and length({column}) = {size} then {made}({column}, '+0 days') is {column} end)"
        if _may_be_date(declared)
        else "0"
        for made, size in (("date", 10), ("datetime", 19))
    ]


def _type(column: str, counts: list[Any], declared: str) -> _Typed:
    integers, reals, texts, blobs, half, dates, moments = counts
    kinds = sum(bool(count) for count in (integers, reals, texts, blobs))
    if not kinds:
        return _Typed(_declared(declared), column)
    if kinds == 1 and integers:
        return _Typed("BIGINT", column)
    if not texts and not blobs and half < 2**52:
        return _Typed("DOUBLE", f"cast({column} as real)")
    if kinds == 1 and blobs:
        return _Typed("BLOB", column)
    if kinds == 1 and texts:
        if _may_be_date(declared) and texts in (dates, moments):
            return _Typed("DATE" if texts == dates else "TIMESTAMP", column)
        return _Typed("VARCHAR", column)
    found = zip(_KINDS, (integers, reals, texts, blobs), strict=True)
    said = ", ".join(f"{count:,} {kind}" for kind, count in found if count)
    return _Typed("VARCHAR", _TEXT.format(c=column), f"values of several types ({said}); all as text")


def _declared(declared: str) -> str:
    """The type of a column without values, by SQLite's own rules."""
    if "INT" in declared:
        return "BIGINT"
    if any(word in declared for word in ("REAL", "FLOA", "DOUB", "NUM", "DEC")):
        return "DOUBLE"
    return "BLOB" if "BLOB" in declared else "VARCHAR"
