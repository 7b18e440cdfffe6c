"""Counts of the shapes in a text column → its type, the expression that makes it, and what to say about it."""

from __future__ import annotations

from tasks.core.sql.build import Tally, Target
from tasks.core.sql.names import literal
from tasks.core.wording import counted

MARKS = (
    "NA", "N/A", "n/a", "#N/A", "na", "NULL", "null", "Null", "None", "none", "NaN", "nan", "NAN", "nil", "NIL",
    "-", "--", "---", "—", "——", "–", "..", "...", ".", "?", "\\N", "无", "缺失", "暂无", "不详", "未知", "unknown", "missing",
)  # fmt: skip
"""Texts that stand for no value, but only where everything else is a number or a date: NA is also Namibia."""

_MARKS = f"({', '.join(literal(mark) for mark in MARKS)})"
_INT = "-?(0|[1-9][0-9]*)"
_CURRENCY = "[$€£¥￥₹]|US\\$|HK\\$|USD|EUR|GBP|CNY|RMB"
_MONTHS = "[A-Za-z]{3,9}"
_YEAR_AND_TIME = "([0-9]{4}|[0-9]{2})( [0-9:]+.*)?"


def _like(pattern: str) -> str:
    return f"regexp_full_match(t, {literal(pattern)})"


def _cases(*shapes: tuple[str, str]) -> str:
    return "case " + " ".join(f"when {test} then '{name}'" for name, test in shapes) + " else 'text' end"


