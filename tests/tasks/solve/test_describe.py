"""What tables, columns and metrics are about: measured, then as the knowledge says, then as metadata.yaml says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tasks.core.files import store as stores
from tasks.core.models.metadata import ColumnInfo, Metadata
from tasks.core.settings import Settings
from tasks.core.sql.engine import Engine
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.intake.overrides import read_overrides
from tasks.solve.describe import describe_catalogue
from tasks.solve.profile import profile_tables

ORDERS = "order_id,customer_id,region_code,order_date,pieces,amount,status\n" + "".join(
    f"O{n:03},{n % 7 + 1},{'NSEW'[n % 4]},2024-01-{n % 28 + 1:02},{n % 5},{n * 1.5},{('paid', '已取消', 'open')[n % 3]}\n"
    for n in range(1, 61)
)
CUSTOMERS = "customer_id,name,joined_year\n" + "".join(f"{n},客户{n % 6},{2020 + n % 3}\n" for n in range(1, 9))
REGIONS = "code,label\nN,North\nS,South\nE,East\nW,West\n"
LINES = "order_id,line_no,weight_kg\n" + "".join(f"O{n % 60 + 1:03},{n % 2},{n / 4}\n" for n in range(90))
KNOWLEDGE = """\
# Shop

## Tables

### orders（订单表）
One row per order.
- **order_id**: primary key
- **amount**: 订单金额，单位为元
- **status**: also called order state, 状态

### regions
Lookup table of regions.
- **code**: region

## Links
- orders.region_code = regions.code

## Metrics
- **Net revenue (净收入)** = sum(amount) - sum(orders.amount * 0.1), excluding 已取消 orders, in EUR, per month
- **Share** = Net revenue / count(pieces)
- **Ghost** = sum(orders.nothing) / sum(planets.mass)
- **Twice** = max(order_id)
"""
YAML = """\
tables:
  lines:
    role: fact
    aliases: [明细]
    columns:
      weight_kg: {unit: kg, description: weight of a line, aliases: [重量]}
      line_no: {role: dimension}
  planets: {}
  order: {}
columns:
  customers.joined_year: {role: foreign_key, refers_to: regions.code}
  customers.nmae: {unit: x}
metrics:
  weight: {formula: sum(重量), aliases: [总重]}
  share: {grain: per region, columns: [orders.pieces, orders.weight]}
