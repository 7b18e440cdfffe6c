"""A MySQL or MariaDB database → its tables in one read-only transaction, streamed without a buffer.

Values come as the server's texts, so that days such as 0000-00-00 and big numbers are not the driver's to guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tasks.core.sql.address import Address
from tasks.core.stores.dialects import backticked, mysql_options
from tasks.intake.snapshotting.fields import Field, decimal_kind

_START = (
    "set session sql_mode = ''",
    "set session time_zone = '+00:00'",
    "set session transaction isolation level repeatable read",
    "start transaction with consistent snapshot, read only",
)
_TABLES = """
select table_name, table_type from information_schema.tables
where table_schema = database() and table_type in ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED') order by table_name"""
_COLUMNS = """
select column_name, data_type, column_type, numeric_precision, numeric_scale from information_schema.columns
where table_schema = database() and table_name = %s order by ordinal_position"""
_KEY = """
select column_name from information_schema.key_column_usage
where table_schema = database() and table_name = %s and constraint_name = 'PRIMARY' order by ordinal_position"""
_WHOLE = ("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year")
_PLAIN = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json", "uuid")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_SHAPES = (
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
)
_DENIED, _UNKNOWN = (1044, 1045, 1698, 1251), (1049,)
"""Codes of refused users, and of a database that is not there."""


class MySQL:
    """An open transaction, repeatable read and read only."""

    batch = 10_000

    def __init__(self, address: Address, seconds: float) -> None:
        import pymysql
        from pymysql.converters import encoders
        from pymysql.cursors import SSCursor

        self.errors: tuple[type[Exception], ...] = (pymysql.Error,)
        self._connection = pymysql.connect(**mysql_options(address, seconds), conv=dict(encoders), cursorclass=SSCursor)
        for statement in _START:
            self._run(statement)
        version, self.taken_at = self._run("select version(), concat(replace(utc_timestamp(3), ' ', 'T'), 'Z')")[0]
        self.server = f"{'MariaDB' if 'mariadb' in version.lower() else 'MySQL'} {version.partition('-')[0]}"

    def tables(self) -> list[tuple[str, str, str]]:
        """Name for people, name for SQL, and a note."""
        return [(name, backticked(name), "a view" if kind == "VIEW" else "") for name, kind in self._run(_TABLES)]

    def one(self) -> AbstractContextManager[Any]:
        """Around one table: here a failed statement ends not the transaction."""
        return nullcontext()

    def fields(self, table: str) -> list[Field]:
        """Its columns, each with the type that all its values fit."""
        return [self._field(table, row) for row in self._run(_COLUMNS, (_plain(table),))]

    def rows(self, table: str, fields: list[Field]) -> Iterator[list[tuple[Any, ...]]]:
        """All rows, in the order of the primary key where there is one."""
        key = ", ".join(backticked(row[0]) for row in self._run(_KEY, (_plain(table),)))
        order = f" order by {key}" if key else ""
        with self._connection.cursor() as cursor:
            cursor.execute(f"select {', '.join(field.sql for field in fields)} from {table}{order}")
            while batch := cursor.fetchmany(self.batch):
                yield list(batch)

    def _field(self, table: str, told: tuple[Any, ...]) -> Field:
        name, kind, full, precision, scale = told
        column, kind = backticked(name), kind.lower()
        if kind in _WHOLE:
            return Field(name, column, "uint64" if kind == "bigint" and "unsigned" in full.lower() else "int64")
        if kind == "bit":
            return Field(name, f"{column} + 0", "uint64")
        if kind == "decimal":
            made = decimal_kind(int(precision), int(scale))
            return Field(name, column, made, "numbers of more than 38 digits; text" if made == "string" else "")
        if kind in ("float", "double"):
            return Field(name, column, "double")
        if kind in ("date", "datetime", "timestamp"):
            outside = f"{column} < '0001-01-01' or month({column}) = 0 or day({column}) = 0"
            if int(self._run(f"select count(*) from {table} where {outside}")[0][0]):
                return Field(name, f"cast({column} as char)", "string", "days such as 0000-00-00 stand in it; text")
            return Field(name, column, {"date": "date", "datetime": "timestamp"}.get(kind, "instant"))
        if kind in _BYTES:
            return Field(name, column, "binary")
        if kind in _SHAPES:
            return Field(name, f"st_astext({column})", "string", f"{kind}; text")
        return Field(name, f"cast({column} as char)", "string", "" if kind in _PLAIN else f"{full}; text")

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return [tuple(row) for row in cursor.fetchall()]


def _plain(quoted: str) -> str:
    return quoted[1:-1].replace("``", "`")


def why(error: Exception) -> tuple[str, str]:
    """What a failed connection says, and the next step."""
    code = error.args[0] if error.args else 0
    said = " ".join(str(part) for part in error.args[1:]) or str(error)
    if code in _DENIED:
        return said, "check user and password of the URL"
    if code in _UNKNOWN:
        return said, "check the database's name in the URL"
    return said, "see whether the server runs and can be reached from here"
