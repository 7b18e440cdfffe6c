"""The command behind `make bench`: what it counts, and that it sees what is over its limit. The benchmarks themselves are no tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import growth
import performance
import pytest
from bench import quality
from bench.printed import print_pages


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("", "abc", 3),
        ("abc", "", 3),
        ("kitten", "sitting", 3),
        ("港务处春季", "港务春季登", 2),
        ("abc", "abc", 0),
        ("ab", "ba", 2),
    ],
)
def test_the_distance_of_texts_is_their_fewest_changes(one: str, other: str, apart: int) -> None:
    assert quality.distance(one, other) == apart


def test_quality_counts_characters_words_and_cells_whatever_the_markdown() -> None:
    true = "吞吐量 two words"
    assert quality.errors(true, "# 吞吐量  **two** words") == 0
    assert quality.errors(true, "吞吐量 two word") == pytest.approx(1 / 11)
    assert quality.words(true, "words 量吐") == pytest.approx(3 / 5)
    table = "| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 | 5 |"
    assert quality.rows(table) == [("a", "b"), ("1", "2"), ("3", "5")]
    assert quality.cells([("1", "2"), ("3", "4"), ("9", "9")], quality.rows(table)) == pytest.approx(3 / 6)


def test_printed_pages_say_what_is_on_them(tmp_path: Path) -> None:
    printed = print_pages(tmp_path, "tables", 2)
    assert printed.path.read_bytes().startswith(b"%PDF") and len(printed.rows) == 28
    assert (
        "港务处" in printed.text
        and "harbour" in printed.text
        and ("泊位", "业主", "吨数", "租金", "起始日期") in printed.rows
    )


def test_growth_is_the_slope_between_the_largest_sizes() -> None:
    assert growth.exponent([(1, 5.0), (10, 5.0), (100, 50.0)]) == pytest.approx(1)
    assert growth.exponent([(10, 1.0), (100, 100.0)]) == pytest.approx(2)
    plot = growth.curves("CSV", "rows", {"ours": [(1, 0.1), (10, 1.0)], "<peer>": [(1, 0.2), (10, 0.2)]})
    assert plot.body.count("<polyline") == 2 and "&lt;peer&gt;" in plot.body


def one(who: str, size: int, seconds: float, **more: Any) -> dict[str, Any]:
    told = {"what": "CSV", "who": who, "size": size, "unit": "rows", "cpu": seconds, **more}
    return {"extra_info": told, "stats": {"min": seconds}}


LIMIT = {"peer": "duckdb", "ratio": 5.0, "seconds": 0.0, "exponent": 1.25, "why": "counts"}


@pytest.mark.parametrize(
    ("mine", "over"),
    [
        ((0.1, 1.0), []),
        ((0.1, 6.0), ["6.0 times duckdb", "grows with exponent 1.78"]),
        ((3.0, 6.0), ["6.0 times duckdb"]),
    ],
)
def test_what_is_over_its_limit_is_named_in_the_page_and_what_was_kept_by_hand_stays(
    mine: tuple[float, float], over: list[str]
) -> None:
    ran = [one("ours", size, taken, limit=LIMIT) for size, taken in zip((10, 100), mine, strict=True)]
    (race,) = performance.races(
        {
            "benchmarks": [
                *ran,
                one("duckdb", 100, 1.0, said={"values": "all there"}),
                one("lone", 1, 1.0, what="no race"),
            ]
        }
    )
    assert [said.split(", at most")[0] for said in race.over] == over
    page = performance.page([race], "today", "\n## Before and after\n")
    assert ("| **no** |" in page) == bool(over) and page.endswith("## Before and after\n")
    assert "| duckdb | – | 1.00 s | 100 | – | values all there |" in page
