"""DuckDB's error + the query + the schema → one short message that says what to do next."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

Schema = Mapping[str, tuple[str, ...]]
"""Tables with their columns, in order."""

_FIRST = 300
"""Characters of DuckDB's own line."""
_LISTED = 40
"""Columns that a message lists."""
_NO_COLUMN = re.compile(r'(?:Referenced column|column named|Column) "((?:[^"]|"")+)"(?= not found| does not exist|$)')
_NO_FUNCTION = re.compile(r"Function with name (\S+) does not exist")
_ELSEWHERE = {
    "date_format": "strftime(date, '%Y-%m')",
    "datetime": "CAST(text AS TIMESTAMP)",
    "convert": "CAST(value AS type)",
    "isnull": "coalesce(a, b)",
    "julianday": "date_diff('day', start, end)",
    "str_to_date": "strptime(text, '%Y-%m-%d')",
    "to_char": "strftime(date, '%Y-%m')",
    "to_date": "CAST(text AS DATE) or strptime(text, '%d/%m/%Y')",
    "to_number": "TRY_CAST(text AS DOUBLE)",
    "substring_index": "split_part(text, ',', 1)",
}
"""Functions of other databases → what DuckDB has."""
_TO_DATE = "cast the text first: TRY_CAST(column AS DATE)"
_ADVICE = (
    (r"must appear in the GROUP BY", "add it to GROUP BY, or aggregate it (any_value, max, …)"),
    (r"WHERE clause cannot contain aggregates", "put conditions on aggregates into HAVING"),
    (r"WHERE clause cannot contain window", "put conditions on window functions into QUALIFY"),
    (r"aggregate function calls cannot be nested", "aggregate in a subquery first"),
    (r"More than one row returned by a subquery", "use IN, an aggregate, or ORDER BY … LIMIT 1"),
    (r"Conversion Error|date field format|timestamp field format", "look at such values first; TRY_CAST turns them into NULL"),
    (r"Cannot compare values of type .*VARCHAR", "cast the text: TRY_CAST(column AS DOUBLE) or AS DATE"),
    (r"'(?:date\w*|\w*year|month\w*|quarter|\w*week\w*|day\w*|last_day|strftime|hour|age)\(.*VARCHAR", _TO_DATE),
    (r"Could not choose a best candidate .*\"strftime", _TO_DATE),
    (r"No function matches.*VARCHAR", "cast the text first: TRY_CAST(column AS DOUBLE)"),
    (r"Set operations can only apply", "give both sides the same number of columns"),
)  # fmt: skip


def explain(error: str, sql: str, schema: Schema) -> str:
    """DuckDB's first line, then what the schema or the dialect says about it."""
    lines = [line.strip() for line in error.strip().splitlines()]
    first = lines[0].partition(". You might need")[0].partition(". In order to select")[0][:_FIRST].rstrip(".! ")
    if found := _NO_COLUMN.search(lines[0]):
        hint = _column_hint(found[1].replace('""', '"'), sql, schema)
    elif found := _NO_FUNCTION.search(lines[0]):
        hint = f"use {_ELSEWHERE[found[1].lower()]}" if found[1].lower() in _ELSEWHERE else _second(lines)
    else:
        hint = next((advice for pattern, advice in _ADVICE if re.search(pattern, lines[0])), _second(lines))
    return f"{first}; {hint}" if hint else first


def _column_hint(column: str, sql: str, schema: Schema) -> str:
    """Which table has the column; else the nearest names; else what the query's tables have."""
    used = [table for table in schema if table.lower() in sql.lower()]
    wanted = column.lower()
    owners = [table for table, columns in schema.items() if wanted in (name.lower() for name in columns)]
    if owners:
        verb = "belongs to" if any(owner not in used for owner in owners) else "is a column of"
        return f"{column!r} {verb} {_list(owners[:5])}: join that table, or name it in this part of the query"
    names = {f"{table}.{name}": name.lower() for table in used or schema for name in schema[table]}
    near = difflib.get_close_matches(wanted, list(names.values()), n=3, cutoff=0.6)
    near += [name for name in names.values() if wanted in name and name not in near][:3]
    if near:
        return "did you mean " + " or ".join([full for full, name in names.items() if name in near][:4])
    quoted = f"; if {column!r} is a text, write it in single quotes" if f'"{column}"' in sql else ""
    return f"columns there: {_list(list(names)[:_LISTED])}{' …' if len(names) > _LISTED else ''}{quoted}"


def _second(lines: list[str]) -> str:
    """DuckDB's own suggestion, which is its second line."""
    tip = next((line for line in lines[1:4] if line.startswith(("Did you mean", "Candidate tables"))), "")
    return tip[:_FIRST]


def _list(names: list[str]) -> str:
    return ", ".join(names)
