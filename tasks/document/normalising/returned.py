"""What a model's function returned → a value of the column's type, or ValueError with what is wrong."""

from __future__ import annotations

import sys
from datetime import date, datetime

from tasks.core.models.document import ColumnType, Plain

RETURNS: dict[ColumnType, str] = {
    "text": "the text that the table shall hold",
    "integer": "an int in the column's unit",
    "number": "a float or int in the column's unit",
    "date": 'the date as text, "YYYY-MM-DD"',
    "datetime": 'the time as text, "YYYY-MM-DD HH:MM:SS"',
    "boolean": "True or False",
    "duration": "a float or int in the column's unit; without a unit the text of an ISO 8601 duration",
}
"""For the prompt, by type of the column."""


def typed(value: Plain, type: ColumnType, options: tuple[str, ...] = ()) -> Plain:
    """The value, None kept. Raises ValueError for another type, a number that is not finite, a value not listed."""
    if value is None:
        return None
    if type in ("integer", "number") or (type == "duration" and not isinstance(value, str)):
        return _number(value, whole=type == "integer")
    if type == "boolean":
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not True or False")
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    if type == "date":
        return date.fromisoformat(value).isoformat()
    if type == "datetime":
        return datetime.fromisoformat(value).isoformat(" ", "seconds")
    if options and value not in options:
        raise ValueError(f"{value!r} is none of {', '.join(options)}")
    return value


def _number(value: Plain, whole: bool) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number")
    if not abs(value) <= sys.float_info.max:
        raise ValueError("it is not finite, or larger than any number that a table holds")
    if whole and value != int(value):
        raise ValueError(f"{value!r} is not whole")
    return int(value) if whole else value
