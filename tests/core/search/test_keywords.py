"""Keywords of questions in both languages; the whole question is the last."""

from __future__ import annotations

import pytest

from tasks.core.search.keywords import keywords

KNOWN = ["华北", "北京用户", "订单金额", "管理规模"]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("统计华北地区的销售总额", ["统计", "华北地区", "销售总额"]),
        ("2023年北京用户的平均订单金额是多少？", ["2023年", "北京用户", "平均订单金额"]),
        ("查询华北区域平均订单金额", ["查询", "华北", "区域平均", "订单金额"]),
        ("各门店每月的销售额和毛利率", ["门店", "销售额", "毛利率"]),
        ("哪些项目涉及参与人数的总和", ["项目涉及参与人数", "总和"]),
        ("What is the total revenue of United Airlines in 2023?", ["total revenue", "United Airlines", "2023"]),
        ("GMV of 华北, please", ["GMV", "华北"]),
        ("What is it?", []),
    ],
)
def test_keywords_of_a_question(question: str, found: list[str]) -> None:
    assert keywords(question, KNOWN) == (*found, question)


def test_nothing_has_no_keywords_and_one_word_is_the_question() -> None:
    assert keywords("") == ()
    assert keywords("销售额") == ("销售额",)


def test_a_very_long_question_has_few_keywords() -> None:
    assert len(keywords("的".join(f"词语{n}" for n in range(500)))) == 25
