"""the unit that a question asks for → whether the columns of the answer are in it, where theirs is known and nothing converts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.core.values.scales import SCALES
from tasks.core.values.units import Unit, unit_of
from tasks.solve.checking.facts import Facts, Place

if TYPE_CHECKING:
    from sqlglot import exp

_ENGLISH = re.compile(r"(?i)\bin (?:units? of )?(?=([a-z°%€£$²³][a-z0-9°%€£$²³/^]*(?: [a-z²³]+){0,2}))")
_CHINESE = re.compile(
    r"(?:以|按|用)([^\s，。,、；;？?]{1,8}?)(?:为单位|作单位|作为单位|计算|计价|计|表示|显示)|单位(?:为|是|用|取)?[:：]?\s*([^\s，。,、；;)）？?]{1,8})"
    r"|(?:换算|折合|转换)(?:成|为|到)([^\s，。,、；;)）？?]{1,8})"
)
_BRACKETS = re.compile(r"[(（\[]\s*([^\s()（）\[\]]{1,12})\s*[)）\]]")
_SUFFIX = re.compile(
    r"(?:_|(?<=[a-z])(?=[A-Z]))(km2|m2|km|cm|mm|kg|mg|ha|lbs?|kwh|mwh|ms|secs?|seconds|minutes|hours|usd|eur|cny|rmb)$",
    re.I,
)
"""Units that a name ends with and that are hardly words."""
_WORDS = frozenset(
    {"in", "a", "d", "s", "u", "b", "may", "mar", "min", "mins", "no", "one", "all", "times", "each", "every"}
)
"""Names of units that are other words more often."""


def asked_unit(facts: Facts) -> Check | None:
    """Columns that the answer gives as they are have the unit that the question asks for."""
    wanted = tuple(_wanted(facts.question))
    if not wanted:
        return None
    given = list(_given(facts))
    for unit in wanted:
        same = [(name, own) for name, own in given if _comparable(own, unit)]
        if not same or any(own.factor == unit.factor for _, own in same):
            continue
        name, own = same[0]
        by = own.factor / unit.factor
        if {float(by), float(1 / by)} & _numbers(facts):
            continue
        how = f"multiplied by {float(by):g}" if by >= 1 else f"divided by {float(1 / by):g}"
        detail = f"the question asks for {unit.text}, and {name} is in {own.text}: its values have to be {how}"
        return Check(name="unit", outcome="failed", detail=detail)
    return None


def _numbers(facts: Facts) -> set[float]:
    """Numbers that the query computes with: whoever writes the factor of two units knows of both."""
    from sqlglot import exp

    sides = (side for node in facts.tree.find_all(exp.Mul, exp.Div) for side in (node.this, node.expression))
    return {float(side.name) for side in sides if isinstance(side, exp.Literal) and not side.is_string}


def _comparable(own: Unit, wanted: Unit) -> bool:
    """Both measure the same; a bare size, as in millions, is one of whatever amount of money there is."""
    return own.dimension == wanted.dimension or (not wanted.dimension and own.money)


def _wanted(question: str) -> Iterator[Unit]:
    """Units that the question asks for in so many words."""
    for found in _ENGLISH.finditer(question):
        words = found[1].split()
        units = (_unit(" ".join(words[:count])) for count in range(len(words), 0, -1))
        if unit := next((unit for unit in units if unit), None):
            yield unit
    for found in _CHINESE.finditer(question):
        text = next(group for group in found.groups() if group)
        units = (_unit(text[:count]) for count in range(len(text), 0, -1))
        if unit := next((unit for unit in units if unit), None):
            yield unit
    for found in _BRACKETS.finditer(question):
        if unit := _unit(found[1]):
            yield unit


def _unit(text: str) -> Unit | None:
    """A unit of measure or money, or a size of money; nothing for what is counted, or is a word as well."""
    if text.casefold() in _WORDS or re.fullmatch(r"[\d.,]+", text):
        return None
    found = unit_of(text)
    if found is None or "count:" in found.dimension or found.dimension.startswith("temp:"):
        return None
    if not found.dimension and text.casefold() not in _SIZES:
        return None
    return found._replace(text=text)


_SIZES = frozenset(word for word in SCALES if len(word) > 2 or not word.isascii())


def _given(facts: Facts) -> Iterator[tuple[str, Unit]]:
    """Columns whose values the answer shows on their own scale, with their units."""
    from sqlglot import exp

    tree = facts.tree
    while isinstance(tree, exp.Subquery):
        tree = tree.this
    for item in tree.selects if isinstance(tree, exp.Select) else ():
        for column in _on_scale(item.unalias()):
            place = facts.place(column)
            if place and (unit := _of(facts, place)):
                yield place[1].name, unit


def _on_scale(part: exp.Expr) -> Iterator[exp.Column]:
    """The column of an expression that keeps its unit; none where something is computed."""
    from sqlglot import exp

    keeps = (
        exp.Sum,
        exp.Avg,
        exp.Min,
        exp.Max,
        exp.Abs,
        exp.Round,
        exp.Cast,
        exp.TryCast,
        exp.Paren,
        exp.Coalesce,
        exp.Median,
    )
    while isinstance(part, keeps):
        part = part.this
    if isinstance(part, exp.Column):
        yield part


def _of(facts: Facts, place: Place) -> Unit | None:
    """The column's unit by the knowledge, by its document's plan, or by its name."""
    table, column = place
    drawn = (each for own in facts.drawn if own.name == table.name and own.drawn for each in own.drawn.columns)
    told = column.unit or next((each.unit for each in drawn if each.name == column.name), "")
    if told:
        return _unit(told)
    named = _BRACKETS.search(column.name) or _SUFFIX.search(column.name)
    return _unit(named[1]) if named else None
