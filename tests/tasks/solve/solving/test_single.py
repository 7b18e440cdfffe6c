"""A scripted small model over real HTTP against a real catalogue: samples, repairs, votes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from endpoint import Cut, Endpoint, Samples, Status
from library import build

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Assignment, Attempt, Brief, Contract, ContractColumn, Question
from tasks.core.models.catalogue import Catalogue
from tasks.core.settings import load
from tasks.solve.agent import solve_question
from tasks.solve.solving.single import query_of

ADA = "SELECT name FROM author WHERE city = 'Lyon'"
WRONG_ALIAS = "SELECT T2.name FROM author AS T1 JOIN book AS T2 ON T2.author_id = T1.id WHERE T2.title = 'Rain'"
BO = "SELECT name FROM author WHERE id = 2"
BROKEN = "SELECT horoscope FROM author"


@pytest.fixture
def solve(store: Store, tmp_path: Path) -> Callable[..., tuple[Attempt, Endpoint]]:
    path = tmp_path / "catalogue.duckdb"
    profile = build(path)
    database = store.put_file(path)

    def run(script: Any, contract: Contract | None = None, **sections: Any) -> tuple[Attempt, Endpoint]:
        given = Assignment(
            question=Question(text="Which author comes from Lyon?", as_of=date(2024, 5, 1)),
            brief=Brief(text="author(id, name, city)", tokens=9, shown=("author",)),
            contract=contract or Contract(),
            catalogue=Catalogue(database=database, tables=(), files=()),
            profile=profile,
        )
        with Endpoint(script) as endpoint:
            here = {"endpoints": {"main": {"url": endpoint.url, "serve": False}}}
            off = {name: {"enabled": False} for name in ("process", "verify")}
            quick = {"first_seconds": 0.01, "longest_seconds": 0.02}
            settings = load("local", {**here, **off, "retry": quick, **sections})
            with door.use(Door(settings, store, Meter(settings.budget))):
                return asyncio.run(solve_question.function(given, settings.solver)), endpoint

    return run


def test_what_most_samples_give_is_the_answer_and_their_share_its_confidence(solve: Any) -> None:
    attempt, endpoint = solve([BO, Samples([f"```sql\n{ADA};\n```", ADA, BO, f"{ADA} ORDER BY 1", BROKEN])])
    assert [request.get("temperature") for request in endpoint.requests] == [0.0, 0.7]
    assert [request.get("n", 1) for request in endpoint.requests] == [1, 5]
    assert attempt.ended == "submitted" and attempt.chosen == 0 and attempt.samples == 6
    assert attempt.candidate and attempt.candidate.submission.sql == ADA
    assert attempt.candidate.preview == (("Ada",),) and attempt.agreement == 3 / 5.5
    assert [(c.votes, bool(c.error)) for c in attempt.candidates] == [(3, False), (2, False), (1, True)]
    assert attempt.usage.calls == 6


def test_c7_a_failing_sample_is_mended_and_says_how(solve: Any) -> None:
    attempt, _ = solve([WRONG_ALIAS, Samples([WRONG_ALIAS] * 5)])
    assert attempt.candidate and attempt.candidate.votes == 6 and attempt.candidate.preview == (("Ada",),)
    assert attempt.candidate.submission.reason == "mended by code: T2.name is in T1 (author)"
    tried = [step for step in attempt.steps if step.kind == "tool"]
    assert [step.ok for step in tried] == [False, True], "equal samples run once"
    assert tried[1].arguments["mended"] == ["T2.name is in T1 (author)"]


def test_a_sample_that_finds_nothing_is_run_with_stored_values(solve: Any) -> None:
    attempt, _ = solve([ADA.replace("Lyon", "LYON"), Samples([ADA] * 5)])
    assert attempt.candidate and attempt.candidate.votes == 6
    assert attempt.candidate.submission.sql == ADA, "the one that needed no mending speaks"


def test_when_nothing_runs_the_error_is_shown_once(solve: Any) -> None:
    attempt, endpoint = solve([BROKEN, Samples([BROKEN] * 5), ADA, Samples([ADA] * 5)])
    assert len(endpoint.requests) == 4 and attempt.samples == 12
    told = endpoint.requests[2]["messages"]
    assert [message["role"] for message in told] == ["user", "assistant", "user"]
    assert "horoscope" in told[2]["content"] and told[2]["content"].count("~~~") == 2
    assert attempt.candidate and attempt.candidate.votes == 6 and attempt.agreement == 6 / 9


def test_when_nothing_ever_runs_the_attempt_says_so(solve: Any) -> None:
    attempt, _ = solve([BROKEN, Samples([BROKEN] * 5)] * 2)
    assert attempt.ended == "no_query" and attempt.chosen is None and attempt.agreement is None
    assert [(c.votes, "horoscope" in c.error) for c in attempt.candidates] == [(12, True)]


def test_the_prompt_fences_data_and_names_values_of_the_question(solve: Any) -> None:
    expected = Contract(columns=(ContractColumn(name="author"),))
    _, endpoint = solve([ADA, Samples([ADA] * 5)], contract=expected)
    (message,) = endpoint.requests[0]["messages"]
    rules, brief, question = message["content"].split("~~~\n")[0], *message["content"].split("~~~\n")[1::2]
    assert "Reply with the SQL only" in rules
    assert brief.startswith("author(id, name, city)\n")
    assert "- 'Lyon' is a value of author.city" in brief and "Expected:\ncolumns (1): author" in brief
    assert question.startswith("Which author comes from Lyon?")


def test_a_dead_endpoint_ends_it_for_now(solve: Any) -> None:
    attempt, _ = solve([ADA, *[Status(503)] * 9])
    assert attempt.ended == "model_error" and attempt.unsettled == "transient"
    assert attempt.candidate and attempt.candidate.votes == 1, "what came before is kept"


def test_a_used_up_budget_ends_it(solve: Any) -> None:
    attempt, endpoint = solve([ADA], budget={"calls": 1})
    assert attempt.ended == "budget" and attempt.unsettled == "stopped" and len(endpoint.requests) == 1
    assert attempt.candidate and attempt.candidate.preview == (("Ada",),)


def test_without_chance_there_is_one_sample(solve: Any) -> None:
    attempt, endpoint = solve([ADA], roles={"agent": {"temperature": 0.0}})
    assert len(endpoint.requests) == 1 and attempt.samples == 1


def test_a_sample_without_a_whole_reply_counts_as_one_without_a_query(solve: Any) -> None:
    attempt, endpoint = solve([Cut("SELECT 诊断"), Cut("SELECT 诊断"), Samples([ADA, Cut("SELECT"), ADA, ADA, BO])])
    assert [request.get("n", 1) for request in endpoint.requests] == [1, 1, 5], "asked again for more, then the others"
    assert attempt.ended == "submitted" and attempt.samples == 6 and attempt.silent == 2
    assert attempt.candidate and attempt.candidate.preview == (("Ada",),) and attempt.agreement == 3 / 5
    assert [(c.votes, "cut off" in c.error) for c in attempt.candidates if not c.digest] == [(2, True)]
    assert attempt.usage.calls == 7 and any("was cut off at" in problem for problem in attempt.problems)


def test_a_cut_off_sample_is_not_shown_as_the_query_that_failed(solve: Any) -> None:
    attempt, endpoint = solve([*[Cut("SELECT")] * 2, Samples([BROKEN] * 5), ADA, Samples([ADA] * 5)])
    assert endpoint.requests[3]["messages"][1] == {"role": "assistant", "content": BROKEN}
    assert attempt.ended == "submitted" and attempt.silent == 6 and attempt.samples == 12


def test_when_every_sample_is_cut_off_the_model_is_to_blame(solve: Any) -> None:
    attempt, endpoint = solve([*[Cut("SELECT")] * 2, *[Samples([Cut("SELECT")] * 5)] * 2])
    assert attempt.ended == "model_error" and attempt.unsettled == "stopped" and attempt.chosen is None
    assert attempt.samples == attempt.silent == 6 and len(endpoint.requests) == 4
    assert attempt.problems and "raise max_tokens" in attempt.problems[-1]


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("SELECT 1", "SELECT 1"),
        ("select 1;\nselect 2", "select 1"),
        ("Here it is:\n```sql\nSELECT 1;\n```\nIt counts.", "SELECT 1"),
        ("```\nWITH a AS (SELECT 1) SELECT * FROM a\n```", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ("~~~sql\nSELECT 1", "SELECT 1"),
        ("Sure, with pleasure. The query is SELECT ';' AS a", "SELECT ';' AS a"),
        (json.dumps({"sql": "SELECT 'x'"}), "SELECT 'x'"),
        ('{"sql": "SELECT 1', 'SELECT 1'),
        ("SELECT诊断 FROM 就诊", "SELECT诊断 FROM 就诊"),
        ("I cannot.", "I cannot."),
        ("", ""),
    ],
)  # fmt: skip
def test_the_query_is_found_in_a_reply(reply: str, sql: str) -> None:
    assert query_of(reply) == sql
