"""Document tasks over recorded replies: the tables that prose holds cell by cell, and the answers to their questions.

The tasks are made up, with every true cell, its unit and its line; the replies are a capable reader's, who saw requests only.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import documents
import pytest


@pytest.mark.parametrize("name", documents.NAMES)
def test_b17_a_recorded_task_is_replayed_to_its_gold(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "store"))
    ended = documents.ask(name, "documents", tmp_path / "out")
    assert ended.spend.total().calls == 0
    assert documents.score(name, tmp_path / "out") == 1
    truth = json.loads((documents.CASES / name / "truth.json").read_text("utf-8"))
    assert {path.stem for path in (tmp_path / "out" / "derived").iterdir()} == set(truth["relevant_docs"])
    for stem in truth["relevant_docs"]:
        outcomes = compare(tmp_path / "out" / "derived" / f"{stem}.sqlite", stem, truth["docs"][stem])
        counted = Counter(outcomes.values())
        assert not {cell: said for cell, said in outcomes.items() if said == "wrong, verified"}
        assert counted["right"] >= 0.98 * len(outcomes), counted


def compare(database: Path, stem: str, truth: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Each true cell of a table, missing ones included → right, missing, or wrong with its status."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    rows = {row[truth["key"]]: row for row in connection.execute(f'SELECT * FROM "{stem}"')}
    status = {(row["record"], row["column"]): row["status"] for row in connection.execute("SELECT * FROM _cells")}
    connection.close()
    assert set(rows) == {record[truth["key"]] for record in truth["records"]}
    outcomes = {}
    for record in truth["records"]:
        key = record[truth["key"]]
        for column, value in record.items():
            found = rows[key][column]
            if same(found, value):
                outcomes[key, column] = "right"
            else:
                outcomes[key, column] = "missing" if found is None else f"wrong, {status.get((key, column), 'key')}"
    return outcomes


def same(found: Any, value: Any) -> bool:
    if isinstance(value, int | float) and isinstance(found, int | float):
        return math.isclose(found, value, rel_tol=1e-9)
    return bool(found == value)
