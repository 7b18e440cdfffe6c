"""Names of tables: as in the source, prefixed where they clash, never twice."""

from __future__ import annotations

import random

import pytest

from tasks.intake.loading.naming import Named, canonical


@pytest.mark.parametrize(
    ("tables", "names"),
    [
        ([("a", "a.csv", "csv"), ("b", "b.csv", "csv")], ["a", "b"]),
        ([("a", "a.csv", "csv"), ("A", "x.db", "sqlite")], ["csv__a", "x__A"]),
        ([("a", "x/a.csv", "csv"), ("a", "y/a.csv", "csv")], ["x_a__a", "y_a__a"]),
        ([("a", "a.csv", "csv"), ("a", "a.tsv", "csv")], ["a_csv__a", "a_tsv__a"]),
        ([("t", "d/m.db", "sqlite"), ("t", "e/m.db", "sqlite")], ["d_m__t", "e_m__t"]),
        (
            [("csv__a", "z.csv", "csv"), ("a", "a.csv", "csv"), ("a", "a.json", "json")],
            ["csv__csv__a", "a__a", "json__a"],
        ),
        ([("STRASSE", "a.csv", "csv"), ("straße", "b.csv", "csv")], ["a__STRASSE", "b__straße"]),
        ([("", "x.db", "sqlite")], ["table"]),
        ([("a", "x.db", "sqlite"), ("a", "x.db", "sqlite")], ["x_db__a", "x_db__a_2"]),
    ],
)
def test_names(tables: list[tuple[str, str, str]], names: list[str]) -> None:
    assert list(canonical([Named(*table) for table in tables])) == names


@pytest.mark.parametrize("seed", range(20))
def test_names_are_all_different_and_do_not_depend_on_the_order(seed: int) -> None:
    rng = random.Random(seed)
    tables = [
        Named(rng.choice("aAb"), f"{rng.choice('xy')}/{rng.choice(['m', 'n'])}{i}.{kind}", kind)
        for i, kind in enumerate(rng.choices(["csv", "json", "sqlite"], k=8))
    ]
    names = dict(zip(tables, canonical(tables), strict=True))
    assert len({name.casefold() for name in names.values()}) == len(tables)
    rng.shuffle(tables)
    assert dict(zip(tables, canonical(tables), strict=True)) == names
