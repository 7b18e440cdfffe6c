"""The scorer against a second one, written from the rule's description alone: exact fractions, no order of matching, all ways tried."""

from __future__ import annotations

import csv
import re
from collections import Counter
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.benchmark.score import score

Column = list[str]

NUMBERS = [
    "1",
    "1.0",
    "1.004",
    "1.005",
    "-0.001",
    "0",
    "-1.995",
    "1e2",
    "100",
    "+100.",
    ".5",
    "0.499",
    "0.495",
    "1e-9",
    "12345678901234567890123",
]
DATES = [
    "2024-03-05",
    "2024-3-5",
    "2024-13-01",
    "2024-03-05T10:00:00Z",
    "2024-03-05 18:00:00+08:00",
    "2024-03-05 10:00:00",
]
WORDS = ["", " ", "null", "None", "NaN", "Oslo", " Oslo", "oslo", "杭州", "nan\n", "1,000", "3%", "inf"]
CELLS = st.sampled_from([*NUMBERS, *DATES, *WORDS])
NAMES = st.sampled_from(["", "Ann", "Lee", "Ann Lee", "Lee Ann", "null", "7"])


def tables(cells: st.SearchStrategy[str], widest: int) -> st.SearchStrategy[list[Column]]:
    return st.integers(1, 3).flatmap(
        lambda rows: st.lists(st.lists(cells, min_size=rows, max_size=rows), min_size=1, max_size=widest)
    )


def plain(cell: str) -> object:
    """A cell as it is compared: null words are nothing, numbers have two places (half away from zero), days and instants one form."""
    cell = cell.replace("\r", "").replace("\n", "").strip()
    if cell.lower() in ("", "null", "none", "nan", "nat", "<na>"):
        return None
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell):
        hundredths = Fraction(cell.removesuffix(".")) * 100 if not cell.endswith(".") else Fraction(cell[:-1]) * 100
        sign = -1 if hundredths < 0 else 1
        return sign * int(abs(hundredths) + Fraction(1, 2))
    if found := re.fullmatch(r"(\d{4})-(\d\d?)-(\d\d?)", cell):
        try:
            return datetime(*map(int, found.groups())).date()  # type: ignore[arg-type]
        except ValueError:
            return cell
    if re.match(r"\d{4}-\d\d?-\d\d?[T ]", cell):
        try:
            moment = datetime.fromisoformat(cell)
        except ValueError:
            return cell
        return moment.astimezone(UTC) if moment.tzinfo else moment
    return cell


def expected(given: list[Column], gold: list[Column], penalty: Fraction) -> Fraction:
    """By the rule: as many columns as can be matched, each once; what of the prediction matches nothing is surplus."""
    mine, theirs = Counter(map(bag, given)), Counter(map(bag, gold))
    alike = sum((mine & theirs).values())
    return max(Fraction(0), Fraction(alike, len(gold)) - penalty * Fraction(len(given) - alike, len(given)))


def bag(column: Column) -> frozenset[tuple[object, int]]:
    return frozenset(Counter(map(plain, column)).items())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def scored(folder: Path, given: list[Column], gold: list[Column], penalty: float) -> float:
    for name, table in (("p.csv", given), ("g.csv", gold)):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerows([[f"{name}{place}" for place in range(len(table))], *zip(*table, strict=True)])
    return score(folder / "p.csv", folder / "g.csv", penalty).tasks[0].score


@settings(max_examples=settings().max_examples * 3)
@given(data=st.data(), penalty=st.sampled_from([0, 1, 5, 10]))
def test_two_scorers_agree_on_any_tables_without_names_in_two_parts(
    folder: Path, data: st.DataObject, penalty: int
) -> None:
    gold = data.draw(tables(CELLS, 4))
    # a prediction worth the name shares columns with gold, in other spellings and another order
    own = data.draw(tables(CELLS, 2))
    shared = [sorted(column) for column in gold if data.draw(st.booleans())]
    given = [column for column in shared + own if len(column) == len(own[0])] or own
    parts = {cell for column in [*given, *gold] for cell in column}
    if len(given) > 1 and any(plain(cell) is None for cell in parts):
        return  # a column of nothing makes up a full name with any other: the next test
    wanted = expected(given, gold, Fraction(penalty, 10))
    assert scored(folder, given, gold, penalty / 10) == pytest.approx(float(wanted), abs=1e-12)


def in_two_parts(given: list[Column], gold: list[Column]) -> tuple[int, int]:
    """Gold columns found and predicted columns left over: equal columns first, of the rest the best of every way to make up names."""
    best = (0, -len(given))

    def go(left: list[Column], wanted: list[Column], found: int) -> None:
        nonlocal best
        best = max(best, (found, -len(left)))
        for whole, halves, swap in ((wanted, left, False), (left, wanted, True)):
            for i, full in enumerate(whole):
                for j, first in enumerate(halves):
                    for k, last in enumerate(halves):
                        if j != k and len(first) == len(last) and bag(joined(first, last)) == bag(full):
                            rest = [c for at, c in enumerate(halves) if at not in (j, k)]
                            others = whole[:i] + whole[i + 1 :]
                            go(*((others, rest, found + 2) if swap else (rest, others, found + 1)))

    alike = Counter(map(bag, given)) & Counter(map(bag, gold))
    go(without(given, alike), without(gold, alike), alike.total())
    return best[0], -best[1]


def without(columns: list[Column], bags: Counter[frozenset[tuple[object, int]]]) -> list[Column]:
    """The columns but for so many of each kind."""
    gone, rest = Counter(bags), []
    for column in columns:
        if gone[bag(column)]:
            gone[bag(column)] -= 1
        else:
            rest.append(column)
    return rest


def joined(first: Column, last: Column) -> Column:
    cells = zip(first, last, strict=True)
    return [" ".join(part.strip() for part in pair if plain(part) is not None) for pair in cells]


@given(given=tables(NAMES, 3), gold=tables(NAMES, 2))
def test_a_first_and_a_last_name_are_the_full_name_either_way_round(
    folder: Path, given: list[Column], gold: list[Column]
) -> None:
    found, left = in_two_parts(given, gold)
    most = max(0.0, found / len(gold) - 0.1 * left / len(given))
    got = scored(folder, given, gold, 0.1)
    assert got <= most + 1e-12
    if not ({"", "null"} & {cell for column in [*given, *gold] for cell in column}):
        assert got == pytest.approx(most)
