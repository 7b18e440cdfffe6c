"""The SQLite file of a document: typed, traceable, equal for equal inputs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from document_world import KEY, column, converted, piece, plan, said

from tasks.core.errors import InputError
from tasks.core.files import store as stores
from tasks.core.files.store import Store
from tasks.core.models.document import ColumnReadings, DerivedTable, Plan, PlanSection, Reading, SliceResult
from tasks.document.merge import merge_findings
from tasks.document.store import store_table, table_name
from tasks.document.storing.trace import trace

COLUMNS = (
    column("code", doc_meaning="code with zeros"),
    column("shares", "integer", "股"),
    column("share", "number", "ratio"),
    column("day", "date"),
    column("listed", "boolean"),
    column("remark", role="noise"),
)
PLAN = plan(*COLUMNS)


def readings(name: str, **values: Any) -> ColumnReadings:
    """Raw text → value; a Reading is taken as it is."""
    made = [v if isinstance(v, Reading) else Reading(raw=r, value=v, status="verified") for r, v in values.items()]
    return ColumnReadings(column=name, readings=tuple(made), by_library=len(made))


SAID = piece(
    said("R1", "code", "000123", 1),
    said("R1", "shares", "2500万", 1),
    said("R1", "shares", "25,390,048", 12, corrects=True, quote="更正为25,390,048股"),
    said("R1", "share", "1.55%", 1),
    said("R1", "day", "2024年3月1日", 1),
    said("R1", "listed", "是", 1),
    said("R2", "shares", "5", 2),
    said("R2", "shares", "7", 3),
    said("R2", "share", "hm", 2),
    said("R2", "remark", "nothing special", 25),
)
READ = (
    readings("shares", **{"2500万": 25000000, "25,390,048": 25390048, "5": 5, "7": 7}),
    readings("share", **{"1.55%": 0.0155, "hm": Reading(raw="hm", value=None, status="unverified", note="no number")}),
    readings("day", **{"2024年3月1日": "2024-03-01"}),
    readings("listed", 是=True),
)


def draw(
    made: Plan = PLAN, results: tuple[SliceResult, ...] = (SAID,), read: tuple[ColumnReadings, ...] = READ, **more: Any
) -> tuple[DerivedTable, Path]:
    merged = asyncio.run(merge_findings.function(made, results))
    document = converted().model_copy(update=more)
    table = asyncio.run(store_table.function(document, made, merged, read, 0.95))
    return table, stores.current().local(table.database)


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def test_b12_the_table_is_typed_and_what_is_not_known_is_null(store: Store) -> None:
    table, path = draw()
    assert (table.table, table.database.name, table.key, table.records) == ("trades", "trades.sqlite", KEY, 2)
    assert rows(path, "SELECT * FROM trades") == [
        ("R1", "000123", 25390048, 0.0155, "2024-03-01", 1),
        ("R2", None, None, None, None, None),
    ]
    types = [(name, kind) for _, name, kind, *_ in rows(path, "PRAGMA table_info(trades)")]
    assert types == [
        (KEY, "TEXT"),
        ("code", "TEXT"),
        ("shares", "INTEGER"),
        ("share", "REAL"),
        ("day", "TEXT"),
        ("listed", "INTEGER"),
    ]


def test_b12_every_cell_has_a_row_also_noise_and_what_the_text_does_not_say(store: Store) -> None:
    _, path = draw()
    assert rows(path, "SELECT count(*) FROM _cells") == [(14,)]
    assert rows(path, "SELECT value, status, line FROM _cells WHERE record = 'R2' AND \"column\" = 'remark'") == [
        ("nothing special", "verified", 25)
    ]
    assert rows(path, "SELECT value, status, note FROM _cells WHERE record = 'R2' AND \"column\" = 'day'") == [
        (None, "missing", "the text has lines of this record (line 102), and the model named no value")
    ]
    found = rows(path, "SELECT statements FROM _cells WHERE record = 'R1' AND \"column\" = 'shares'")[0][0]
    assert [(s["relation"], s["value"], s["line"]) for s in json.loads(found)] == [
        ("superseded", 25000000, 1),
        ("holds", 25390048, 12),
    ]


_BLANK = "SELECT record, status, note FROM _cells"


def test_what_nobody_read_is_not_said_to_be_absent_from_the_text(store: Store) -> None:
    heard = piece(said("R1", "shares", "5", 1)).model_copy(update={"unlisted": ("R2",)})
    _, path = draw(PLAN, (heard,), (readings("shares", **{"5": 5}),))
    found = {r: (status, note) for r, status, note in rows(path, f"{_BLANK} WHERE \"column\" = 'day'")}
    assert found["R1"] == ("missing", "the text has lines of this record (line 101), and the model named no value")
    assert found["R2"] == (
        "unread",
        "no reply told of this record: whether the text says anything is not known",
    )


def test_counts_by_status_say_how_far_a_column_can_be_believed(store: Store) -> None:
    table, path = draw()
    counted = {c.name: (c.verified, c.unverified, c.conflict, c.missing, c.stored) for c in table.columns}
    assert counted == {
        KEY: (2, 0, 0, 0, True),
        "code": (1, 0, 0, 1, True),
        "shares": (1, 0, 1, 0, True),
        "share": (1, 1, 0, 0, True),
        "day": (1, 0, 0, 1, True),
        "listed": (1, 0, 0, 1, True),
        "remark": (1, 0, 0, 1, False),
    }
    assert not table.perfect and table.notes == (
        "values that could not be read or look wrong: share (1)",
        "values that contradict each other: shares (1)",
        "kept in _cells only: remark",
    )
    assert rows(
        path, "SELECT name, role, stored, conflict FROM _columns WHERE name IN ('shares', 'remark') ORDER BY rowid"
    ) == [
        ("shares", "data", 1, 1),
        ("remark", "noise", 0, 0),
    ]


def test_b12_a_table_whose_sections_failed_is_marked_imperfect(store: Store) -> None:
    table, _ = draw(plan(COLUMNS[0]), (piece(said("R1", "code", "1", 1)), piece(failed=True)), ())
    assert not table.perfect and table.notes[0] == "imperfect: 0 of 1 sections are good, 95% are wanted"
    table, _ = draw(plan(COLUMNS[0], records=("R1",)), (piece(said("R1", "code", "1", 1)),), ())
    assert table.perfect and table.notes == ()


def test_a_value_that_stands_nowhere_in_the_text_is_said_in_its_cell_and_counted(store: Store) -> None:
    heard = piece(
        said("R1", "shares", "5", 1), said("R2", "shares", "99", 2, found=False), said("R1", "day", "x", 1, found=False)
    )
    table, path = draw(PLAN, (heard,), (readings("shares", **{"5": 5}),))
    found = rows(
        path,
        "SELECT record, \"column\", value, status, note FROM _cells WHERE note LIKE '%reply gave%' ORDER BY record DESC",
    )
    assert found == [
        ("R2", "shares", None, "unread", "a reply gave '99', which no statement of the text has"),
        ("R1", "day", None, "unread", "a reply gave 'x', which no statement of the text has"),
    ]
    assert (
        "2 values stand in no statement of the text and were left out (day of R1: 'x', shares of R2: '99')"
        in table.notes
    )


def test_a_cell_without_a_value_says_whether_it_was_asked_and_where_the_record_stands(store: Store) -> None:
    early = PlanSection(id="s1", title="early", start_line=1, end_line=2, columns=(KEY, "shares"))
    late = PlanSection(id="s2", title="late", start_line=3, end_line=9, columns=(KEY, "day"))
    last = PlanSection(id="s3", title="last", start_line=10, end_line=20, columns=(KEY, "code"))
    made = plan(column("shares", "integer"), column("day"), column("code"), records=("R1", "R2", "R3"))
    made = made.model_copy(update={"sections": (early, late, last)})
    heard = (piece(listed=("R1", "R2"), section="s1"), piece(listed=("R1", "R3"), section="s2"))
    _, path = draw(made, heard, ())
    notes = {(r, c): note for r, c, note in rows(path, 'SELECT record, "column", note FROM _cells')}
    assert notes["R1", "shares"] == "the text has lines of this record (line 101), and the model named no value"
    assert notes["R3", "shares"].startswith("the text does not name the record in the lines of this column")
    assert notes["R1", "day"] == "the lines read for this column do not have the record's id; the model named no value"
    assert notes["R1", "code"].startswith("nothing was asked: no reply was got")


def test_a_record_outside_of_a_columns_section_is_counted_and_not_said_to_be_absent(store: Store) -> None:
    heard = piece(said("R1", "shares", "5", 1), listed=("R1", "R2"))
    made = plan(column("shares", "integer"), records=("R1", "R2", "R3", "R4"))
    table, path = draw(made, (heard,), (readings("shares", **{"5": 5}),))
    notes = dict(rows(path, "SELECT record, note FROM _cells WHERE \"column\" = 'shares'"))
    assert notes["R2"].startswith("the text has lines of this record") and notes["R1"] == ""
    assert notes["R3"] == "nothing was asked about the record here, though line 103 names it"
    assert notes["R4"].endswith("though line 104 names it")
    counted = [(KEY, 0, 0, 0), ("shares", 1, 2, 0)]
    assert [(c.name, c.missing, c.unread, c.unasked) for c in table.columns] == counted
    assert rows(path, "SELECT name, missing, unread, unasked FROM _columns ORDER BY rowid") == counted
    assert not table.perfect and "nothing but the id of 2 of 4 records was read" in " ".join(table.notes)


def test_a_table_whose_records_were_all_asked_for_says_nothing_of_records_left_out(store: Store) -> None:
    first = piece(said("R1", "shares", "5", 1), listed=("R1", "R2"))
    second = piece(said("R2", "code", "7", 2), section="s2", listed=("R2",))
    one = plan(column("shares", "integer"), column("code"))
    parts = tuple(
        one.sections[0].model_copy(update={"id": name, "columns": (KEY, column_name)})
        for name, column_name in (("s1", "shares"), ("s2", "code"))
    )
    table, _ = draw(one.model_copy(update={"sections": parts}), (first, second), (readings("shares", **{"5": 5}),))
    assert table.notes == ("cells that were not read, so that whether the text states them is not known: code (1)",)


def test_records_that_no_line_of_a_column_names_are_not_stated_and_nothing_was_asked(store: Store) -> None:
    section = PlanSection(id="s1", title="first", start_line=101, end_line=101, columns=(KEY, "shares"))
    made = plan(column("shares", "integer")).model_copy(update={"sections": (section,)})
    table, _ = draw(made, (piece(said("R1", "shares", "5", 101)),), (readings("shares", **{"5": 5}),))
    assert [(c.name, c.missing, c.unread, c.unasked) for c in table.columns] == [(KEY, 0, 0, 0), ("shares", 1, 0, 1)]


@pytest.mark.parametrize("word", ["未披露", "not stated", "n/a"])
def test_a_reply_whose_word_is_that_nothing_is_stated_is_taken_at_it(store: Store, word: str) -> None:
    heard = piece(said("R1", "shares", "5", 1), said("R2", "shares", word, 2, found=False))
    table, path = draw(plan(column("shares", "integer")), (heard,), (readings("shares", **{"5": 5}),))
    found = rows(path, "SELECT status FROM _cells WHERE record = 'R2' AND \"column\" = 'shares'")
    assert found == [("missing",)] and [c.unread for c in table.columns] == [0, 0]


@pytest.mark.parametrize(("values", "perfect"), [(("5", "6", "7", "8"), True), (("5", "6"), True), (("5",), False)])
def test_a_table_without_values_is_never_perfect(store: Store, values: tuple[str, ...], perfect: bool) -> None:
    records = ("R1", "R2", "R3", "R4")
    told = (said(record, "shares", value, 1) for record, value in zip(records, values, strict=False))
    made = plan(column("shares", "integer"), records=records)
    read = readings("shares", **{value: int(value) for value in values})
    table, _ = draw(made, (piece(*told, listed=records),), (read,))
    assert (table.filled, table.asked, table.perfect) == (len(values), 4, perfect)
    assert table.notes == (() if perfect else ("imperfect: 1 of 4 cells that were asked for have a value",))


def test_a_table_with_a_cell_that_nobody_read_is_never_perfect(store: Store) -> None:
    records = tuple(f"R{number}" for number in range(1, 31))
    told = tuple(said(record, "shares", "5", 1) for record in records[:-1])
    heard = piece(*told, said("R30", "shares", "1.2 million euros", 3, found=False), listed=records)
    made = plan(column("shares", "integer"), records=records)
    table, _ = draw(made, (heard,), (readings("shares", **{"5": 5}),))
    assert (table.filled, table.asked, table.perfect) == (29, 30, False)
    assert "cells that were not read, so that whether the text states them is not known: shares (1)" in table.notes


def test_a_doubtful_statement_is_never_verified_and_says_why(store: Store) -> None:
    doubt = "it stands where the text speaks of R2"
    heard = piece(
        said("R1", "code", "7", 1, doubt=doubt),
        said("R1", "shares", "5", 1, doubt=doubt),
        said("R2", "shares", "6", 2, doubt=doubt),
        said("R2", "shares", "6", 3),
    )
    _, path = draw(PLAN, (heard,), (readings("shares", **{"5": 5, "6": 6}),))
    found = rows(path, "SELECT \"column\", record, value, status, note FROM _cells WHERE raw IN ('7', '5', '6')")
    assert found == [
        ("code", "R1", "7", "unverified", doubt),
        ("shares", "R1", 5, "unverified", doubt),
        ("shares", "R2", 6, "verified", ""),
    ]


def test_noise_that_nobody_read_does_not_make_a_table_imperfect(store: Store) -> None:
    pages = said("R1", "pages", "five", 1), said("R1", "pages", "6", 2)
    found = piece(said("R1", "code", "1", 1), *pages, listed=("R1", "R2"))
    table, path = draw(plan(COLUMNS[0], column("pages", "integer", role="noise")), (found,), ())
    assert table.perfect and [c.conflict for c in table.columns] == [0, 0, 1]
    assert rows(path, "SELECT count(*) FROM _cells WHERE status = 'conflict'") == [(1,)]


def test_equal_inputs_give_equal_bytes(store: Store) -> None:
    first, _ = draw()
    again, _ = draw(results=(SAID.model_copy(update={"findings": SAID.findings[::-1]}),))
    assert first == again


@pytest.mark.parametrize(
    ("kind", "values", "expected", "stored"),
    [
        ("integer", [5, 2.5], "REAL", [5.0, 2.5]),
        ("number", [5, 2.5], "REAL", [5.0, 2.5]),
        ("number", [2**53 + 1, 4], "INTEGER", [2**53 + 1, 4]),
        ("integer", [10**30, 4], "TEXT", [str(10**30), "4"]),
        ("text", ["007", None], "TEXT", ["007", None]),
        ("boolean", [True, False], "INTEGER", [1, 0]),
    ],
)
def test_a_value_that_does_not_fit_makes_the_column_wider(
    store: Store, kind: Any, values: list[Any], expected: str, stored: list[Any]
) -> None:
    found = piece(said("R1", "c", "a", 1), said("R2", "c", "b", 2))
    read = tuple(
        Reading(raw=raw, value=v, status="verified" if v is not None else "missing")
        for raw, v in zip("ab", values, strict=True)
    )
    _, path = draw(plan(column("c", kind)), (found,), (ColumnReadings(column="c", readings=read, by_library=2),))
    assert rows(path, "PRAGMA table_info(trades)")[1][2] == expected
    assert [value for (value,) in rows(path, "SELECT c FROM trades")] == stored


def test_names_that_sqlite_or_a_file_system_does_not_take_are_changed(store: Store) -> None:
    assert [table_name(s) for s in ("_cells", "sqlite_a", "a b", "表")] == [
        "table__cells",
        "table_sqlite_a",
        "a b",
        "表",
    ]
    table, path = draw(plan(column('say "so"'), column('SAY "SO"')), (), (), stem='a "b"')
    assert [name for _, name, *_ in rows(path, "PRAGMA table_info('a \"b\"')")] == [KEY, 'say "so"', 'SAY "SO"_2']
    assert table.table == 'a "b"'


def test_a_cell_is_traced_to_file_line_and_page(store: Store) -> None:
    _, path = draw()
    found = trace(path, "R1", "shares")
    assert (found.value, found.raw, found.quote, found.status) == (
        25390048,
        "25,390,048",
        "更正为25,390,048股",
        "verified",
    )
    assert (found.path, found.file_line, found.page, found.line) == ("doc/trades.md", 112, 2, 12)
    assert [(s.value, s.file_line) for s in found.superseded] == [(25000000, 101)]
    conflict = trace(path, "R2", "SHARES")
    assert (conflict.value, conflict.status, [s.raw for s in conflict.statements]) == (None, "conflict", ["5", "7"])
    silent = trace(path, " R２", "day")
    assert (silent.status, silent.path, silent.statements) == ("missing", None, ())


def test_what_cannot_be_traced_names_what_is_near(store: Store, tmp_path: Path) -> None:
    _, path = draw()
    with pytest.raises(InputError, match=r"no column 'sharse'[\s\S]*shares"):
        trace(path, "R1", "sharse")
    with pytest.raises(InputError, match=r"did you mean share or shares\? its columns: record_id, code, .*remark"):
        trace(path, "R1", "sharse")
    with pytest.raises(InputError, match=r"no record 'R11'[\s\S]*R1"):
        trace(path, "R11", "shares")
    other = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE t (a)")
    with pytest.raises(InputError, match=r"no derived table.*tables: t"):
        trace(other, "R1", "shares")
    (tmp_path / "text.db").write_text("no database at all, but a text of some length" * 40)
    for missing in ("text.db", "absent.db"):
        with pytest.raises(InputError, match="cannot be read as a derived table"):
            trace(tmp_path / missing, "R1", "shares")


@pytest.mark.slow
def test_ten_thousand_records_are_stored_in_seconds(store: Store) -> None:
    names = tuple(column(f"c{i}") for i in range(10))
    records = tuple(f"R{i}" for i in range(10_000))
    findings = piece(*(said(r, c.name, f"v{n % 90}", 1 + n % 90) for n, r in enumerate(records) for c in names))
    merged = asyncio.run(merge_findings.function(plan(*names, records=records), (findings,)))
    started = time.monotonic()
    made = asyncio.run(store_table.function(converted(), plan(*names, records=records), merged, (), 0.95))
    assert made.records == 10_000 and time.monotonic() - started < 40
    assert rows(store.local(made.database), "SELECT count(*) FROM _cells") == [(110_000,)]
