"""Distinct raw texts of a column → values, and the way from findings to the table."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from typing import Any

import pytest
from document_world import KEY, column, converted, piece, plan, said
from endpoint import Endpoint
from machines import needs_isolation

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.document import ColumnReadings, Finding, PlanColumn
from tasks.core.sandbox import tiers
from tasks.core.settings import load
from tasks.document.merge import merge_findings, raws_of
from tasks.document.normalise import normalise_column
from tasks.document.store import store_table

RATIO, SHARES = column("pct_before", "number", "ratio"), column("sum_before", "integer", "股")
RULES = """1. All percentage fields are stored as ratios.
2. Two-digit years mean 20xx.
3. “未检出” means 0, whereas “保密” means NULL."""


def normalise(
    store: Store, about: PlanColumn, raws: tuple[str, ...], script: Any = (), rules: str = RULES, **changes: Any
) -> tuple[ColumnReadings, int]:
    with Endpoint(list(script)) as endpoint:
        overrides = {"endpoints": {"main": {"url": endpoint.url, "model": "scripted"}}, "normalise": changes}
        settings = load(overrides=overrides)
        with door.use(Door(settings, store, Meter(settings.budget))):
            read = asyncio.run(normalise_column.function(about, raws, rules, settings.normalise, settings.sandbox))
        return read, endpoint.calls


def values(read: ColumnReadings) -> dict[str, Any]:
    return {reading.raw: reading.value for reading in read.readings}


def statuses(read: ColumnReadings) -> dict[str, str]:
    return {reading.raw: reading.status for reading in read.readings}


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (RATIO, {"1.55%": 0.0155, "百分之一点五五": 0.0155, "15.5‰": 0.0155, "155 basis points": 0.0155, "0.0155": 0.0155}),
        (column("p", "number", "percent"), {"1.55%": 1.55, "15.5 per mille": 1.55, "百分之三十": 30}),
        (SHARES, {"约六百九十七万股": 6970000, "25,390,048股": 25390048, "3亿2000万股": 320000000, "0": 0}),
        (column("a", "number", "万元"), {"350,000元": 35, "3.5亿元": 35000}),
        (column("d", "date"), {"24年3月1日": "2024-03-01", "March 5, 2024": "2024-03-05", "13/05/21": "2021-05-13"}),
        (column("b", "boolean"), {"是": True, "no": False}),
        (column("n", "number", "mg/L"), {"未检出": 0, "保密": None, "未披露": None, "0.5 mg/L": 0.5}),
        (column("id", "text"), {"000123": "000123", " 007 ": "007", "1.55%": "1.55%"}),
        (column("k", "integer", role="key"), {"000123": "000123", "未披露": "未披露"}),
        (column("e", "text", task_meaning="枚举：大宗交易/协议转让"), {"通过大宗交易": "大宗交易", "协议转让": "协议转让"}),
    ],
)  # fmt: skip
def test_b11_the_library_reads_a_column_without_any_model(
    store: Store, about: PlanColumn, expected: dict[str, Any]
) -> None:
    read, calls = normalise(store, about, tuple(expected))
    assert values(read) == expected and not calls and read.by_library == len(expected) and not read.problems
    assert set(statuses(read).values()) <= {"verified", "missing"}


def test_null_words_are_no_value_and_zero_words_are_zero(store: Store) -> None:
    read, _ = normalise(store, column("n", "number", "mg/L"), ("未检出", "保密", "0"))
    assert statuses(read) == {"未检出": "verified", "保密": "missing", "0": "verified"}


def test_what_cannot_be_read_has_no_value_and_says_why(store: Store) -> None:
    read, calls = normalise(store, SHARES, ("数量可观", "3–5股", "100股"), model_code=False)
    assert values(read) == {"数量可观": None, "3–5股": None, "100股": 100} and not calls
    assert statuses(read) == {"数量可观": "unverified", "3–5股": "unverified", "100股": "verified"}
    assert (read.by_library, read.unread, len(read.problems)) == (1, 2, 2)


def test_model_code_is_not_asked_to_guess_what_is_not_decided(store: Store) -> None:
    read, calls = normalise(store, RATIO, ("1.55", "3%–5%"))
    assert values(read) == {"1.55": None, "3%–5%": None} and not calls


DOZENS = "```python\ndef transform(s):\n    if s.startswith('dozen x'):\n        return 12 * int(s[7:])\n    return int(s.replace('pcs', '')) if s.replace('pcs', '').strip().isdigit() else None\n```"
ELSE = "```python\ndef transform(s):\n    return 24\n```"
COUNT = column("n", "integer", "")


def test_b11_checked_model_code_derives_what_the_library_cannot_read(store: Store) -> None:
    needs_isolation()
    read, calls = normalise(store, COUNT, ("dozen x2", "30", "41"), [DOZENS])
    assert values(read) == {"dozen x2": 24, "30": 30, "41": 41} and calls == 1
    assert statuses(read) == {"dozen x2": "derived", "30": "verified", "41": "verified"}
    assert (read.by_library, read.by_model_code, read.unread) == (2, 1, 0) and "def transform" in read.program


def test_b11_model_code_that_disagrees_with_the_library_is_not_believed(store: Store) -> None:
    needs_isolation()
    read, _ = normalise(store, COUNT, ("dozen x2", "30", "41"), [ELSE], rounds=1)
    assert values(read) == {"dozen x2": 24, "30": 30, "41": 41}
    assert statuses(read)["dozen x2"] == "unverified"
    assert "disagrees with the library on 2 of 2" in read.readings[0].note


def test_model_code_that_nothing_checks_is_not_believed(store: Store) -> None:
    needs_isolation()
    read, _ = normalise(store, COUNT, ("dozen x2",), [DOZENS])
    assert values(read) == {"dozen x2": 24} and statuses(read) == {"dozen x2": "unverified"}


def test_without_isolation_the_run_goes_on_and_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def none() -> Any:
        return tiers.Isolation(tier="none", detail="old kernel", hint="install bubblewrap"), None

    monkeypatch.setattr(tiers, "choose", none)
    read, calls = normalise(store, COUNT, ("dozen x2", "30"), [DOZENS])
    assert values(read) == {"dozen x2": None, "30": 30} and not calls
    assert "nothing isolates it here" in read.problems[0]


def test_a_listed_value_chosen_by_model_code_is_derived_and_others_stay_as_written(store: Store) -> None:
    needs_isolation()
    side = column("side", task_meaning="one of: B, S")
    code = "```python\ndef transform(s):\n    return {'bought': 'B', 'B': 'B'}.get(s)\n```"
    read, _ = normalise(store, side, ("bought", "sold", "B"), [code], rounds=1)
    assert values(read) == {"bought": "B", "sold": "sold", "B": "B"}
    assert statuses(read) == {"bought": "derived", "sold": "unverified", "B": "verified"}


def drawn(store: Store, columns: tuple[PlanColumn, ...], *findings: Finding) -> list[tuple[Any, ...]]:
    """Rows of the table and, sorted, of the cells that are not plain."""
    made = plan(*columns)
    merged = asyncio.run(merge_findings.function(made, (piece(*findings),)))
    read = tuple(normalise(store, c, raws_of(merged, c.name), model_code=False)[0] for c in made.columns)
    table = asyncio.run(store_table.function(converted(), made, merged, read, load().document.good_share))
    with contextlib.closing(sqlite3.connect(store.local(table.database))) as db:
        return db.execute(f"SELECT * FROM trades ORDER BY {KEY}").fetchall()


def test_b15_the_kinds_of_errors_of_a_real_run_do_not_happen(store: Store) -> None:
    """A percentage in a ratio column, look-alike columns, a Chinese numeral with a hedge."""
    columns = (SHARES, RATIO, column("sum_before_received", "integer", "股"))
    rows = drawn(
        store,
        columns,
        said("R1", "sum_before", "25,390,048股", 3),
        said("R1", "sum_before_received", "0", 3),
        said("R1", "pct_before", "1.55%", 3),
        said("R2", "sum_before", "约六百九十七万股", 4),
        said("R2", "pct_before", "1.55%", 4),
        said("R2", "pct_before", "0.0155", 9),
        said("R2", "sum_before_received", "未披露", 4),
    )
    assert rows == [("R1", 25390048, 0.0155, 0), ("R2", 6970000, 0.0155, None)]


def test_a_correction_wins_and_a_contradiction_has_no_value(store: Store) -> None:
    rows = drawn(
        store,
        (SHARES,),
        said("R1", "sum_before", "2500万股", 3),
        said("R1", "sum_before", "2539万股", 40, corrects=True),
        said("R2", "sum_before", "100股", 4),
        said("R2", "sum_before", "101股", 8),
    )
    assert rows == [("R1", 25390000), ("R2", None)]


def test_ten_thousand_distinct_texts_are_read_in_seconds(store: Store) -> None:
    raws = tuple(f"{n:,}.5万元" for n in range(10_000))
    started = time.monotonic()
    read, calls = normalise(store, column("a", "number", "元"), raws)
    assert time.monotonic() - started < 30 and not calls
    assert (read.by_library, read.unread, values(read)["1,234.5万元"]) == (10_000, 0, 12_345_000)


@pytest.mark.parametrize(
    ("raws", "values", "said"),
    [
        (("54,000 EUR", "€ 61,500", "58000"), (54000, 61500, 58000), "taken as EUR"),
        (("5.2万元", "800元"), (52000, 800), "taken as CNY"),
        (("54,000 EUR", "$60,000"), (None, None), "give it in the knowledge, as (unit: EUR)"),
        (("54,000 EUR", "12 kg"), (None, None), "give it in the knowledge"),
    ],
)
def test_amounts_of_one_currency_are_read_though_the_column_has_no_unit(
    store: Store, raws: tuple[str, ...], values: tuple[Any, ...], said: str
) -> None:
    read, _ = normalise(store, column("salary", "number"), raws, rules="", model_code=False)
    assert tuple(reading.value for reading in read.readings) == values
    assert said in read.readings[0].note and any("(unit: " in problem for problem in read.problems)
