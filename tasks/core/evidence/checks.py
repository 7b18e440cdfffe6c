"""a replayed answer → deterministic checks; what they note is said to the reader, nothing is repaired."""

from __future__ import annotations

from collections.abc import Iterable

from tasks.core.evidence.rows import Tally
from tasks.core.models.answer import Contract, JoinAudit
from tasks.core.models.evidence import Check, CheckOutcome, Outline, Replay, UsedTable
from tasks.core.wording import counted

_FILTERS = ("semi", "anti")
_KEEPS_LEFT = ("left", "full")
_KEEPS_RIGHT = ("right", "full")
UNMADE = "unmade check"
"""Name of what is said where a check itself broke: an answer that was not wholly looked at is no approved one."""
EMPTY = "rows"
"""Name of the check that an answer has rows."""
_MANY = 1 / 3
"""Share of empty cells of a column that is worth a remark."""


def replay_equal(replay: Replay) -> Check:
    """The replayed rows are those that the solver saw."""
    if replay.equal:
        return Check(
            name="replay",
            outcome="passed",
            detail=f"replayed: {counted(replay.rows, 'row')}, equal to what the solver saw",
        )
    return Check(name="replay", outcome="failed", detail=replay.error)


def columns_match(contract: Contract, columns: tuple[str, ...]) -> Check | None:
    """The answer has as many columns as the contract names; other names are noted."""
    wanted = tuple(column.name for column in contract.columns)
    if not wanted:
        return None
    if len(wanted) != len(columns):
        detail = (
            f"the contract expects {counted(len(wanted), 'column')} ({_names(wanted)}); the answer has {len(columns)}"
        )
        return Check(name="columns", outcome="failed", detail=f"{detail} ({_names(columns)})")
    if {name.casefold() for name in wanted} != {name.casefold() for name in columns}:
        detail = f"columns are named {_names(columns)} where the contract says {_names(wanted)}"
        return Check(name="columns", outcome="noted", detail=detail)
    return Check(name="columns", outcome="passed", detail="the columns are those of the contract")


def empty_columns(columns: tuple[str, ...], tally: Tally) -> Check | None:
    """No column is empty in every row; an answer of nothing but empty cells is none."""
    empty = [name for name, nulls in zip(columns, tally.nulls, strict=True) if tally.rows and nulls == tally.rows]
    if empty and len(empty) == len(columns):
        cells = "the only cell of the answer is" if tally.rows == len(columns) == 1 else "all cells of the answer are"
        return Check(name="empty columns", outcome="failed", detail=f"{cells} empty")
    if not empty:
        return (
            Check(name="empty columns", outcome="passed", detail="no column is empty throughout")
            if tally.rows
            else None
        )
    return Check(name="empty columns", outcome="noted", detail=f"empty in every row: {_names(empty)}")


def empty_cells(columns: tuple[str, ...], tally: Tally) -> Check | None:
    """Columns that are empty in part of the rows, with how many; from a third of the rows on it is noted."""
    found = [(name, nulls) for name, nulls in zip(columns, tally.nulls, strict=True) if 0 < nulls < tally.rows]
    if not found:
        return None
    said = [f"{nulls} of {tally.rows} cells of {name}" for name, nulls in found]
    many = any(nulls >= tally.rows * _MANY for _, nulls in found)
    return Check(name="empty cells", outcome="noted" if many else "passed", detail=f"empty: {_names(said)}")


def some_rows(tally: Tally) -> Check | None:
    """An answer without rows may be right, and is more often a filter that matches nothing."""
    if tally.rows:
        return None
    return Check(
        name=EMPTY, outcome="noted", detail="the answer has no rows: nothing meets the conditions of the query"
    )


def emptiness(made: Iterable[Check]) -> str:
    """That an answer has no rows, and what leaves none; empty where it has some."""
    return next((check.detail for check in made if check.name == EMPTY and check.outcome == "noted"), "")


def repeated_rows(contract: Contract, tally: Tally) -> Check | None:
    """Rows differ from each other, where the contract wants that; else repetition is noted."""
    if not tally.repeated:
        return Check(name="duplicates", outcome="passed", detail="no row occurs twice") if tally.rows else None
    detail = f"{counted(tally.repeated, 'row')} of {tally.rows} repeat an earlier one"
    if contract.duplicates == "remove":
        return Check(name="duplicates", outcome="failed", detail=f"{detail}; the contract wants each once")
    outcome: CheckOutcome = "passed" if contract.duplicates == "keep" else "noted"
    return Check(name="duplicates", outcome=outcome, detail=detail)


