"""PostgreSQL or MySQL + a description's JSON → its four tables on that server, the contents side by side by their digest.

`PREFIX_contents` names the contents that are whole. Rows keep their order by `place`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.sql.address import parse
from tasks.core.sql.described import LISTS, NUMBERS, TABLES
from tasks.core.stores import dialects
from tasks.core.stores.dialects import Dialect
from tasks.core.stores.place import Place
from tasks.core.stores.protocols import Rows

_WHAT = "the metadata store"
_AWAY = "see whether the server runs and takes this user, who may create tables, or set stores.metadata to embedded"
_AT_ONCE = 1000


class Database:
    """The description of one content."""

    def __init__(self, place: Place, opened: tuple[Dialect, Any], content: tuple[Path, str]) -> None:
        self._place = place
        self._dialect, self._connection = opened
        self._path, self._digest = content

    def fill(self) -> bool:
        """All of it in one transaction, while others who write wait."""
        with self._told(), self._connection.cursor() as cursor:
            cursor.execute(self._dialect.lock, (self._place.prefix,))
            for statement in self._schema():
                cursor.execute(statement)
            contents = self._table("contents")
            cursor.execute(f"SELECT 1 FROM {contents} WHERE digest = %s", (self._digest,))
            lacking = not cursor.fetchall()
            if lacking:
                self._write(cursor)
                cursor.execute(f"INSERT INTO {contents} (digest) VALUES (%s)", (self._digest,))
            self._connection.commit()
        return lacking

    def rows(self) -> Rows:
        """All four tables, as they are on the server."""
        found = {}
        with self._told(), self._connection.cursor() as cursor:
            for table, names in TABLES.items():
                listed = ", ".join(map(self._dialect.quote, names))
                wanted = f"SELECT {listed} FROM {self._table(table)} WHERE digest = %s ORDER BY place"
                cursor.execute(wanted, (self._digest,))
                found[table] = [_plain(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
        return found

    def _write(self, cursor: Any) -> None:
        described = json.loads(self._path.read_text("utf-8"))
        for table, names in TABLES.items():
            listed = ", ".join(self._dialect.quote(name) for name in ("digest", "place", *names))
            into = f"INSERT INTO {self._table(table)} ({listed}) VALUES ({', '.join(['%s'] * (len(names) + 2))})"
            rows = [
                (self._digest, place, *(_packed(name, row[name]) for name in names))
                for place, row in enumerate(described[table])
            ]
            for start in range(0, len(rows), _AT_ONCE):
                cursor.executemany(into, rows[start : start + _AT_ONCE])

    def _schema(self) -> Iterator[str]:
        quote, dialect = self._dialect.quote, self._dialect
        for table, names in {**TABLES, "contents": ()}.items():
            columns = [f"{quote(name)} {self._type(name)}" for name in names]
            place, key = (["place INTEGER NOT NULL"], "digest, place") if names else ([], "digest")
            inner = ", ".join(["digest CHAR(64) NOT NULL", *place, *columns, f"PRIMARY KEY ({key})"])
            yield f"CREATE TABLE IF NOT EXISTS {self._table(table)} ({inner}){dialect.ending}"

    def _type(self, name: str) -> str:
        if name in LISTS:
            return self._dialect.json
        return {"BIGINT": "BIGINT", "DOUBLE": "DOUBLE PRECISION"}.get(NUMBERS.get(name, ""), self._dialect.text)

    def _table(self, name: str) -> str:
        return self._dialect.quote(f"{self._place.prefix}_{name}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self._dialect.errors as error:
            raise self._place.failed(_WHAT, error, _AWAY) from None


@contextmanager
def connect(place: Place, content: tuple[Path, str]) -> Iterator[Database]:
    """`content` is the JSON of a description and its digest."""
    try:
        address = parse(place.url)
    except InputError as error:
        raise InputError(f"the URL of {_WHAT}: {error.message}", error.hint) from None
    kind = dialects.Postgres if address.kind == "postgresql" else dialects.MySQL
    try:
        dialect: Dialect = kind()
    except ImportError as error:
        raise place.failed(_WHAT, f"the driver {error.name} is not installed", dialects.EXTRA) from None
    try:
        connection = dialect.connect(address, place.seconds)
    except dialect.errors as error:
        raise place.failed(_WHAT, error, _AWAY) from None
    with closing(connection):
        yield Database(place, (dialect, connection), content)


def _packed(name: str, value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if name in LISTS else value


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name in LISTS and isinstance(value, str | bytes) else value
        for name, value in row.items()
    }
