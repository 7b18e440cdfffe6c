"""Parquet, Arrow, Feather or ORC file → one table; types kept, nested values as JSON text, instants in UTC."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.models.catalogue import Column
from tasks.core.sql.build import Builder
from tasks.core.sql.names import unique_names
from tasks.intake.loading.columns import cut
from tasks.intake.loading.part import Part

_BATCH_CELLS = 500_000


@dataclass
class _Kept:
    """How a column is kept: its DuckDB type, the Arrow type to cast to, and what is counted on the way."""

    type: str
    arrow: Any = None
    notes: list[str] = field(default_factory=list)
    nans: int = 0


def load(path: Path, stored: str, builder: Builder) -> Part:
    """Load one file as the table `stored`. Raises InputError when it is damaged or has no column."""
    import pyarrow as pa

    if path.stat().st_size == 0:
        raise InputError("the file is empty")
    try:
        schema, rows, batches = _open(path)
        if not len(schema):
            raise InputError("the file holds no column")
        names = unique_names(name if name.strip() else f"column{at}" for at, name in enumerate(schema.names, 1))
        kept = [_keep(item.type) for item in schema]
        _read_bytes(path, schema, kept)
        builder.create(stored, [(name, each.type) for name, each in zip(names, kept, strict=True)])
        written = 0
        for batch in batches:
            arrays = [_converted(batch.column(at), each) for at, each in enumerate(kept)]
            builder.insert(stored, pa.table(arrays, names=[f"c{at}" for at in range(len(arrays))]))
            written += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        first = (str(error).strip().splitlines() or [""])[0]
        raise InputError(f"damaged, or no Parquet file: {cut(first, 200)}") from error
    if rows is not None and written != rows:
        raise InputError(f"it gave {written:,} rows in place of {rows:,}")
    renamed = [f"{old!r} → {new!r}" for old, new in zip(schema.names, names, strict=True) if old != new]
    notes = (f"columns without a name or of the same name: {cut(', '.join(renamed), 200)}",) if renamed else ()
    columns = tuple(
        Column(name=name, type=each.type, notes=_said(each)) for name, each in zip(names, kept, strict=True)
    )
    return Part(stored=stored, name=path.stem, columns=columns, rows=written, notes=notes)


def _open(path: Path) -> tuple[Any, int | None, Iterator[Any]]:
    """Schema, rows where the file tells, and its batches."""
    import pyarrow as pa

    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"PAR1"):
        import pyarrow.parquet as pq

        parquet = pq.ParquetFile(path)
        schema = parquet.schema_arrow
        size = max(1, _BATCH_CELLS // max(1, len(schema)))
        return schema, parquet.metadata.num_rows, parquet.iter_batches(batch_size=size)
    if head.startswith(b"ORC"):
        import pyarrow.orc as orc

        stripes = orc.ORCFile(str(path))
        found = (stripes.read_stripe(at) for at in range(stripes.nstripes))
        return stripes.schema, stripes.nrows, found
    if head.startswith(b"ARROW1"):
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        return reader.schema, None, (reader.get_batch(at) for at in range(reader.num_record_batches))
    import pyarrow.feather as feather

    table = feather.read_table(path)
    return table.schema, table.num_rows, iter(table.to_batches())


def _keep(kind: Any) -> _Kept:
    """How values of an Arrow type are kept."""
    import pyarrow as pa

    test = pa.types
    if test.is_dictionary(kind):
        inner = _keep(kind.value_type)
        return _Kept(inner.type, inner.arrow or kind.value_type, inner.notes)
    if test.is_boolean(kind):
        return _Kept("BOOLEAN")
    if test.is_integer(kind):
        return _Kept("HUGEINT", pa.decimal128(20, 0)) if kind == pa.uint64() else _Kept("BIGINT", pa.int64())
    if test.is_floating(kind):
        return _Kept("DOUBLE", pa.float64())
    if test.is_decimal(kind):
        return _decimal(kind)
    if test.is_date(kind):
        return _Kept("DATE", pa.date32())
    if test.is_time(kind):
        return _Kept("TIME", pa.time64("us"))
    if test.is_timestamp(kind):
        return _moment(kind)
    if test.is_string(kind) or test.is_large_string(kind) or test.is_null(kind) or str(kind) == "string_view":
        return _Kept("VARCHAR", pa.string())
    if test.is_binary(kind) or test.is_large_binary(kind) or test.is_fixed_size_binary(kind):
        return _Kept("BLOB", pa.binary())
    if test.is_nested(kind):
        return _Kept("VARCHAR", None, [f"{kind}, as JSON text"[:200]])
    return _Kept("VARCHAR", None, [f"{kind}; text"])


def _decimal(kind: Any) -> _Kept:
    if kind.precision > 38 or kind.scale < 0:
        return _Kept("VARCHAR", None, [f"{kind}: more digits than fit a number; text"])
    return _Kept(f"DECIMAL({kind.precision},{kind.scale})")


def _moment(kind: Any) -> _Kept:
    import pyarrow as pa

    notes = [f"instants, kept in UTC; the file names the zone {kind.tz!r}"] if kind.tz else []
    return _Kept(
        "TIMESTAMP_NS" if kind.unit == "ns" else "TIMESTAMP", pa.timestamp("ns" if kind.unit == "ns" else "us"), notes
    )


def _read_bytes(path: Path, schema: Any, kept: list[_Kept]) -> None:
    """Texts that a writer left without a type come as bytes: text where every value is UTF-8, and times to the
    microsecond where none needs more."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, (item, each) in enumerate(zip(schema, kept, strict=True)):
        if each.type not in ("BLOB", "TIMESTAMP_NS", "TIME"):
            continue
        columns = (batch.column(at) for batch in _open(path)[2])
        try:
            for column in columns:
                if each.type == "BLOB":
                    if pc.any(pc.greater(pc.binary_length(column), 0)).as_py() and b"\0" in b"".join(
                        value for value in column.to_pylist() if value
                    ):
                        raise pa.ArrowInvalid("NUL")
                    column.cast(pa.binary()).cast(pa.string())
                elif each.type == "TIME":
                    column.cast(pa.time64("us"))
                else:
                    column.cast(pa.timestamp("us", item.type.tz))
        except pa.ArrowInvalid:
            if each.type == "TIME":
                each.type, each.arrow = "VARCHAR", pa.string()
                each.notes.append("times to the nanosecond; text")
            continue
        if each.type == "TIME":
            continue
        if each.type == "BLOB":
            each.type, each.arrow = "VARCHAR", pa.string()
            each.notes.append("bytes that are all UTF-8; read as text")
        else:
            each.type, each.arrow = "TIMESTAMP", pa.timestamp("us")


