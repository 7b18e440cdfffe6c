"""What the command that counts prompt tokens says of made documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ledger import COLUMNS, make
from tokens import Row, measure

KNOWLEDGE = """# Transfers

## ledger
Table drawn from the document ledger.

| field | type | unit | meaning |
|---|---|---|---|
| record_id | text | - | number of the transfer, the key |
"""


def row(folder: Path, records: int) -> Row:
    context = folder / f"task_{records}" / "context"
    (context / "doc").mkdir(parents=True)
    meanings = {**COLUMNS, "price": "price in euros when the shares changed hands"}
    fields = [f"| {name} | text | - | {meaning} |" for name, meaning in meanings.items()]
    (context / "knowledge.md").write_text(KNOWLEDGE + "\n".join(fields) + "\n", "utf-8")
    (context / "doc" / "ledger.md").write_text("\n".join(make(records).lines), "utf-8")
    (context.parent / "task.json").write_text(json.dumps({"task_id": "t", "question": "?"}), "utf-8")
    (found,) = measure(context.parent)
    return found


def test_prompts_grow_with_the_records_and_take_a_part_of_what_whole_documents_take(tmp_path: Path) -> None:
    few, many, most = (row(tmp_path, records) for records in (50, 500, 5000))
    assert (few.records, many.records, most.records) == (50, 500, 5000)
    assert many.extract / few.extract < 11 and 9 < most.extract / many.extract < 11
    assert most.extract < 1.8 * most.text and most.plan < 1.2 * many.plan
    assert most.sections == few.sections and most.ours / most.whole < 0.5


def test_a_folder_without_a_document_that_rules_can_plan_has_no_row(tmp_path: Path) -> None:
    (tmp_path / "context" / "doc").mkdir(parents=True)
    (tmp_path / "context" / "doc" / "note.md").write_text("Nothing here.", "utf-8")
    assert measure(tmp_path) == []


@pytest.mark.parametrize("votes", [0, 100])
def test_a_row_reads_as_the_head_of_the_table(votes: int) -> None:
    made = Row("stem", 10, 2, 1000, 3, 500, 1500, 8000, votes)
    assert made.cells()[6:9] == ("1,500", "2,000", "8,000") and made.cells()[9] == "25%"
    assert made.cells()[-1] == f"{(2000 + 3 * votes) / (8000 + 5 * votes):.0%}"
