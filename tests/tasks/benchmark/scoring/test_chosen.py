"""Documents, tables and traced cells against the truth, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, cast

from tasks.benchmark.scoring.chosen import score_documents, score_tables
from tasks.benchmark.scoring.traced import score_evidence
from tasks.benchmark.scoring.truth import Truth
from tasks.core.models.evidence import Evidence

TRUTH = Truth.model_validate(
    {
        "relevant_docs": ["公告", "notice"],
        "relevant_tables": ["Register", "stock"],
        "docs": {
            "notice": {
                "key": "no",
                "columns": {"no": {}, "price": {}},
                "records": [],
                "source_lines": {"A1": {"price": 4}, "A2": {"price": 7}},
            }
        },
    }
)


def shares(measures: Any) -> dict[str, tuple[float, float]]:
    return {m.metric: (m.right, m.of) for m in measures}


def evidence(**parts: Any) -> Evidence:
    """Only what these scores read of it."""
    given = {"sources": (), "folded": (), "used": (), "drawn": (), "cells": (), "relevance": None}
    return cast(Evidence, Made(**{**given, **parts}))


def test_drawn_documents_are_held_against_those_that_are_needed() -> None:
    assert shares(score_documents(["NOTICE", "other", "third"], TRUTH)) == {"precision": (1, 3), "recall": (1, 2)}
    assert shares(score_documents([], TRUTH)) == {"precision": (0, 0), "recall": (0, 2)}


def test_needed_tables_count_when_they_are_shown_and_when_they_are_read() -> None:
    votes = Made(off="", error="", relevant_tables=("register", "noise", "notice"), always_keep=("notice",))
    found = evidence(
        sources=(Made(tables=("register", "noise")), Made(tables=("stock",))),
        folded=(Made(name="stock"),),
        used=(Made(name="stock"), Made(name="notice")),
        drawn=(Made(table="notice"),),
        relevance=votes,
    )
    assert shares(score_tables(found, TRUTH)) == {"recall": (1, 2), "precision": (1, 2), "read by the query": (1, 2)}
    votes.off = "few tables"
    assert "precision" not in shares(score_tables(found, TRUTH))


def test_an_answers_cells_are_traced_to_the_true_lines() -> None:
    def cell(record: str, column: str, line: int) -> Any:
        return Made(table="notice", cell=Made(record=record, column=column, line=line))

    cells = (cell("A1", "Price", 4), cell("A2", "price", 6), cell("A2", "other", 7), cell("A9", "price", 1))
    found = evidence(drawn=(Made(table="notice"),), cells=cells)
    assert shares(score_evidence(found, TRUTH)) == {"answer's cells traced": (1, 2)}
