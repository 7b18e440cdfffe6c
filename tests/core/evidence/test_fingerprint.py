from __future__ import annotations

from datetime import date

import pytest

from tasks.core.evidence.fingerprint import fingerprint, shape
from tasks.core.models.answer import Contract, Question

QUESTION = Question(text="which region sold most", as_of=date(2026, 11, 30))
CONTRACT = Contract()
BASE = (
    "SELECT r.name, SUM(o.amount) AS total FROM orders o JOIN regions r ON r.id = o.region_id "
    "WHERE o.status = 'ok' AND o.year = 2026 GROUP BY r.name ORDER BY total DESC LIMIT 1"
)


def of(sql: str, text: str = QUESTION.text, contract: Contract = CONTRACT, program: str = "") -> str:
    return fingerprint(QUESTION.model_copy(update={"text": text}), contract, sql, program)


@pytest.mark.parametrize(
    "sql",
    [
        BASE.replace("AS total", "AS revenue").replace("BY total", "BY revenue"),
        BASE.replace("SELECT r.name, SUM(o.amount) AS total", "SELECT SUM(o.amount) AS total"),
        BASE.replace("SELECT r.name, SUM(o.amount) AS total", "SELECT ROUND(SUM(o.amount), 2), r.name").replace("BY total", "BY SUM(o.amount)"),
        BASE.replace("o.status = 'ok' AND o.year = 2026", "o.year = 2026 AND o.status = 'ok'"),
        BASE.replace("orders o", "orders AS x").replace("o.", "x."),
        BASE.replace("regions r", "Regions r"),
    ],
)  # fmt: skip
def test_d5_a_repair_of_display_alone_keeps_the_fingerprint(sql: str) -> None:
    assert of(sql) == of(BASE)


@pytest.mark.parametrize(
    "sql",
    [
        BASE.replace("2026", "2025"),
        BASE.replace("SUM", "AVG"),
        BASE.replace("o.amount", "o.price"),
        BASE.replace("r.id = o.region_id", "r.id = o.id"),
        BASE.replace("JOIN", "LEFT JOIN"),
        BASE.replace("GROUP BY r.name", "GROUP BY r.id"),
        BASE.replace("DESC", "ASC"),
        BASE.replace("LIMIT 1", "LIMIT 2"),
        BASE.replace("orders o", "returns o"),
        BASE.replace("SELECT", "SELECT DISTINCT"),
        BASE + " )",
    ],
)
def test_d5_another_source_filter_join_grain_or_measure_is_another_fingerprint(sql: str) -> None:
    assert of(sql) != of(BASE)


def test_d5_the_fingerprint_is_of_question_contract_and_program_too() -> None:
    others = {
        of(BASE, "other"),
        of(BASE, contract=Contract(grain="one row per region")),
        of(BASE, program="result = 1"),
    }
    assert len(others | {of(BASE)}) == 4
    noted = Contract(problems=("x",), revisions=("y",))
    assert of(BASE, contract=noted) == of(BASE)


def test_d5_the_shape_is_what_the_fingerprint_leaves_out() -> None:
    kept = shape(BASE, ("name", "total"))
    assert kept == shape(BASE.replace("2026", "2025"), ("name", "total"))
    assert len({kept, shape(BASE, ("name", "t")), shape(BASE.replace("DESC", "ASC"), ("name", "total")),
                shape(BASE.replace("LIMIT 1", "LIMIT 2"), ("name", "total")), shape("(", ("name", "total"))}) == 5  # fmt: skip