_DIGIT = _cases(
    ("int", f"{_like(_INT)} and try_cast(t as bigint) is not null"),
    (
        "float",
        _like(r"-?(0|[1-9][0-9]*)?\.[0-9]+([eE][+-]?[0-9]+)?|-?(0|[1-9][0-9]*)\.|-?[0-9]\.?[eE][+-][0-9]+")
        + " and isfinite(try_cast(t as double))",
    ),
    ("date", _like(r"[0-9]{4}-[0-9]{2}-[0-9]{2}") + " and try_cast(t as date) is not null"),
    ("coded", _like(r"-?0[0-9]+(\.[0-9]*)?")),
    ("big", f"{_like(_INT)} and try_cast(t as hugeint) is not null"),
    ("huge", _like(_INT)),
    ("exponent", _like(r"-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+") + " and isfinite(try_cast(t as double))"),
    ("grouped", _like(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")),
    ("comma", _like(r"-?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+),[0-9]+")),
    ("percent", _like(r"-?[0-9][0-9.,]* ?[%％‰]")),
    (
        "moment",
        _like(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?")
        + " and cast(try_cast(t as timestamp) as varchar) = t",
    ),
    ("iso", _like(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?(Z|[+-][0-9:]{2,6}))?")),
    ("yearfirst", _like(r"[0-9]{4}([/.-][0-9]{1,2}[/.-][0-9]{1,2}|年[0-9]{1,2}月([0-9]{1,2}日)?)")),
    ("dayfirst", _like(rf"(1[3-9]|2[0-9]|3[01])[/.-](0?[1-9]|1[0-2])[/.-]{_YEAR_AND_TIME}")),
    ("monthfirst", _like(rf"(0?[1-9]|1[0-2])[/.-](1[3-9]|2[0-9]|3[01])[/.-]{_YEAR_AND_TIME}")),
    ("slashed", _like(rf"(0?[1-9]|1[0-2])[/.-](0?[1-9]|1[0-2])[/.-]{_YEAR_AND_TIME}")),
    ("worded", _like(rf"[0-9]{{1,2}}[ -]{_MONTHS}[ -][0-9]{{2,4}}")),
    ("money", _like(rf"-?({_CURRENCY}) ?[0-9][0-9.,]*|-?[0-9][0-9.,]* ?({_CURRENCY}|元|万元|亿元)")),
)
_SIGN = _cases(
    ("plus", _like(r"\+[0-9][0-9. ()-]*")),
    ("grouped", _like(r"\+[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")),
    ("percent", _like(r"\+[0-9][0-9.,]* ?[%％‰]")),
    ("money", _like(rf"[+(]?-?({_CURRENCY}) ?-?[0-9][0-9.,]*\)?")),
    ("bracketed", _like(r"\([0-9][0-9.,]*\)")),
)
_LETTER = _cases(
    ("money", _like(rf"({_CURRENCY}) ?-?[0-9][0-9.,]*")),
    ("worded", _like(rf"{_MONTHS}\.? [0-9]{{1,2}},? [0-9]{{4}}")),
)
SHAPE = (
    f"case when t = '' then 'blank' when t in {_MARKS} then 'mark' "
    f"when t[1] between '0' and '9' or t[1] in ('-', '.') then {_DIGIT} "
    f"when t[1] in ('+', '(', '$', '€', '£', '¥', '￥', '₹') then {_SIGN} "
    f"when length(t) < 24 and t[1] between 'A' and 'z' then {_LETTER} else 'text' end"
)
"""SQL over `t` that names the shape of a value; the tests are grouped by the first character, which saves most."""

_SAYS = {
    "plus": "numbers with a leading +; text",
    "grouped": "numbers with thousands separators; text: CAST(replace(x, ',', '') AS DOUBLE)",
    "comma": "numbers with a decimal comma; text",
    "percent": "percentages; text: CAST(rtrim(x, '%') AS DOUBLE) is in percent",
    "money": "amounts with a currency; text",
    "bracketed": "numbers in brackets, which may mean below zero; text",
    "huge": "integers of more than 38 digits; text",
    "iso": "ISO times in a form that would not print back the same; text: CAST(x AS TIMESTAMP) reads them",
    "yearfirst": "dates, year first, not in ISO form; text",
    "worded": "dates in words; text",
}
_NUMBERS = ("int", "big", "float")


def decide(name: str, shapes: dict[str, Tally], infer: bool) -> tuple[Target, tuple[str, ...]]:
    """Type, expression and notes of one column. Without `infer` a text stays text, unless all of it is ISO dates."""
    counts = {shape: tally.count for shape, tally in shapes.items()}
    empty = counts.get("blank", 0) + counts.get("mark", 0)
    values = sum(counts.values()) - empty
    if not infer:
        kind = _dates(counts, sum(counts.values()))
        return (Target(name, kind, "{x}") if kind else Target(name)), _text_notes(name, shapes, values, infer)
    kind = (_numbers(shapes, values) or _dates(counts, values)) if values else ""
    if not kind:
        return Target(name), _text_notes(name, shapes, values, infer)
    value = "{t}" if any(tally.padded for tally in shapes.values()) else "{x}"
    notes = []
    if empty:
        value = f"case when {{t}} = '' or {{t}} in {_MARKS} then null else {{t}} end"
        notes.append(f"{_marks(shapes)} read as NULL")
    if kind == "DOUBLE" and max(shapes[shape].digits for shape in _NUMBERS if shape in shapes) > 17:
        notes.append("some numbers have more digits than DOUBLE keeps (17)")
    return Target(name, kind, value), tuple(notes)


def _numbers(shapes: dict[str, Tally], values: int) -> str:
    counts = {shape: shapes[shape].count if shape in shapes else 0 for shape in _NUMBERS}
    if counts["int"] == values:
        return "BIGINT"
    if counts["int"] + counts["big"] == values:
        return "HUGEINT"
    exact = "big" not in shapes and ("int" not in shapes or shapes["int"].digits <= 15)
    return "DOUBLE" if exact and counts["int"] + counts["float"] == values else ""


def _dates(counts: dict[str, int], values: int) -> str:
    if values and counts.get("date", 0) == values:
        return "DATE"
    return "TIMESTAMP" if values and counts.get("moment", 0) == values else ""


def _marks(shapes: dict[str, Tally]) -> str:
    said = []
    if "mark" in shapes:
        said.append(f"{shapes['mark'].count:,} marks such as {cut(shapes['mark'].example)!r}")
    if "blank" in shapes:
        said.append(f"{shapes['blank'].count:,} blank texts")
    return " and ".join(said)


def _text_notes(name: str, shapes: dict[str, Tally], values: int, infer: bool) -> tuple[str, ...]:
    notes = []
    if name != name.strip():
        notes.append("the name itself begins or ends with a blank")
    for shape, says in _SAYS.items():
        tally = shapes.get(shape)
        if tally and (infer or shape not in ("coded", "plus")) and tally.count >= 0.5 * values:
            notes.append(f"{tally.count:,} of {values:,} values are {says}")
    number = sum(shapes[shape].count for shape in _NUMBERS if shape in shapes)
    if infer and "coded" in shapes and number + counts_of(shapes, "coded") == values:
        notes.append("numbers with leading zeros; text, so that the zeros stay")
    elif infer and values and 0.5 * values <= number < values:
        odd = next((t for s, t in shapes.items() if s not in (*_NUMBERS, "mark", "blank")), None)
        if odd:
            notes.append(
                f"{values - number:,} of {values:,} values are no plain numbers, e.g. {cut(odd.example)!r}; text"
            )
    elif infer and values and number == values:
        notes.append("whole numbers too long for DOUBLE beside decimals; text")
    elif not infer and values and number == values:
        notes.append("numbers that the source holds as text")
    notes += _date_notes(shapes, values)
    padded = sum(tally.padded for tally in shapes.values())
    if padded:
        notes.append(f"{counted(padded, 'value begins or ends', 'values begin or end')} with a blank")
    if infer and "mark" in shapes:
        notes.append(f"{_marks(shapes)} kept as text")
    return tuple(notes)


def _date_notes(shapes: dict[str, Tally], values: int) -> list[str]:
    """What is said of dates that stay text; the order of day and month only where the values decide it."""
    slashed = [shape for shape in ("dayfirst", "monthfirst", "slashed") if shape in shapes]
    forms = [shape for shape in ("date", "moment", "iso", "yearfirst", "worded") if shape in shapes]
    if not values or counts_of(shapes, *slashed, *forms) != values:
        return []
    if forms and (slashed or len(forms) > 1):
        return ["dates in more than one form; text"]
    if "dayfirst" in slashed and "monthfirst" in slashed:
        return ["dates, some with the day first and some with the month first; text"]
    for order, form in (("dayfirst", "%d/%m/%Y"), ("monthfirst", "%m/%d/%Y")):
        if order in slashed:
            first = order.removesuffix("first")
            return [
                f"dates, {first} first as {shapes[order].count:,} of {values:,} show; text: strptime(x, '{form}') or alike"
            ]
    return ["dates whose order of day and month the file does not decide; text"] if slashed else []


def counts_of(shapes: dict[str, Tally], *names: str) -> int:
    """Values that have one of these shapes."""
    return sum(shapes[name].count for name in names if name in shapes)


def cut(text: str, limit: int = 30) -> str:
    """A value short enough for a note."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
