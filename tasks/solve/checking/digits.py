"""patterns with digits over dates → whether the values have these digits in more than one part of the date, looked at in the data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import ColumnProfile
from tasks.core.models.evidence import Check
from tasks.core.sql.names import quote
from tasks.solve.checking.facts import Facts, Place
from tasks.solve.checking.measuring import Measuring

if TYPE_CHECKING:
    from sqlglot import exp

_DATE = re.compile(r"\d{1,4} ?[-/.年] ?\d{1,2}(?: ?[-/.月] ?\d{1,4})?.{0,20}|(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d")
_CONTAINED = re.compile(r"(?i)\b(?:contain\w*|digits?)\b|包含|含有|数字")
_VALUES, _LONGEST, _SHOWN = 2_000, 40, 3
"""Different values that are looked at, signs of one, and parts of which an example is shown."""
_OPEN, _REPEATED = 4, re.compile(r"\)[*+?{]|[*+]")
"""Wildcards of a pattern of which all ways to meet a value are tried; a regex may repeat half as often, and no group."""
Parts = tuple[int, ...]
"""Which numbers of a date hold the digits of a pattern, from 0."""


async def digits(facts: Facts, counts: Measuring) -> Check | None:
    """A pattern for a month, day or year meets that part of the date alone, in all values that it meets."""
    if _CONTAINED.search(facts.question):
        return None
    for node, place, pattern, kind in _patterns(facts):
        column = f"CAST({quote(place[1].name)} AS VARCHAR)"
        values = f"SELECT DISTINCT {column} AS v FROM {quote(place[0].name)} WHERE length({column}) <= {_LONGEST}"
        row = await counts.row(f"SELECT to_json(list(v)) FROM (SELECT v FROM ({values}) ORDER BY v LIMIT {_VALUES})")
        found: dict[Parts, str] = {}
        for value in json.loads(str(row[0])) if row and row[0] else ():
            for parts in _placed(pattern, kind, value):
                found.setdefault(parts, value)
        if len(found) > 1:
            shown = ", ".join(list(dict.fromkeys(map(repr, found.values())))[:_SHOWN])
            detail = (
                f"{node.sql('duckdb')[:100]} meets different parts of the date, as {shown} show: "
                "compare the year, month or day itself"
            )
            return Check(name="date digits", outcome="noted", detail=detail)
    return None


def _patterns(facts: Facts) -> Iterator[tuple[exp.Expr, Place, str, str]]:
    """Conditions with a column of dates and a pattern with digits; `like`, `glob`, `regex` or `part`."""
    from sqlglot import exp

    kinds: dict[type[exp.Expr], str] = {
        exp.Like: "like",
        exp.ILike: "like",
        exp.SimilarTo: "regex",
        exp.Glob: "glob",
        exp.RegexpLike: "regex",
        exp.RegexpFullMatch: "regex",
        exp.Contains: "part",
    }
    for node in facts.tree.find_all(*kinds):
        subject, value = node.this, node.expression
        while isinstance(subject, exp.Cast | exp.Paren | exp.Lower | exp.Upper | exp.Trim):
            subject = subject.this
        place = facts.place(subject)
        if isinstance(value, exp.Literal) and _is_long(value.name, kinds[type(node)]):
            continue
        if place and _is_date(place[1]) and isinstance(value, exp.Literal) and re.search(r"\d", value.name):
            whole = isinstance(node, exp.SimilarTo | exp.RegexpFullMatch)
            yield node, place, f"^(?:{value.name})$" if whole else value.name, kinds[type(node)]


def _is_long(pattern: str, kind: str) -> bool:
    """Whether there may be too many ways in which the pattern meets a value."""
    if kind != "regex":
        return len(re.findall(r"[%*]+", pattern)) > _OPEN
    found = _REPEATED.findall(pattern)
    return len(found) * 2 > _OPEN or any(sign.startswith(")") for sign in found)


def _is_date(column: ColumnProfile) -> bool:
    if column.type.upper().startswith(("DATE", "TIMESTAMP")) or (column.form and column.form.kind != "number"):
        return True
    return bool(column.examples) and all(_DATE.fullmatch(example.strip()) for example in column.examples)


def _placed(pattern: str, kind: str, value: str) -> set[Parts]:
    """Parts of the date that the pattern's digits can be, in each way in which it meets the value."""
    numbers = _numbers(value)
    if kind == "regex":
        try:
            found = [(match.start(1), match.end(1)) for match in re.finditer(f"(?=({pattern}))", value)]
        except re.error:
            return set()
        return {parts for start, end in found if (parts := _within([(start, end)], numbers))}
    if kind == "part":
        pattern = f"%{pattern}%"
    pieces = (pattern.replace("*", "%").replace("?", "_") if kind == "glob" else pattern).split("%")
    return {parts for spans in _spans(pieces, value, 0, first=True) if (parts := _within(spans, numbers))}


def _spans(pieces: list[str], value: str, start: int, first: bool) -> Iterator[list[tuple[int, int]]]:
    """All ways to find the pieces of a LIKE one after another: where those with digits stand."""
    piece, rest = pieces[0], pieces[1:]
    if not rest:  # the last one ends the value, and so begins it where there is no other
        at = len(value) - len(piece)
        if at >= start and (at == 0 or not first) and _fits(piece, value, at):
            yield [(at, len(value))] if re.search(r"\d", piece) else []
        return
    for at in (0,) if first else range(start, len(value) - len(piece) + 1):
        if _fits(piece, value, at):
            own = [(at, at + len(piece))] if re.search(r"\d", piece) else []
            if not piece and not first:
                yield from _spans(rest, value, at, first=False)
                return
            for more in _spans(rest, value, at + len(piece), first=False):
                yield own + more


def _fits(piece: str, value: str, at: int) -> bool:
    part = value[at : at + len(piece)].casefold()
    return len(part) == len(piece) and all(
        own in ("_", other) for own, other in zip(piece.casefold(), part, strict=True)
    )


def _numbers(value: str) -> list[tuple[int, int]]:
    """Where the numbers of a date stand; eight digits in a run are three."""
    found = []
    for run in re.finditer(r"\d+", value):
        at = run.start()
        cut = [(at, at + 4), (at + 4, at + 6), (at + 6, at + 8)] if run.end() - at == 8 else [run.span()]
        found += cut
    return found


def _within(spans: list[tuple[int, int]], numbers: list[tuple[int, int]]) -> Parts:
    return tuple(
        at for at, (first, last) in enumerate(numbers) if any(start < last and first < end for start, end in spans)
    )
