"""A table's profile → the lines that a model reads: plain, as DDL, or names alone; each on one line per column."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, TableProfile
from tasks.core.search.words import words
from tasks.core.sql.names import literal, quote

_PLAIN = re.compile(r"[^\W\d]\w*")
_KEYWORDS = """
all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast check collate
collation column concurrently constraint create cross default deferrable desc describe distinct do else end except false
fetch for foreign freeze from full glob group having ilike in initially inner intersect into is isnull join lambda lateral
leading left like limit natural not notnull null offset on only or order outer overlaps pivot pivot_longer pivot_wider
placing positional primary qualify references returning right select semi show similar some summarize symmetric table
tablesample then to trailing true union unique unpack unpivot using variadic verbose when where window with
"""
_RESERVED = frozenset(_KEYWORDS.split())
"""Those of `duckdb_keywords()` that cannot name a table or column bare."""
_TEXT_TYPES = ("VARCHAR", "DATE", "TIME", "TIMESTAMP", "UUID", "JSON")
_DAY_TYPES = ("DATE", "TIMESTAMP")
_NOTE_CHARS = 160


@dataclass(frozen=True)
class Detail:
    """How much of a column is shown."""

    form: Literal["plain", "ddl"] = "plain"
    examples: int = 5
    example_chars: int = 60
    notes: bool = True
    names_only: bool = False
    """All columns on one line, with their types."""
    others: Literal["counted", "named"] = "counted"
    """What is said of columns that are left out."""


def spelled(name: str) -> str:
    """The name as a query has to write it: quoted only where DuckDB needs it."""
    return name if _PLAIN.fullmatch(name) and name.casefold() not in _RESERVED else quote(name)


def table_lines(table: TableProfile, detail: Detail, columns: Collection[str] | None = None) -> list[str]:
    """Head and column lines of a table; of `columns` only, when given, with the rest counted or named."""
    shown = [column for column in table.columns if columns is None or column.name in columns]
    hidden = len(table.columns) - len(shown)
    more = f"… and {hidden} more columns not shown" if hidden else ""
    if hidden and detail.others == "named":
        left = (column for column in table.columns if columns is not None and column.name not in columns)
        more = "also " + ", ".join(f"{spelled(column.name)} {column.type}" for column in left)
    rows = f"{table.rows} rows"
    notes = [one_line(note, _NOTE_CHARS) for note in (table.about, *table.notes) if note] if detail.notes else []
    if detail.names_only:
        listed = ", ".join([f"{spelled(c.name)} {c.type}" for c in shown] + [more] * bool(hidden))
        return [f"{spelled(table.name)} ({rows}): {listed}"]
    if detail.form == "ddl":
        head = f"CREATE TABLE {spelled(table.name)} ( -- {'; '.join([rows, *notes])}"
        main_key = next((column.name for column in table.columns if column.is_key), "")
        body = [_ddl_column(column, detail, column.name == main_key) for column in shown]
        return [head, *body, *([f"  -- {more}"] if hidden else []), ");"]
    head = f"{spelled(table.name)} ({'; '.join([rows, one_line(table.origin, _NOTE_CHARS), *notes])})"
    return [head, *(_plain_column(column, detail) for column in shown), *([f"- {more}"] if hidden else [])]


def join_line(join: JoinCandidate) -> str:
    """A measured link as `a.x -> b.y (98.7 % of rows match, right side unique)`."""
    left = f"{spelled(join.left_table)}.{spelled(join.left_column)}"
    right = f"{spelled(join.right_table)}.{spelled(join.right_column)}"
    unique = "right side unique" if join.right_unique else "right side repeats"
    stated = ", stated in the knowledge" if join.stated else ""
    return f"{left} -> {right} ({share(join.match_rate)} match, {unique}{stated})"


def join_equation(join: JoinCandidate) -> str:
    """A measured link as the condition of a join; how well it holds only where that is not perfect."""
    left = f"{spelled(join.left_table)}.{spelled(join.left_column)}"
    right = f"{spelled(join.right_table)}.{spelled(join.right_column)}"
    matched = f" ({share(join.match_rate)} match)" if join.match_rate < 1 else ""
    return f"{left} = {right}{matched}"


def share(value: float) -> str:
    """A share of 0 to 1 in percent; never rounded to 0 or 100 unless it is."""
    percent = min(max(value * 100, 0.1 if value > 0 else 0.0), 99.9 if value < 1 else 100.0)
    return f"{percent:.1f} %".replace(".0 %", " %")


def one_line(text: str, chars: int) -> str:
    """The text without line breaks and control characters, cut with `…`."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return flat if len(flat) <= chars else flat[: chars - 1] + "…"


def _plain_column(column: ColumnProfile, detail: Detail) -> str:
    facts = [_meaning(column), _values(column, detail), _nulls(column), "unique" if column.is_key else ""]
    if detail.notes:
        facts += [one_line(note, _NOTE_CHARS) for note in column.notes]
    told = "; ".join(fact for fact in facts if fact)
    return f"- {spelled(column.name)} {column.type}" + (f": {told}" if told else "")


def _ddl_column(column: ColumnProfile, detail: Detail, is_main_key: bool) -> str:
    facts = [_meaning(column), _values(column, detail), _nulls(column)]
    told = "; ".join(fact for fact in facts if fact)
    key = " PRIMARY KEY" if is_main_key else ""
    return f"  {spelled(column.name)} {column.type}{key}," + (f" -- {told}" if told else "")


def _meaning(column: ColumnProfile) -> str:
    """Meaning and unit; nothing when the meaning only repeats the name."""
    says_more = words(column.meaning) - words(column.name)
    meaning = one_line(column.meaning, _NOTE_CHARS) if says_more else ""
    return f"{meaning} [{column.unit}]".strip() if column.unit else meaning


def _values(column: ColumnProfile, detail: Detail) -> str:
    is_text = column.type.startswith(_TEXT_TYPES)
    shown = column.examples[: detail.examples]
    written = ", ".join(_example(value, is_text, detail.example_chars) for value in shown)
    if shown and len(shown) == column.distinct:
        return f"only {written}"
    has_span = not is_text or (detail.form == "ddl" and column.type.startswith(_DAY_TYPES))
    if has_span and column.minimum is not None and column.maximum is not None:
        ends = (_example(value, is_text, detail.example_chars) for value in (column.minimum, column.maximum))
        span = " to ".join(ends)
        return span if detail.examples < 3 or detail.form == "ddl" or not written else f"{span}, e.g. {written}"
    known = f" ({column.distinct} distinct)" if detail.form == "plain" else ""
    return f"e.g. {written}{known}" if written else ""


def _example(value: str, is_text: bool, chars: int) -> str:
    flat = one_line(value, chars)
    return literal(flat) if is_text else flat


def _nulls(column: ColumnProfile) -> str:
    return f"{share(column.null_share)} NULL" if column.null_share else ""