def _converted(column: Any, kept: _Kept) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if kept.type == "VARCHAR" and kept.arrow is None:
        return pa.array([None if value is None else _text(value) for value in column.to_pylist()], pa.string())
    if pa.types.is_floating(kind):
        column = column.cast(pa.float64())
        bad = pc.is_nan(column)
        count = pc.sum(bad).as_py() or 0
        if count:
            kept.nans += count
            column = pc.if_else(bad, pa.scalar(None, pa.float64()), column)
        return column
    if kept.type == "VARCHAR" and kind == pa.binary():
        return column.cast(pa.string())
    if kept.type.startswith("TIMESTAMP") and kind.tz:
        column = column.cast(pa.timestamp(kind.unit, "UTC"))
        return column.cast(pa.timestamp(kind.unit)).cast(kept.arrow)
    return column.cast(kept.arrow) if kept.arrow is not None and kind != kept.arrow else column


def _text(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return json.dumps(_plain(value), ensure_ascii=False, default=str)
    return format(value, "f") if type(value).__name__ == "Decimal" else str(value)


def _plain(value: Any) -> Any:
    """Without NaN, which JSON does not know; bytes as hexadecimal digits."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.hex() if isinstance(value, bytes) else value


def _said(kept: _Kept) -> tuple[str, ...]:
    return (*kept.notes, f"{kept.nans:,} NaN read as NULL") if kept.nans else tuple(kept.notes)
