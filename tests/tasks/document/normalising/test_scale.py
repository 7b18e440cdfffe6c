"""Sizes that do not fit their column."""

from __future__ import annotations

from typing import Any

import pytest
from document_world import column

from tasks.core.models.document import Reading
from tasks.document.normalising.scale import check, is_bare


def doubted(unit: str, *values: Any, derived: tuple[str, ...] = ()) -> list[str]:
    """Raw texts whose reading is no longer believed, of (raw, value) pairs."""
    readings = [Reading(raw=r, value=v, status="derived" if r in derived else "verified") for r, v in values]
    checked = check(column("c", "number", unit), readings)
    assert [r.value for r in checked] == [v for _, v in values]
    assert all(r.note for r in checked if r.status == "unverified")
    return [r.raw for r in checked if r.status == "unverified"]


def test_a_bare_number_above_one_is_no_ratio() -> None:
    assert doubted("ratio", ("1.55%", 0.0155), ("1.55", 1.55), ("0.3", 0.3), ("250%", 2.5)) == ["1.55", "0.3"]
    assert doubted("ratio", ("12.5", 12.5), ("30.1", 30.1), ("0.9", 0.9)) == ["12.5", "30.1", "0.9"]
    assert doubted("ratio", ("12.5", None), ("0.9", 0.9), ("3%", 0.03)) == ["0.9"]
    assert doubted("ratio", ("12.5", None), *((f"0.{n}", n / 100) for n in range(10, 30))) == []
    assert doubted("ratio（小数比例）", ("0.1", 0.1), ("0.9", 0.9)) == []


def test_a_bare_number_far_off_those_with_a_unit_is_doubted() -> None:
    clear = [("120万元", 1.2e6), ("95万元", 9.5e5), ("3百万元", 3e6)]
    assert doubted("元", *clear, ("120", 120.0), ("1,100,000", 1.1e6)) == ["120"]
    assert doubted("元", *clear[:2], ("120", 120.0)) == []


def test_among_bare_numbers_only_a_thousandfold_is_doubted() -> None:
    usual = [(str(n), n) for n in range(10_000, 19_000, 1000)]
    assert doubted("股", *usual, ("7", 7), ("150", 150), ("0", 0)) == []
    assert doubted("股", *usual, ("7", 7)) == ["7"]


def test_what_model_code_read_is_doubted_even_with_its_unit() -> None:
    usual = [("1 dozen", 12), ("2 dozen", 24), ("5 dozen", 60)]
    assert doubted("", *usual, ("a gross gross", 20736), derived=("a gross gross",)) == ["a gross gross"]
    assert doubted("", *usual, ("a gross", 144), derived=("a gross",)) == []


@pytest.mark.parametrize(
    ("raw", "bare"),
    [("1,234.5", True), ("约 12", True), ("(5)", True), ("-3", True), ("5%", False), ("5股", False), ("3m", False)],
)
def test_a_number_is_bare_without_any_unit(raw: str, bare: bool) -> None:
    assert is_bare(raw) is bare
