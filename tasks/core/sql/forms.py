"""Text columns of a table → how they write numbers and days, with SQL that reads them; run over the values it is made from.

The statements are ours; what runs them is given, for they are needed where tables are made and where they are queried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tasks.core.models.catalogue import Form
from tasks.core.sql.amounts import amounts
from tasks.core.sql.days import LARGEST_MONTH, days
from tasks.core.sql.names import literal, quote
from tasks.core.sql.numerals import Mask, numbers
from tasks.core.sql.stacked import stack, stacks

MARKS = (
    "NA", "N/A", "n/a", "#N/A", "na", "NULL", "null", "Null", "None", "none", "NaN", "nan", "NAN", "nil", "NIL",
    "-", "--", "---", "—", "——", "–", "..", "...", ".", "?", "\\N", "无", "缺失", "暂无", "不详", "未知", "unknown", "missing",
)  # fmt: skip
"""Texts that stand for no value, but only where everything else is a number or a date: NA is also Namibia."""
_MASKS = 1_000
"""Different masks that are looked at, the most frequent; in a column with more, texts are no numbers or days."""
_CHARS = 40
SAMPLE, _LEAST = 300, 0.25
_AT_ONCE = 32
"""Columns of one statement: DuckDB plans one over 2,000 columns for minutes."""
_LIKELY = r"^[^A-Za-z0-9]*([A-Za-z]{1,9}\$?\.? ?)?[0-9][^A-Za-z]*([ -]?[A-Za-z]{1,9}[^A-Za-z]*)?$"
Run = Callable[[str], Sequence[Sequence[Any]]]
Place = tuple[str, str]
"""Table and column."""


def is_value(x: str) -> str:
    """SQL: a text is neither NULL nor blank nor a mark."""
    return f"trim({x}) <> '' AND trim({x}) NOT IN ({', '.join(map(literal, MARKS))})"


def measure(run: Run, table: str, columns: Sequence[str]) -> dict[str, Form]:
    """The forms of those text columns that have one; `run` gives the rows of a statement."""
    found = {}
    for column in _likely(run, table, columns):
        source = f"SELECT {quote(column)} AS v FROM {quote(table)}"
        masks = [Mask(*row) for row in run(f"{_masks(source)} LIMIT {_MASKS}")]
        made = _made(masks) if len(masks) < _MASKS else None
        if made and made.sql:
            made = _proved(made, masks, run(_proof(source, made.sql))[0])
        if made:
            found[column] = _named(made, column)
    return found


def measure_small(run: Run, columns: Sequence[Place]) -> dict[Place, Form]:
    """The same of columns of tables with at most SAMPLE rows each, many of them in one statement."""
    found: dict[Place, Form] = {}
    for group in stacks(columns, lambda _: "", lambda _: SAMPLE):
        rows = run(f"SELECT k, {_like('t')} FROM (SELECT k, nullif(trim(v), '') AS t FROM ({stack(group)})) GROUP BY k")
        likely = [group[k] for k, share in sorted(rows, key=lambda row: int(row[0])) if share >= _LEAST]
        masks: dict[Place, list[Mask]] = {place: [] for place in likely}
        for k, *row in run(_masks(stack(likely), "k, ")) if likely else ():
            masks[likely[k]].append(Mask(*row))
        made = {place: form for place, of in masks.items() if (form := _made(of))}
        for sql in dict.fromkeys(form.sql for form in made.values()):
            same = [place for place, form in made.items() if form.sql == sql]
            counts = {same[k]: row for k, *row in run(_proof(stack(same), sql, "k, "))} if sql else {}
            proved = {
                place: _proved(made[place], masks[place], counts[place]) if sql else made[place] for place in same
            }
            found |= {place: _named(form, place[1]) for place, form in proved.items() if form}
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


def _like(t: str) -> str:
    """SQL: share of texts, trimmed and NULL where they are blank, that are short, of digits, signs and a word at most."""
    test = f"regexp_matches({t}, {literal(_LIKELY)})::INT"
    return f"coalesce(avg(CASE WHEN length({t}) <= {_CHARS} THEN {test} ELSE 0 END), 0)"


def _likely(run: Run, table: str, columns: Sequence[str]) -> list[str]:
    """Columns with enough such texts among their first values."""
    found: list[str] = []
    for at in range(0, len(columns), _AT_ONCE):
        some = columns[at : at + _AT_ONCE]
        tests = ", ".join(_like(f"nullif(trim({quote(column)}), '')") for column in some)
        head = ", ".join(map(quote, some))
        row = run(f"SELECT {tests} FROM (SELECT {head} FROM {quote(table)} LIMIT {SAMPLE})")[0]
        found += [column for column, likely in zip(some, row, strict=True) if likely >= _LEAST]
    return found


def _masks(source: str, key: str = "") -> str:
    """SQL of the masks of the texts `v` of a source, the most frequent first; with a key by column."""
    alone = "regexp_replace(t, '(^|[^0-9.,])0([.,][0-9])', '\\1z\\2', 'g')"
    mask = f"regexp_replace({alone}, '[0-9]', 'd', 'g')"
    two = "'^[^0-9]*([0-9]{1,2})[^0-9]+([0-9]{1,2})([^0-9]|$)'"
    return (
        f"SELECT {key}s, count(*) AS n, min(t), count_if(regexp_matches(t, '^[-+(]*0[0-9]')), "
        f"count_if(a > {LARGEST_MONTH} AND b <= {LARGEST_MONTH}), count_if(b > {LARGEST_MONTH} AND a <= {LARGEST_MONTH}) "
        f"FROM (SELECT {key}t, try_cast(regexp_extract(t, {two}, 1) AS INT) AS a, try_cast(regexp_extract(t, {two}, 2) AS INT) AS b, "
        f"CASE WHEN length(t) <= {_CHARS} AND regexp_matches(t, '[0-9]') THEN {mask} ELSE '' END AS s "
        f"FROM (SELECT {key}trim(v) AS t FROM ({source}) WHERE {is_value('v')})) "
        f"GROUP BY {key}s ORDER BY {key}n DESC, s"
    )


def _made(masks: Sequence[Mask]) -> Form | None:
    values = sum(mask.count for mask in masks)
    return days(masks, values) or amounts(masks, values) or numbers(masks, values)


def _proof(source: str, sql: str, key: str = "") -> str:
    """SQL of how many texts a recipe reads, and how many there are: it is run over the values it was made from."""
    value = f"CASE WHEN {is_value('v')} THEN {sql.replace('{x}', 'v')} END"
    return f"SELECT {key}count({value}), count(v) FROM ({source})" + (" GROUP BY k" if key else "")


def _proved(made: Form, masks: Sequence[Mask], counts: Sequence[int]) -> Form | None:
    (read, texts), values = counts, sum(mask.count for mask in masks)
    return made.model_copy(update={"read": read, "others": texts - values}) if read * 2 >= values else None


def _named(form: Form, column: str) -> Form:
    return form.model_copy(update={"reading": form.reading.replace("{column}", column)})
