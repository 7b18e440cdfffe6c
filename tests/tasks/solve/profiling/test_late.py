"""Tables of the question that the time for all tables did not reach are measured after all."""

from __future__ import annotations

import asyncio
from pathlib import Path

import duckdb
import pytest

from tasks.core.files.store import Store
from tasks.core.models.catalogue import Catalogue, Column, Profile, Table
from tasks.core.models.context import Context, TableContext
from tasks.core.models.metadata import Metadata, TableInfo
from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.settings import Settings
from tasks.solve.profile import profile_tables
from tasks.solve.profiling.late import lacking, late, with_late

NAMES = ("订单", "goods", "other")
ABOUT = Metadata(tables=(TableInfo(name="goods", origin="goods.csv", role="dimension", description="货品", rows=3),))


@pytest.fixture
def catalogue(store: Store, tmp_path: Path) -> Catalogue:
    with duckdb.connect(str(tmp_path / "c.duckdb")) as db:
        for name in NAMES:
            db.execute(f"CREATE TABLE \"{name}\" AS SELECT i AS goods_id, 'x-' || i AS label FROM range(1, 4) r(i)")
    columns = (Column(name="goods_id", type="BIGINT"), Column(name="label", type="VARCHAR"))
    tables = tuple(Table(name=name, path=f"{name}.csv", columns=columns, rows=3) for name in NAMES)
    return Catalogue(database=store.put_file(tmp_path / "c.duckdb"), tables=tables, files=())


def context(*names: str) -> Context:
    return Context(tables=tuple(TableContext(name=name, role="fact", columns=()) for name in names))


def profile(of: Catalogue, settings: Settings, seconds: float) -> Profile:
    bounds = settings.profiling.model_copy(update={"seconds": seconds})
    return asyncio.run(profile_tables.function(of, Knowledge(), bounds, settings.query))


def test_only_tables_in_context_are_measured_after_all(catalogue: Catalogue, settings: Settings) -> None:
    hasty = profile(catalogue, settings, 1e-6)
    assert [lacking(table) for table in hasty.tables] == [2, 2, 2]
    assert hasty.notes[0] == "6 of 6 columns were not measured; each says why"
    missed = late(catalogue, hasty, context("订单", "goods", "gone"))
    assert [table.name for table in missed.tables] == ["订单", "goods"]
    whole = with_late(hasty, profile(missed, settings, 60), ABOUT)
    assert [lacking(table) for table in whole.tables] == [0, 0, 2]
    assert whole.notes[0] == "2 of 6 columns were not measured; each says why"
    assert whole.tables[0].columns[1].examples == ("x-1", "x-2", "x-3") and whole.tables[1].about == "货品"
    assert {(join.left_table, join.right_table) for join in whole.joins} <= {("订单", "goods"), ("goods", "订单")}
    assert whole.joins and len({*whole.joins}) == len(whole.joins)


def test_what_is_said_of_a_table_that_is_not_late_is_said_of_no_other(catalogue: Catalogue, settings: Settings) -> None:
    told = [
        Definition(table="other", field=name, meaning=f"{name} of other", unit="kg", line=1)
        for name in ("goods_id", "label")
    ]
    knowledge = Knowledge(definitions=tuple(told))
    hasty = profile(catalogue, settings, 1e-6)
    missed = late(catalogue, hasty, context("goods"))
    measured = asyncio.run(profile_tables.function(missed, knowledge, settings.profiling, settings.query))
    goods = with_late(hasty, measured, Metadata()).tables[1]
    assert goods.columns[1].examples and [(c.meaning, c.unit) for c in goods.columns] == [("", ""), ("", "")]


def test_what_failed_for_another_reason_is_not_measured_again(catalogue: Catalogue, settings: Settings) -> None:
    measured = profile(catalogue, settings, 60)
    columns = measured.tables[0].columns
    failed = (columns[0].model_copy(update={"notes": ("not measured: Conversion Error",)}), *columns[1:])
    tables = (measured.tables[0].model_copy(update={"columns": failed}), *measured.tables[1:])
    broken = measured.model_copy(update={"tables": tables})
    assert lacking(broken.tables[0]) == 1 and not late(catalogue, broken, context(*NAMES)).tables


def test_nothing_is_late_where_everything_was_measured(catalogue: Catalogue, settings: Settings) -> None:
    measured = profile(catalogue, settings, 60)
    assert not late(catalogue, measured, context(*NAMES)).tables
    assert not any("not measured" in note for note in measured.notes)
