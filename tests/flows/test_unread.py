"""Cells of a document that nobody read: an answer that reads their column is partial, and they are not called unstated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orchards
import pytest
from world import World, worlds

PROFILE = "[normalise]\nmodel_code = false\n"
LOST = "OR-107"
EXAMPLE = {
    "records": [{"id": LOST, "line": 3, "cells": [{"c": "harvest", "v": "1.2 million euros"}]}],
    "corrections": [{"id": LOST, "line": 9, "cells": [{"c": "harvest", "v": "€1.3m"}]}],
}
"""The example of the extraction prompt, taken for a reply by a small model."""


def reader(mode: str, sql: str) -> Callable[[dict[str, Any]], str]:
    """The reader of orchards with another query, who tells nothing, or the prompt's example, of one record."""

    def model(body: dict[str, Any]) -> str:
        text = orchards.model(body).replace(json.dumps(orchards.SQL)[1:-1], json.dumps(sql)[1:-1])
        if "Copy values out of numbered lines" not in body["messages"][0]["content"]:
            return text
        reply = json.loads(text)
        if mode in ("blank", "sparse"):
            return json.dumps({name: _without(entries, mode) for name, entries in reply.items()})
        kept = {name: [entry for entry in reply[name] if entry["id"] != LOST] for name in reply}
        if mode == "example":
            kept = {name: [*entries, *EXAMPLE[name]] for name, entries in kept.items()}
        return json.dumps(kept)

    return model


def _without(entries: list[dict[str, Any]], mode: str) -> list[dict[str, Any]]:
    """The reply with no value of the column `harvest`; `sparse`: but for one record."""
    kept = LOST if mode == "sparse" else ""
    return [
        {**entry, "cells": [cell for cell in entry["cells"] if cell["c"] != "harvest" or entry["id"] == kept]}
        for entry in entries
    ]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., World]]:
    """Worlds with a scripted reader."""
    with worlds(tmp_path / "world", monkeypatch) as made:
        yield made


def ask(world: World, tmp_path: Path, command: str, *more: str) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON of a command over the orchards."""
    profile = tmp_path / "profile.toml"
    profile.write_text(PROFILE)
    done = world.call(
        command, str(orchards.SAMPLE), "--profile", str(profile), "--out", str(tmp_path / command), "--json", *more
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("mode", ["silent", "example"])
def test_an_answer_over_a_column_with_cells_that_nobody_read_is_partial(
    mode: str, make: Callable[..., World], tmp_path: Path
) -> None:
    world = make(reader(mode, orchards.SQL))
    code, told = ask(world, tmp_path, "answer", "--no-prefect")
    assert (code, told["status"], told["rows"]) == (5, "partial", 3)
    assert "cells of harvest (1 of 8) were not read from context/harvest.md" in told["reason"]
    assert (tmp_path / "answer" / "answer.csv").exists()
    found = json.loads((tmp_path / "answer" / "evidence.json").read_text("utf-8"))
    counted = {column["name"]: (column["missing"], column["unread"]) for column in found["drawn"][0]["columns"]}
    assert counted == {"orchard_id": (0, 0), "harvest": (0, 1)} and found["used"][0]["unread"] == {"harvest": 1}
    page = (tmp_path / "answer" / "report.html").read_text("utf-8")
    assert "Not read</th>" in page and "1.2 million" not in (tmp_path / "answer" / "answer.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT coalesce(sum(harvest), 0) AS tonnes FROM harvest", [[0]]),
        ("SELECT count(harvest) AS n FROM harvest", [[0]]),
    ],
)
def test_a_column_of_which_no_value_was_named_makes_its_answer_partial(
    sql: str, rows: list[list[object]], make: Callable[..., World], tmp_path: Path
) -> None:
    code, told = ask(make(reader("blank", sql)), tmp_path, "answer", "--no-prefect")

    assert (code, told["status"], told["preview"]) == (5, "partial", rows)
    assert "harvest is known (the model named none for 8 of 8 records)" in told["reason"]
    assert "does not state" not in " ".join(told["doubts"])
    found = json.loads((tmp_path / "answer" / "evidence.json").read_text("utf-8"))
    assert found["used"][0]["blank"] == {"harvest": 8} and not found["drawn"][0]["perfect"]


def test_a_column_with_few_values_is_a_doubt_with_its_figures(make: Callable[..., World], tmp_path: Path) -> None:
    sql = "SELECT 'all' AS district, sum(harvest) AS tonnes FROM harvest"
    code, told = ask(make(reader("sparse", sql)), tmp_path, "answer", "--no-prefect")

    assert (code, told["status"], told["preview"]) == (0, "approved", [["all", 58]])
    assert "the model named no value of harvest (7 of 8 records)" in " ".join(told["doubts"])


def test_an_answer_over_other_columns_is_not_concerned(make: Callable[..., World], tmp_path: Path) -> None:
    world = make(reader("example", "SELECT count(*) AS n, count(h.orchard_id) AS ids FROM harvest h"))
    code, told = ask(world, tmp_path, "answer", "--no-prefect")
    assert (code, told["status"], told["preview"]) == (0, "approved", [[8, 8]])


def test_the_prompts_example_is_no_value_and_a_table_with_it_is_not_perfect(
    make: Callable[..., World], tmp_path: Path
) -> None:
    world = make(reader("example", orchards.SQL))
    code, told = ask(world, tmp_path, "document")
    (drawn,) = told["documents"]
    assert (code, drawn["perfect"], drawn["asked"]) == (0, False, 40)
    counted = {column["name"]: (column["missing"], column["unread"]) for column in drawn["columns"]}
    assert counted["harvest"] == (0, 1) and counted["export_share"] == (1, 0)
    done = world.call("trace", "harvest", LOST, "harvest", "--out", str(tmp_path / "document"), "--json")
    cell = json.loads(done.stdout)
    assert (cell["value"], cell["status"]) == (None, "unread") and "1.2 million euros" in cell["note"]
