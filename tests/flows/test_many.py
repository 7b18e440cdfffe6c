"""The whole flow over made folders of many tables: a right answer from the last one by name, whatever the time allowed to measure."""

from __future__ import annotations

import json
from pathlib import Path

import many
import pytest


def test_the_last_table_by_name_is_found_among_forty_and_its_answer_is_replayed(tmp_path: Path) -> None:
    told = many.run(tmp_path, 40)
    assert told["right"] and told["status"] == "not_assessed" and told["turns"] == 2
    assert told["queryable"] == 40 and told["described"] == "2 of 2" and told["missed"] == 0
    assert {"judge_tables", "recall", "merge_context", "filter_context", "compress", "publish"} <= {*told["stages"]}
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    assert len(evidence["folded"]) == 39 and told["tokens"] < 12_000


def test_without_time_to_measure_the_needed_table_is_found_by_its_words_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "hasty.toml").write_text("[profiling]\nseconds = 0.001\n[relevance]\nfrom_tokens = 1\n", "utf-8")
    told = many.run(tmp_path, 16, str(tmp_path / "hasty.toml"))
    assert told["right"] and told["described"] == "2 of 2" and told["queryable"] == 16
    assert told["missed"] == told["columns"] > 0
    note = f"{told['columns']} of {told['columns']} columns were not measured; each says why"
    brief = many.recorded(tmp_path / "store", "compress")["text"]
    assert told["notes"][0] == note and note in brief and "not measured: no time was left" in brief


@pytest.mark.slow
def test_three_hundred_tables(tmp_path: Path) -> None:
    told = many.run(tmp_path, 300)
    assert told["right"] and told["queryable"] == 300 and told["described"] == "2 of 2" and told["missed"] == 0
    assert told["turns"] == 2 and told["tokens"] <= 12_000
