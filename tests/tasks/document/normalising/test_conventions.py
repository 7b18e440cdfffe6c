"""What the rules and the other raw texts of a column say about how to read it."""

from __future__ import annotations

from typing import Any

import pytest
from document_world import column

from tasks.core.models.document import PlanColumn
from tasks.core.values.door import read_value
from tasks.document.normalising.conventions import infer
from tasks.document.normalising.stated import stated_words

DAY, AMOUNT = column("day", "date"), column("amount", "number", "元")


@pytest.mark.parametrize(
    ("about", "raws", "rules", "name", "expected"),
    [
        (DAY, ["03/04/2021", "25/04/2021"], "", "date_order", "DMY"),
        (DAY, ["03/04/2021", "04/25/2021"], "", "date_order", "MDY"),
        (DAY, ["25/04/2021", "04/25/2021"], "", "date_order", ""),
        (DAY, ["03/04/2021"], "", "date_order", ""),
        (DAY, ["03/04/2021"], "Dates are written DD/MM/YYYY.", "date_order", "DMY"),
        (DAY, ["3/4/21"], "日期的写法为月/日/年", "date_order", "MDY"),
        (DAY, ["24年3月1日"], "8. 日期统一为 YYYY-MM-DD；两位年份均指 20xx 年。", "pivot", 99),
        (DAY, ["3/4/21"], "Two-digit years mean 20xx.", "pivot", 99),
        (DAY, ["3/4/21"], "Two-digit years are 19xx", "pivot", -1),
        (DAY, ["3/4/21"], "Years 00-49 mean 20xx, 50-99 mean 19xx.", "pivot", 49),
        (DAY, ["3/4/21"], "", "pivot", None),
        (DAY, ["3月1日"], "未写年份的日期均为2023年", "default_year", 2023),
        (DAY, ["March 1"], "Dates without a year are in 2022.", "default_year", 2022),
        (DAY, ["3月1日", "2024年1月2日", "2024-03-04", "2024/5/6"], "", "default_year", 2024),
        (DAY, ["March 1", "May 2, 2024", "June 3, 2023", "July 4, 2024"], "", "default_year", None),
        (DAY, ["3月1日", "2024年1月2日"], "", "default_year", None),
        (AMOUNT, ["1.234,56", "12,5"], "", "decimal", ","),
        (AMOUNT, ["1,234.56", "12,5"], "", "decimal", "."),
        (AMOUNT, ["1,234", "1.234"], "", "decimal", "."),
        (column("a", "number", "元", doc_meaning="金额（万元）"), ["5"], "", "bare_unit", "万元"),
        (column("a", "number", "ratio", doc_meaning="share (%)"), ["5"], "", "bare_unit", "%"),
        (AMOUNT, ["5"], "未注明单位的金额为万元", "bare_unit", "万元"),
        (AMOUNT, ["5"], "Numbers without a unit are in thousands.", "bare_unit", "thousands"),
        (AMOUNT, ["5"], "", "bare_unit", ""),
        (column("a", "integer", "股", doc_meaning="出让方（转出一方）持股数量"), ["5"], "", "bare_unit", ""),
        (
            column("a", "integer", "股", doc_meaning="出让方（转出一方）持股数量（万股）"),
            ["5"],
            "",
            "bare_unit",
            "万股",
        ),
        (column("a", "number", "元", doc_meaning="amount (2023)"), ["5"], "", "bare_unit", ""),
        (column("a", "number", "HKD"), ["$5"], "", "dollar", "HKD"),
        (column("a", "number", "C$ m"), ["$5"], "", "dollar", "CAD"),
        (AMOUNT, ["$5"], "", "dollar", "USD"),
        (
            column("a", "number", "%", task_meaning="第一季度净值增长率，可为负"),
            ["下跌3%"],
            "",
            "fall_is_negative",
            True,
        ),
        (
            column("a", "number", "%", task_meaning="max drawdown, positive number"),
            ["3%"],
            "",
            "fall_is_negative",
            False,
        ),
        (
            AMOUNT,
            ["3%"],
            "brackets, minus signs, “fell” and “minus” all mean a negative value",
            "fall_is_negative",
            True,
        ),
        (AMOUNT, ["3%"], "", "fall_is_negative", False),
        (column("d", "number", "%", task_meaning="库存降幅"), ["3%"], "", "fall_is_positive", True),
        (column("d", "number", "EUR", task_meaning="Gain or loss"), ["3"], "", "fall_is_positive", False),
        (column("d", "number", "EUR", task_meaning="Loss by fire"), ["3"], "", "fall_is_positive", True),
        (column("d", "date", task_meaning="last day of the quarter"), ["Q3 2024"], "", "edge", "end"),
        (column("d", "date", task_meaning="季度首日"), ["2024年三季度"], "", "edge", "start"),
        (DAY, ["Q3 2024"], "", "edge", ""),
        (column("d", "date", task_meaning="First day of the fair"), ["2024"], "", "edge", ""),
        (column("d", "date", task_meaning="上市首日"), ["2024年"], "", "edge", ""),
        (DAY, ["FY2024"], "The fiscal year starts in July.", "fiscal_start", 7),
        (DAY, ["2024财年"], "财年从4月开始", "fiscal_start", 4),
        (DAY, ["FY2024"], "", "fiscal_start", None),
    ],
)
def test_a_convention_is_taken_where_it_is_said_or_shown(
    about: PlanColumn, raws: list[str], rules: str, name: str, expected: Any
) -> None:
    assert getattr(infer(about, raws, rules), name) == expected


