"""Values beside whose place the line says the opposite of what the column holds."""

from __future__ import annotations

import re

import pytest

from tasks.core.models.document import ColumnType, PlanColumn
from tasks.document.extracting.owner import Naming
from tasks.document.extracting.quote import find, nearest
from tasks.document.extracting.sides import opposite

LINES: list[tuple[str, ColumnType, str, dict[str, bool]]] = [
    ("shares held before the deal", "integer", "It held 500 before the deal and 300 after it.", {"500": False, "300": True}),
    ("shares held after the deal", "integer", "It held 500 before the deal and 300 after it.", {"500": True, "300": False}),
    ("交易之前的持股", "integer", "期初持股500股，期末持股300股。", {"500": False, "300": True}),
    ("交易后持股", "integer", "交易后为300股，交易前５００股。", {"300": False, "５００": True}),
    ("持股数量", "integer", "期初持股500股，期末持股300股。", {"500": False, "300": False}),
    ("change from before to after", "integer", "It held 500 before the deal.", {"500": False}),
    ("value on admission", "number", "It fell to 51 at discharge, from 74 on admission.", {"51": True, "74": False}),
    ("入院时数值", "number", "出院时降为51，入院时74。", {"51": True, "74": False}),
    ("day of departure", "date", "arrival on 2019-11-12, having sailed on 2019-10-27", {"2019-11-12": True, "2019-10-27": False}),
    ("port of arrival", "text", "loaded in Lindau, bound for Bregenz", {"Lindau": True, "Bregenz": False}),
    ("return in the third quarter", "number", "1.2% (second quarter), 1.3% (third quarter), Q4 1.4%", {"1.2%": True, "1.3%": False, "1.4%": True}),
    ("三季度收益率", "number", "第二季度为1.2%，第三季度为1.3%，第四季度录得1.4%", {"1.2%": True, "1.3%": False, "1.4%": True}),
    ("return in the third quarter", "number", "first 1.1%, then 1.2%, at last 1.3%", {"1.1%": False, "1.2%": False, "1.3%": False}),
    ("return in the third quarter", "number", "it made 1.3% in the last quarter", {"1.3%": False}),
    ("units redeemed", "integer", "40 subscribed, redemptions of 30", {"40": True, "30": False}),
    ("本月等级", "text", "上月为甲级，本月为乙级", {"甲级": True, "乙级": False}),
    ("club before the window", "text", "after time with Wansford, now at Leyburn", {"Wansford": False, "Leyburn": False}),
    ("实际招生", "integer", "计划招生50人，实招48人", {"50": True, "48": False}),
    ("highest temperature", "number", "the lowest was 12 and the highest 31", {"12": True, "31": False}),
]  # fmt: skip


@pytest.mark.parametrize(("meaning", "kind", "line", "expected"), LINES)
def test_words_beside_a_value_that_name_the_other_side_leave_it_in_doubt(
    meaning: str, kind: ColumnType, line: str, expected: dict[str, bool]
) -> None:
    for value, is_opposite in expected.items():
        at = re.search(re.escape(value), line)
        assert at and bool(opposite(line, *at.span(), kind, meaning)) == is_opposite, value


def test_of_two_equal_values_the_one_on_the_columns_side_is_quoted() -> None:
    line = Naming("上月评为乙级，达标；本月评为乙级，达标。")
    found = [nearest("乙级", 1, {1: line}, "", column(meaning)) for meaning in ("上月等级", "本月等级", "等级")]
    assert [(place[1].start, place[1].doubt) for place in found if place] == [(4, ""), (14, ""), (4, "")]


def test_a_value_that_stands_on_the_other_side_alone_is_doubted() -> None:
    found = nearest("乙级", 1, {1: Naming("上月评为乙级。")}, "", column("本月等级"))
    assert found and found[1].doubt == "the words beside it say the last one, where the column is about this one"


def column(meaning: str) -> PlanColumn:
    return PlanColumn(name="grade", doc_meaning="", task_meaning=meaning)


@pytest.mark.parametrize(
    ("raw", "line", "is_doubted"),
    [
        ("14.7%", "Quarter by quarter: Q1 (14.7%), Q2 -16.0%, Q3 (1.9%)", True),
        ("1.9%", "the record, latest first, reads (10.3%) (fourth quarter), (1.9%) (first quarter)", True),
        ("0.32%", "四至六月（0.32%），七月以后为正", True),
        ("(14.7%)", "Q1 (14.7%), Q2 -16.0%", False),
        ("8.6%", "sold 19 million (8.6%) of it", False),
        ("15.1%", "持有三千万股（15.1%）", False),
        ("9", "nine chairs (9)", False),
        ("12", "open on Monday (12 hours)", False),
        ("-3", "the result (-3)", False),
    ],
)
def test_a_number_whose_brackets_were_left_out_is_doubted(raw: str, line: str, is_doubted: bool) -> None:
    place = find(raw, Naming(line), kind="number")
    assert place and bool(place.doubt) == is_doubted
