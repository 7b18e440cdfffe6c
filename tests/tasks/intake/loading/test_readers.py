"""Every case of tests/cases/intake/{csv,json,sqlite}.toml: columns, types, all values, notes."""

from __future__ import annotations

from typing import Any

import pytest
from intake_cases import NULL, cases, notes

KINDS = ("csv.toml", "json.toml", "sqlite.toml")


@pytest.mark.parametrize(
    ("kind", "case"), [pytest.param(kind, case, id=case["name"]) for kind in KINDS for case in cases(kind)]
)
def test_a_file_becomes_the_expected_tables(kind: str, case: dict[str, Any], built_cases: Any) -> None:
    built = built_cases(kind)
    file = built.file(case["file"])
    if "unreadable" in case:
        assert (file.outcome, case["unreadable"] in file.reason) == ("unreadable", True), file.reason
        assert not built.tables(case["file"])
        return
    assert file.outcome == "table", file.reason
    assert case.get("reason", "") in file.reason
    tables = built.tables(case["file"])
    expected = case.get("table") or [case]
    assert len(tables) == len(expected), [table.name for table in tables]
    for table, wanted in zip(tables, expected, strict=True):
        _check(built, table, wanted)


def _check(built: Any, table: Any, wanted: dict[str, Any]) -> None:
    said = notes(table)
    if "called" in wanted:
        assert table.name == wanted["called"]
    assert [[column.name, column.type] for column in table.columns] == wanted["columns"], said
    rows = built.rows(table.name)
    assert table.rows == len(rows)
    assert rows == wanted["rows"], said
    for note in wanted.get("notes", []):
        assert note in said
    assert bool(wanted.get("notes")) == bool(said.strip()) or wanted.get("any_notes"), said
    assert table.set_aside == len(wanted.get("set_aside", []))
    if table.set_aside:
        aside = built.rows(f"{table.name}__set_aside")
        assert [[line, text] for line, text, _ in aside] == wanted["set_aside"]


def test_null_is_marked_in_cases() -> None:
    assert NULL == "<null>"
