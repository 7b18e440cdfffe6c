"""What a model's function may give."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.document.normalising.returned import typed


@pytest.mark.parametrize("value", [10**400, -(10**309), float("inf"), float("nan"), True, "5"])
def test_what_is_no_number_of_a_table_is_an_error_of_the_function(value: Any) -> None:
    with pytest.raises(ValueError, match=r"number|finite"):
        typed(value, "number", ())


def test_large_numbers_that_a_table_holds_are_kept_whole() -> None:
    assert typed(10**300, "integer", ()) == 10**300 and typed(2.5, "number", ()) == 2.5
