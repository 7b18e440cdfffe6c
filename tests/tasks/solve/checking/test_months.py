"""Months and quarters of a question, and the days that bound them."""

from __future__ import annotations

import pytest

from tasks.solve.checking.months import bounds, periods


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How many orders were placed in February?", {(2, 2)}),
        ("2月份有多少订单？", {(2, 2)}),
        ("十二月和第一季度的销售额", {(12, 12), (1, 3)}),
        ("sales of the last quarter against Q2", {(10, 12), (4, 6)}),
        ("How many orders are there?", set()),
    ],
)
def test_the_periods_that_a_question_names(question: str, named: set[tuple[int, int]]) -> None:
    assert periods(question) == named


@pytest.mark.parametrize(
    ("text", "named", "year"),
    [
        ("2024-02-01", {(2, 2)}, 2024),
        ("2024-02-29", {(2, 2)}, 2024),
        ("2024-03-01", {(2, 2)}, 2024),
        ("2024-02-28", {(2, 2)}, None),
        ("2025-01-01", {(10, 12)}, 2024),
        ("2024-02", {(1, 3)}, 2024),
        ("9999-12-31", {(12, 12)}, 9999),
        ("0001-01-01", {(1, 1)}, 1),
        ("2月", {(2, 2)}, None),
    ],
)
def test_the_days_that_bound_them(text: str, named: set[tuple[int, int]], year: int | None) -> None:
    assert bounds(text, named) == year
