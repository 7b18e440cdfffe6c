"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from tasks.core.wording import counted


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (12340, ("row",), "12,340 rows"),
        (1, ("row has", "rows have"), "1 row has"),
        (2, ("row has", "rows have"), "2 rows have"),
    ],
)
def test_one_thing_has_no_plural(number: int, words: tuple[str, ...], text: str) -> None:
    assert counted(number, *words) == text
