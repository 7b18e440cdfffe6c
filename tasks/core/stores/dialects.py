"""Address → a connection of PostgreSQL or MySQL, and the few words that the two say differently."""

from __future__ import annotations

from typing import Any, Protocol

from tasks.core.sql.address import Address
from tasks.core.sql.names import quote

DRIVERS = "install the drivers: pip install --no-deps -r requirements-databases.txt"
EXTRA = f"{DRIVERS}, or set stores.metadata to embedded"
_CONNECT_SECONDS = 15
_ELSE: tuple[type[Exception], ...] = (OSError, RuntimeError, ValueError)
"""What drivers let through: sockets, encryption, texts that are no UTF-8."""


class Dialect(Protocol):
    """What a metadata store needs of a server."""

    errors: tuple[type[Exception], ...]
    text: str
    json: str
    ending: str
    """Behind a table's columns."""
    lock: str
    """Held until the transaction or the connection ends."""

    def connect(self, address: Address, seconds: float) -> Any: ...
    def quote(self, name: str) -> str: ...


class Postgres:
    """One connection, one transaction."""

    text, json, ending = "TEXT", "JSONB", ""
    lock = "SELECT pg_advisory_xact_lock(hashtext(%s))"

    def __init__(self) -> None:
        import psycopg

        self.errors: tuple[type[Exception], ...] = (psycopg.Error, *_ELSE)

    def connect(self, address: Address, seconds: float) -> Any:
        """A connection whose statements stop in time."""
        import psycopg

        return psycopg.connect(
            **postgres_options(address, seconds),
            options=f"-c statement_timeout={int(seconds * 1000)}",
            client_encoding="UTF8",
        )

    def quote(self, name: str) -> str:
        """As SQL has it."""
        return quote(name)


class MySQL:
    """MariaDB too."""

    text, json, ending = "LONGTEXT", "JSON", " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    lock = "SELECT get_lock(%s, 10)"

    def __init__(self) -> None:
        import pymysql

        self.errors: tuple[type[Exception], ...] = (pymysql.Error, *_ELSE)

    def connect(self, address: Address, seconds: float) -> Any:
        """A connection that cuts no text short."""
        import pymysql

        return pymysql.connect(**mysql_options(address, seconds), sql_mode="STRICT_ALL_TABLES")

    def quote(self, name: str) -> str:
        """With backticks."""
        return backticked(name)


def postgres_options(address: Address, seconds: float) -> dict[str, Any]:
    """The arguments of psycopg's `connect` for an address, whatever the connection is for."""
    return {
        "host": address.socket or address.host,
        "port": address.port,
        "user": address.user or None,
        "password": address.password,  # also when empty, and no file: nobody's else is sent
        "passfile": "/dev/null",
        "dbname": address.database,
        "sslmode": address.sslmode,
        "sslrootcert": address.sslrootcert or None,
        "connect_timeout": _connect_seconds(seconds),
        "application_name": "tablewright",
    }


def mysql_options(address: Address, seconds: float) -> dict[str, Any]:
    """The arguments of pymysql's `connect` for an address, whatever the connection is for."""
    return {
        "host": address.host,
        "port": address.port,
        "unix_socket": address.socket or None,
        "user": address.user or None,
        "password": address.password,
        "database": address.database,
        "charset": "utf8mb4",
        "connect_timeout": _connect_seconds(seconds),
        "read_timeout": int(seconds) + 1,
        "write_timeout": int(seconds) + 1,
        "local_infile": False,
        **_encryption(address),
    }


def backticked(name: str) -> str:
    """A name as MySQL quotes it."""
    return "`" + name.replace("`", "``") + "`"


def _connect_seconds(seconds: float) -> int:
    """Whole ones; never 0, which means for ever to one driver and is refused by the other."""
    return int(min(seconds, _CONNECT_SECONDS)) or 1


def _encryption(address: Address) -> dict[str, Any]:
    """The driver's arguments for what PostgreSQL calls sslmode."""
    if address.sslmode in ("disable", "prefer"):
        return {"ssl_disabled": True} if address.sslmode == "disable" else {}
    if address.sslmode == "require":
        return {"ssl": {"check_hostname": False, "verify_mode": "none"}}
    full = address.sslmode == "verify-full"
    return {"ssl_ca": address.sslrootcert or None, "ssl_verify_cert": True, "ssl_verify_identity": full}
