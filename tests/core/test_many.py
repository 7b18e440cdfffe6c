"""Many models at once: made without checks they are the same as checked ones, and making them leaves the collector as it was."""

from __future__ import annotations

import gc
import pickle

import pytest

from tasks.core.collector import paused
from tasks.core.models.document import MergedCell, Source

_FIELDS = {"raw": "1,5", "quote": "costs 1,5", "line": 7, "section": "s1", "corrects": False, "doubt": ""}


def test_a_model_made_of_checked_values_is_the_one_that_checking_makes() -> None:
    checked = MergedCell(record_id="R1", column="cost", sources=(Source(**_FIELDS),), conflict=False)  # type: ignore[arg-type]
    source = Source.trusted(dict(_FIELDS))
    made = MergedCell.trusted({"record_id": "R1", "column": "cost", "sources": (source,), "conflict": False})
    assert made == checked and hash(made) == hash(checked) and repr(made) == repr(checked)
    assert made.model_dump_json() == checked.model_dump_json()
    assert pickle.loads(pickle.dumps(made)) == checked


def test_such_models_are_frozen_and_their_copies_stand_apart() -> None:
    first, second = Source.trusted(dict(_FIELDS)), Source.trusted(dict(_FIELDS))
    copied = first.model_copy(update={"line": 8})
    assert (copied.line, first.line, second.line) == (8, 7, 7)
    assert first.model_fields_set == second.model_fields_set == set(_FIELDS)
    with pytest.raises(ValueError, match="frozen"):
        first.line = 9


def test_the_search_for_cycles_is_paused_inside_and_goes_on_after_an_error_too() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError), paused(), paused():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
