"""Damaged and hostile files, each in a folder with good ones: a few here, all of them in `make test-full`."""

from __future__ import annotations

from pathlib import Path

import mutations
import pytest
from mutating import WAYS, originals
from mutations import COUNT, SEED, Case, Outcome


def test_a_few_of_every_kind_break_nothing(tmp_path: Path) -> None:
    few = mutations.chosen(20, SEED, "")
    found = [mutations.examine(case, tmp_path / str(case.number)) for case in few]
    assert [outcome for outcome in found if outcome.faults] == []
    assert len({outcome.kind for outcome in found}) > 10 and len({outcome.how for outcome in found}) > 12
    assert {"table", "unreadable"} < {outcome.state for outcome in found}


def test_the_cases_are_the_same_everywhere_and_hold_every_kind_and_way() -> None:
    cases, again = mutations.chosen(COUNT, SEED, ""), mutations.chosen(COUNT, SEED, "")
    assert [(case.kind, case.how) for case in cases] == [(case.kind, case.how) for case in again]
    assert len(cases) == 500 and {case.kind for case in cases} == {*originals()}
    assert {*WAYS} < {case.how for case in cases} and sum("bomb" in case.how for case in cases) >= 80
    same = [(a, b) for a, b in zip(cases, again, strict=True) if a.kind == "csv" and a.how in WAYS]
    assert len(same) > 15 and all(a.make() == b.make() for a, b in same)


def test_what_breaks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that raises what no door knows, and a good file that changed, are both seen."""
    monkeypatch.setitem(mutations.ROWS, "stock.csv", [("000009", "杭州", 3)])
    case = Case(1, "csv", "as it is", "bad.csv", lambda: b"a,b\n1,2\n")
    (said,) = mutations.examine(case, tmp_path / "changed").faults
    assert said.startswith("stock.csv: ")

    async def lose(*_: object) -> None:
        raise RuntimeError("the folder is lost")

    monkeypatch.setattr(mutations, "build_catalogue", lose)
    assert mutations.examine(case, tmp_path / "lost").faults == ["RuntimeError: the folder is lost"]


@pytest.mark.slow
def test_500_damaged_files_break_nothing() -> None:
    found = list(mutations.outcomes(COUNT, SEED))
    print(mutations.summary(found, 0))
    assert len(found) == COUNT
    assert [outcome for outcome in found if outcome.faults] == []


def test_the_summary_counts_by_kind_and_state() -> None:
    found = [Outcome(1, "csv", "x", "table", seconds=1.5, child_mb=90), Outcome(2, "csv", "y", "BROKE", faults=["z"])]
    *_, csv, total = mutations.summary(found, 3).splitlines()
    assert csv.split() == ["csv", "2", "1.5", "90", "1", "table,", "1", "BROKE"]
    assert total == "2 files in 3 s: 1 wrong"
