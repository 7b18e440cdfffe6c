"""For every notation: what is written from a value is read back as that value, or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation import WIDE, decimal, grouped, han, han_decimal, mixed, words

from tasks.core.values.door import Context, read_value

WHOLE = st.one_of(
    st.integers(0, 30),
    st.integers(0, 20_000),
    st.integers(0, 10**12),
    st.builds(lambda a, b: a * 10**b, st.integers(1, 99), st.integers(0, 10)),
)
PARTS = st.builds(lambda a, b: Fraction(a, 10**b), st.integers(0, 10**7), st.integers(0, 5))
DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))


def _mixed_ok(number: int) -> str:
    return mixed(number) if not (number > 10**4 and 0 < number % 10**4 < 10) else str(number)


COUNTS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "grouped": lambda n: grouped(Fraction(n)),
    "full width": lambda n: grouped(Fraction(n)).translate(WIDE),
    "with unit": lambda n: f"{n:,}股",
    "full width with unit": lambda n: f"{n}股".translate(WIDE),
    "Chinese": lambda n: han(n) + "股",
    "formal": lambda n: han(n, formal=True) + "股",
    "mixed": lambda n: _mixed_ok(n) + "股",
    "万": lambda n: decimal(Fraction(n, 10**4)) + "万股",
    "亿": lambda n: decimal(Fraction(n, 10**8)) + "亿股",
    "grouped 万": lambda n: grouped(Fraction(n, 10**4)) + "万股",
    "about": lambda n: f"约{han(n)}股",
    "words": lambda n: words(n) + " shares",
    "million": lambda n: f"{decimal(Fraction(n, 10**6))} million shares",
    "m": lambda n: f"{decimal(Fraction(n, 10**6))}m shares",
    "thousand": lambda n: f"about {decimal(Fraction(n, 10**3))} thousand shares",
    "scientific": lambda n: f"{n}e0",
    "power": lambda n: f"{decimal(Fraction(n, 10**3))}×10³",
    "spaces": lambda n: f"{grouped(Fraction(n), ' ')} shares",
    "brackets": lambda n: f"({n:,})",
}
MONEY: dict[str, tuple[str, Callable[[Fraction], str]]] = {
    "元": ("元", lambda x: decimal(x) + "元"),
    "万元": ("元", lambda x: decimal(x / 10**4) + "万元"),
    "亿元 to 万元": ("元", lambda x: decimal(x / 10**8) + "亿元"),
    "¥": ("元", lambda x: "¥" + grouped(x)),
    "RMB": ("元", lambda x: f"RMB {grouped(x)}"),
    "Chinese": ("元", lambda x: "人民币" + han_decimal(x) + "元"),
    "$": ("USD", lambda x: "$" + grouped(x)),
    "$m": ("USD", lambda x: f"${decimal(x / 10**6)}m"),
    "USD bn": ("USD", lambda x: f"USD {decimal(x / 10**9)} bn"),
    "dollars": ("USD", lambda x: f"{decimal(x / 10**3)} thousand US dollars"),
    "€": ("EUR", lambda x: "€" + grouped(x)),
    "bracketed": ("USD", lambda x: f"$({grouped(-x)})" if x < 0 else f"${grouped(x)}"),
}
SHARES: dict[str, Callable[[Fraction], str]] = {
    "%": lambda x: decimal(x * 100) + "%",
    "full width %": lambda x: (decimal(x * 100) + "%").translate(WIDE),
    "percent": lambda x: decimal(x * 100) + " per cent",
    "百分之": lambda x: "百分之" + han_decimal(x * 100),
    "千分之": lambda x: "千分之" + han_decimal(x * 1000),
    "‰": lambda x: decimal(x * 1000) + "‰",
    "bp": lambda x: decimal(x * 10000) + " bps",
    "基点": lambda x: decimal(x * 10000) + "个基点",
    "成": lambda x: decimal(x * 10) + "成" if x <= 1 else decimal(x * 100) + "%",
    "倍": lambda x: decimal(x) + "倍",
}
DATES: dict[str, Callable[[date], str]] = {
    "ISO": date.isoformat,
    "slashes": lambda d: f"{d.year}/{d.month}/{d.day}",
    "dots": lambda d: f"{d.year}.{d.month:02}.{d.day:02}",
    "compact": lambda d: f"{d:%Y%m%d}",
    "年月日": lambda d: f"{d.year}年{d.month}月{d.day}日",
    "号": lambda d: f"{d.year} 年 {d.month:02} 月 {d.day:02} 号",
    "Chinese": lambda d: (
        "".join("〇一二三四五六七八九"[int(c)] for c in str(d.year)) + f"年{han(d.month)}月{han(d.day)}日"
    ),
    "full width": lambda d: f"{d.year}年{d.month}月{d.day}日".translate(WIDE),
    "民国": lambda d: f"民国{d.year - 1911}年{d.month}月{d.day}日" if d.year > 1911 else d.isoformat(),
    "d Month y": lambda d: f"{d.day} {d:%B} {d.year}",
    "Mon. d, y": lambda d: f"{d:%b}. {d.day}, {d.year}",
    "Month dth, y": lambda d: f"{d:%B} {d.day}th, {d.year}",
    "the dth of Month y": lambda d: f"the {d.day}th of {d:%B} {d.year}",
    "d-Mon-y": lambda d: f"{d.day:02}-{d:%b}-{d.year}",
    "weekday": lambda d: f"{d:%A}, {d.day} {d:%B} {d.year}",
    "with time": lambda d: f"{d.isoformat()} 08:30",
}


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=120, deadline=None)
@given(number=WHOLE)
def test_counts_come_back(name: str, number: int) -> None:
    reading = read_value(COUNTS[name](number), "integer", "股")
    wanted = -number if name == "brackets" else number
    assert (reading.status, reading.value) == ("verified", wanted), (reading.raw, reading.note)


@pytest.mark.parametrize("name", MONEY)
@settings(max_examples=100, deadline=None)
@given(number=PARTS, target=st.sampled_from(["", "万", "亿"]))
def test_money_comes_back_exactly(name: str, number: Fraction, target: str) -> None:
    currency, write = MONEY[name]
    size = {"": 1, "万": 10**4, "亿": 10**8}[target]
    unit = (
        f"{target}{currency}"
        if currency == "元"
        else {"": currency, "万": f"{currency} mn", "亿": f"{currency} bn"}[target]
    )
    size = size if currency == "元" else {"": 1, "万": 10**6, "亿": 10**9}[target]
    reading = read_value(write(number), "number", unit)
    assert (reading.status, reading.value) == ("verified", float(number / size)), (reading.raw, unit, reading.note)


@pytest.mark.parametrize("name", SHARES)
@settings(max_examples=100, deadline=None)
@given(
    number=st.builds(lambda a, b: Fraction(a, 10**b), st.integers(0, 20_000), st.integers(2, 6)),
    unit=st.sampled_from(["ratio", "percent", "‰", "bp"]),
)
def test_shares_come_back_exactly(name: str, number: Fraction, unit: str) -> None:
    size = {"ratio": 1, "percent": 100, "‰": 1000, "bp": 10000}[unit]
    reading = read_value(SHARES[name](number), "number", unit)
    assert (reading.status, reading.value) == ("verified", float(number * size)), (reading.raw, unit, reading.note)


@pytest.mark.parametrize("name", DATES)
@settings(max_examples=80, deadline=None)
@given(day=DAYS)
def test_dates_come_back(name: str, day: date) -> None:
    reading = read_value(DATES[name](day), "date")
    assert (reading.status, reading.value) == ("verified", day.isoformat()), (reading.raw, reading.note)


@settings(max_examples=200, deadline=None)
@given(day=DAYS, order=st.sampled_from(["DMY", "MDY"]), mark=st.sampled_from("/-."))
def test_orders_are_decided_by_context_alone(day: date, order: str, mark: str) -> None:
    first, second = (day.day, day.month) if order == "DMY" else (day.month, day.day)
    raw = f"{first:02}{mark}{second:02}{mark}{day.year}"
    assert read_value(raw, "date", "", Context(date_order=order)).value == day.isoformat()
    assert read_value(raw, "date").value in (None, day.isoformat())


@settings(max_examples=300, deadline=None)
@given(
    number=st.builds(lambda a, b: Fraction(a, 10**b), st.integers(10**3, 10**10), st.integers(0, 4)),
    style=st.sampled_from([",.", ".,", " ,", "'."]),
)
def test_separators_never_shift_the_mark(number: Fraction, style: str) -> None:
    raw = grouped(number, style[0], style[1])
    reading = read_value(raw, "number")
    wanted = {None, float(number)}
    if style[1] == "," and re.fullmatch(r"[1-9]\d{0,2},\d{3}", raw):
        wanted = {float(raw.replace(",", ""))}  # groups, unless the context says that the comma is the decimal mark
    if style[0] == "." and re.fullmatch(r"\d{1,3}\.\d{3}", raw):
        wanted = {float(raw)}
    assert reading.value in wanted
    assert read_value(raw, "number", "", Context(decimal=style[1])).value == float(number)


@settings(max_examples=300, deadline=None)
@given(
    low=st.integers(1, 999),
    high=st.integers(1, 999),
    mark=st.sampled_from(["-", "–", "~", "至", "到", " to "]),
    unit=st.sampled_from(["", "%", "万元", "股"]),
)
def test_ranges_never_become_one_end(low: int, high: int, mark: str, unit: str) -> None:
    for raw in (f"{low}{mark}{high}{unit}", f"{low}{unit}{mark}{high}{unit}"):
        target = {"": "", "%": "ratio", "万元": "元", "股": "股"}[unit]
        assert read_value(raw, "number", target).value is None, raw


@settings(max_examples=1500, deadline=None)
@given(
    raw=st.text(
        alphabet="0123456789.,-+%‰()/ 万亿千百十零一二三五两点半分之成年月日约余股元$€¥mbnkeEtoandhalf×^", max_size=24
    ),
    unit=st.sampled_from(["", "ratio", "percent", "元", "万元", "USD", "股", "kg", "mg/L", "天"]),
    kind=st.sampled_from(["integer", "number", "date", "datetime", "duration", "boolean"]),
)
def test_any_text_gives_a_reading_and_never_an_error(raw: str, unit: str, kind: str) -> None:
    reading = read_value(raw, kind, unit)  # type: ignore[arg-type]
    assert reading.raw == raw and (reading.value is None) == (reading.status != "verified")
