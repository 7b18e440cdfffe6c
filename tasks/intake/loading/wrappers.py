"""A JSON object that is read whole → the records it holds, if it holds any: by columns, by id, in lists further in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_DEPTH = 6
"""Objects are searched for lists of records down to this depth."""


def named(value: list[Any], header: list[str] | None) -> dict[str, Any]:
    names = header or []
    return {names[i] if i < len(names) else f"column{i + 1}": item for i, item in enumerate(value)}


def inner_sets(value: dict[str, Any], depth: int = 1) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Lists of objects inside nested objects, as in `{"response": {"items": […]}}`; they are taken out."""
    for key, inner in list(value.items()):
        if isinstance(inner, dict) and depth < _DEPTH:
            yield from inner_sets(inner, depth + 1)
        elif depth > 1 and isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            del value[key]
            yield key, inner


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """The object without objects that hold nothing."""
    inner = {key: without_empty(item) if isinstance(item, dict) else item for key, item in value.items()}
    return {key: item for key, item in inner.items() if item != {}}


def split(rest: dict[str, Any]) -> list[dict[str, Any]] | None:
    """`{"columns": […], "data": [[…], …]}`."""
    names = rest.get("columns")
    data = rest.get("data", rest.get("rows", rest.get("values")))
    if isinstance(names, list) and isinstance(data, list) and data and all(isinstance(row, list) for row in data):
        return [named(row, [str(name) for name in names]) for row in data]
    return None


def by_columns(rest: dict[str, Any]) -> list[dict[str, Any]] | None:
    """`{"a": [1, 2], "b": [3, 4]}`, or pandas' `{"a": {"0": 1, "1": 2}, …}`."""
    values = list(rest.values())
    lists = len(values) > 1 and all(isinstance(value, list) and value for value in values)
    flat = lists and len({len(value) for value in values}) == 1
    if flat and all(not isinstance(item, list | dict) for value in values for item in value):
        return [dict(zip(rest, row, strict=True)) for row in zip(*values, strict=True)]
    if len(values) > 1 and all(isinstance(value, dict) for value in values):
        keys = list(dict.fromkeys(key for value in values for key in value))
        scalars = all(not isinstance(item, list | dict) for value in values for item in value.values())
        if keys and scalars and all(key.isdecimal() for key in keys) and not all(key.isdecimal() for key in rest):
            return [{name: column.get(key) for name, column in rest.items()} for key in keys]
    return None


def by_key(rest: dict[str, Any]) -> list[dict[str, Any]] | None:
    """`{"id1": {…}, "id2": {…}}` with alike objects; the key becomes the column `_key`."""
    values = list(rest.values())
    if len(values) < 2 or not all(isinstance(value, dict) and value for value in values):
        return None
    common = set.intersection(*(set(value) for value in values))
    union = set.union(*(set(value) for value in values))
    return [{"_key": key, **value} for key, value in rest.items()] if len(common) >= 0.5 * len(union) else None
