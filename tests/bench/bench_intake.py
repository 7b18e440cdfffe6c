"""CSV, JSON, SQLite → a table: ours (typed by a count over every value), DuckDB, pandas and polars with their defaults."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import large
import pytest
from bench.conftest import Limit, Race

SIZES = (10_000, 50_000, 250_000)
_PEER = {"csv": "duckdb", "json": "pandas", "sqlite": "pandas"}
_RATIO = {"csv": 6.0, "json": 5.0, "sqlite": 5.0}
_WHY = {
    "csv": "reads all as text, counts the shapes of every value, then types whole columns; DuckDB types by a sample",
    "json": "keeps every number's digits and every cell's place; a peer that does the same is not among these",
    "sqlite": "types each value by itself, as SQLite does",
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["csv", "json", "sqlite"])
@pytest.mark.parametrize("who", large.READERS)
def bench_intake(race: Race, tmp_path: Path, kind: str, who: str, size: int) -> None:
    if (kind, who) == ("sqlite", "duckdb"):
        pytest.skip("its extension must be downloaded")
    made = tmp_path / f"t.{kind}"
    large.write(kind, made, size)
    homes = (tmp_path / str(number) for number in itertools.count())

    def fresh(source: Path = made) -> tuple[str, Path]:
        """A folder of its own for each round, so that nothing is known of the file."""
        path = next(homes) / "data" / source.name
        path.parent.mkdir(parents=True)
        os.link(source, path)
        return kind, path

    small = tmp_path / "small" / f"t.{kind}"
    small.parent.mkdir()
    large.write(kind, small, 10)
    large.HOW[who](*fresh(small))
    limit = Limit(peer=_PEER[kind], ratio=_RATIO[kind], why=_WHY[kind]) if who == "ours" else None
    check: Any = race((kind.upper() if kind != "sqlite" else "SQLite", who, size, "rows"), large.HOW[who],
                      prepare=fresh, rounds=3 if size < SIZES[-1] else 2, limit=limit)  # fmt: skip
    names = ("rows", "ids", "amounts", "codes", "names")
    lost = [name for name, one, other in zip(names, check(), large.truth(size), strict=True) if one != other]
    race.say(values=f"changed: {', '.join(lost)}" if lost else "all there")
