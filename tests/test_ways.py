"""The command that measures ways to show tables: what each way asks, shows and counts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import sales
import ways
from endpoint import Endpoint
from recalling import build, desk
from shop import question

from tasks.core.models.context import TableRelevanceResult
from tasks.core.settings import load
from tasks.solve.showing.size import whole_tokens

KEPT = ("fact_order", "dim_region")
SQL = (
    "SELECT round(sum(o.order_amount), 2) AS gmv FROM fact_order o JOIN dim_region r USING (region_id) "
    "WHERE r.region_name = '华北' AND o.order_status <> '已取消'"
)


def request(way: ways.Way, profile: str = "default") -> ways.WayRequest:
    return ways.WayRequest(folder="x", question="?", profile=profile, way=way)


@pytest.mark.parametrize("profile", ["default", "local"])
def test_only_the_ways_that_fold_ask_for_votes_and_only_the_merged_one_for_terms_and_a_cut(profile: str) -> None:
    told = {way: load(profile, request(way, profile).overrides()) for way in ways.WAYS}
    assert [bool(one.relevance.from_tokens) for one in told.values()] == [False, True, True]
    assert told["voted"].vote.enabled and told["merged"].vote.enabled
    assert [(told[way].recall.expand, told[way].recall.filter) for way in ("voted", "merged")] == [
        (False,) * 2,
        (True,) * 2,
    ]
    for one in told.values():
        assert one.brief.tables == 0 and one.brief.tokens < one.role("agent").context_tokens
    assert told["merged"].brief.tokens == load(profile).brief.tokens


def test_voted_tables_are_shown_with_every_column_and_with_metrics_that_they_hold() -> None:
    with desk() as settings:
        world = asyncio.run(build(sales.SAMPLE, settings))
    context = ways.unmerged(world.metadata, TableRelevanceResult(relevant_tables=KEPT, skipped_tables=("dim_product",)))
    assert {table.name for table in context.tables} == {*KEPT}
    columns = {column.id for table in context.tables for column in table.columns}
    assert columns == {column.id for column in world.metadata.columns if column.table in KEPT}
    assert {metric.name for metric in context.metrics} == {"GMV", "AOV"} and not context.keys
    alone = ways.unmerged(world.metadata, TableRelevanceResult(relevant_tables=("dim_region",)))
    assert alone.metrics == ()


def scripted(body: dict[str, Any]) -> str:
    """Terms, votes, a cut, a contract and a query for the first question, by what a request asks for."""
    replies = {
        "Ballot": {"verdicts": [{"table_name": n, "reason": "", "relevant": n in KEPT} for n in sales.tables()]},
        "TermsReply": {"columns": ["order_amount"], "metrics": ["GMV"], "values": ["华北"]},
        "FilterReply": {
            "tables": [{"name": "fact_order", "columns": ["order_amount"]}, {"name": "dim_region", "columns": []}],
            "metrics": ["GMV"],
        },
        "Action": {"thought": "", "tool": "submit", "arguments": {"sql": SQL}},
    }
    asked = body["response_format"]["json_schema"]["name"]
    if asked == "Action" and len(body["messages"]) == 1:
        replies[asked]["tool"] = "query"
    return json.dumps(replies.get(asked, {"columns": [{"name": "gmv"}], "row": "one row"}))


def test_every_way_answers_and_folding_shortens_the_first_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = ways.sample_cases(["region_total"])
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("MODEL_NAME", "scripted")
    with Endpoint(scripted) as endpoint, ways.measuring():
        monkeypatch.setenv("MODEL_API_URL", endpoint.url)
        told = {way: ways.measured(case, way, "default", tmp_path / way) for way in ways.WAYS}
    assert [one.score for one in told.values()] == [1, 1, 1]
    assert [one.shown for one in told.values()] == [len(sales.tables()), 2, 2]
    assert told["whole"].tokens > told["voted"].tokens > told["merged"].tokens > 0
    assert [one.calls - told["whole"].calls for one in told.values()] == [0, 3, 5], "three votes; terms and a cut"
    shares = [row[-2:] for row in ways.summary(list(told.values()))]
    assert shares == [["1.000", "1"]] * 3


def test_where_the_tables_do_not_fit_unfolded_nobody_is_asked_and_their_tokens_are_told() -> None:
    with desk() as settings:
        world = asyncio.run(build(sales.SAMPLE, settings))
        asked, little = question("华北的销售总额"), settings.brief.model_copy(update={"tokens": 250})
        with ways.measuring():
            from flows import solve

            ways._way.set("merged")
            assert asyncio.run(solve.compress(asked, world.profile, world.knowledge, little)).folded
            ways._way.set("whole")
            with pytest.raises(ways.TooLarge) as caught:
                asyncio.run(solve.compress(asked, world.profile, world.knowledge, little))
            assert not asyncio.run(solve.compress(asked, world.profile, world.knowledge, settings.brief)).folded
    assert caught.value.tokens == whole_tokens(world.profile) > 250


def result(case: str, way: ways.Way, score: float | None) -> ways.Result:
    return ways.Result(case, way, 1, 100, 2, 300, score, "approved")


def test_a_way_in_which_nobody_was_asked_has_no_mean_and_is_no_yardstick() -> None:
    large = [result("a", "whole", None), result("a", "voted", 0.5), result("a", "merged", 1)]
    small = [result("b", "whole", 1), result("b", "voted", 1), result("b", "merged", 0.5)]
    assert [row[0] for row in ways.summary(large)] == ["voted", "merged"]
    assert [row[:2] for row in ways.summary([*large, *small])] == [["whole", "1"], ["voted", "2"], ["merged", "2"]]
    assert large[0].cells()[-2] == "–" and large[1].cells()[-2] == "0.50"
    assert ways.kept(large) and not ways.kept([*large, *small])
    assert ways.kept([*large, *small[:2], result("b", "merged", 1)])


def test_made_questions_come_with_gold_that_is_not_empty(tmp_path: Path) -> None:
    cases = ways.made_cases(tmp_path, 16, 8)
    assert 6 <= len(cases) == len({case.name for case in cases}) <= 8
    for case in cases:
        head, *rows = case.gold.read_text("utf-8").splitlines()
        assert head and rows and all(rows)