"""


def describe(folder: Path, settings: Settings, knowledge: str = KNOWLEDGE, yaml: str = "") -> Metadata:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for name, text in (("orders", ORDERS), ("customers", CUSTOMERS), ("regions", REGIONS), ("lines", LINES)):
        (folder / "data" / f"{name}.csv").write_text(text, "utf-8")
    (folder / "knowledge.md").write_text(knowledge, "utf-8")
    if yaml:
        (folder / "metadata.yaml").write_text(yaml, "utf-8")
    return asyncio.run(_describe(folder, settings))


async def _describe(folder: Path, settings: Settings) -> Metadata:
    inventory = await take_inventory.function(str(folder), settings.intake)
    knowledge, overrides = await read_knowledge.function(inventory), await read_overrides.function(inventory)
    catalogue = await build_catalogue(inventory, settings.intake)
    profile = await profile_tables(catalogue.measurable, knowledge, settings.profiling, settings.query)
    made = await describe_catalogue.function(catalogue.measurable, profile, knowledge, overrides, settings.metadata)
    again = await describe_catalogue.function(catalogue.measurable, profile, knowledge, overrides, settings.metadata)
    assert made == again
    with_metadata = catalogue.model_copy(update={"metadata": made.database})
    async with Engine.over(with_metadata, settings.query) as engine:
        counts = await engine.query(
            "select (select count(*) from metadata.table_info), (select count(*) from metadata.column_info), "
            "(select count(*) from metadata.metric_info), (select count(*) from metadata.column_metric)"
        )
    links = sum(len(metric.columns) for metric in made.metrics)
    assert counts.rows == ((len(made.tables), len(made.columns), len(made.metrics), links),)
    return made


def column(made: Metadata, known: str) -> ColumnInfo:
    return next(info for info in made.columns if info.id == known)


def test_c1_roles_are_measured(tmp_path: Path, settings: Settings, store: Any) -> None:
    made = describe(tmp_path, settings, "")
    assert {info.id: info.role for info in made.columns} == {
        "customers.customer_id": "primary_key",
        "customers.name": "dimension",
        "customers.joined_year": "dimension",
        "lines.order_id": "foreign_key",
        "lines.line_no": "dimension",
        "lines.weight_kg": "measure",
        "orders.order_id": "primary_key",
        "orders.customer_id": "foreign_key",
        "orders.region_code": "foreign_key",
        "orders.order_date": "dimension",
        "orders.pieces": "measure",
        "orders.amount": "measure",
        "orders.status": "dimension",
        "regions.code": "primary_key",
        "regions.label": "dimension",
    }
    assert {info.name: info.role for info in made.tables} == {
        "orders": "fact",
        "customers": "dimension",
        "regions": "dimension",
        "lines": "dimension",
    }
    assert all(info.basis == "measured" for info in (*made.columns, *made.tables)) and not made.problems


def test_c5_foreign_keys_have_their_target_and_match_rate(tmp_path: Path, settings: Settings, store: Any) -> None:
    made = describe(tmp_path, settings, "")
    links = {info.id: (info.refers_to, info.match_rate) for info in made.columns if info.role == "foreign_key"}
    assert links == {
        "orders.customer_id": ("customers.customer_id", 1.0),
        "orders.region_code": ("regions.code", 1.0),
        "lines.order_id": ("orders.order_id", 1.0),
    }
    assert column(made, "orders.status").examples == ("open", "paid", "已取消")


def test_c1_the_knowledge_overrides_what_was_measured(tmp_path: Path, settings: Settings, store: Any) -> None:
    made = describe(tmp_path, settings)
    assert column(made, "orders.order_id").basis == "knowledge"
    assert column(made, "orders.region_code").basis == "knowledge"
    assert column(made, "orders.amount").aliases == ("订单金额",) and column(made, "orders.amount").unit == "元"
    assert column(made, "orders.status").aliases == ("order state", "状态")
    tables = {info.name: info for info in made.tables}
    assert tables["orders"].aliases == ("订单表",) and tables["orders"].description == "One row per order."
    assert (tables["regions"].role, tables["regions"].basis) == ("dimension", "knowledge")


def test_c1_metrics_carry_formula_filters_unit_grain_line_and_columns(
    tmp_path: Path, settings: Settings, store: Any
) -> None:
    found = describe(tmp_path, settings)
    made = {metric.name: metric for metric in found.metrics}
    net = made["Net revenue"]
    assert net.formula == "sum(amount) - sum(orders.amount * 0.1)" and net.filters == ("excluding 已取消 orders",)
    assert (net.unit, net.grain, net.aliases, net.line) == ("EUR", "month", ("净收入",), 19)
    assert net.columns == ("orders.amount", "orders.status")
    assert made["Share"].columns == ("orders.pieces", "orders.amount", "orders.status")
    assert made["Ghost"].columns == ()
    said = "\n".join(found.problems)
    assert "line 21 of knowledge.md: metric 'Ghost' names 'orders.nothing', which no table has" in said
    assert "line 22 of knowledge.md: metric 'Twice' names 'order_id', which is one of 2 columns" in said


def test_c1_metadata_yaml_overrides_the_knowledge(tmp_path: Path, settings: Settings, store: Any) -> None:
    made = describe(tmp_path, settings, yaml=YAML)
    lines = next(info for info in made.tables if info.name == "lines")
    assert (lines.role, lines.basis, lines.aliases) == ("fact", "metadata", ("明细",))
    weight = column(made, "lines.weight_kg")
    assert (weight.unit, weight.description, weight.aliases) == ("kg", "weight of a line", ("重量",))
    year = column(made, "customers.joined_year")
    assert (year.role, year.refers_to, year.match_rate, year.basis) == ("foreign_key", "regions.code", None, "metadata")
    metrics = {metric.name: metric for metric in made.metrics}
    assert metrics["weight"].columns == ("lines.weight_kg",) and metrics["weight"].aliases == ("总重",)
    share = metrics["share"]
    assert (share.formula, share.grain, share.basis) == ("Net revenue / count(pieces)", "per region", "metadata")
    assert share.columns == ("orders.pieces",)
    said = "\n".join(made.problems)
    assert "metadata.yaml:8: no table is called 'planets'" in said
    assert "metadata.yaml:9: no table is called 'order', did you mean 'orders'?" in said
    assert "metadata.yaml:12: table 'customers' has no column 'nmae', did you mean 'name'?" in said
    assert "line 15 of metadata.yaml: metric 'share' needs 'orders.weight', which no table has" in said


def test_building_twice_in_other_stores_gives_equal_bytes(tmp_path: Path, settings: Settings, store: Any) -> None:
    first = describe(tmp_path / "a", settings, yaml=YAML)
    assert first.database and json.loads(store.get(first.database))["column_metric"]
    other = stores.Store(stores.Folder(tmp_path / "other"), tmp_path / "cache")
    with stores.use(other):
        assert describe(tmp_path / "b", settings, yaml=YAML) == first


@pytest.mark.parametrize(
    "knowledge", ["", "## Metrics\n- **a** =\n- **** = \n- x = 'a.b'\n", "# 指标\n- 额 = 额\n" * 50]
)
def test_odd_knowledge_is_no_crash(tmp_path: Path, settings: Settings, store: Any, knowledge: str) -> None:
    assert len(describe(tmp_path, settings, knowledge).columns) == 15


def test_a_term_that_is_computed_and_is_no_column_is_a_metric(tmp_path: Path, settings: Settings, store: Any) -> None:
    knowledge = "# K\n\n## Begriffe\n\n- **Netto-Umsatz** (net sales): the sum of amount over orders that are paid\n"
    made = describe(tmp_path, settings, knowledge)
    metric = next(metric for metric in made.metrics if metric.name == "Netto-Umsatz")
    assert (metric.aliases, metric.columns) == (("net sales",), ("orders.amount", "orders.status"))
