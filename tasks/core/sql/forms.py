"""Text columns of a table → how they write numbers and days, with SQL that reads them; run over the values it is made from.

The statements are ours; what runs them is given, for they are needed where tables are made and where they are queried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tasks.core.models.catalogue import Form
from tasks.core.sql.days import LARGEST_MONTH, days
from tasks.core.sql.names import literal, quote
from tasks.core.sql.numerals import Mask, numbers

MARKS = (
    "NA", "N/A", "n/a", "#N/A", "na", "NULL", "null", "Null", "None", "none", "NaN", "nan", "NAN", "nil", "NIL",
    "-", "--", "---", "—", "——", "–", "..", "...", ".", "?", "\\N", "无", "缺失", "暂无", "不详", "未知", "unknown", "missing",
)  # fmt: skip
"""Texts that stand for no value, but only where everything else is a number or a date: NA is also Namibia."""
_MASKS = 1_000
"""Different masks that are looked at, the most frequent; in a column with more, texts are no numbers or days."""
_CHARS = 40
_SAMPLE, _LEAST = 300, 0.25
_AT_ONCE = 32
"""Columns of one statement: DuckDB plans one over 2,000 columns for minutes."""
_LIKELY = r"^[^A-Za-z0-9]*([A-Za-z]{1,9}\$?\.? ?)?[0-9][^A-Za-z]*([ -]?[A-Za-z]{2,9}[^A-Za-z]*)?$"
Run = Callable[[str], Sequence[Sequence[Any]]]


def is_value(x: str) -> str:
    """SQL: a text is neither NULL nor blank nor a mark."""
    return f"trim({x}) <> '' AND trim({x}) NOT IN ({', '.join(map(literal, MARKS))})"


def measure(run: Run, table: str, columns: Sequence[str]) -> dict[str, Form]:
    """The forms of those text columns that have one; `run` gives the rows of a statement."""
    found = {}
    for column in _likely(run, table, columns):
        if made := _measure(run, quote(table), quote(column)):
            reading = made.reading.replace("{column}", column)
            found[column] = made.model_copy(update={"reading": reading})
    return found


def recipe(form: Form) -> str:
    """The SQL that reads a value `x`, as a note shows it: without TRY where it is not needed."""
    text = form.sql.replace("{x}", "x")
    if form.read == form.values and not form.others:
        text = text.replace("TRY_CAST(", "CAST(").replace("try_strptime(", "strptime(")
    return re.sub(r"trim\(x\)", "x", text)


def told(form: Form, knowledge: str, column: str) -> Form:
    """The form as the knowledge decides it, where the values do not: the line must name the column or all of them."""
    if form.decided:
        return form
    for line in knowledge.splitlines():
        if column.casefold() not in line.casefold() and not re.search(r"(?i)\b(all|every)\b|所有|alle", line):
            continue
        if re.search(r"(?i)decimal comma|Dezimalkomma|逗号.{0,6}小数|month (is |comes )?first|MM/DD", line):
            sql = form.otherwise or form.sql
            return form.model_copy(update={"sql": sql, "decided": True, "reading": ""})
        if re.search(r"(?i)thousands|decimal point|Tausender|千分位|day (is |comes )?first|DD[/.-]MM", line):
            return form.model_copy(update={"decided": True, "reading": ""})
    return form


def _likely(run: Run, table: str, columns: Sequence[str]) -> list[str]:
    """Columns with enough short texts of digits, signs and a word at most among their first values."""
    like = f"coalesce(avg(CASE WHEN length({{x}}) <= {_CHARS} THEN regexp_matches({{x}}, {literal(_LIKELY)})::INT ELSE 0 END), 0)"
    found: list[str] = []
    for at in range(0, len(columns), _AT_ONCE):
        some = columns[at : at + _AT_ONCE]
        tests = ", ".join(like.replace("{x}", f"nullif(trim({quote(c)}), '')") for c in some)
        head = ", ".join(map(quote, some))
        row = run(f"SELECT {tests} FROM (SELECT {head} FROM {quote(table)} LIMIT {_SAMPLE})")[0]
        found += [column for column, likely in zip(some, row, strict=True) if likely >= _LEAST]
    return found


def _measure(run: Run, table: str, column: str) -> Form | None:
    alone = "regexp_replace(t, '(^|[^0-9.,])0([.,][0-9])', '\\1z\\2', 'g')"
    mask = f"regexp_replace({alone}, '[0-9]', 'd', 'g')"
    two = "'^[^0-9]*([0-9]{1,2})[^0-9]+([0-9]{1,2})([^0-9]|$)'"
    rows = run(
        f"SELECT s, count(*), min(t), count_if(regexp_matches(t, '^[-+(]*0[0-9]')), "
        f"count_if(a > {LARGEST_MONTH} AND b <= {LARGEST_MONTH}), count_if(b > {LARGEST_MONTH} AND a <= {LARGEST_MONTH}) "
        f"FROM (SELECT t, try_cast(regexp_extract(t, {two}, 1) AS INT) AS a, try_cast(regexp_extract(t, {two}, 2) AS INT) AS b, CASE WHEN length(t) <= {_CHARS} AND regexp_matches(t, '[0-9]') THEN {mask} ELSE '' END AS s "
        f"FROM (SELECT trim({column}) AS t FROM {table} WHERE {is_value(column)})) "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MASKS}"
    )
    masks = [Mask(*row) for row in rows]
    if len(masks) == _MASKS:
        return None
    values = sum(mask.count for mask in masks)
    made = days(masks, values) or numbers(masks, values)
    if made is None or not made.sql:
        return made
    # the proof: the recipe is run over the values it was made from
    value = f"CASE WHEN {is_value(column)} THEN {made.sql.replace('{x}', column)} END"
    read, texts = run(f"SELECT count({value}), count({column}) FROM {table}")[0]
    return made.model_copy(update={"read": read, "others": texts - values}) if read * 2 >= values else None
