"""Document tasks over recorded replies: the tables that prose holds cell by cell, and the answers to their questions.

The tasks are made up, with every true cell, its unit and its line; the replies are a capable reader's, who saw requests only.
"""

from __future__ import annotations

import json
from pathlib import Path

import documents
import pytest

from tasks.benchmark.scoring.cells import read_table, score_cells
from tasks.benchmark.scoring.truth import TrueTable


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
        table = read_table(tmp_path / "out" / "derived" / f"{stem}.sqlite")
        counted = {m.metric: m for m in score_cells(table, TrueTable.model_validate(truth["docs"][stem]))}
        verified, cells = counted["verified and right"], counted["accuracy"]
        assert verified.right == verified.of > 0 and cells.right >= 0.98 * cells.of, counted
        assert len(table.rows) == truth["docs"][stem]["n_records"]
