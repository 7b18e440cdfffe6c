"""Whether a line's words name a column."""

from __future__ import annotations

import pytest
from document_world import column

from tasks.document.records.corrections import names_column


@pytest.mark.parametrize(
    ("line", "name", "meaning", "named"),
    [
        ("There were 4 companies.", "company", "company served", True),
        ("The boxes were full.", "box_count", "boxes", True),
        ("Its own value is told.", "share", "its share", False),
        ("公司名称另行公布", "name", "公司的名称", True),
        ("公司另行公布", "price", "单价", False),
    ],
)
def test_a_line_names_a_column_by_a_word_in_the_singular_or_plural(
    line: str, name: str, meaning: str, named: bool
) -> None:
    assert names_column(line, column(name, doc_meaning=meaning)) is named
