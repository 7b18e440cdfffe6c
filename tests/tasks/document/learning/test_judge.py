"""The model's own reading of a sample judges patterns and columns; what no sample shows is not believed."""

from __future__ import annotations

import pytest
from document_world import column, piece, said

from tasks.core.models.patterns import PatternCell, PatternRead, PatternRecord
from tasks.core.settings import load
from tasks.document.learning.judge import judge, lower_bound, more, unseen
from tasks.document.learning.judge import said as words
from tasks.document.learning.settle import corrected, result, settle

COLUMNS = (column("sold", "number", "t"), column("owner"))
NAMES = [one.name for one in COLUMNS]
SAMPLE = [f"R{number}" for number in range(24)]


def record(name: str, pattern: int = 0, raw: str = "12 t") -> PatternRecord:
    return PatternRecord(
        record_id=name,
        cells=(
            PatternCell(finding=said(name, "sold", raw, 1), pattern=pattern),
            PatternCell(finding=said(name, "owner", "Rask", 1), pattern=9),
        ),
    )


def model(*changed: tuple[str, str, str | None]) -> dict[tuple[str, str], list[str]]:
    told = {(name, "sold"): ["12 tonnes"] for name in SAMPLE} | {(name, "owner"): ["Rask"] for name in SAMPLE}
    for name, which, raw in changed:
        told[name, which] = [raw] if raw else []
    return told


def test_equal_values_agree_however_they_are_written() -> None:
    read = PatternRead(records=tuple(map(record, SAMPLE)), rest=())
    judged = judge(read, SAMPLE, (model(), {}), COLUMNS, load().patterns)
    assert judged.agreed == {"sold": (24, 24), "owner": (24, 24)} and not judged.columns and not judged.dropped


def test_a_second_reading_settles_a_dispute() -> None:
    read = PatternRead(records=tuple(map(record, SAMPLE)), rest=())
    first = model(("R3", "sold", "40 t"), ("R4", "owner", None))
    judged = judge(
        read, SAMPLE, (first, {("R3", "sold"): ["12 t"], ("R4", "owner"): ["Rask"]}), COLUMNS, load().patterns
    )
    assert judged.won == (("R3", "sold"), ("R4", "owner")) and judged.agreed["sold"] == (24, 24)
    kept = list(corrected([piece(said("R3", "sold", "40 t", 1))], read, judged))
    assert [finding.raw for finding in kept[0].findings] == ["12 t"]


def test_a_pattern_that_disagrees_is_dropped_and_its_records_go_to_the_model() -> None:
    read = PatternRead(
        records=tuple(record(name, int(name in ("R1", "R2", "R99"))) for name in (*SAMPLE, "R98", "R99")), rest=()
    )
    told = model(("R1", "sold", "40 t"), ("R2", "sold", "41 t"))
    judged = judge(read, SAMPLE, (told, told), COLUMNS, load().patterns)
    assert [at for at, _ in judged.dropped] == [1] and not judged.columns
    parts = settle(read, judged, SAMPLE, NAMES)
    assert [one.record_id for one in parts.kept] == ["R98"] and parts.rest == (("R99", "a pattern of it was dropped"),)


def test_a_column_below_the_bar_is_refused_for_all_records() -> None:
    read = PatternRead(records=tuple(map(record, (*SAMPLE, "R98"))), rest=())
    told = model(*((name, "sold", "40 t") for name in SAMPLE[:4]))
    judged = judge(read, SAMPLE, (told, told), COLUMNS, load().patterns)
    assert [name for name, _ in judged.columns] == ["sold"]
    parts = settle(read, judged, SAMPLE, NAMES)
    own = result("s1", parts, ())
    assert parts.refused == ("sold",) and [finding.column for finding in own.findings] == ["owner"]


def test_a_value_that_patterns_do_not_see_counts_against_them() -> None:
    read = PatternRead(records=tuple(PatternRecord(record_id=name, cells=()) for name in SAMPLE), rest=())
    judged = judge(read, SAMPLE, (model(), model()), COLUMNS, load().patterns)
    assert {name for name, _ in judged.columns} == {"sold", "owner"}
    assert settle(read, judged, SAMPLE, NAMES).kept == ()


def test_a_pattern_that_no_sampled_record_shows_is_sampled_where_it_matters_else_not_believed() -> None:
    others = (record("R50", 1), record("R51", 1), record("R52", 2))
    read = PatternRead(records=(*map(record, SAMPLE), *others), rest=())
    assert unseen(read, SAMPLE) == {1: 2, 2: 1}
    assert more(read, SAMPLE, 24) == ["R50"]
    sample = [*SAMPLE, "R50"]
    judged = judge(
        read, sample, (model() | {("R50", "sold"): ["12 t"], ("R50", "owner"): ["Rask"]}, {}), COLUMNS, load().patterns
    )
    parts = settle(read, judged, sample, NAMES)
    assert [one.record_id for one in parts.kept] == ["R51"]
    assert parts.rest == (("R52", "a pattern of it decides no sampled cell"),)


def test_words_for_nothing_and_corrections_are_no_values() -> None:
    told = [said("R1", "sold", "n/a", 1), said("R2", "sold", "3 t", 2, corrects=True), said("R3", "sold", "4 t", 1)]
    assert words(told, COLUMNS) == {("R3", "sold"): ["4 t"]}


@pytest.mark.parametrize(("good", "count", "bound"), [(24, 24, 0.936), (23, 24, 0.870), (22, 24, 0.815), (0, 0, 0.0)])
def test_the_bound_is_wilsons(good: int, count: int, bound: float) -> None:
    assert lower_bound(good, count) == pytest.approx(bound, abs=0.002)
