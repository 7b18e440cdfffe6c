"""From an attempt to an answer: replayed, judged, evidenced, and delivered whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from publishing import SUM_BY_NAME, assignment, attempt, candidate, published, seen

from tasks.core.errors import InputError
from tasks.core.evidence.rows import Frame
from tasks.core.files.store import Folder, Store, use
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.models.answer import Answer, Attempt, Candidate, Contract, Submission
from tasks.core.models.run import Usage
from tasks.core.sandbox import tiers
from tasks.core.settings import Settings
from tasks.solve.deliver import deliver
from tasks.solve.solving.program import digest
from tasks.stage import listener


@pytest.fixture(autouse=True)
def opened(settings: Settings, store: Store) -> Iterator[None]:
    with door.use(door.Door(settings, store, Meter(settings.budget))):
        yield


@pytest.fixture
def bench(settings: Settings, store: Store, tmp_path: Path) -> Bench:
    return Bench(settings, store, tmp_path)


class Bench:
    """One stored catalogue, and publishing over it."""

    def __init__(self, settings: Settings, store: Store, folder: Path) -> None:
        self.settings, self.store, self.folder = settings, store, folder
        self.given = assignment(store, folder)

    def candidate(self, sql: str, **changes: Any) -> Candidate:
        return candidate(asyncio.run(seen(self.store, self.given, self.settings, sql)), sql, **changes)

    def publish(self, made: Attempt, **limits: Any) -> Answer:
        solver = self.settings.solver
        query = solver.query.model_copy(update=limits)
        return asyncio.run(published(self.given, made, solver.model_copy(update={"query": query}), self.settings))

    def csv(self, answer: Answer) -> str:
        assert answer.table
        return self.store.get(answer.table.file).decode()

    def evidence(self, answer: Answer) -> Any:
        return json.loads(self.store.get(answer.evidence))


def test_the_answer_is_replayed_from_the_stored_catalogue(bench: Bench) -> None:
    answer = bench.publish(attempt(bench.candidate(SUM_BY_NAME)))

    assert bench.csv(answer) == "name,total\n李雷,20\nAda <b>,1000000000000000000000\n"
    assert (answer.status, answer.reason) == ("not_assessed", "replayed and equal; not audited by validators")
    assert answer.table and answer.table.rows == (("李雷", 20.0), ("Ada <b>", 1e21))
    assert answer.table.types == ("VARCHAR", "DOUBLE")


def test_evidence_names_files_tables_joins_definitions_steps_and_spend(bench: Bench) -> None:
    made = attempt(bench.candidate(SUM_BY_NAME), usage=Usage(calls=2, journaled=1, tokens_in=70, tokens_out=9))

    found = bench.evidence(bench.publish(made))

    assert [source["path"] for source in found["sources"]] == [
        "context/csv/orders.csv",
        "context/db/shop.db",
        "context/knowledge.md",
        "context/torn.db",
    ]
    assert [(table["name"], table["sha256"], table["columns"]) for table in found["used"]] == [
        ("orders", "ab" * 32, ["customer_id", "amount"]),
        ("customers", "cd" * 32, ["id", "name"]),
    ]
    (join,) = found["joins"]
    assert (join["left_rows"], join["left_unmatched"], join["right_unmatched"], join["joined_rows"]) == (4, 1, 1, 3)
    assert found["replay"]["digest"] == found["replay"]["expected"] == made.candidates[0].digest
    assert found["statements"] == [{"path": "context/knowledge.md", "line": 7, "text": "amount: price paid [EUR]"}]
    assert found["usage"] == [{"stage": "agent", "calls": 3, "tokens_in": 70, "tokens_cached": 0, "tokens_out": 9}]
    assert set(found["versions"]) == {"tablewright", "duckdb"}
    assert found["doubts"] == [
        "orders lacks 1 row of context/csv/orders.csv that could not be read",
        "1 of 4 rows of orders found no partner in customers (left out); "
        "1 of 3 rows of customers found no partner in orders (left out)",
        "context/torn.db could not be read: file is not a database",
    ]


def test_two_runs_in_other_places_write_the_same_bytes(
    bench: Bench, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sk-very-secret")
    first = bench.publish(attempt(bench.candidate(SUM_BY_NAME, votes=4), style="single", samples=5))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with use(Store(Folder(elsewhere / "store"), elsewhere / "cache")) as store:
        other = Bench(settings, store, elsewhere)
        second = other.publish(attempt(other.candidate(SUM_BY_NAME, votes=4), style="single", samples=5))

        for ref in (first.evidence, first.report):
            assert bench.store.get(ref) == store.get(second.evidence if ref.name == "evidence.json" else second.report)
    text = bench.store.get(first.evidence).decode() + bench.store.get(first.report).decode()
    assert str(tmp_path) not in text
    assert "sk-very-secret" not in text


def test_rows_keep_the_order_of_the_query(bench: Bench) -> None:
    answer = bench.publish(attempt(bench.candidate("select order_id from orders order by amount desc")))

    assert bench.csv(answer) == "order_id\n3\n1\n2\n4\n"


def test_rows_of_a_query_without_order_are_sorted_by_value_and_that_is_noted(bench: Bench) -> None:
    sql = "select o.customer_id, o.order_id as id, c.id -- 两个 id\nfrom orders o left join customers c on c.id = o.customer_id;"

    answer = bench.publish(attempt(bench.candidate(sql), contract=Contract(order="by id")))

    assert bench.csv(answer) == "customer_id,id,id_2\n007,1,007\n007,2,007\n008,3,008\n999,4,\n"
    assert (
        "the contract wants the order 'by id'; the query has none, so rows are sorted by value"
        in bench.evidence(answer)["doubts"]
    )
    assert bench.evidence(answer)["replay"]["sorted"] is True


def test_columns_are_named_as_the_solver_wants(bench: Bench) -> None:
    sql = "select 城市, count(*) from customers group by 1 order by 1"

    answer = bench.publish(attempt(bench.candidate(sql, submission=Submission(sql=sql, columns=("城市", "人数")))))

    assert bench.csv(answer).splitlines()[0] == "城市,人数"


@pytest.mark.parametrize(
    ("sql", "changes", "reason"),
    [
        ("select 1 as x", {"digest": "another"}, "the replay gave other rows than the solver saw (as many, not equal)"),
        (
            "select 1 as x",
            {"digest": "another", "rows": 7},
            "the replay gave other rows than the solver saw (1 in place of 7)",
        ),
        ("select nam from customers", {"digest": "another"}, "the submission did not run again: "),
    ],
)
def test_an_answer_that_does_not_reproduce_is_withheld(
    sql: str, changes: dict[str, Any], reason: str, bench: Bench
) -> None:
    made = Candidate(submission=Submission(sql=sql), columns=("x",), rows=1)

    answer = bench.publish(attempt(made.model_copy(update=changes)))

    assert answer.status == "rejected"
    assert answer.reason.startswith(reason)
    assert answer.reason.endswith("; the answer is withheld")
    assert answer.table is None
    assert bench.evidence(answer)["replay"]["error"].startswith(reason)
    assert "Withheld" in bench.store.get(answer.report).decode()


def test_low_agreement_makes_an_answer_partial(bench: Bench) -> None:
    made = attempt(bench.candidate("select 1 as x", votes=2), style="single", samples=5, contract=Contract())
    answer = bench.publish(made)

    assert (answer.status, answer.reason) == ("partial", "replayed and equal, but only 2 of 5 samples agree on it")
    assert bench.csv(answer) == "x\n1\n"
    assert "2 of 5 samples gave this result; the others gave something else" in bench.evidence(answer)["doubts"]


def test_without_a_candidate_there_is_evidence_and_no_answer(bench: Bench) -> None:
    answer = bench.publish(attempt(ended="no_query", problems=("sample 1: no SELECT",)))

    assert (answer.status, answer.table) == ("failed", None)
    assert answer.reason == "the model gave no query that runs (sample 1: no SELECT)"
    assert bench.evidence(answer)["replay"] is None
    assert "No answer" in bench.store.get(answer.report).decode()


def test_an_answer_with_too_many_rows_is_partial(bench: Bench) -> None:
    sql = "select i from range(20) t(i) order by i"
    limits = bench.settings.query.model_copy(update={"max_rows": 10})
    shown = asyncio.run(seen(bench.store, bench.given, bench.settings.model_copy(update={"query": limits}), sql))

    answer = bench.publish(attempt(candidate(shown, sql), contract=Contract()), max_rows=10)

    assert (answer.status, answer.reason) == ("partial", "replayed and equal, but only the first 10 rows could be kept")
    assert bench.csv(answer).count("\n") == 11


@pytest.mark.slow
def test_a_result_with_more_text_than_a_preview_holds_is_published_all_the_same(bench: Bench) -> None:
    sql = "select i, repeat('长', 60000) as text from range(400) t(i) order by i"

    answer = bench.publish(attempt(bench.candidate(sql, preview=())))

    assert answer.status == "not_assessed"
    assert answer.table and answer.table.row_count == 400
    assert answer.table.rows


def test_a_program_is_replayed_over_the_querys_rows(bench: Bench) -> None:
    if asyncio.run(tiers.probe()).tier == "none":
        pytest.skip("nothing isolates programs here")
    sql = "select name, level from customers order by id"
    program = "result = [{'name': r['name'], 'level': (r['level'] or 0) / 4} for r in rows if r['name'] != 'Zoë']"
    frame = Frame(("name", "level"), (("李雷", 2.5), ("Ada <b>", 0.0)))
    made = Candidate(
        submission=Submission(sql=sql, program=program), digest=digest(frame), columns=frame.columns, rows=2
    )

    answer = bench.publish(attempt(made))

    assert (answer.status, bench.csv(answer)) == ("not_assessed", "name,level\n李雷,2.5\nAda <b>,0\n")
    assert bench.evidence(answer)["replay"]["program"] == program
    assert bench.evidence(answer)["replay"]["tier"] == asyncio.run(tiers.probe()).tier


def test_a_second_call_replays_nothing(bench: Bench) -> None:
    made = attempt(bench.candidate(SUM_BY_NAME))
    events: list[str] = []
    token = listener.set(lambda name, event, seconds: events.append(event))
    try:
        answers = [bench.publish(made), bench.publish(made)]
    finally:
        listener.reset(token)

    assert answers[0] == answers[1]
    assert events == [*["start", "done"] * 2, *["start", "cached"] * 2]


def test_an_answer_is_delivered_into_a_new_folder(bench: Bench, tmp_path: Path) -> None:
    answer = bench.publish(attempt(bench.candidate(SUM_BY_NAME)))
    out = tmp_path / "out" / "task_3"

    delivery = asyncio.run(deliver(answer, str(out), "prediction.csv"))

    assert delivery.folder == str(out)
    assert delivery.files == ("evidence.json", "prediction.csv", "report.html")
    assert sorted(path.name for path in out.iterdir()) == ["evidence.json", "prediction.csv", "report.html"]
    assert (out / "prediction.csv").read_text("utf-8") == bench.csv(answer)
    assert (out / "evidence.json").read_bytes() == bench.store.get(answer.evidence)


def test_a_withheld_answer_leaves_no_table_of_an_earlier_run(bench: Bench, tmp_path: Path) -> None:
    asyncio.run(deliver(bench.publish(attempt(bench.candidate("select 1 as x"))), str(tmp_path / "out")))

    asyncio.run(
        deliver(bench.publish(attempt(bench.candidate("select 1 as x", digest="other"))), str(tmp_path / "out"))
    )

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["evidence.json", "report.html"]
    assert json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))["status"] == "rejected"


@pytest.mark.parametrize("out", ["taken", "taken/deeper", "~nobody-of-that-name/x", "a\0b"])
def test_a_folder_that_cannot_be_written_is_the_users_to_mend(out: str, bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    answer = bench.publish(attempt(ended="no_query"))

    with pytest.raises(InputError, match="cannot write the answer to") as caught:
        asyncio.run(deliver(answer, out if out.startswith("~") else str(tmp_path / out)))

    assert caught.value.hint
    assert (tmp_path / "taken").read_text("utf-8") == "a file"


@pytest.mark.service
def test_a_flow_run_shows_answer_evidence_and_spend(bench: Bench, tmp_path: Path, prefect_api: str) -> None:
    from prefect import flow
    from prefect.artifacts import Artifact

    wide = "select i, repeat('宽', 900) as 文字, i + 0 as i from range(400) t(i) order by i"
    spent = Usage(calls=2, tokens_in=70, tokens_out=9)
    answer = bench.publish(attempt(bench.candidate(wide), usage=spent, contract=Contract()))

    @flow(name="delivering")
    async def deliver_it() -> tuple[Any, list[Any]]:
        delivery = await deliver(answer, str(tmp_path / "out"))
        return delivery, [await Artifact.aget(f"{name}-task-3") for name in ("answer", "evidence", "spend")]

    delivery, (shown, evidence, spend) = asyncio.run(deliver_it())

    assert delivery.warnings == ()
    rows = json.loads(shown.data)
    assert list(rows[0]) == ["i", "文字", "i_2"]
    assert rows[7]["i"] == 7 and len(rows[0]["文字"]) == 500
    assert 10 < len(rows) < 400 and len(shown.data.encode()) <= 100_000
    assert f"({len(rows)} of 400 rows)" in shown.description
    assert "Replayed, not audited" in evidence.data
    assert json.loads(spend.data) == [
        {"stage": "agent", "calls": 2, "tokens_in": 70, "tokens_cached": 0, "tokens_out": 9}
    ]


@pytest.mark.service
def test_a_server_that_is_gone_costs_the_picture_and_not_the_answer(
    bench: Bench, tmp_path: Path, prefect_api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect import artifacts, flow

    answer = bench.publish(attempt(bench.candidate("select 1 as x")))

    async def refuse(**_: Any) -> None:
        raise ConnectionError("the server is gone")

    monkeypatch.setattr(artifacts, "acreate_table_artifact", refuse)

    @flow(name="delivering")
    async def deliver_it() -> Any:
        return await deliver(answer, str(tmp_path / "out"))

    delivery = asyncio.run(deliver_it())

    assert delivery.warnings == ("the answer could not be shown in Prefect: ConnectionError: the server is gone",)
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == "x\n1\n"
