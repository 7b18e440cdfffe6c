"""A PostgreSQL database → its tables in one read-only transaction, streamed by a cursor on the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from tasks.core.sql.address import Address
from tasks.core.sql.names import quote
from tasks.core.stores.dialects import postgres_options
from tasks.intake.snapshotting.fields import Field, decimal_kind

_SETTINGS = (
    "search_path = pg_catalog", "TimeZone = 'UTC'", "DateStyle = 'ISO'", "synchronize_seqscans = off", "extra_float_digits = 1",
    "max_parallel_workers_per_gather = 0", "client_encoding = 'UTF8'",
)  # fmt: skip
"""Values print alike, and rows come in the same order while nothing changes."""
_KINDS = {
    "bool": "bool", "int2": "int64", "int4": "int64", "int8": "int64", "oid": "int64", "float4": "double", "float8": "double",
    "bytea": "binary", "date": "date", "timestamp": "timestamp", "timestamptz": "instant",
}  # fmt: skip
_PLAIN = ("text", "varchar", "bpchar", "char", "name", "uuid", "json", "jsonb", "xml", "citext")
_TABLES = """
select n.nspname, c.relname, c.relkind from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition and n.nspname <> 'information_schema'
  and n.nspname !~ '^pg_' and has_schema_privilege(n.oid, 'USAGE')
order by n.nspname = 'public' desc, n.nspname, c.relname"""
_COLUMNS = """
select a.attname, coalesce(b.typname, t.typname), case when b.oid is null then a.atttypmod else t.typtypmod end,
  format_type(a.atttypid, a.atttypmod), t.typtype
from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type b on b.oid = nullif(t.typbasetype, 0)
where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum"""
_KEY = """
select a.attname from pg_index i cross join unnest(i.indkey) with ordinality as k(number, place)
join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
where i.indrelid = %s::regclass and i.indisprimary order by k.place"""


class Postgres:
    """An open transaction, repeatable read and read only."""

    batch = 10_000

    def __init__(self, address: Address, seconds: float) -> None:
        import psycopg

        self.errors: tuple[type[Exception], ...] = (psycopg.Error,)
        self._connection = psycopg.connect(**postgres_options(address, seconds))
        self._connection.read_only = True
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        for setting in _SETTINGS:
            self._run(f"set local {setting}")
        self._run(f"set local statement_timeout = {int(seconds * 1000)}")
        self.server = f"PostgreSQL {self._run('show server_version')[0][0]}"
        self.taken_at = str(
            self._run('select to_char(transaction_timestamp(), \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\')')[0][0]
        )

    def tables(self) -> list[tuple[str, str, str]]:
        """Name for people, name for SQL, and a note."""
        found = []
        for schema, name, kind in self._run(_TABLES):
            shown = name if schema == "public" else f"{schema}.{name}"
            found.append((shown, f"{quote(schema)}.{quote(name)}", "a view" if kind in "vm" else ""))
        return found

    def one(self) -> AbstractContextManager[Any]:
        """Around one table: its failure ends not the transaction."""
        transaction: AbstractContextManager[Any] = self._connection.transaction()
        return transaction

    def fields(self, table: str) -> list[Field]:
        """Its columns, each with the type that all its values fit."""
        return [self._field(table, row) for row in self._run(_COLUMNS, (table,))]

    def rows(self, table: str, fields: list[Field]) -> Iterator[list[tuple[Any, ...]]]:
        """All rows, in the order of the primary key where there is one."""
        key = ", ".join(quote(row[0]) for row in self._run(_KEY, (table,)))
        order = f" order by {key}" if key else ""
        with self._connection.cursor(name="snapshot") as cursor:
            cursor.itersize = self.batch
            cursor.execute(f"select {', '.join(field.sql for field in fields)} from {table}{order}")
            while batch := cursor.fetchmany(self.batch):
                yield batch

    def _field(self, table: str, told: tuple[Any, ...]) -> Field:
        name, kind, modifier, full, group = told
        column = quote(name)
        text = Field(name, f"{column}::text")
        if kind == "numeric":
            return self._number(table, name, modifier)
        if kind in ("date", "timestamp", "timestamptz"):
            outside = f"not isfinite({column}) or {column} < '0001-01-01' or {column} >= '9999-12-31'"
            if self._run(f"select count(*) from {table} where {outside}")[0][0]:
                text.note = "infinite days, or days before the year 1 or after 9999, stand in it; text"
                return text
        if kind in _KINDS:
            return Field(name, column, _KINDS[kind])
        if kind not in _PLAIN and group != "e":
            text.note = f"{full}; text"
        return text

    def _number(self, table: str, name: str, modifier: int) -> Field:
        """A numeric of its declared digits, or where none are declared of those that its values have."""
        column = quote(name)
        precision, scale = ((modifier - 4) >> 16) & 0xFFFF, (modifier - 4) & 0x7FF
        if modifier < 4 or precision > 38 or scale > precision:
            finite = f"{column}::text !~ '[a-z]'"
            sql = f"select max(scale({column})), max(length(trunc(abs({column}))::text)) from {table} where {finite}"
            scale, whole = (int(value or 0) for value in self._run(sql)[0])
            precision = whole + scale
        kind = decimal_kind(precision, scale)
        if kind == "string":
            return Field(name, f"{column}::text", kind, "numbers of more than 38 digits; text")
        return Field(name, column, "int64" if scale == 0 and precision <= 18 else kind)

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []


def why(error: Exception) -> tuple[str, str]:
    """What a failed connection says, and the next step."""
    said = " ".join(str(error).split())
    lowered = said.lower()
    if "password" in lowered or "authentication" in lowered or "pg_hba" in lowered or "role" in lowered:
        return said, "check user and password of the URL"
    if "does not exist" in lowered:
        return said, "check the database's name in the URL"
    if "ssl" in lowered or "certificate" in lowered:
        return said, "check sslmode and sslrootcert of the URL"
    return said, "see whether the server runs and can be reached from here"
