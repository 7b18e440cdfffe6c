"""What a program left in `result` → the JSON value that leaves the cage. Standard library only; runs in the child.

Whatever has no JSON form is an error that names the place, never a guess: the program can be repaired, a lost value not.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import math
from collections.abc import Iterable, Mapping
from typing import Any

_AS_TEXT = ("Period", "Interval", "Fraction", "UUID", "PosixPath", "PurePosixPath")
"""Types whose text says all; known by name, as importing them here would slow every start."""


def to_json(value: Any, place: str = "result") -> Any:
    """Convert a program's value; a table becomes `{"columns": […], "data": [[…], …]}`.

    NaN, NaT and NA are null, dates are ISO text, decimals numbers where no digit is lost (else text). Raises TypeError or
    ValueError for what cannot be converted without loss: infinity, repeated columns, unknown types.
    """
    if _is_table(value):
        return _table(value, place)
    if value is None or type(value) in (str, bool, int):
        return value
    if _is_missing(value):
        return None
    if isinstance(value, Mapping):
        return _mapping(value, place)
    if _is_array(value):
        return to_json(_microseconds(value).tolist(), place)
    if isinstance(value, set | frozenset):
        return [to_json(part, f"{place}[…]") for part in _in_order(value)]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | enum.Enum):
        return [to_json(part, f"{place}[{i}]") for i, part in enumerate(value)]
    return _scalar(value, place)


def _scalar(value: Any, place: str) -> Any:
    if isinstance(value, enum.Enum):
        return to_json(value.value, place)
    if _is_numpy(value):
        # long doubles are their own item
        return to_json(float(value) if value.dtype.kind == "f" else _microseconds(value).item(), place)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError(f"{place} is infinite; replace it by a number or None")
        return float(value)
    if isinstance(value, decimal.Decimal):
        return _decimal(value, place)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta) or type(value).__name__ in _AS_TEXT:
        return str(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8")
    raise TypeError(f"{place} is a {type(value).__name__}; convert it to text, a number, a list or a table")


def _microseconds(value: Any) -> Any:
    """An array or scalar of numpy; times finer than Python's own would else become bare integers."""
    kind = {"M": "datetime64[us]", "m": "timedelta64[us]"}.get(value.dtype.kind)
    return value.astype(kind) if kind and str(value.dtype).endswith(("[ns]", "[ps]")) and _is_numpy(value) else value


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy"


def _in_order(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def _decimal(value: decimal.Decimal, place: str) -> int | float | str:
    if value.is_infinite():
        raise ValueError(f"{place} is infinite; replace it by a number or None")
    if value == value.to_integral_value():
        return int(value)
    near = float(value)
    return near if decimal.Decimal(repr(near)) == value else str(value)


def _mapping(value: Mapping[Any, Any], place: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, part in value.items():
        name = key if isinstance(key, str) else str(to_json(key, f"a key of {place}"))
        if name in found:
            raise ValueError(f"{place} has two keys {name!r}")
        found[name] = to_json(part, f"{place}[{name!r}]")
    return found


def _is_missing(value: Any) -> bool:
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    if isinstance(value, float):
        return math.isnan(value)
    return _is_numpy(value) and getattr(value, "shape", None) == () and bool(value != value)


def _is_array(value: Any) -> bool:
    is_scalar = _is_numpy(value) and type(value).__name__ != "ndarray"
    return hasattr(value, "dtype") and hasattr(value, "tolist") and not is_scalar


def _is_table(value: Any) -> bool:
    kind = type(value)
    root = kind.__module__.split(".")[0]
    return kind.__name__ in {
        "pandas": ("DataFrame", "Series"),
        "pyarrow": ("Table", "RecordBatch"),
        "duckdb": ("DuckDBPyRelation",),
        "_duckdb": ("DuckDBPyRelation",),
    }.get(root, ())


def _table(value: Any, place: str) -> dict[str, Any]:
    if hasattr(value, "to_pandas"):
        value = value.to_pandas()
    elif not type(value).__module__.startswith("pandas"):
        value = value.df()
    frame = _with_index(value)
    names = [_name(column) for column in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{place} has two columns {twice[0]!r}; rename one")
    columns = [_column(frame.iloc[:, i], f"{place}[{name!r}]") for i, name in enumerate(names)]
    return {"columns": names, "data": [list(row) for row in zip(*columns, strict=True)]}


def _with_index(value: Any) -> Any:
    """The frame with its index as columns where the index says something: it has a name, levels, or is not a count."""
    if value.ndim == 1:
        value = value.to_frame("value" if value.name is None else value.name)
    index = value.index
    named = [name for name in index.names if name is not None]
    if named and set(named) <= set(value.columns):
        return value
    if named or index.nlevels > 1 or index.dtype.kind not in "iu":
        return value.reset_index()
    return value


def _name(column: Any) -> str:
    parts = column if isinstance(column, tuple) else (column,)
    return "_".join(str(to_json(part)) for part in parts if part != "")


def _column(series: Any, place: str) -> list[Any]:
    if series.dtype.kind == "M" and series.dt.tz is None and (series.dropna() == series.dropna().dt.normalize()).all():
        # days only: written without the time of midnight, as pandas' own to_csv does
        return [None if _is_missing(day) else day.date().isoformat() for day in series]
    return [to_json(cell, f"{place}[{i}]") for i, cell in enumerate(series)]
