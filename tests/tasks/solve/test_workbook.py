"""The answer as an Excel file: numbers, days and texts as they are, nothing that computes, read back by openpyxl."""

from __future__ import annotations

import asyncio
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from world import ASKED, World, make_folder

from tasks.core.files.store import Store
from tasks.core.models.answer import Answer, AnswerTable, Question
from tasks.core.models.evidence import Delivery
from tasks.solve.workbook import add_workbook

CELLS = [
    ("0007", "VARCHAR", "0007"),
    ("=HYPERLINK(1)", "VARCHAR", "=HYPERLINK(1)"),
    ("茶\x07", "VARCHAR", "茶\ufffd"),
    ("12", "BIGINT", 12),
    ("1234567890123456789", "BIGINT", "1234567890123456789"),
    ("1.10", "DECIMAL(18,2)", 1.1),
    ("123456789012345.678", "DECIMAL(18,3)", "123456789012345.678"),
    ("0.1", "DOUBLE", 0.1),
    ("nan", "DOUBLE", "nan"),
    ("true", "BOOLEAN", True),
    ("2024-02-29", "DATE", datetime(2024, 2, 29)),
    ("1850-01-01", "DATE", "1850-01-01"),
    ("2024-02-29 13:05:00", "TIMESTAMP", datetime(2024, 2, 29, 13, 5)),
    ("", "VARCHAR", None),
]


def made(store: Store, text: str, columns: tuple[str, ...], types: tuple[str, ...]) -> Answer:
    ref = store.put(text.encode(), "answer.csv")
    table = AnswerTable(columns=columns, types=types, rows=(), row_count=text.count("\n") - 1, file=ref)
    question = Question(text="=多少? How many?", as_of=date(2026, 1, 31))
    return Answer(question=question, status="partial", reason="half", table=table, evidence=ref, report=ref)


def write(answer: Answer, out: Path) -> Delivery:
    return asyncio.run(add_workbook(answer, Delivery(folder=str(out), files=("answer.csv",)), "answer.xlsx"))


@pytest.mark.parametrize(("text", "kind", "value"), CELLS, ids=[f"{kind} {text!r}" for text, kind, _ in CELLS])
def test_a_value_comes_back_as_it_was(store: Store, tmp_path: Path, text: str, kind: str, value: Any) -> None:
    done = write(made(store, f"x,y\n{text},1\n", ("x", "y"), (kind, "BIGINT")), tmp_path)
    assert done.files == ("answer.csv", "answer.xlsx") and done.warnings == ()
    book = load_workbook(tmp_path / "answer.xlsx")
    cell = book["answer"]["A2"]
    assert (cell.value, book["answer"]["B2"].value) == (value, 1) and cell.data_type != "f"
    assert [row[1].value for row in book["about"].iter_rows()] == ["=多少? How many?", "2026-01-31", "partial", "half"]


def test_what_a_cell_does_not_hold_is_said(store: Store, tmp_path: Path) -> None:
    done = write(made(store, f"x\n{'长' * 40_000}\n", ("x",), ("VARCHAR",)), tmp_path)
    assert done.warnings == (
        "answer.xlsx does not hold the end of 1 texts above 32,767 characters; answer.csv holds all",
    )


def test_it_is_written_on_request_and_goes_with_the_answer(world: World, tmp_path: Path) -> None:
    folder, out = make_folder(tmp_path / "shop"), tmp_path / "out"
    assert "answer.xlsx" not in world.answer(folder, out).files
    done = world.call("answer", str(folder), "--as-of", "2026-01-31", "--xlsx", "--no-prefect", "--out", str(out))
    assert done.returncode == 0 and "answer.xlsx" in done.stdout and world.endpoint.calls == ASKED
    rows = [[cell.value for cell in row] for row in load_workbook(out / "answer.xlsx")["answer"].iter_rows()]
    assert rows == [["category", "n"], ["cake", 1], ["茶", 2]]
    world.endpoint.replies = lambda _: "no JSON"
    ended = world.answer(folder, out, question="another?", workbook=True)
    assert ended.answer.table is None and not (out / "answer.xlsx").exists()
