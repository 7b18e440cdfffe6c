"""What a copied text left out and its quote still says."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.core.models.document import Source
from tasks.core.values.door import read_value
from tasks.document.storing.around import complete


@pytest.mark.parametrize(
    ("quote", "raw", "unit", "value", "status"),
    [
        ("The load came to 2.4 tonnes in May.", "2.4", "kg", 2400, "verified"),
        ("The load came to 2.4 kg in May.", "2.4", "kg", 2.4, "verified"),
        ("The load came to 2.4 in May.", "2.4", "kg", 2.4, "verified"),
        ("钙离子 9.2 mg/dL，偏低", "9.2", "mg/L", 92, "verified"),
        ("钙离子9.2毫克，偏低", "9.2", "mg/L", 9.2, "verified"),
        ("流速35升/秒", "35", "立方米/秒", 0.035, "verified"),
        ("the tank holds 35 litres and 2 barrels", "35", "kg", 35, "unverified"),
        ("fell to 2.4, then rose to 2.4 tonnes", "2.4", "kg", 2.4, "verified"),
        ("价格为35美元", "35", "元", 35, "unverified"),
        ("价格为$35，上月", "35", "元", 35, "unverified"),
        ("the fee was € 35 in May", "35", "EUR", 35, "verified"),
    ],
)
def test_a_unit_behind_what_was_copied_counts(quote: str, raw: str, unit: str, value: Any, status: str) -> None:
    reading = read_value(raw, "number", unit)
    made = complete(Source(raw=raw, quote=quote, line=1, section="s"), reading, "number", {raw: reading})
    assert (made.value, made.status, made.raw) == (value, status, raw)


@pytest.mark.parametrize(
    ("quote", "raw", "status"),
    [
        ("Store 4 did not sell 9 chairs;", "9", "unverified"),
        ("it sold 8, not 9.", "9", "unverified"),
        ("It wasn’t 9.", "9", "unverified"),
        ("销量并非9台。", "9", "unverified"),
        ("不是9，而是8", "8", "verified"),
        ("not 9 but 8", "8", "verified"),
        ("not only 9 chairs", "9", "verified"),
        ("It did not sell 9 at first; later it sold 9.", "9", "verified"),
        ("9 were not sold", "9", "verified"),
    ],
)
def test_a_number_that_its_sentence_denies_is_not_verified(quote: str, raw: str, status: str) -> None:
    reading = read_value(raw, "number", "")
    made = complete(Source(raw=raw, quote=quote, line=1, section="s"), reading, "number", {raw: reading})
    assert (made.value, made.status) == (reading.value, status)
