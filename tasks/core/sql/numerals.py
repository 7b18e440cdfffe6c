"""Masks of a text column's values → how its numbers are written, and the SQL that reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.models.catalogue import Form
from tasks.core.sql.names import literal

CURRENCY = r"[$€£¥￥₹]|US\$|HK\$|USD|EUR|GBP|CHF|CNY|RMB|元"
_BLANK = " \u00a0\u202f"
_SPACES = _BLANK + "'’"
_NUMBER = re.compile(
    rf"(?P<open>\()?[-+−]?[{_BLANK}]?(?P<before>{CURRENCY})?[{_BLANK}]?[-+−]?"
    rf"(?P<digits>[dz][dz.,{_SPACES}]*|[.,]d+)[{_BLANK}]?(?P<after>[%％‰]|{CURRENCY})?(?P<trailing>-)?\)?"
)
_WHOLE = re.compile(r"[dz]+")
_SPACED = re.compile(rf"d{{1,3}}([{_SPACES}])ddd(\1ddd)*(?P<sign>[.,])?d*")
_POINT = re.compile(
    r"d{1,3}(,ddd)+\.d*|d{1,3}(,ddd){2,}|d{1,2}(,dd)+,ddd(\.d+)?|[dz]+\.|z\.d+|\.d+|d+\.d{1,2}|d+\.d{4,}|d{4,}\.d+"
)
_COMMA = re.compile(r"d{1,3}(\.ddd)+,d*|d{1,3}(\.ddd){2,}|[dz]+,|z,d+|,d+|d+,d{1,2}|d+,d{4,}|d{4,},d+")
_PER_COMMA, _PER_POINT = re.compile(r"d{1,3},ddd"), re.compile(r"d{1,3}\.ddd")
_GUARD = rf"\s*\(?[-+−]?\s?({CURRENCY})?\s?[-+−]?([0-9][0-9.,{_SPACES}]*|[.,][0-9]+)\s?([%％‰]|{CURRENCY})?-?\)?\s*"

_DOTS, _ONE_DOT = r"(\.[0-9]{3}){2,}$", r"^[-+−(]*[0-9]{1,3}\.[0-9]{3}$"
_BELOW = r"^\s*\(|-\s*$"


@dataclass(frozen=True)
class Mask:
    """Values of one column that look alike: every digit is `d`, a 0 alone before a sign is `z`."""

    text: str
    count: int
    example: str
    zeros: int = 0
    """Of them that begin with a zero and another digit: codes."""
    first: int = 0
    """Of them whose first number can be no month, and the second can."""
    second: int = 0
    """Of them whose second number can be no month, and the first can."""


@dataclass
class _Seen:
    """Numbers of a column, by what their signs decide."""

    point: int = 0
    comma: int = 0
    per_comma: int = 0
    """One comma before three digits: thousands or decimals."""
    per_point: int = 0
    plain: int = 0
    grouped: int = 0
    """With signs between thousands, as far as the signs alone show."""
    dotted: int = 0
    """With dots that are no decimal point if the comma is."""
    wrapped: int = 0
    """With a percent or currency sign."""
    percent: int = 0
    spaced: int = 0
    negative: int = 0
    """In brackets or with a minus behind."""
    examples: dict[str, str] | None = None

    @property
    def numbers(self) -> int:
        return self.point + self.comma + self.per_comma + self.per_point + self.plain


def numbers(masks: Sequence[Mask], values: int) -> Form | None:
    """The column's number format; None when fewer than half of the values are numbers. `read` is still 0."""
    seen = _count(masks)
    if not values or seen.numbers * 2 < values:
        return None
    if not (seen.comma or seen.per_comma or seen.grouped or seen.wrapped or seen.spaced or seen.negative):
        widths = {len(mask.text) for mask in masks}
        sortable = len(masks) == 1 and len(widths) == 1 and masks[0].text == "d" * len(masks[0].text)
        return _form(seen, values, "", "{x}", sortable)
    point, comma = "replace({x}, ',', '')", "replace({x}, ',', '.')"
    if seen.dotted or seen.per_point:
        comma = "replace(replace({x}, '.', ''), ',', '.')"
    if seen.comma and seen.point:
        return _mixed(seen, values)
    if seen.comma:
        dots = " and dots between thousands" if seen.dotted or seen.per_point else ""
        return _form(seen, values, f"with a decimal comma{dots}", comma)
    grouped = seen.grouped + seen.per_comma
    if seen.per_comma and not seen.grouped and not seen.point:
        if not seen.per_point:
            return _undecided(seen, values, point, comma)
        return _mixed(seen, values)
    return _form(seen, values, "with thousands separators" * bool(grouped), point if grouped else "{x}")


def _count(masks: Sequence[Mask]) -> _Seen:
    seen = _Seen(examples={})
    for mask in masks:
        found = _NUMBER.fullmatch(mask.text)
        if not found:
            continue
        digits = found["digits"].strip(_BLANK)
        kind = _kind(digits, mask)
        if not kind or (mask.text.startswith("+") and kind == "plain"):  # the latter may be a telephone
            continue
        assert seen.examples is not None
        seen.examples.setdefault(kind, mask.example)
        setattr(seen, kind, getattr(seen, kind) + mask.count)
        seen.grouped += mask.count * (digits.count(",") > 1 or ("," in digits and kind == "point"))
        seen.dotted += mask.count * (digits.count(".") > 1 or ("." in digits and kind == "comma"))
        seen.spaced += mask.count * any(sign in digits for sign in _SPACES)
        seen.wrapped += mask.count * bool(found["before"] or found["after"])
        seen.percent += mask.count * (found["after"] in ("%", "％"))
        seen.negative += mask.count * bool(found["open"] or found["trailing"])
    return seen


