"""Expressions are foreign code: stopped when they take long, refused when they say nothing, kept within a sentence."""

from __future__ import annotations

import pytest

from tasks.core.models.patterns import Pattern
from tasks.document.learning.match import Matcher


def value(text: str, column: str = "price") -> Pattern:
    return Pattern(kind="value", column=column, text=text)


def found(line: str, *patterns: Pattern) -> list[str]:
    return [line[slice(*match.value)] for match in Matcher(patterns, 30).matches(line)]


@pytest.mark.parametrize(
    ("line", "text", "values"),
    [
        (
            "A1 went for 12 euros, A1 sold for 30 euros.",
            r"(?:went|sold) for (?P<value>\d+ euros)",
            ["12 euros", "30 euros"],
        ),
        ("单价为 12.5 元，另付 3 元。", r"单价为(?P<value>[^，]+)，", ["12.5 元"]),
        (
            "It belongs to Otto Rask. The rest is old.",
            r"belongs to (?P<value>[A-Z][\w.]+(?: [A-Z][\w.]+)*)",
            ["Otto Rask"],
        ),
        ("It is old. Ada Brandt keeps it.", r"^(?P<value>[A-Z]\w+ [A-Z]\w+) keeps", ["Ada Brandt"]),
        ("The price is 12. Paid in May.", r"price.*(?P<value>May)", []),
        ("价格未定。五月付款12元。", r"价格.*?(?P<value>\d+元)", []),
    ],
)
def test_a_pattern_finds_values_within_one_sentence(line: str, text: str, values: list[str]) -> None:
    assert found(line, value(text)) == values


@pytest.mark.parametrize(
    "name", ["No. 7 cost 12 euros", "M. Rask (7) cost 12 euros", "Mr. Rask cost 12 euros", "Mar. 5 cost 12 euros"]
)
def test_the_point_of_an_initial_or_a_short_word_ends_no_sentence(name: str) -> None:
    assert found(name, value(r"(?:No|M|Mr|Mar)\. .*? cost (?P<value>\d+ euros)")) == ["12 euros"]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (value(r"(?P<value>.*)"), "any text"),
        (value(r"cost \d+"), "named group"),
        (value(r"(?P<value>\d+) (?P<unit>kg)"), "named group"),
        (value(r"(?P<value>\d+"), "missing )"),
        (value("x" * 700), "longer"),
        (Pattern(kind="other", text=r".*"), "any text"),
        (Pattern(kind="other", text=r"(?P<value>\d)"), "no named group"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(pattern: Pattern, why: str) -> None:
    matcher = Matcher([pattern, value(r"cost (?P<value>\d+)")], 30)
    assert why in matcher.refused[0] and list(matcher.refused) == [0]
    assert [match.pattern for match in matcher.matches("it cost 12")] == [1]


def test_an_expression_that_never_ends_is_stopped_and_finds_nothing_more() -> None:
    matcher = Matcher([value(r"(?P<value>(?:xy|xyxy)+)$"), value(r"(?P<value>b)$")], 30)
    assert [match.pattern for match in matcher.matches("xyxy")] == [0]
    assert [match.pattern for match in matcher.matches("xy" * 80 + "b")] == [1]
    assert "too long" in matcher.refused[0] and not matcher.matches("xyxy")


def test_the_time_of_all_lines_together_is_bounded_too() -> None:
    matcher = Matcher([value(r"(?P<value>b)$")], 0.0)
    assert matcher.matches("b") and not matcher.matches("b")
    assert matcher.refused == {0: "it takes too long on this text"}