@pytest.mark.parametrize(
    ("rules", "zero", "null"),
    [
        ("“未检出”“低于检出限”记为 0；限值不是监测值。", ("未检出", "低于检出限"), ()),
        ("“全部卖出”等表述对应数值 0，而“保密”对应空值（NULL）。", ("全部卖出",), ("保密",)),
        ("A free entry means price = 0; an unknown price is NULL.", ("free entry",), ("unknown price",)),
        ("Not told, secret or not mentioned means NULL, never 0.", (), ("Not told", "secret", "not mentioned")),
        ("3. 不详、暂缺以及未提及的字段为空（NULL），不得填 0。", (), ("不详", "暂缺", "未提及")),
        ("“未检出”“低于检测下限”记 0", ("未检出", "低于检测下限"), ()),
        ("Undetectable should be recorded as zero.", ("Undetectable",), ()),
        ("The share of the part is 0.0155, and the limit is 0.5%.", (), ()),
        ("Zero and NULL differ. NULL does not enter sums.", (), ()),
    ],
)
def test_words_for_zero_and_for_no_value_are_those_that_the_rules_state(
    rules: str, zero: tuple[str, ...], null: tuple[str, ...]
) -> None:
    assert stated_words(rules) == (zero, null)


@pytest.mark.parametrize(
    ("meaning", "raw", "value"),
    [
        ("C-reactive protein, undetectable is stored as 0", "not detected", 0),
        ("氨氮，未检出记 0", "低于检出限", 0),
        ("Transfer fee; a free transfer is 0", "a free transfer", 0),
        ("第一季度净值增长率，可为负", "下跌4.34", -4.34),
        ("Quarterly return", "fell by 4.34", -4.34),
        ("存货变动率", "下降4.34", -4.34),
        ("Net gain or loss of the year", "a loss of 4.34", -4.34),
        ("Number of returned goods", "fell by 4", None),
        ("Number of goals", "fell by 4", None),
        ("Transfer fee", "free", None),
    ],
)
def test_a_meaning_gives_signs_and_zeros(meaning: str, raw: str, value: float | None) -> None:
    about = column("x", "number", task_meaning=meaning)
    assert read_value(raw, "number", "", infer(about, [raw], "")).value == value


@pytest.mark.parametrize(
    ("raws", "raw", "value"),
    [
        (("31/03/1992", "03/04/1993"), "03/04/1993", "1993-04-03"),
        (("03/31/1992", "03/04/1993"), "03/04/1993", "1993-03-04"),
        (("31/03/1992", "03/31/1993", "03/04/1993"), "03/04/1993", None),
        (("03/04/1993",), "03/04/1993", None),
        (("2018年5月6日", "18年5月26日"), "18年5月26日", "2018-05-26"),
        (("6 May 2018", "26 May 18"), "26 May 18", "2018-05-26"),
        (("1961-01-02", "2004-02-03", "88年5月6日"), "88年5月6日", "1988-05-06"),
        (("18年5月26日",), "18年5月26日", None),
    ],
)
def test_other_dates_settle_order_and_century(raws: tuple[str, ...], raw: str, value: str | None) -> None:
    assert read_value(raw, "date", "", infer(DAY, raws, "")).value == value


PRICE = column("shelf_price", "number", "USD", doc_meaning="Shelf price of a box")
LENGTH = column("管长", "number", "米", doc_meaning="管道长度")


