"""A record is read by patterns only where every clause is explained and no value is doubtful; else the model reads it."""

from __future__ import annotations

from typing import Any

import pytest
from document_world import KEY, column

from tasks.core.models.document import PlanSection, Slice
from tasks.core.models.patterns import Pattern
from tasks.document.learning.match import Matcher
from tasks.document.learning.own import own_lines
from tasks.document.learning.record import Outcome, read_record
from tasks.document.records.anchors import Finder

COLUMNS = (column(KEY, role="key"), column("sold", "number", "t"), column("owner"))
PATTERNS = (
    Pattern(kind="value", column="sold", text=r"(?:sold|shipped) (?P<value>\d[\d.,]*(?: tonnes)?)"),
    Pattern(kind="value", column="owner", text=r"(?:belongs to|owned by) (?P<value>[A-Z]\w+)"),
    Pattern(kind="absent", column="sold", text=r"[Tt]he sales were not disclosed"),
    Pattern(kind="other", text=r"painted in \d{4}"),
    Pattern(kind="other", text=r"We could not say why"),
    Pattern(kind="value", column="sold", text=r"售出(?P<value>\d[\d.]*吨)"),
    Pattern(kind="value", column="owner", text=r"归(?P<value>[\u4e00-\u9fff]{2,4})所有"),
)
SECTION = PlanSection(id="s1", title="", start_line=1, end_line=50, columns=(KEY, "sold", "owner"))


def piece(*lines: str, belongs: dict[str, tuple[int, ...]] | None = None, **more: Any) -> Slice:
    """A slice whose lines each name the records of their ids."""
    finder = Finder((r"\b(R\d+)\b", r"(R\d+)(?=号)"))
    named = {number: finder.places(line) for number, line in enumerate(lines, 1)}
    own: dict[str, list[int]] = {}
    for number, places in named.items():
        for record, _, _ in places:
            own.setdefault(record, []).append(number)
    found = belongs or {record: tuple(dict.fromkeys(numbers)) for record, numbers in own.items()}
    values: dict[str, Any] = {
        "section": "s1", "columns": COLUMNS, "key": KEY, "lines": tuple(enumerate(lines, 1)), "expected": tuple(found),
        "belongs": tuple(found.items()), "named": tuple((n, p) for n, p in named.items() if p), **more,
    }  # fmt: skip
    return Slice(**values)


def outcome(*lines: str, record: str = "R1", patterns: tuple[Pattern, ...] = PATTERNS, **more: Any) -> Outcome:
    own = next(own for own in own_lines(piece(*lines, **more), SECTION) if own.record == record)
    return Outcome(why=own.why) if own.why else read_record(own, COLUMNS, patterns, Matcher(patterns, 30))


def cells(made: Outcome) -> dict[str, str]:
    assert made.record is not None, made.why
    return {cell.finding.column: cell.finding.raw for cell in made.record.cells}


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("R1 belongs to Brandt and sold 12 tonnes.", {"sold": "12 tonnes", "owner": "Brandt"}),
        ("R1, owned by Rask, shipped 1,200 tonnes.", {"sold": "1,200 tonnes", "owner": "Rask"}),
        ("R1 belongs to Brandt. The sales were not disclosed.", {"owner": "Brandt"}),
        ("R1 belongs to Brandt. We could not say why; the sales were not disclosed.", {"owner": "Brandt"}),
        ("R1 belongs to Brandt, was painted in 1999 and sold 3.5 tonnes.", {"sold": "3.5 tonnes", "owner": "Brandt"}),
        ("R1号归王小明所有，售出12.5吨。", {"sold": "12.5吨", "owner": "王小明"}),
        ("R1号售出3吨。", {"sold": "3吨"}),
    ],
)
def test_values_are_read_with_their_quotes_and_lines(line: str, values: dict[str, str]) -> None:
    made = outcome(line)
    assert cells(made) == values and made.record is not None
    for cell in made.record.cells:
        assert cell.finding.raw in cell.finding.quote and cell.finding.quote in line and cell.finding.line == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("R1 belongs to Brandt and gave 12 tonnes.", "explained"),
        ("R1 belongs to Brandt. It would have sold 12 tonnes with more rain.", "explained"),
        ("R1 belongs to Brandt, sold 12 tonnes. Nobody confirms that.", "explained"),
        ("R1 sold 12 tonnes, of which 3 came back.", "explained"),
        ("R1 belongs to Brandt and was run by Otto Rask, sold 12 tonnes.", "explained"),
        ("R1 sold 12 tonnes. Later it shipped 15 tonnes.", "patterns find"),
        ("R1 sold 12 tonnes. The sales were not disclosed.", "a value, and words that there is none"),
        ("Unlike R2, which sold 12 tonnes, R1 belongs to Brandt.", "names other records"),
        ("R1号归王小明所有，若扩建可售出12.5吨。", "explained"),
        ("R1号售出3吨，据称售出5吨。", "explained"),
    ],
)
def test_what_is_not_sure_goes_to_the_model(line: str, why: str) -> None:
    made = outcome(line)
    assert made.record is None and why in made.why


def test_no_pattern_runs_over_into_the_line_of_the_next_record() -> None:
    wide = (Pattern(kind="value", column="sold", text=r"R1[\s\S]*?sold (?P<value>\d+ tonnes)"), *PATTERNS[1:])
    made = outcome("R1 belongs to Brandt.", "R2 belongs to Rask and sold 12 tonnes.", patterns=wide)
    assert cells(made) == {"owner": "Brandt"}


def test_one_place_is_not_the_value_of_two_columns() -> None:
    both = (*PATTERNS, Pattern(kind="value", column="owner", text=r"sold (?P<value>\d+ tonnes)"))
    made = outcome("R1 sold 12 tonnes.", patterns=both)
    assert made.record is None and "taken for" in made.why


def test_corrections_and_lines_elsewhere_are_left_to_the_model_beside() -> None:
    text = piece("R1 sold 12 tonnes.", "Correction: R1 sold 15 tonnes.", "Readers may recall R1.", places=(3, 4, 90))
    (own,) = own_lines(text, SECTION)
    assert [place for place, _ in own.lines] == [3] and own.remarks == (4, 90) and not own.why


def test_a_line_that_names_another_record_in_its_way_is_not_read_for_this_one() -> None:
    text = piece(
        "R1 sold 12 tonnes.", "Otto Rask sold 15 tonnes.", belongs={"R1": (1, 2), "R2": (2,)}, alike=((2, ("R2",)),)
    )
    first, second = own_lines(text, SECTION)
    assert [place for place, _ in first.lines] == [1] and not first.why
    assert [place for place, _ in second.lines] == [2] and not second.why


def test_a_line_that_may_be_of_two_records_is_read_by_the_model() -> None:
    text = piece("Rask sold 15 tonnes.", belongs={"R1": (1,), "R2": (1,)}, alike=((1, ("R1", "R2")),))
    assert all(own.why for own in own_lines(text, SECTION))
