"""The whole number that a copied part stands in, and what the library makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.core.models.document import PlanColumn
from tasks.core.values.door import read_value
from tasks.document.extracting.owner import Naming
from tasks.document.extracting.quote import find, nearest

PARTS: list[tuple[str, str, str, str, Any]] = [
    ("5", "it sold 5 to 6 million units", "units", "5 to 6 million", None),
    ("6 million", "it sold 5 to 6 million units", "units", "5 to 6 million", None),
    ("12", "It sold 12-15 chairs.", "", "12-15", None),
    ("15", "It sold 12–15 chairs.", "", "12–15", None),
    ("3", "销售3至5件", "件", "3至5", None),
    ("5", "销售3～5件", "件", "3～5", None),
    ("20", "between 20 and 30 tonnes", "t", "between 20 and 30", None),
    ("30", "between 20 and 30 tonnes", "t", "between 20 and 30", None),
    ("5", "10 or 5 of them", "", "10 or 5", None),
    ("1", "1/3 of the stock", "ratio", "1/3", 1 / 3),
    ("3", "1/3 of the stock", "", "1/3", None),
    ("1/2", "2 1/2 hours", "hours", "2 1/2", None),
    ("2", "2½ hours", "hours", "2½", 2.5),
    ("12", "12 dozen eggs", "", "12 dozen", 144),
    ("5", "5 thousand million dollars", "USD", "5 thousand million", 5 * 10**9),
    ("5 thousand", "5 thousand million dollars", "USD", "5 thousand million", 5 * 10**9),
    ("two", "two thirds of it", "ratio", "two thirds", 2 / 3),
    ("five", "twenty-five of them", "", "twenty-five", 25),
    ("five hundred", "five hundred and two men", "", "five hundred and two", 502),
    ("two", "five hundred and two men", "", "five hundred and two", 502),
    ("half", "half a million shares", "shares", "half a million", 500000),
    ("9", "net profit was (9) million", "USD", "(9) million", -9 * 10**6),
    ("9", "| Beta | (9) |", "", "(9)", -9),
    ("五", "占百分之五", "ratio", "百分之五", 0.05),
    ("三", "占三分之一", "ratio", "三分之一", 1 / 3),
    ("5", "占5成", "ratio", "5成", 0.5),
    ("5万", "5万亿元", "元", "5万亿", 5 * 10**12),
    ("1.2", "1.2×10^6 of them", "", "1.2×10^6", 1_200_000),
    ("5", "at minus 5 degrees", "", "minus 5", -5),
    ("5", "气温零下5度", "℃", "零下5", -5),
]
WHOLE = [
    ("3", "从3至5件"),
    ("5", "由3至5件"),
    ("12", "chair 4 - 12 sold"),
    ("7", "on 2024-03-05 it sold 7"),
    ("3", "3件至今"),
    ("7", "7 - the most so far"),
    ("9", "sold nine chairs (9)"),
    ("8.67", "19m shares (8.67)"),
    ("two", "five and two men"),
    ("12", "12 to Alpha, 30 to Beta"),
    ("2020", "in 2020-21"),
    ("5", "5成功"),
    ("12", "12 and 30"),
]


@pytest.mark.parametrize(("raw", "line", "unit", "expected", "value"), PARTS)
def test_a_part_of_a_number_is_kept_as_the_whole(raw: str, line: str, unit: str, expected: str, value: Any) -> None:
    place = find(raw, Naming(line), kind="number")
    assert place and place.written == expected
    reading = read_value(place.written, "number", unit)
    assert (reading.value, reading.status) == (value, "unverified" if value is None else "verified")


@pytest.mark.parametrize(("raw", "line"), WHOLE)
def test_a_number_of_its_own_stays_as_it_is(raw: str, line: str) -> None:
    place = find(raw, Naming(line), kind="number")
    assert place and (place.written, place.doubt) == (raw, "")


def test_a_size_behind_the_second_number_leaves_the_first_in_doubt() -> None:
    first, second = (find(raw, Naming("rose from 5 to 6 million"), kind="number") for raw in ("5", "6"))
    assert first and first.written == "5" and first.doubt.startswith("a size may be left out")
    assert second and (second.written, second.doubt) == ("6 million", "")


@pytest.mark.parametrize(
    ("raw", "line", "expected"),
    [
        ("March 2020", "on 5 March 2020", "5 March 2020"),
        ("5 March", "on 5 March 2020 it", "5 March 2020"),
        ("2020", "on May 5, 2020", "May 5, 2020"),
        ("3月5日", "于2021年3月5日成交", "2021年3月5日"),
        ("2021", "2021-05-06", "2021-05-06"),
        ("March 2020", "in March 2020", "March 2020"),
    ],
)
def test_a_part_of_a_date_is_kept_as_the_whole(raw: str, line: str, expected: str) -> None:
    place = find(raw, Naming(line), kind="date")
    assert place and place.written == expected


def test_a_text_column_keeps_what_was_copied() -> None:
    place = find("5", Naming("grade 5 or 6"), kind="text")
    assert place and place.written == "5"


@pytest.mark.parametrize(
    ("raw", "line", "written"),
    [
        ("one", "Pace forty-one and passing twelve; he scored one goal.", "one"),
        ("Three", "Potential of seventy-three. Three goals in all.", "Three"),
        ("two", "Five hundred and two men came with two dogs.", "two"),
        ("forty", "It has forty-one chairs and forty tables.", "forty"),
        ("five hundred", "Five hundred and two men, then five hundred more.", "five hundred"),
        ("five", "It holds five hundred; five are red.", "Five hundred"),
        ("5", "Between 5 and 6 million, in 5 shops.", "Between 5 and 6 million"),
    ],
)
def test_a_number_of_its_own_counts_before_the_end_of_a_longer_one(raw: str, line: str, written: str) -> None:
    place = find(raw, Naming(line), kind="number")
    assert place and place.written.casefold() == written.casefold() and not place.within


GOALS = PlanColumn(name="goals", doc_meaning="goals", task_meaning="goals", type="integer")


def test_a_number_of_its_own_counts_in_another_line_too() -> None:
    lines = {1: Naming("A pace of forty-one."), 2: Naming("He scored one goal.")}
    found = nearest("one", 1, lines, column=GOALS)
    assert found and (found[0], found[1].written) == (2, "one")
    only = nearest("one", 1, {1: lines[1]}, column=GOALS)
    assert only and (only[1].written, only[1].within) == ("forty-one", True)
