"""Any text at all, in any column, gives a reading: of a value that is printed and read again alike, or of none, never an error."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.values.door import Context, read_value

PARTS = st.sampled_from(
    ["1", "2024", "03", "-", "/", ".", ",", " ", "年", "月", "日", "%", "万", "亿", "(", ")", "½", "²", "٣", "Ⅻ", "e5", "E", "+", "−",
     "about ", "约", "million", "USD", "¥", "\u3000", "\xa0", "\u200b", "\x00", "\ud800", "99999999999999999999", "NaN", "inf",
     "至", "to", "T", ":", "Q1", "民国", "half", "半", "第", "∞", "🙂", "\n"]
)  # fmt: skip
ANY = st.one_of(
    st.text(max_size=30),
    st.lists(PARTS, max_size=10).map("".join),
    st.text(st.characters(categories=["N", "P", "S", "Z", "C"]), max_size=20),
)
CONTEXTS = st.builds(
    Context,
    date_order=st.sampled_from(["", "DMY", "MDY"]),
    decimal=st.sampled_from([".", ","]),
    default_year=st.none() | st.integers(1, 9999),
    pivot=st.none() | st.integers(0, 99),
    edge=st.sampled_from(["", "start", "end"]),
    fiscal_start=st.none() | st.integers(1, 12),
    bare_unit=st.sampled_from(["", "percent", "万元"]),
    span=st.sampled_from(["", "low", "middle", "high"]),
    fall_is_negative=st.booleans(),
)
KINDS = st.sampled_from(["text", "integer", "number", "date", "datetime", "duration", "boolean"])
UNITS = st.sampled_from(["", "ratio", "percent", "元", "万元", "USD mn", "股", "kg", "天", "?", "\x00", "é" * 40])


@settings(max_examples=settings().max_examples * 6)
@given(raw=ANY, kind=KINDS, unit=UNITS, context=CONTEXTS)
def test_any_text_gives_a_reading_that_holds_its_type(raw: str, kind: Any, unit: str, context: Context) -> None:
    reading = read_value(raw, kind, unit, context)
    assert reading.raw == raw and (reading.value is None) == (reading.status != "verified")
    value = reading.value
    if value is None:
        return
    if kind in ("integer", "number"):
        assert isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        assert kind == "number" or isinstance(value, int)
    elif kind == "boolean":
        assert isinstance(value, bool)
    elif kind in ("date", "datetime"):
        assert isinstance(value, str)
        again = read_value(value, kind, "", Context())
        assert (again.status, again.value) == ("verified", value), (raw, value, again.note)


@given(value=st.integers(-(10**15), 10**15) | st.floats(-1e15, 1e15, allow_nan=False), decimal=st.sampled_from(".,"))
def test_a_number_as_it_is_printed_is_read_as_itself(value: float, decimal: Any) -> None:
    text = f"{value:.6f}" if isinstance(value, float) else str(value)
    text = text.replace(".", decimal)
    reading = read_value(text, "number", "", Context(decimal=decimal))
    assert reading.value is not None and reading.value == float(text.replace(",", ".")), (text, reading.note)
