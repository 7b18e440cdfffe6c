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
    ],
)
def test_a_unit_behind_what_was_copied_counts(quote: str, raw: str, unit: str, value: Any, status: str) -> None:
    reading = read_value(raw, "number", unit)
    made = complete(Source(raw=raw, quote=quote, line=1, section="s"), reading, "number", {raw: reading})
    assert (made.value, made.status, made.raw) == (value, status, raw)
