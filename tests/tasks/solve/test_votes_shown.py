"""Votes on tables, from the assignment into evidence, report, summary and Prefect."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from publishing import SUM_BY_NAME, assignment, attempt, candidate, seen
from publishing import published as answered

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Answer, Brief
from tasks.core.models.context import TableRelevanceResult
from tasks.core.models.run import StageSpend
from tasks.core.settings import Settings
from tasks.solve.deliver import deliver

VOTES = TableRelevanceResult(
    task_id="task_3",
    per_table={"customers": False, "orders": True},
    all_tables=("customers", "orders"),
    relevant_tables=("orders",),
    skipped_tables=("customers",),
    fold_keys=("context/db/shop.db::customers",),
    vote_tally={"customers": "1/5", "orders": "5/5"},
    reasons={"customers": "no step <b>reads</b> it", "orders": "has the amounts"},
    n_rounds_ok=5,
    n_rounds_wanted=5,
)


def published(store: Store, folder: Path, settings: Settings, votes: TableRelevanceResult) -> Answer:
    given = assignment(
        store,
        folder,
        relevance=votes,
        brief=Brief(text="orders", tokens=1, shown=("orders",), folded=("customers",)),
        choosing=(StageSpend(stage="relevance", calls=5, tokens_in=50, tokens_out=10),),
    )
    made = attempt(candidate(asyncio.run(seen(store, given, settings, SUM_BY_NAME)), SUM_BY_NAME))
    with door.use(Door(settings, store, Meter(settings.budget))):
        return asyncio.run(answered(given, made, settings.solver, settings))


def test_evidence_and_report_tell_what_was_folded_and_that_the_query_read_it(
    store: Store, tmp_path: Path, settings: Settings
) -> None:
    answer = published(store, tmp_path, settings, VOTES)
    evidence = json.loads(store.get(answer.evidence))
    assert evidence["folded"] == [
        {"name": "customers", "origin": "context/db/shop.db::customers", "tally": "1/5",
         "reason": "no step <b>reads</b> it", "used": True}
    ]  # fmt: skip
    assert evidence["relevance"]["vote_tally"] == {"customers": "1/5", "orders": "5/5"}
    assert {"stage": "relevance", "calls": 5, "tokens_in": 50, "tokens_cached": 0, "tokens_out": 10} in evidence[
        "usage"
    ]
    page = store.get(answer.report).decode()
    assert "Tables that were folded" in page and "read by the query" in page
    assert "no step &lt;b&gt;reads&lt;/b&gt; it" in page and "<b>reads" not in page


def test_where_nothing_was_judged_nothing_is_said_of_folding(store: Store, tmp_path: Path, settings: Settings) -> None:
    answer = published(store, tmp_path, settings, TableRelevanceResult(off="few tables"))
    assert json.loads(store.get(answer.evidence))["folded"] == []
    assert "Tables that were folded" not in store.get(answer.report).decode()


@pytest.mark.parametrize(
    ("update", "says"),
    [
        ({"error": "no round succeeded: 503"}, "could not be judged"),
        ({"skipped_describe_keys": ("context/db/shop.db::customers",)}, "judged by name alone or without rows"),
    ],
)
def test_trouble_with_the_votes_is_a_doubt(
    store: Store, tmp_path: Path, settings: Settings, update: dict[str, Any], says: str
) -> None:
    answer = published(store, tmp_path, settings, VOTES.model_copy(update=update))
    assert [doubt for doubt in json.loads(store.get(answer.evidence))["doubts"] if says in doubt]


@pytest.mark.service
def test_a_flow_run_shows_the_votes_as_a_table(
    store: Store, tmp_path: Path, settings: Settings, prefect_api: str
) -> None:
    from prefect import flow
    from prefect.artifacts import Artifact

    many = tuple(f"other_{at:04} {'x' * 60}" for at in range(3000))
    votes = VOTES.model_copy(update={"not_judged": many, "always_keep": ("doc_rules",)})
    answer = published(store, tmp_path, settings, votes)

    @flow(name="delivering")
    async def deliver_it() -> Any:
        await deliver(answer, str(tmp_path / "out"))
        return await Artifact.aget("relevance-task-3")

    shown = asyncio.run(deliver_it())
    rows = json.loads(shown.data)
    assert rows[:3] == [
        {"table": "orders", "verdict": "relevant", "tally": "5/5", "reason": "has the amounts"},
        {"table": "customers", "verdict": "folded", "tally": "1/5", "reason": "no step <b>reads</b> it"},
        {"table": "doc_rules", "verdict": "kept: drawn from a document", "tally": "", "reason": ""},
    ]
    assert len(shown.data.encode()) <= 100_000 and "3000 folded without a vote" in shown.description
