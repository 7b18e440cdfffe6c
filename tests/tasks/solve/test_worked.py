"""The worked example of the sample region_sales: what is recalled for it, put together, and left when a model has selected."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
import sales
from recalling import OFF, World, build, desk, silent
from shop import question

from tasks.core.models.context import Context, Recalled, Terms
from tasks.solve.filter import FilterReply, TableChoice, cut
from tasks.solve.merge import merge_context
from tasks.solve.recall import recall
from tasks.solve.terms import write_terms

ASKED = "统计华北地区的销售总额"
TERMS = {"columns": ("订单金额", "大区名称", "商品品类"), "metrics": ("GMV", "客单价"), "values": ("华北",)}
"""What a model adds."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with desk() as settings:
        yield asyncio.run(build(sales.SAMPLE, silent(settings)))


def terms_of(world: World) -> Terms:
    asked = question(ASKED)
    return asyncio.run(write_terms.function(asked, world.metadata, world.knowledge, "", world.settings.recall))


def recalled(world: World, terms: Terms) -> Recalled:
    limits = (world.settings.recall, world.settings.query, world.settings.stores)
    return asyncio.run(recall.function(terms, world.index, world.catalogue, world.metadata, *limits))


def context(world: World, terms: Terms) -> Context:
    return asyncio.run(merge_context.function(recalled(world, terms), world.metadata, OFF))


def columns(found: Context) -> dict[str, tuple[str, ...]]:
    return {column.id: column.examples for table in found.tables for column in table.columns}


def test_c8_keywords_are_those_of_the_worked_example(world: World) -> None:
    assert set(terms_of(world).keywords) == {"华北地区", "统计", "销售总额", ASKED}
    assert terms_of(world).keywords[-1] == ASKED


def test_c8_words_alone_give_measure_region_value_keys_and_metric(world: World) -> None:
    found = context(world, terms_of(world))
    assert {"fact_order.order_amount", "dim_region.region_name", "fact_order.region_id", "dim_region.region_id"} <= set(
        columns(found)
    )
    assert columns(found)["dim_region.region_name"].count("华北") == 1
    assert "GMV" in [metric.name for metric in found.metrics]
    assert found.unknown == ()


def test_c8_a_models_terms_bring_the_product_table_and_the_other_metric(world: World) -> None:
    found = context(world, terms_of(world).model_copy(update={**TERMS, "expanded": True}))
    assert {"fact_order", "dim_region", "dim_product"} <= {table.name for table in found.tables}
    assert {"GMV", "AOV"} <= {metric.name for metric in found.metrics}


def test_c8_a_selection_leaves_both_tables_with_their_keys_and_inputs(world: World) -> None:
    before = context(world, terms_of(world).model_copy(update={**TERMS, "expanded": True}))
    chosen = [TableChoice(name="fact_order"), TableChoice(name="dim_region", columns=["region_name"])]
    after = cut(before, FilterReply(tables=chosen, metrics=["GMV"]), world.metadata)
    assert [table.name for table in after.tables] == ["fact_order", "dim_region"]
    left = columns(after)
    assert {"fact_order.order_amount", "fact_order.region_id", "dim_region.region_id"} <= set(left)
    assert "华北" in left["dim_region.region_name"]
    assert [metric.name for metric in after.metrics] == ["GMV"]


def test_a_value_that_stands_in_two_columns_is_found_in_both(world: World) -> None:
    asked = "常住上海的客户，下单金额合计是多少？"
    terms = asyncio.run(
        write_terms.function(question(asked), world.metadata, world.knowledge, "", world.settings.recall)
    )
    found = {hit.id for hit in recalled(world, terms).values if hit.value == "上海"}
    assert found == {"dim_region.province", "dim_customer.home_city"}


def test_a_table_whose_name_says_nothing_is_found_by_its_value(world: World) -> None:
    asked = "货到付款的订单里有多少笔已取消？"
    terms = asyncio.run(
        write_terms.function(question(asked), world.metadata, world.knowledge, "", world.settings.recall)
    )
    found = columns(context(world, terms))
    assert "货到付款" in found["ref_07.label"] and {"ref_07.code", "fact_order.pay_code"} <= set(found)
