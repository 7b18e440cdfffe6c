"""Requests of `snapshot` → tables of a live database as Parquet files. Runs as a worker process only.

The connection stays open between requests: all tables are read in one transaction, as they were at its beginning.
"""

from __future__ import annotations

import importlib
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from tasks.core.answering import answer_requests
from tasks.core.masking import masked
from tasks.core.sql.address import Address
from tasks.core.stores.dialects import DRIVERS
from tasks.intake.snapshotting import mysql, postgres
from tasks.intake.snapshotting.fields import Field, TooMuch, write


class Source(Protocol):
    """An open database."""

    errors: tuple[type[Exception], ...]
    server: str
    taken_at: str

    def tables(self) -> list[tuple[str, str, str]]: ...
    def one(self) -> Any: ...
    def fields(self, table: str) -> list[Field]: ...
    def rows(self, table: str, fields: list[Field]) -> Any: ...


class Reader:
    """Answers `open` once, then `read` for each table."""

    def __init__(self) -> None:
        self._source: Source | None = None
        self._password = ""

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request, one reply; what a driver says is shown without the password."""
        reply = self._open(request) if request["do"] == "open" else self._read(request)
        if "error" in reply:
            reply["error"] = masked(reply["error"], (self._password,))
        return reply

    def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        address = Address(**request["address"])
        self._password = address.password
        postgresql = address.kind == "postgresql"
        kind, why = (postgres.Postgres, postgres.why) if postgresql else (mysql.MySQL, mysql.why)
        try:
            driver = importlib.import_module("psycopg" if postgresql else "pymysql")
        except ImportError as error:
            return {"error": f"the driver {error.name} is not installed", "hint": DRIVERS}
        try:
            self._source = kind(address, float(request["seconds"]))
            tables = self._source.tables()
        except (driver.Error, OSError, RuntimeError, ValueError) as error:
            said, hint = why(error)
            return {"error": said[:500], "hint": hint}
        return {"tables": tables, "server": self._source.server, "taken_at": self._source.taken_at}

    def _read(self, request: dict[str, Any]) -> dict[str, Any]:
        import pyarrow as pa

        source = self._source
        if source is None:
            return {"error": "the connection was lost"}
        try:
            with source.one():
                fields = source.fields(request["table"])
                if not fields:
                    return {"error": "it has no column that may be read"}
                with closing(source.rows(request["table"], fields)) as batches:
                    rows = write(Path(request["path"]), fields, batches, tuple(request["most"]))
        except TooMuch as error:
            return {"error": str(error)}
        except (*source.errors, pa.ArrowException, ValueError, ArithmeticError, UnicodeError, OSError) as error:
            return {"error": " ".join(str(error).split())[:300]}
        return {"rows": rows, "said": [field.said() for field in fields]}


def main() -> None:
    """Answer until standard input ends."""
    answer_requests(Reader().handle)


if __name__ == "__main__":
    main()
