"""Text columns whose meaning lists what they may hold."""

from __future__ import annotations

import pytest
from document_world import column

from tasks.document.normalising.options import choose, options


@pytest.mark.parametrize(
    ("meaning", "expected"),
    [
        ("转让方式，枚举：协议转让/大宗交易/集中竞价", ("协议转让", "大宗交易", "集中竞价")),
        ("side of the trade, one of: buy, sell or hold", ("buy", "sell", "hold")),
        ("status (enum: open | closed)", ("open", "closed")),
        ("取值为“是”、“否”", ("是", "否")),
        ("name of the buyer", ()),
        ("value of the trade", ()),
    ],
)
def test_listed_values_are_taken_from_the_meaning(meaning: str, expected: tuple[str, ...]) -> None:
    assert options(column("c", task_meaning=meaning)) == expected


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("大宗交易", "大宗交易"),
        ("通过大宗交易方式", "大宗交易"),
        (" Buy ", "buy"),
        ("a buy order", "buy"),
        ("buyer", None),
        ("buy or sell", None),
        ("not a buy", None),
        ("并非大宗交易", None),
        ("特快列车", "特快列车"),
        ("坐特快列车", "特快列车"),
    ],
)
def test_a_text_is_the_one_listed_value_that_it_names(raw: str, value: str | None) -> None:
    found = choose(raw, ("buy", "sell", "大宗交易", "协议转让", "列车", "特快列车"))
    assert (found and found.value) == value
