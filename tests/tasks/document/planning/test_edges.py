"""Borders of sections that a plan has off by a line."""

import pytest

from tasks.core.models.document import Mention, PlanSection
from tasks.document.planning.edges import settle


def sections(*ranges: tuple[int, int]) -> tuple[PlanSection, ...]:
    return tuple(
        PlanSection(id=f"s{n}", title="", start_line=a, end_line=b, columns=("id", f"c{n}"))
        for n, (a, b) in enumerate(ranges)
    )


TOLD_TWICE = [Mention(record_id=str(record), line=record) for record in range(1, 11)] + [
    Mention(record_id=str(record), line=20 + record) for record in range(1, 11)
]


@pytest.mark.parametrize(
    "planned",
    [((1, 10), (21, 30)), ((1, 21), (22, 30)), ((1, 22), (23, 30)), ((1, 9), (10, 30)), ((1, 8), (9, 30))],
)
def test_a_border_line_goes_where_its_records_are_wanted(planned: tuple[tuple[int, int], ...]) -> None:
    first, second = settle(sections(*planned), TOLD_TWICE)
    inside = [{m.record_id for m in TOLD_TWICE if s.start_line <= m.line <= s.end_line} for s in (first, second)]
    assert inside[0] == inside[1] == {str(record) for record in range(1, 11)}


def test_a_correction_at_the_end_of_a_section_stays() -> None:
    corrected = [*TOLD_TWICE, Mention(record_id="4", line=15)]
    assert settle(sections((1, 15), (21, 30)), corrected) == sections((1, 15), (21, 30))


def test_one_section_and_sections_that_overlap_stay() -> None:
    for planned in (sections((1, 30)), sections((1, 30), (5, 30))):
        assert settle(planned, TOLD_TWICE) == planned