@pytest.mark.parametrize(
    ("about", "rules", "span"),
    [
        (PRICE, "给出区间的，取其中点。", "middle"),
        (PRICE, "If the price is a range, its midpoint is stored.", "middle"),
        (PRICE, "范围取下限", "low"),
        (PRICE, "Reference ranges are no results.", ""),
        (PRICE, "4. Where a range is quoted, use its upper end.", "high"),
        (PRICE, "Where the height is a range, its midpoint is stored.", ""),
        (LENGTH, "管道长度为区间的，取中点。", "middle"),
        (LENGTH, "管道口径为区间的，取中点。", ""),
        (LENGTH, "原文给出区间的，取区间中点；管道长度为范围的，取下限。", "low"),
        (PRICE, "Ranges are stored as their midpoint. Where the shelf price is a range, its lower end is stored.", "low"),
        (PRICE, "Where the height is a range, its lower end is stored. Ranges are stored as their mean.", "middle"),
        (PRICE, "Ranges are never replaced by their mean.", ""),
        (PRICE, "A range means its lower end. A range means its upper end.", ""),
        (PRICE, "shelf_price: ranges take the midpoint", "middle"),
        (column("company_count", "number"), "Where the count of companies is a range, its upper end is stored.", "high"),
    ],
)  # fmt: skip
def test_a_rule_about_ranges_holds_for_what_it_names(about: PlanColumn, rules: str, span: str) -> None:
    assert infer(about, [], rules).span == span


@pytest.mark.parametrize(
    ("meaning", "unit", "raw", "value"),
    [
        ("Part of the waste that is recycled", "ratio", "nothing was recycled", 0),
        ("Part of the waste that is recycled", "ratio", "No part of the rubbish was recycled.", 0),
        ("Part of the waste that is recycled", "ratio", "nothing was disclosed", None),
        ("Part of the waste that is recycled", "ratio", "no share was recorded", None),
        ("Part of the waste that is recycled", "ratio", "nothing was burnt", None),
        ("本期破损包裹占比", "ratio（小数比例）", "没有包裹破损", 0),
        ("本期破损包裹占比", "%（裸数）", "无破损", 0),
        ("本期破损包裹占比", "%（裸数）", "没有占比", None),
        ("本期破损包裹占比", "%（裸数）", "没有给出破损包裹占比", None),
        ("本期破损包裹占比", "%（裸数）", "没有包裹丢失", None),
        ("Entry fee of the race", "EUR", "cost nothing in entry fees", 0),
        ("Entry fee of the race", "EUR", "no fee was charged", 0),
        ("Entry fee of the race", "EUR", "no fee was disclosed", None),
        ("Ticket price", "EUR", "no price was recorded", None),
        ("Wet weight", "kg", "no weight was recorded", None),
        ("单价", "元", "没有单价", None),
        ("Shares sold", "shares", "no shares were disclosed", None),
        ("Shares sold", "shares", "no shares were sold", 0),
        ("Price change", "percent", "no change", None),
        ("Goals of the cup", "goals", "she never scored", 0),
        ("Wins in the league", "wins", "did not win a single time", None),
        ("Wins in the league", "wins", "failed to win all season", 0),
        ("Wins in the league", "wins", "never scored", None),
        ("Goals of the cup", "goals", "did not disclose", None),
        ("Goals of the cup", "goals", "did not score many goals", None),
    ],
)
def test_a_denial_of_what_the_column_holds_is_zero(meaning: str, unit: str, raw: str, value: float | None) -> None:
    about = column("x", "number", unit, task_meaning=meaning, doc_meaning=meaning)
    assert read_value(raw, "number", unit, infer(about, [raw], "")).value == value


@pytest.mark.parametrize(
    ("rules", "raw", "value"),
    [
        ("“全部外包”表示 0", "全部工序外包", 0),
        ("“全部外包”表示 0", "全部不外包", None),
        ("“全部外包”表示 0", "全部九道外包", None),
        ("“No claims” and “nobody fell ill” mean 0.", "no claims were received", 0),
        ("“No claims” and “nobody fell ill” mean 0.", "nobody has fallen", None),
        ("“No claims” and “nobody fell ill” mean 0.", "no claims were disclosed", None),
    ],
)
def test_words_for_zero_may_be_written_fuller(rules: str, raw: str, value: float | None) -> None:
    assert read_value(raw, "number", "", infer(column("x", "number"), [raw], rules)).value == value
