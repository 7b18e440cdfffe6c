"""What documents are made of: findings merged, values read, values found in their line; each beside a plain peer or under a limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from bench.conftest import Limit, Race, drive
from document_world import column, piece, plan, said

from tasks.core.models.document import ColumnType
from tasks.core.values.door import read_value
from tasks.document.extracting.owner import Name, Naming, naming
from tasks.document.extracting.quote import find
from tasks.document.merge import merge_findings

_COLUMNS = tuple(column(f"c{n}") for n in range(3))
_A_SLICE = 25


@pytest.mark.parametrize("size", [10, 1_000, 100_000])
def bench_merge(race: Race, size: int) -> None:
    records = tuple(f"R{n}" for n in range(size))
    made = plan(*_COLUMNS, records=records, lines=size)
    results = tuple(
        piece(*(said(r, c.name, str(n), n) for n, r in enumerate(records[at : at + _A_SLICE], at) for c in _COLUMNS))
        for at in range(0, size, _A_SLICE)
    )
    limit = Limit(
        "pandas",
        10.0,
        why="keeps what was left out, unread and unasked by name; the pivot only lays values side by side",
    )
    of = ("merge of records", "ours", size, "records")
    merged = race(of, lambda: drive(merge_findings.function(made, results)), rounds=2, limit=limit)
    assert len(merged.cells) == 4 * size


@pytest.mark.parametrize("size", [10, 1_000, 100_000])
def bench_merge_by_pandas(race: Race, size: int) -> None:
    import pandas

    findings = [said(f"R{n}", c.name, str(n), n) for n in range(size) for c in _COLUMNS]

    def pivot() -> Any:
        rows = [(f.record_id, f.column, f.line, f.raw, f.quote) for f in findings]
        frame = pandas.DataFrame(rows, columns=["record", "column", "line", "raw", "quote"]).sort_values(
            "line", kind="stable"
        )
        return frame.pivot_table(index="record", columns="column", values="raw", aggfunc="last")

    assert race(("merge of records", "pandas", size, "records"), pivot, rounds=2).shape == (size, 3)


def _notations(size: int) -> list[tuple[str, ColumnType, str, Any]]:
    """Texts no two of which are equal, with type, unit and value."""
    made: list[tuple[str, ColumnType, str, Any]] = []
    for n in range(size // 5 + 1):
        day = f"20{n % 90 + 10}-{n % 12 + 1:02}-{n % 28 + 1:02}"
        made += [
            (f"{n:,}", "number", "", n),
            (f"{n}.5万元", "number", "元", n * 10_000 + 5_000),
            (f"{n}.25%", "number", "%", n + 0.25),
            (f"{n % 28 + 1}/{n % 12 + 1}/20{n % 90 + 10} {n}".split()[0] if n % 28 > 12 else day, "date", "", day),
            (f"{n} million", "number", "", n * 1_000_000),
        ]
    return made[:size]


def _by_pandas(raw: str, kind: str) -> Any:
    import pandas

    return pandas.to_datetime(raw).date().isoformat() if kind == "date" else float(pandas.to_numeric(raw))


def _by_hand(raw: str, kind: str) -> Any:
    from dateutil import parser

    return parser.parse(raw).date().isoformat() if kind == "date" else float(raw.replace(",", ""))


def _ours(raw: str, kind: Any, unit: str) -> Any:
    return read_value(raw, kind, unit).value


READERS: dict[str, Callable[..., Any]] = {
    "ours": _ours,
    "pandas, one by one": lambda raw, kind, unit: _by_pandas(raw, kind),
    "float and dateutil": lambda raw, kind, unit: _by_hand(raw, kind),
}


@pytest.mark.parametrize("size", [500, 5_000, 50_000])
@pytest.mark.parametrize("who", READERS)
def bench_values(race: Race, who: str, size: int) -> None:
    texts, read = _notations(size), READERS[who]
    limit = Limit("pandas, one by one", 5.0, why="reads notations that the others refuse") if who == "ours" else None

    def each() -> list[Any]:
        found = []
        for raw, kind, unit, _ in texts:
            try:
                found.append(read(raw, kind, unit))
            except ValueError:
                found.append(None)
        return found

    got = race(("values", who, size, "values"), each, rounds=2, limit=limit)
    right = sum(
        one == true or (isinstance(one, float) and math.isclose(one, true))
        for one, (*_, true) in zip(got, texts, strict=True)
    )
    race.say(right=f"{right / size:.1%}")


@pytest.mark.parametrize("size", [40, 400, 4_000])
def bench_quotes(race: Race, size: int) -> None:
    line = "".join(f"R{n} sold 5 boxes; " for n in range(size))
    names = [Name(f"R{n}", at, at + len(f"R{n}")) for n in range(size) for at in [line.index(f"R{n} ")]]

    def all_of(named: Naming) -> int:
        places = [find("5", named, name.record, "number", "boxes sold") for name in names]
        return sum(
            bool(place) and line[: place.start].endswith(f"{name.record} sold ")
            for place, name in zip(places, names, strict=True)
            if place
        )

    limit = Limit(seconds=10.0, why="equal values of so many records on one line, each found at its own")
    found = race(
        ("quotes on one line", "ours", size, "values"),
        all_of,
        prepare=lambda: (naming(line, names),),
        rounds=2,
        limit=limit,
    )
    assert found == size
