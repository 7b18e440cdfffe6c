"""DuckDB's Python values → cells, a digest of rows, and lines of CSV."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tasks.core.models.value import Cell

_WHOLE = frozenset(
    ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"]
)
_EXACT = 1 << 53
"""Up to here a float holds every integer."""
_FINE = 1e9
"""From here on 10 significant digits say no more than the whole number."""


def to_cell(value: Any) -> Cell:
    """A value as JSON can carry it without loss; see `QueryResult`."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _not_finite(value)
    if isinstance(value, Decimal):
        return _from_decimal(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, list | tuple | dict):
        return json.dumps(_plain(value), ensure_ascii=False, separators=(", ", ": "))
    return str(value)


def to_cells(rows: Sequence[tuple[Any, ...]], types: Sequence[str]) -> list[tuple[Cell, ...]]:
    """Rows as cells; `types` are DuckDB's names of the columns."""
    columns = [_cells(column, kind) for column, kind in zip(_columns(rows), types, strict=False)]
    return list(zip(*columns, strict=True))


class Digest:
    """Digest of a multiset of rows, fed in pieces: the sum of the rows' hashes, so that order does not count."""

    def __init__(self, types: Sequence[str]) -> None:
        self.types = types
        self.rows = 0
        self._sum = 0

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Take in rows of values as DuckDB gives them."""
        columns = [_tokens(column, kind) for column, kind in zip(_columns(rows), self.types, strict=False)]
        blake, number, total = hashlib.blake2b, int.from_bytes, 0
        for line in map("\x1f".join, zip(*columns, strict=True)):
            total += number(blake(line.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")
        self._sum = (self._sum + total) % (1 << 128)
        self.rows += len(rows)

    def hex(self) -> str:
        """The digest of all rows so far."""
        return hashlib.blake2b(f"{len(self.types)} {self.rows} {self._sum}".encode(), digest_size=16).hexdigest()


def csv_lines(rows: Iterable[tuple[Cell, ...]]) -> str:
    """Rows as CSV text. NULL is an empty field and the empty text `""`; a lone NULL is `""` too, as readers
    skip blank lines.
    """
    return "".join((",".join(map(_field, row)) or '""') + "\n" for row in rows)


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True))


def _cells(values: Sequence[Any], kind: str) -> Sequence[Cell]:
    if kind == "VARCHAR" or kind in _WHOLE:
        return values
    return [to_cell(value) for value in (_singles(values) if kind == "FLOAT" else values)]


def _tokens(values: Sequence[Any], kind: str) -> list[str]:
    """Canonical forms: `n` NULL, `b` boolean, `#` number, `t` anything else as its cell's text, with its length."""
    if kind == "VARCHAR":
        return ["n" if value is None else f"t{len(value)}:{value}" for value in values]
    if kind in _WHOLE:
        return ["n" if value is None else f"#{value}" for value in values]
    if kind == "DOUBLE":
        return [_double(value) for value in values]
    return [_token(value) for value in (_singles(values) if kind == "FLOAT" else values)]


def _singles(values: Iterable[Any]) -> list[Any]:
    """Single-precision numbers as written: 0.1, not 0.10000000149011612."""
    return [_single(value) if isinstance(value, float) and math.isfinite(value) else value for value in values]


def _single(value: float) -> float:
    for digits in (6, 7, 8):
        short = float(f"{value:.{digits}g}")
        if abs(short) < 3.4e38 and struct.unpack("f", struct.pack("f", short))[0] == value:
            return short
    return value


def _token(value: Any) -> str:
    if value is None:
        return "n"
    if isinstance(value, str):
        return f"t{len(value)}:{value}"
    if isinstance(value, bool):
        return "b1" if value else "b0"
    if isinstance(value, int):
        return f"#{value}"
    if isinstance(value, float | Decimal):
        return "#" + _number(value)
    text = str(to_cell(value))
    return f"t{len(text)}:{text}"


def _double(value: float | None) -> str:
    """What `_token` says of a float, sooner."""
    if value is None:
        return "n"
    if value.is_integer() and -_EXACT < value < _EXACT:
        return f"#{int(value)}"
    return f"#{value:.10g}" if -_FINE < value < _FINE else f"#{_number(value)}"


def _number(value: float | Decimal) -> str:
    """To 10 significant digits, but never coarser than whole; equal numbers of any type are equal texts."""
    if not math.isfinite(value):
        return _not_finite(float(value))
    whole, size = value == int(value), abs(float(value))
    if (isinstance(value, Decimal) and (whole or size >= _FINE)) or _FINE <= size < _EXACT or (whole and size < _EXACT):
        return str(round(value))
    text = f"{float(value):.10g}"
    return f"{Decimal(text):f}" if whole else text


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _from_decimal(value: Decimal) -> Cell:
    if not value.is_finite():
        return _not_finite(float(value))
    if value == value.to_integral_value() and abs(value) >= _EXACT:
        return int(value) if value.as_tuple().exponent == 0 else f"{value:f}"
    near = float(value)
    return near if Decimal(repr(near)) == value else f"{value:f}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(to_cell(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, timedelta) else to_cell(value)


def _field(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if not isinstance(cell, str):
        return str(cell)
    if not cell or any(mark in cell for mark in ',"\n\r'):
        return '"' + cell.replace('"', '""') + '"'
    return cell
