"""Truth tables of `tests/cases/values`: what is read, to which value, and what must not be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tasks.core.models.document import ColumnType
from tasks.core.values.door import Context, read_value

CASES = Path(__file__).resolve().parents[2] / "cases" / "values"


def rows(name: str) -> list[tuple[str, ColumnType, str, str]]:
    lines = [line for line in (CASES / name).read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [tuple(part.strip() for part in line.rsplit("|", 3)) for line in lines]  # type: ignore[misc]


@pytest.mark.parametrize("raw,column_type,unit,value", [*rows("numbers.txt"), *rows("dates.txt")])
def test_reads_exactly(raw: str, column_type: ColumnType, unit: str, value: str) -> None:
    reading = read_value(raw, column_type, unit)
    assert reading.status == "verified", reading.note
    wanted: str | int | float = (
        value if column_type in ("date", "datetime") or value.startswith("P") else json.loads(value)
    )
    assert reading.value == wanted and reading.raw == raw


@pytest.mark.parametrize("raw,column_type,unit,words", rows("refused.txt"))
def test_refuses_what_has_no_one_reading(raw: str, column_type: ColumnType, unit: str, words: str) -> None:
    reading = read_value(raw, column_type, unit)
    assert (reading.status, reading.value) == ("unverified", None)
    assert reading.note and words in reading.note


@pytest.mark.parametrize("case", json.loads((CASES / "contexts.json").read_text("utf-8")), ids=lambda case: case["raw"])
def test_context_decides_what_the_text_leaves_open(case: dict) -> None:
    reading = read_value(case["raw"], case["type"], case.get("unit", ""), Context(**case["context"]))
    assert reading.value == case["value"]
    assert reading.status == case.get("status", "verified"), reading.note
    assert case.get("note", "") in reading.note


@pytest.mark.parametrize(
    "case", json.loads((CASES / "words.json").read_text("utf-8")), ids=lambda case: f"{case[0]}-{case[1]}"
)
def test_words_without_a_number(case: list) -> None:
    raw, column_type, unit, status, value = case
    reading = read_value(raw, column_type, unit)
    assert (reading.status, reading.value) == (status, value), reading.note


@pytest.mark.parametrize(
    "raw,unit,note",
    [("约697万股", "股", "about"), ("近697万股", "股", "nearly"), ("逾697万股", "股", "over"), ("697万余股", "股", "over"),
     ("nearly 6.97 million", "shares", "nearly"), ("over 6.97m shares", "shares", "over"), ("不足697万股", "股", "under"),
     ("(5)", "", "brackets"), ("0.02", "ratio", "taken as ratio"), ("3.5亿", "元", "taken as 元"), ("1.5个百分点", "percent", "percentage points"),
     ("$12.25", "USD per share", "taken as USD per share")],
)  # fmt: skip
def test_note_says_what_was_assumed(raw: str, unit: str, note: str) -> None:
    reading = read_value(raw, "number", unit)
    assert reading.status == "verified" and note in reading.note


def test_whole_values_are_int_and_others_float() -> None:
    assert isinstance(read_value("697万股", "integer", "股").value, int)
    assert isinstance(read_value("1.55%", "number", "ratio").value, float)
    assert repr(read_value("5‰", "number", "ratio").value) == "0.005"


def test_long_prose_and_hostile_texts_end_soon() -> None:
    for raw in (
        "1" * 10_000,
        "一" * 10_000,
        "9" * 190,
        "1,234" * 50,
        "(" * 150,
        "约" * 150,
        "百分之" * 60,
        "1e99999999",
        "and " * 45 + "5",
        "第" * 150,
    ):
        reading = read_value(raw, "number", "ratio")
        assert reading.value is None or isinstance(reading.value, int | float)


@pytest.mark.parametrize(
    "raw,unit,span,value",
    [("15,247平方米至17,193平方米", "平方米", "middle", 16220), ("约3-5万元", "元", "middle", 40000), ("3%~5%", "ratio", "low", 0.03), ("3-5%", "percent", "high", 5),
     ("between 3 and 5 million dollars", "USD", "middle", 4000000), ("5-3万元", "元", "middle", None), ("3-5万元", "元", "", None)],
)  # fmt: skip
def test_a_range_is_read_only_as_the_knowledge_says(raw: str, unit: str, span: str, value: float | None) -> None:
    assert read_value(raw, "number", unit, Context.model_validate({"span": span})).value == value
