"""URL of a database → its parts; no message shows the URL, because it may hold a password."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from tasks.core.errors import InputError

Kind = Literal["postgresql", "mysql"]
_SCHEMES: dict[str, Kind] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
}
_PORTS: dict[Kind, int] = {"postgresql": 5432, "mysql": 3306}
_OPTIONS = ("socket", "sslmode", "sslrootcert")
_TLS = ("disable", "prefer", "require", "verify-ca", "verify-full")
_FORM = "postgresql://user@host:port/database or mysql://user@host:port/database"


@dataclass(frozen=True)
class Address:
    """Where a database is, and as whom it is read."""

    kind: Kind
    host: str
    port: int
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    socket: str = ""
    """Folder of PostgreSQL's socket, or MySQL's socket; in place of host and port."""
    sslmode: str = "prefer"
    """As PostgreSQL names them."""
    sslrootcert: str = ""

    @property
    def shown(self) -> str:
        """Without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.kind] else f":{self.port}"
        return f"{self.kind}://{self.socket or host + port}/{self.database}"


def parse(url: str) -> Address:
    """The parts of a URL. Raises InputError, without the URL, when it is none of a database."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise InputError("it is no URL", f"write {_FORM}; a password with special characters %-encoded") from None
    kind = _SCHEMES.get(parts.scheme.partition("+")[0])
    if not kind:
        raise InputError("it is no URL of PostgreSQL, MySQL or MariaDB", f"write {_FORM}")
    if "@" in parts.path:  # a / may stand in a password, and the URL would go to a host that is half of it
        raise InputError("an @ stands behind its host", "in a password, %-encode / and @; in a name, write %40")
    options = _options(parts)
    database = unquote(parts.path.removeprefix("/"))
    if not database or "/" in database:
        raise InputError("it names no database", f"write {_FORM}")
    return Address(
        kind=kind,
        host=unquote(parts.hostname or "") or "localhost",
        port=port or _PORTS[kind],
        database=database,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        **options,
    )


def _options(parts: SplitResult) -> dict[str, str]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.fragment or not set(options) <= set(_OPTIONS):  # not shown: a ? or # may stand in a password
        hint = f"known are {', '.join(_OPTIONS)}; in a password, %-encode ? and #"
        raise InputError("what stands behind ? or # in it is not known", hint)
    if options.get("sslmode", "prefer") not in _TLS:
        raise InputError("its sslmode is not known", f"use one of {', '.join(_TLS)}")
    return options


def written(url: str) -> str:
    """What is wrong with a URL that stands in a file; empty when nothing is."""
    try:
        address = parse(url)
    except InputError as error:
        return f"url: {error.message}: {error.hint}"
    if address.password:
        return "url: a password may not stand in the file: put the whole URL into an environment variable and name that in url_env"
    return ""