def no_formulas(columns: tuple[str, ...], tally: Tally) -> Check | None:
    """Text that a spreadsheet would compute is left as it is, and the reader is warned of it."""
    if not tally.formulas or not any(tally.formulas):
        return None
    found = [
        f"{counted(count, 'cell')} of {name}" for name, count in zip(columns, tally.formulas, strict=True) if count
    ]
    detail = f"{_names(found)} begin like a formula: a spreadsheet may compute them, so import the file as text"
    return Check(name="formulas", outcome="noted", detail=detail)


def within_limits(contract: Contract, replay: Replay) -> Check | None:
    """No row was cut off, and no more rows than the contract's limit."""
    if replay.truncated:
        detail = f"there are more rows than the {replay.rows} that an answer may have; the rest is missing"
        return Check(name="row limit", outcome="failed", detail=detail)
    if contract.limit is None:
        return None
    if replay.rows > contract.limit and contract.ties != "keep_all":
        detail = f"the contract expects at most {counted(contract.limit, 'row')}; the answer has {replay.rows}"
        return Check(name="row limit", outcome="failed", detail=detail)
    return Check(
        name="row limit", outcome="passed", detail=f"{replay.rows} rows, the contract's limit is {contract.limit}"
    )


def order_fixed(contract: Contract, parts: Outline, replay: Replay) -> Check | None:
    """The query says in which order its rows stand, where that matters."""
    if not replay.sorted or replay.rows < 2:
        return None
    if parts.limit:
        detail = "the query takes the first rows without saying in which order, so that others could be taken as well"
        return Check(name="order", outcome="noted", detail=detail)
    if contract.order:
        detail = f"the contract wants the order {contract.order!r}; the query has none, so rows are sorted by value"
        return Check(name="order", outcome="noted", detail=detail)
    detail = "the query leaves the order of its rows open; they are sorted by value"
    return Check(name="order", outcome="passed", detail=detail)


def join_losses(audits: Iterable[JoinAudit]) -> Iterable[Check]:
    """Rows that found no partner in a join, one check a join."""
    for audit in audits:
        if audit.problem:
            between = f" of {audit.left} with {audit.right}" if audit.right else ""
            yield Check(
                name="join", outcome="noted", detail=f"the join{between} could not be measured: {audit.problem}"
            )
        elif lost := lost_rows(audit):
            yield Check(name="join", outcome="noted", detail="; ".join(lost))
        elif audit.kind not in _FILTERS:
            yield Check(
                name="join", outcome="passed", detail=f"every row of {audit.left} and {audit.right} found a partner"
            )


def lost_rows(audit: JoinAudit) -> list[str]:
    """What became of rows of either side that found no partner; nothing for joins that are meant to select."""
    if audit.kind in _FILTERS:
        return []
    sides = (
        (audit.left_unmatched, audit.left_rows, audit.left, audit.right, audit.kind in _KEEPS_LEFT),
        (audit.right_unmatched, audit.right_rows, audit.right, audit.left, audit.kind in _KEEPS_RIGHT),
    )
    return [
        f"{lost} of {counted(rows, 'row')} of {name} found no partner in {other} "
        f"({'kept with empty fields' if kept else 'left out'})"
        for lost, rows, name, other, kept in sides
        if lost
    ]


def tables_whole(used: Iterable[UsedTable]) -> Iterable[Check]:
    """No row of a used table was set aside when it was read; no cell of a column that the query reads is unread, and no
    such column of a document is empty throughout.
    """
    for table in used:
        if table.unread:
            listed = _names(f"{column} ({count} of {table.rows})" for column, count in table.unread.items())
            detail = (
                f"cells of {listed} were not read from {table.path}, as no usable reply told of them: "
                "empty here, though the document may state them"
            )
            yield Check(name="document cells", outcome="failed", detail=detail)
        if table.blank:
            detail = (
                f"of {table.path} not one value of {_blank(table)}: the column is empty here, "
                "and that the document states nothing is not shown by that"
            )
            yield Check(name="document cells", outcome="failed", detail=detail)
        if table.set_aside:
            detail = f"{table.name} lacks {counted(table.set_aside, 'row')} of {table.path} that could not be read"
            yield Check(name="source rows", outcome="noted", detail=detail)


def _blank(table: UsedTable) -> str:
    """`harvest is known (the model named none for 8 of 8 records), area is known (…)`."""
    said = []
    for column, asked in table.blank.items():
        named = f"the model named none for {asked} of {counted(table.rows, 'record')}" if asked else ""
        left = table.rows - asked - table.unread.get(column, 0)
        unasked = f"it was asked nothing for {left}" if left else ""
        said.append(f"{column} is known ({', '.join(filter(None, (named, unasked)))})")
    return _names(said)


def _names(names: Iterable[str]) -> str:
    return ", ".join(names)