def _kind(digits: str, mask: Mask) -> str:
    if mask.zeros:
        return ""
    if _WHOLE.fullmatch(digits):
        return "plain"
    if spaced := _SPACED.fullmatch(digits):
        return {",": "comma", ".": "point", None: "plain"}[spaced["sign"]]
    for kind, pattern in (("per_comma", _PER_COMMA), ("per_point", _PER_POINT), ("point", _POINT), ("comma", _COMMA)):
        if pattern.fullmatch(digits):
            return kind
    return ""


def _undecided(seen: _Seen, values: int, point: str, comma: str) -> Form:
    """One comma before three digits, and nothing else that tells: thousands are far more frequent."""
    example = (seen.examples or {})["per_comma"]
    bare = re.sub(r"[^0-9,]", "", example)
    reading = (
        f"{example!r} is read as {bare.replace(',', '')}; were it {bare.replace(',', '.')}, "
        "write in knowledge.md: `{column} has a decimal comma`"
    )
    made = _form(seen, values, "with thousands separators", point)
    other = _form(seen, values, "", comma)
    return made.model_copy(update={"decided": False, "reading": reading, "example": example, "otherwise": other.sql})


def _mixed(seen: _Seen, values: int) -> Form:
    """Values of both kinds: each is read by its own signs, those that may be either as most of the others."""
    text = "{x}"
    comma = "replace(replace({x}, '.', ''), ',', '.')"
    by_comma = seen.comma > seen.point
    own = r"[0-9],[0-9]*$" if by_comma else r"[0-9],([0-9]{1,2}|[0-9]{4,})$"
    bare = _cleaned(seen, text)
    tests = [f"regexp_matches({bare}, {literal(own)})", f"regexp_matches({bare}, {literal(_DOTS)})"]
    if by_comma:
        tests.append(f"regexp_matches({bare}, {literal(_ONE_DOT)})")
    says = "some with a decimal comma and some with a decimal point"
    sql = f"CASE WHEN {' OR '.join(tests)} THEN {comma} ELSE replace({{x}}, ',', '') END"
    examples = seen.examples or {}
    which = [
        f"{getattr(seen, kind)} like {examples[kind]!r} {told}"
        for kind, told in (
            ("comma", "have a decimal comma"),
            ("point", "a decimal point"),
            ("per_comma", f"may be either and are read as {'decimals' if by_comma else 'thousands'}"),
            ("per_point", f"may be either and are read as {'thousands' if by_comma else 'decimals'}"),
        )
        if kind in examples
    ]
    made = _form(seen, values, says, sql)
    reading = f"{', '.join(which)}; better write them alike, or tell in knowledge.md: `{{column}} has a decimal comma`"
    example = examples.get("per_comma") or examples.get("per_point") or examples.get("comma", "")
    return made.model_copy(update={"decided": False, "reading": reading, "example": example})


def _form(seen: _Seen, values: int, says: str, sql: str, sortable: bool = False) -> Form:
    """The form around the SQL of bare digits: signs stripped, brackets below zero."""
    text = sql.replace("{x}", _cleaned(seen, "{x}"))
    noun = "numbers" if not seen.wrapped else "percentages" if seen.percent else "amounts with a currency"
    parts = [f"{noun} {says}" if noun == "numbers" else noun, says if noun != "numbers" else ""]
    parts += ["some below zero in brackets or with a minus behind"] * bool(seen.negative)
    value = f"TRY_CAST({text} AS DOUBLE)"
    if seen.negative:
        value = f"CASE WHEN regexp_matches({{x}}, {literal(_BELOW)}) THEN -1 ELSE 1 END * {value}"
    if seen.numbers < values and "regexp_replace" in text:  # else letters would be taken away from other texts
        value = f"CASE WHEN regexp_full_match({{x}}, {literal(_GUARD)}) THEN {value} END"
    examples = seen.examples or {}
    kinds = ("comma", "per_point", "per_comma", "point", "plain")
    reading = ""
    if 0 < seen.percent < seen.numbers:
        rarer = min(seen.percent, seen.numbers - seen.percent)
        reading = (
            f"{rarer:,} of {values:,} values are no plain numbers like the others: some have a percent sign, some none, "
            "and all are read in percent; say in knowledge.md what is meant"
        )
    return Form(
        kind="number",
        says=", ".join(part.strip() for part in parts if part),
        sql=value,
        values=values,
        read=seen.numbers,
        example=next((examples[kind] for kind in kinds if kind in examples), ""),
        sortable=sortable,
        decided=not reading,
        reading=reading,
    )


def _cleaned(seen: _Seen, text: str) -> str:
    """Signs that are no part of the number taken away, no more than there are."""
    if seen.wrapped == seen.percent and not (seen.spaced or seen.negative):
        return f"rtrim({text}, ' %％')" if seen.percent else text
    return f"regexp_replace(replace({text}, '−', '-'), '[^0-9.,+-]|-\\s*$', '', 'g')"
