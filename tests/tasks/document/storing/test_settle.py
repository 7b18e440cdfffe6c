"""What holds, what was corrected, what contradicts: after reading."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.core.models.document import MergedCell, Reading, Source
from tasks.document.storing.settle import NOTHING, Settled, settle, with_unfound


def read(raw: str, value: Any, status: Any = "verified", note: str = "", **more: Any) -> Reading:
    return Reading(raw=raw, value=value, status=status, note=note, **more)


def settled(*said: tuple[Any, ...]) -> Settled:
    """Statements as (reading, corrects), one a line."""
    sources = tuple(
        Source(raw=reading.raw, quote=reading.raw, line=n, section="s", corrects=corrects)
        for n, (reading, corrects) in enumerate(said, 1)
    )
    cell = MergedCell(record_id="R1", column="c", sources=sources)
    return settle(cell, {reading.raw: reading for reading, _ in said}, "number")


def relations(cell: Settled) -> list[str]:
    return [statement.relation for statement in cell.statements]


PERCENT, RATIO, OTHER = read("1.55%", 0.0155), read("0.0155", 0.0155), read("2%", 0.02)
ABOUT, EXACT = read("约六百九十七万股", 6970000, note="about", rounded=True), read("6,970,321股", 6970321)
NONE, UNREAD = read("未披露", None, "missing", "null word"), read("数量可观", None, "unverified", "no number")


@pytest.mark.parametrize(
    ("said", "value", "status", "found"),
    [
        ([(PERCENT, False)], 0.0155, "verified", ["holds"]),
        ([(PERCENT, False), (RATIO, False)], 0.0155, "verified", ["repeats", "holds"]),
        ([(PERCENT, False), (OTHER, False)], None, "conflict", ["contradicts", "contradicts"]),
        ([(PERCENT, False), (OTHER, True)], 0.02, "verified", ["superseded", "holds"]),
        (
            [(PERCENT, False), (OTHER, True), (RATIO, False)],
            None,
            "conflict",
            ["superseded", "contradicts", "contradicts"],
        ),
        ([(ABOUT, False), (EXACT, False)], 6970321, "verified", ["repeats", "holds"]),
        ([(EXACT, False), (ABOUT, False)], 6970321, "verified", ["holds", "repeats"]),
        ([(ABOUT, False), (read("6,990,000", 6990000), False)], None, "conflict", ["contradicts", "contradicts"]),
        ([(NONE, False)], None, "missing", ["holds"]),
        ([(NONE, False), (PERCENT, False)], 0.0155, "verified", ["repeats", "holds"]),
        ([(PERCENT, False), (NONE, True)], None, "missing", ["superseded", "holds"]),
        ([(UNREAD, False)], None, "unverified", ["holds"]),
        ([(UNREAD, False), (PERCENT, False)], 0.0155, "unverified", ["repeats", "holds"]),
        ([(read("a", 5, "derived"), False), (read("5", 5.0), False)], 5.0, "verified", ["repeats", "holds"]),
        ([(read("yes", True), False), (read("1", 1), False)], None, "conflict", ["contradicts", "contradicts"]),
    ],
)
def test_a_cell_has_the_value_that_the_text_decides_for(
    said: list[tuple[Reading, bool]], value: Any, status: str, found: list[str]
) -> None:
    cell = settled(*said)
    assert (cell.value, cell.status, relations(cell)) == (value, status, found)


def test_a_conflict_names_what_contradicts_and_where() -> None:
    assert (
        settled((PERCENT, False), (OTHER, False)).note == "the text says 1.55% (line 1), 2% (line 2) and corrects none"
    )


def test_what_nobody_read_is_no_value_but_in_a_text_column() -> None:
    cell = MergedCell(record_id="R1", column="c", sources=(Source(raw=" 5 ", quote="5", line=1, section="s"),))
    assert (settle(cell, {}, "number").value, settle(cell, {}, "number").status) == (None, "unverified")
    assert (settle(cell, {}, "text").value, settle(cell, {}, "text").status) == ("5", "verified")


def test_silence_is_missing() -> None:
    assert (settle(None, {}, "text").status, settle(None, {}, "text").note) == ("missing", "no value was named")


@pytest.mark.parametrize(
    ("texts", "status"),
    [
        (("1.2 million euros",), "unread"),
        (("…",), "unread"),
        (("...", "未披露"), "unread"),
        (("未披露", "n/a"), "missing"),
        (("-",), "missing"),
        ((), "missing"),
    ],
)
def test_a_reply_that_was_refused_leaves_open_whether_the_text_states_a_value(
    texts: tuple[str, ...], status: str
) -> None:
    assert with_unfound(NOTHING, texts).status == status
    said = settled((NONE, False))
    assert said.status == with_unfound(said, texts).status == "missing"


@pytest.mark.parametrize(
    ("quote", "raw", "value", "others", "status"),
    [
        ("三季度价格下跌7.87%", "7.87%", 7.87, [-2.0], "unverified"),
        ("the index fell by 7.87% in March", "7.87%", 7.87, [-2.0], "unverified"),
        ("the index fell by 7.87% in March", "fell by 7.87%", -7.87, [-2.0], "verified"),
        ("三季度价格下跌7.87%", "7.87%", 7.87, [2.0], "verified"),
        ("三季度价格上涨7.87%", "7.87%", 7.87, [-2.0], "verified"),
        ("价格先下跌2%，后上涨7.87%", "7.87%", 7.87, [-2.0], "verified"),
    ],
)
def test_a_fall_left_out_of_what_was_copied_is_doubted_where_values_are_signed(
    quote: str, raw: str, value: float, others: list[float], status: str
) -> None:
    source = Source(raw=raw, quote=quote, line=1, section="s")
    readings = {raw: read(raw, value), **{f"other {n}": read(f"other {n}", other) for n, other in enumerate(others)}}
    cell = settle(MergedCell(record_id="R1", column="c", sources=(source,)), readings, "number")
    assert (cell.value, cell.status) == (value, status)


def test_equal_texts_in_other_widths_are_no_conflict() -> None:
    wide, narrow = read("Ａ１级", "Ａ１级"), read("A1级", "A1级")
    found = settled((wide, False), (narrow, False))
    assert (found.value, found.status) == ("A1级", "verified")
