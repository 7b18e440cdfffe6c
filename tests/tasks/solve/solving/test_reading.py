"""The list of tables as the solver asks for it: all of them, or those of a search, the nearest first."""

from __future__ import annotations

from typing import Any, cast

import pytest
from shop import question

from tasks.core.models.answer import Assignment, Brief, Contract
from tasks.core.models.catalogue import Catalogue, ColumnProfile, Profile, TableProfile
from tasks.core.models.source import ArtifactRef
from tasks.core.settings import load
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.reading import list_tables

TRADES, THINGS = ("airline", "bakery", "water"), ("badge", "pump", "visitor")
NAMES = [f"{trade}_{thing}_{form}" for trade in TRADES for thing in THINGS for form in ("order", "repair")]


def bench(names: list[str], columns: dict[str, str] | None = None) -> Bench:
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


def test_without_search_all_stand_in_their_order() -> None:
    assert listed(bench(["b", "a", "水泵登记"]), "") == ["b", "a", "水泵登记"]
    assert listed(bench(["水泵订购", "水泵登记"]), "登记") == ["水泵登记"]
