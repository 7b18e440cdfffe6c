"""Where the sources leave two readings open, both are run and kept; equal ones are no ambiguity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from audited import SQL, Tried, Validators, attempt, reply, steps

from tasks import stage
from tasks.core.files.store import Store

MORE: Tried = ("query", {"sql": "SELECT amount FROM orders"}, "amount\n120.5\n80.0\n(2 rows)")


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "RETRY_SECONDS", (0.0, 0.0))


def readings(*queries: str) -> list[dict[str, Any]]:
    return [{"text": "two ways", "readings": [{"text": f"way {n}", "sql": sql} for n, sql in enumerate(queries)]}]


def test_two_readings_that_give_different_answers_are_both_kept_with_what_they_give(
    store: Store, tmp_path: Path
) -> None:
    both_ways = readings("SELECT count(*) AS n FROM orders", "SELECT count(DISTINCT product) AS n FROM orders")
    with Validators(store, tmp_path, [reply(True, unresolved_ambiguities=both_ways)]) as both:
        audit = both.process(attempt(steps(MORE), SQL))
    kept = audit.ledger.unresolved_ambiguities[0].readings
    assert [(one.text, one.preview, one.rows, one.columns) for one in kept] == [
        ("way 0", ((5,),), 1, ("n",)),
        ("way 1", ((3,),), 1, ("n",)),
    ]
    assert kept[0].digest != kept[1].digest
    assert audit.verdict == "approved"


def test_two_readings_that_give_the_same_are_no_ambiguity(store: Store, tmp_path: Path) -> None:
    same = readings("SELECT count(*) FROM orders", "SELECT count(order_id) FROM orders")
    with Validators(store, tmp_path, [reply(True, unresolved_ambiguities=same)]) as both:
        assert both.process(attempt(steps(MORE), SQL)).ledger.unresolved_ambiguities == ()


def test_a_reading_whose_query_does_not_run_or_is_refused_says_so(store: Store, tmp_path: Path) -> None:
    ways = readings("SELECT count(*) FROM orders", "DROP TABLE orders")
    with Validators(store, tmp_path, [reply(True, unresolved_ambiguities=ways)]) as both:
        kept = both.process(attempt(steps(MORE), SQL)).ledger.unresolved_ambiguities[0].readings
    assert kept[0].rows == 1 and kept[1].error and not kept[1].digest
