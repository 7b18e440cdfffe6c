"""Hits become tables with every key, as parity row C4 says, and nothing that was given is changed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tasks.core.models.context import Context, Hit, Recalled, TableRelevanceResult, Terms
from tasks.core.models.metadata import ColumnInfo, ColumnRole, Metadata, MetricInfo, TableInfo
from tasks.solve.merge import merge_context

OFF = TableRelevanceResult(off="few tables")


def column(id: str, role: ColumnRole = "dimension", **more: Any) -> ColumnInfo:
    table, name = id.split(".")
    return ColumnInfo(id=id, table=table, name=name, type="VARCHAR", role=role, **more)


def link(id: str, target: str) -> ColumnInfo:
    return column(id, "foreign_key", refers_to=target, match_rate=1.0)


METADATA = Metadata(
    tables=tuple(
        TableInfo(name=name, origin=f"context/csv/{name}.csv", role="dimension", rows=9, aliases=(f"the {name}",))
        for name in ("sales", "shop", "region", "visit", "guide", "guide_shop", "alone")
    ),
    columns=(
        column("sales.id", "primary_key"),
        link("sales.shop_id", "shop.id"),
        column("sales.amount", "measure", unit="元"),
        column("sales.note"),
        column("shop.id", "primary_key"),
        column("shop.name", examples=("East",)),
        link("shop.region_id", "region.id"),
        column("region.id", "primary_key"),
        column("region.名称", examples=("华东", "华北")),
        column("visit.id", "primary_key"),
        column("visit.day"),
        column("guide.id", "primary_key"),
        column("guide.name"),
        link("guide_shop.guide_id", "guide.id"),
        link("guide_shop.shop_id", "shop.id"),
        column("alone.word"),
    ),
    metrics=(
        MetricInfo(id="m1", name="GMV", formula="sum(amount)", columns=("sales.amount",), aliases=("销售总额",)),
        MetricInfo(id="m2", name="Odd", columns=("sales.gone", "shop.name")),
    ),
)


def hit(id: str, value: str = "") -> Hit:
    return Hit(id=id, value=value, score=1.0, why="lexical", reason="test")


def merge(
    columns: tuple[str, ...] = (),
    metrics: tuple[str, ...] = (),
    values: tuple[tuple[str, str], ...] = (),
    relevance: TableRelevanceResult = OFF,
) -> Context:
    recalled = Recalled(
        terms=Terms(question="?"),
        columns=tuple(map(hit, columns)),
        metrics=tuple(map(hit, metrics)),
        values=tuple(hit(id, value) for id, value in values),
    )
    before = recalled.model_dump_json(), METADATA.model_dump_json(), relevance.model_dump_json()
    found = asyncio.run(merge_context.function(recalled, METADATA, relevance))
    assert before == (recalled.model_dump_json(), METADATA.model_dump_json(), relevance.model_dump_json())
    return found


def ids(found: Context) -> dict[str, list[str]]:
    return {table.name: [column.name for column in table.columns] for table in found.tables}


def examples(found: Context, id: str) -> tuple[str, ...]:
    return next(column.examples for table in found.tables for column in table.columns if column.id == id)


def test_c4_a_column_that_was_found_twice_stands_once_and_keys_come_last() -> None:
    found = merge(columns=("sales.amount", "sales.note", "sales.amount"))
    assert ids(found) == {"sales": ["amount", "note", "id", "shop_id"]}
    assert found.keys == {"sales.id": "primary_key", "sales.shop_id": "foreign_key"}
    assert found.tables[0].aliases == ("the sales",)


def test_c4_a_metric_brings_its_columns_and_loses_its_id() -> None:
    found = merge(columns=("shop.name",), metrics=("m1",))
    assert ids(found) == {"shop": ["name", "id", "region_id"], "sales": ["amount", "id", "shop_id"]}
    assert [metric.name for metric in found.metrics] == ["GMV"]
    assert "m1" not in found.model_dump_json()


def test_c4_a_value_brings_its_column_and_is_appended_to_the_examples_once() -> None:
    values = (("region.名称", "华南"), ("region.名称", "华南"), ("region.名称", "华北"))
    found = merge(columns=("region.名称",), values=values)
    assert examples(found, "region.名称") == ("华东", "华北", "华南")
    assert examples(merge(values=values[:1]), "region.名称") == ("华东", "华北", "华南")


def test_c4_unknown_ids_are_reported() -> None:
    found = merge(columns=("sales.gone", "sales.amount"), metrics=("m2", "m9"), values=(("x.y", "v"),))
    assert found.unknown == ("sales.gone", "m9", "x.y")
    assert [metric.name for metric in found.metrics] == ["Odd"]
    assert list(ids(found)) == ["sales", "shop"]


@pytest.mark.parametrize(
    ("columns", "tables"),
    [
        (("sales.amount", "region.名称"), ["sales", "region", "shop"]),
        (("guide.name", "shop.name"), ["guide", "shop", "guide_shop"]),
        (("guide.name", "sales.amount"), ["guide", "sales", "guide_shop", "shop"]),
        (("sales.amount", "shop.name"), ["sales", "shop"]),
        (("sales.amount", "visit.day", "alone.word"), ["sales", "visit", "alone"]),
        ((), []),
    ],
)
def test_tables_that_join_two_present_ones_are_added_with_their_keys(
    columns: tuple[str, ...], tables: list[str]
) -> None:
    found = ids(merge(columns=columns))
    assert list(found) == tables
    if "guide_shop" in found:
        assert found["guide_shop"] == ["guide_id", "shop_id"]


def test_tables_voted_out_are_left_out_unless_a_metric_needs_them() -> None:
    votes = TableRelevanceResult(relevant_tables=("shop", "visit"), skipped_tables=("sales", "region"))
    found = merge(columns=("sales.note", "shop.name", "guide.name"), values=(("region.名称", "华北"),), relevance=votes)
    assert list(ids(found)) == ["shop", "guide", "visit", "guide_shop"]
    assert ids(found)["visit"] == ["id"]
    assert "amount" in ids(merge(metrics=("m1",), relevance=votes))["sales"]
