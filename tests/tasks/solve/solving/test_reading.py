"""The list of tables as the solver asks for it: all of them, or those of a search, the nearest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from shop import question

from tasks.core.files.store import Folder, Store, use
from tasks.core.models.answer import Assignment, Brief, Contract
from tasks.core.models.catalogue import Catalogue, ColumnProfile, Profile, TableProfile
from tasks.core.models.context import SearchIndex
from tasks.core.models.metadata import MetricInfo
from tasks.core.models.source import ArtifactRef
from tasks.core.search.index import Texts, Writer
from tasks.core.settings import load
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.reading import list_tables

TRADES, THINGS = ("airline", "bakery", "water"), ("badge", "pump", "visitor")
NAMES = [f"{trade}_{thing}_{form}" for trade in TRADES for thing in THINGS for form in ("order", "repair")]


def bench(names: list[str], columns: dict[str, str] | None = None, metrics: tuple[MetricInfo, ...] = ()) -> Bench:
    """Tables of one column each; `columns` names those of some."""
    tables = tuple(
        TableProfile(
            name=name,
            origin=f"context/db/all.db::{name}",
            rows=1,
            columns=(ColumnProfile(name=(columns or {}).get(name, "amount"), type="BIGINT", null_share=0, distinct=1),),
        )
        for name in names
    )
    given = Assignment(
        question=question("?"),
        brief=Brief(text="", tokens=0, shown=()),
        contract=Contract(),
        catalogue=Catalogue(database=ArtifactRef(sha256="0" * 64, name="none", size=0), tables=(), files=()),
        profile=Profile(tables=tables, joins=()),
        metrics=metrics,
    )
    settings = load()
    return Bench(given, cast(Any, None), settings.solver, given.contract)


def listed(bench: Bench, search: str) -> list[str]:
    lines = list_tables(bench, search).text.splitlines()[1:]
    return [line.split(":")[0].strip('"') for line in lines]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_first_when_its_words_are_searched(name: str) -> None:
    assert listed(bench(NAMES), name.replace("_", " "))[0] == name


def test_the_last_of_3000_tables_is_named_first_though_all_share_a_word_with_the_search() -> None:
    names = [f"plant_{number:04}_log" for number in range(2999)] + ["plant_water_visitor_log"]
    assert listed(bench(names), "log of water visitors of the plant")[0] == "plant_water_visitor_log"


def test_a_name_counts_before_a_column_and_equal_ones_keep_their_order() -> None:
    found = listed(bench(["b", "a", "fuel", "c"], {"a": "fuel", "b": "fuel"}), "fuel")
    assert found == ["fuel", "b", "a"]


def test_a_table_is_found_by_what_else_it_is_called() -> None:
    made = bench([*NAMES, "t_0017"])
    *others, last = made.assignment.profile.tables
    called = last.model_copy(update={"about": "also called dairy visitor order, 乳业访客订购"})
    profile = made.assignment.profile.model_copy(update={"tables": (*others, called)})
    made.assignment = made.assignment.model_copy(update={"profile": profile})
    assert listed(made, "visitor order of the dairy")[0] == "t_0017" == listed(made, "乳业访客订购")[0]


def with_examples(made: Bench, examples: dict[str, tuple[str, ...]]) -> Bench:
    """The same, columns of some tables being text with these examples."""
    tables = [
        table.model_copy(
            update={
                "columns": (table.columns[0].model_copy(update={"type": "VARCHAR", "examples": examples[table.name]}),)
            }
        )
        if table.name in examples
        else table
        for table in made.assignment.profile.tables
    ]
    profile = made.assignment.profile.model_copy(update={"tables": tuple(tables)})
    made.assignment = made.assignment.model_copy(update={"profile": profile})
    return made


def line(bench: Bench, search: str, name: str) -> str:
    (found,) = [line for line in list_tables(bench, search).text.splitlines() if line.startswith(f"{name}:")]
    return found


GMV = MetricInfo(id="m1", name="GMV", aliases=("销售总额", "gross value"), columns=("water_pump_order.amount",))


@pytest.mark.parametrize("search", ["GMV", "What is the gmv of last year?", "各地的销售总额", "gross value by region"])
def test_a_table_is_found_by_a_metric_that_it_gives_columns_to(search: str) -> None:
    made = bench(NAMES, metrics=(GMV,))
    assert listed(made, search) == ["water_pump_order"]
    assert line(made, search, "water_pump_order").endswith("; gives GMV")


def test_a_metric_that_is_not_named_in_full_or_gives_no_table_finds_nothing_more() -> None:
    lost = MetricInfo(id="m2", name="AOV", columns=("gone.amount",))
    made = bench(NAMES, metrics=(GMV, lost))
    assert listed(made, "pump value") == listed(bench(NAMES), "pump value")
    assert "gives" not in list_tables(made, "AOV").text


@pytest.mark.parametrize("search", ["华北", "统计华北的销售", "ＡＣＭＥ ltd", "pumps of Acme Ltd."])
def test_a_table_is_found_by_a_value_that_it_holds(search: str) -> None:
    made = with_examples(bench([*NAMES, "dim_07"]), {"dim_07": ("华北", "ACME Ltd")})
    assert listed(made, search)[0] == "dim_07"
    value = "华北" if "华北" in search else "ACME Ltd"
    assert line(made, search, "dim_07").endswith(f"; amount holds {value!r}")


def test_a_table_that_is_called_so_comes_before_one_that_holds_the_word() -> None:
    made = with_examples(bench(["a_list", "pump"]), {"a_list": ("pump",)})
    assert listed(made, "pump") == ["pump", "a_list"]


def test_a_value_that_most_tables_hold_finds_none_of_them() -> None:
    names = [f"t_{n:03}" for n in range(60)]
    made = with_examples(bench(names), dict.fromkeys(names, ("high",)) | {"t_059": ("high", "Zorba")})
    assert listed(made, "how high is Zorba") == ["t_059"]


def test_a_search_that_means_no_table_shows_all_where_they_fit() -> None:
    few, many = bench(["b", "a"]), bench([f"plant_{number:04}_log" for number in range(3000)])
    assert list_tables(few, "zebra").text.startswith("No table matches. All 2 tables:\nb: 1 rows")
    assert listed(few, "zebra") == ["b", "a"]
    said = "No table matches. There are 3000 in all; list_tables without search names them."
    assert list_tables(many, "zebra").text == said


def test_values_come_from_the_index_where_there_is_one(tmp_path: Path) -> None:
    with use(Store(Folder(tmp_path / "store"), tmp_path / "cache")) as store:
        with Writer(tmp_path / "index.sqlite") as writer:
            writer.add("column", "bakery_pump_order.amount", Texts("amount"))
            writer.add_values("bakery_pump_order.amount", ("Rara Vez", "other"))
        made = bench(NAMES)
        index = SearchIndex(file=store.put_file(tmp_path / "index.sqlite"), entries=3)
        made.assignment = made.assignment.model_copy(update={"index": index})
        assert listed(made, "is rara vez there?") == ["bakery_pump_order"]


def test_without_search_all_stand_in_their_order() -> None:
    assert listed(bench(["b", "a", "水泵登记"]), "") == ["b", "a", "水泵登记"]
    assert listed(bench(["水泵订购", "水泵登记"]), "登记") == ["水泵登记"]
