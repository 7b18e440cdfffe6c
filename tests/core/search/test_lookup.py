"""The index file: written with equal bytes, searched by words of both languages, values by their folded text."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tasks.core.search.index import Texts, Writer
from tasks.core.search.lookup import Lookup
from tasks.core.search.words import fold, spans, terms, words

VALUES = ["华北", "华东", "ＡＢＣ店", "O'Neil & Sons", 'a"b', "茶"]


def write(path: Path) -> Path:
    with Writer(path) as writer:
        writer.add(
            "column", "fact.amount", Texts("order_amount", "订单金额", "paid by the customer", "fact 订单事实表")
        )
        writer.add("column", "dim.region", Texts("region_name", "地区名称", "大区", "dim 地区维度表"))
        writer.add("column", "dim.note", Texts("note", "", "the amount of rain in a region", "dim"))
        writer.add("metric", "GMV", Texts("GMV", "销售总额\n成交额", "", "sum(order_amount)"))
        writer.add_values("dim.region", VALUES)
        writer.add_values("dim.note", ["华北", "华北"])
        assert writer.entries == 4 + len(VALUES)
    return path


@pytest.fixture
def lookup(tmp_path: Path) -> Lookup:
    return Lookup(write(tmp_path / "index.sqlite"))


def test_equal_additions_give_equal_bytes(tmp_path: Path) -> None:
    digests = {hashlib.sha256(write(tmp_path / name).read_bytes()).hexdigest() for name in ("a", "b")}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("text", "best"),
    [("How high is the order amount?", "fact.amount"), ("各地区的名称", "dim.region"), ("rainy regions", "dim.region")],
)
def test_a_name_counts_more_than_a_description(lookup: Lookup, text: str, best: str) -> None:
    assert lookup.search("column", words(text), 3)[0][0] == best


def test_metrics_are_found_by_their_aliases(lookup: Lookup) -> None:
    assert [ref for ref, _ in lookup.search("metric", words("统计华北地区的销售总额"), 3)] == ["GMV"]
    assert lookup.search("metric", words("unheard of"), 3) == []


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("统计华北地区的销售总额", ["华北"]),
        ("abc店有多少?", ["ＡＢＣ店"]),
        ("Sales of o'neil & sons in 华东", ["华东", "O'Neil & Sons"]),
        ('who is a"b?', ['a"b']),
        ("喝茶的人", ["茶"]),
        ("the 西北", []),
    ],
)
def test_values_are_found_whole_whatever_their_case_and_width(lookup: Lookup, question: str, values: list[str]) -> None:
    assert lookup.folded(spans(question)) == values


def test_a_value_knows_all_its_columns(lookup: Lookup) -> None:
    assert lookup.places("华北") == ["dim.region", "dim.note"]
    assert lookup.places("nowhere") == []


def test_words_that_query_syntax_knows_are_words(lookup: Lookup) -> None:
    assert lookup.values(["NEAR", "AND", "*", '"', "sons"], 5)[0][0] == "O'Neil & Sons"


def test_terms_keep_order_and_repeats_and_words_are_their_set() -> None:
    assert terms("sales of sales_2024 华北区") == ("sales", "sale", "sales", "sale", "2024", "华北", "北区")
    assert words("sales of sales") == {"sales", "sale"}


def test_folding_and_spans() -> None:
    assert fold("  Ａbc　Inc. ") == "abc inc"
    assert fold("—") == "—"
    assert set(spans("in New York 市", 2)) == {"in new", "new", "new york", "york", "york 市", "市"}
