"""Columns of a live database → how each is selected, converted and kept; what fits no type of its own stays text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

Value = Any
_PRECISION = 38
"""Digits of the widest number that a catalogue keeps as one."""


@dataclass
class Field:
    """A column: its name, the SQL that reads it, its Arrow type by name, and what makes that of the driver's value."""

    name: str
    sql: str
    kind: str = "string"
    """`string`, `binary`, `bool`, `int64`, `uint64`, `double`, `date`, `timestamp`, `instant` or `decimal(p,s)`."""
    note: str = ""
    dropped: int = 0
    """Values that no number is: NaN and infinity."""

    def said(self) -> str:
        """What a reader should know; mostly empty."""
        return f"{self.dropped:,} NaN or Infinity read as NULL" if self.dropped else self.note

    def array(self, values: Sequence[Value]) -> Any:
        """An Arrow array of driver values, texts or the driver's own."""
        import pyarrow as pa

        convert = _CONVERT.get(self.kind.partition("(")[0])
        made = [None if value is None else convert(value) for value in values] if convert else list(values)
        if self.kind.startswith("decimal") or self.kind == "double":
            finite = [None if value is None or not _is_finite(value) else value for value in made]
            self.dropped += sum(one is not None and other is None for one, other in zip(made, finite, strict=True))
            made = finite
        return pa.array(made, self.arrow())

    def arrow(self) -> Any:
        """Its Arrow type."""
        import pyarrow as pa

        if self.kind.startswith("decimal"):
            precision, scale = self.kind[8:-1].split(",")
            return pa.decimal128(int(precision), int(scale))
        named = {"double": pa.float64(), "date": pa.date32(), "bool": pa.bool_(), "binary": pa.binary()}
        moments = {"timestamp": pa.timestamp("us"), "instant": pa.timestamp("us", "UTC")}
        whole = {"int64": pa.int64(), "uint64": pa.uint64(), "string": pa.string()}
        return {**named, **moments, **whole}[self.kind]


def decimal_kind(precision: int, scale: int) -> str:
    """The kind of a decimal; `string` when it has too many digits."""
    return f"decimal({max(precision, 1)},{scale})" if 0 <= scale <= precision <= _PRECISION else "string"


def _is_finite(value: Any) -> bool:
    return value.is_finite() if isinstance(value, Decimal) else value == value and abs(value) != float("inf")


def _moment(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(str(value))


def _day(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(str(value))


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "int64": int,
    "uint64": int,
    "double": float,
    "decimal": lambda value: value if isinstance(value, Decimal) else Decimal(_text(value)),
    "date": _day,
    "timestamp": _moment,
    "instant": _moment,
    "binary": _bytes,
    "string": _text,
}


class TooMuch(Exception):
    """A table holds more than may be taken; the message says what."""


def write(path: Path, fields: Sequence[Field], batches: Any, most: tuple[int, int]) -> int:
    """Write batches of rows as one Parquet file; its rows. Raises TooMuch above so many rows or bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    schema = pa.schema([pa.field(field.name, field.arrow()) for field in fields])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            rows += len(batch)
            if rows > most[0]:
                raise TooMuch(
                    f"more than {most[0]:,} rows: raise databases.max_rows, or make a view of those that are needed"
                )
            columns = list(zip(*batch, strict=True))
            arrays = [field.array(column) for field, column in zip(fields, columns, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            if path.stat().st_size > most[1]:
                raise TooMuch(f"more than {most[1] >> 20} MB: raise databases.max_mb, or make a view of what is needed")
    return rows
