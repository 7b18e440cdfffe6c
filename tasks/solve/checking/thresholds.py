"""numbers in the query's conditions → whether the question says them, in which direction, and on the column's scale."""

from __future__ import annotations

import re

from tasks.core.models.catalogue import ColumnProfile
from tasks.core.models.evidence import Check
from tasks.solve.checking import asked, months
from tasks.solve.checking.facts import Comparison, Facts, is_number, names_a_thing

_FIRST_YEAR = 1900
_FREE = {0.0, 1.0, -1.0}
_DATE = re.compile(r"(1[5-9]\d\d|2[01]\d\d)[-/年.]?\d{0,2}")
_NEXT = {">=": (-1, ">"), "<=": (1, "<"), ">": (1, ">="), "<": (-1, "<=")}
"""On whole numbers `>= n` says `> n - 1`."""


def said_numbers(facts: Facts) -> Check | None:
    """Numbers and years that rows are held against stand in the question, the knowledge or the contract."""
    known = asked.spoken(facts.question) | asked.spoken(facts.said)
    relative = bool(asked.RELATIVE.search(facts.question))
    named = months.periods(facts.question)
    for one in facts.comparisons:
        value = _year(one) if one.number is None else one.number
        if value is None or (named and _is_named_time(one, value, named, facts)):
            continue
        if one.sign == "=" and one.place and names_a_thing(one.place[1]):
            if _is_named(one, value, facts):
                continue
        elif _is_free(value, one) or (relative and _is_day(value, one)) or _is_said(value, one, known):
            continue
        detail = f"the query holds {one.name} against {one.value}, which neither the question nor the knowledge says"
        return Check(name="numbers", outcome="failed", detail=detail)
    return None


def _is_named_time(one: Comparison, value: float, named: set[tuple[int, int]], facts: Facts) -> bool:
    """A bound of a month or quarter that the question names, in a year that the column holds; or one of its months by number."""
    from sqlglot import exp

    if isinstance(one.subject, exp.Month | exp.Extract) and not one.text:
        return any(first <= value <= last or value in (first - 1, last + 1) for first, last in named)
    column = one.subject.find(exp.Column)
    place = facts.place(column) if column else None
    year = months.bounds(one.value, named) if one.text else None
    if year is None or place is None:
        return False
    ends = [re.match(r"\d{4}", end or "") for end in (place[1].minimum, place[1].maximum)]
    return not all(ends) or int(ends[0][0]) <= year <= int(ends[1][0])  # type: ignore[index]


def _is_named(one: Comparison, value: float, facts: Facts) -> bool:
    """The number of a thing stands as it is in the question, or where the knowledge speaks of the column."""
    told = f"{facts.question}\n{_about(one.place[1].name if one.place else '', facts.said)}"
    return one.value in told if one.text else value in _written(told)


def _is_free(value: float, one: Comparison) -> bool:
    """Nothing, something and yes need no word; more or less than one of what a column measures does."""
    return value in _FREE and (value != 1 or one.place is None or one.sign not in _NEXT or one.text)


def _about(name: str, said: str) -> str:
    """Lines that speak of the column."""
    return "\n".join(line for line in said.splitlines() if name.casefold() in line.casefold())


def _written(text: str) -> set[float]:
    """Numbers in digits alone: the number of a thing is not meant by `one` or `first`."""
    return {float(run) for run in re.findall(r"\d+", text)}


def _is_said(value: float, one: Comparison, known: set[float]) -> bool:
    """The number itself, as a share of a percentage, or the next whole one of it; nothing is counted in parts."""
    from sqlglot import exp

    if isinstance(one.subject, exp.Count) and value != int(value):
        return False
    if any(abs(value - number) <= 1e-9 * max(1, abs(number)) for number in known | {-n for n in known}):
        return True
    by, _ = _NEXT.get(one.sign, (0, ""))
    return bool(by) and value == int(value) and value + by in known


def _year(one: Comparison) -> float | None:
    found = _DATE.match(one.value) if one.text else None
    return float(found.group(1)) if found and len(one.value) >= 7 else None


def _is_day(value: float, one: Comparison) -> bool:
    """A year, month, quarter or day that a relative time of the question may come to."""
    return one.text or 1900 <= value <= 2100 or 19000101 <= value <= 21001231 or 0 < value <= 12


def unsaid_years(facts: Facts) -> Check | None:
    """A year of the question bounds the query, unless all rows are of that year."""
    years = {
        int(value) for value, _, _ in asked.numbers(facts.question) if 1900 <= value <= 2100 and value == int(value)
    }
    written = set(map(int, re.findall(r"\d{4}", facts.tree.sql("duckdb"))))
    names = " ".join(column.name for table in facts.tables for column in table.columns)
    missing = sorted(year for year in years if not {year, year + 1, year - 1} & written and str(year) not in names)
    if not missing or _all_of(facts, missing):
        return None
    detail = f"the question speaks of {', '.join(map(str, missing))}, and no condition of the query does"
    return Check(name="years", outcome="noted", detail=detail)


def _all_of(facts: Facts, years: list[int]) -> bool:
    ends = [(c.minimum or "", c.maximum or "") for table in facts.tables for c in table.columns]
    return any(low.startswith(str(year)) and high.startswith(str(year)) for low, high in ends for year in years)


def direction(facts: Facts) -> Check | None:
    """`<`, `<=`, `>` and `>=` say what the question's words before or after the number say."""
    places = [*asked.numbers(facts.question), *asked.worded(facts.question)]
    for one in facts.comparisons:
        if one.sign not in _NEXT or one.number is None or (one.text and not one.place):
            continue
        for value, start, end in places:
            signs = _signs(one, value, facts.question)
            if not signs:
                continue
            phrase = asked.phrase(facts.question, start, end)
            if phrase is None or (set(signs) & set(phrase.signs)) or _is_negated(one):
                break
            detail = f"the question says {phrase.words!r} of {value:g}, the query {one.name} {one.sign} {one.value}"
            return Check(name="comparison", outcome="failed", detail=detail)
    return None


def _signs(one: Comparison, value: float, question: str) -> tuple[str, ...]:
    """The sign that the comparison has in terms of the question's number; none when it is about another number."""
    number = one.number
    if number is None:
        return ()
    if abs(number - value) < 1e-9 or (asked.is_percent(question, value) and abs(number - value / 100) < 1e-9):
        return (one.sign,)
    by, sign = _NEXT[one.sign]
    return (sign,) if number + by == value and _is_whole(one) else ()


def _is_whole(one: Comparison) -> bool:
    from sqlglot import exp

    return isinstance(one.subject, exp.Count) or bool(one.place and "INT" in one.place[1].type)


def _is_negated(one: Comparison) -> bool:
    """Rows that meet the condition are taken away, or its opposite is meant."""
    from sqlglot import exp

    node: exp.Expr | None = one.node
    while node is not None:
        parent = node.parent
        if isinstance(parent, exp.Not) or (isinstance(parent, exp.Except) and parent.expression is node):
            return True
        if isinstance(parent, exp.Case | exp.If):
            return True
        node = parent
    return False


def scale(facts: Facts) -> Check | None:
    """A threshold lies on the scale of its column: 0.05 and 5 are not the same share."""
    from sqlglot import exp

    for one in facts.comparisons:
        ends = _range(one.place[1]) if one.place and not one.text else None
        if ends is None or one.number is None or one.sign not in _NEXT or ends[0] <= one.number <= ends[1]:
            continue
        if isinstance(one.node, exp.Between) or ends[0] >= _FIRST_YEAR:
            continue
        low, high = ends
        others = [one.number * 100, one.number / 100]
        fits = [other for other in others if low <= other <= high and other != one.number]
        percent = asked.is_percent(facts.question, one.number) or asked.is_percent(facts.question, one.number * 100)
        where = f"{one.name} goes from {low:g} to {high:g}, and the query holds it against {one.value}"
        if fits and percent:
            detail = f"{where}: a share written as {fits[0]:g} there"
            return Check(name="scale", outcome="failed", detail=detail)
        said = asked.spoken(facts.question)
        if fits and one.number not in said and any(other in said for other in fits):
            return Check(name="scale", outcome="failed", detail=f"{where} where the question says {fits[0]:g}")
        return Check(name="scale", outcome="noted", detail=f"{where}: all or none of its values meet that")
    return None


def _range(column: ColumnProfile) -> tuple[float, float] | None:
    if not is_number(column) or column.minimum is None or column.maximum is None or column.distinct < 2:
        return None
    try:
        return float(column.minimum), float(column.maximum)
    except ValueError:
        return None


def averages(facts: Facts) -> Check | None:
    """A comparison with an average goes in the direction that the question says."""
    from sqlglot import exp

    signs = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
    phrases = [asked.phrase(facts.question, m.start(), m.end()) for m in asked.AVERAGE.finditer(facts.question)]
    told = [phrase for phrase in phrases if phrase]
    for node in facts.tree.find_all(*signs):
        inner = node.expression.this if isinstance(node.expression, exp.Subquery) else None
        if not told or not inner or not inner.find(exp.Avg):
            continue
        sign = signs[type(node)]
        if not any(sign in phrase.signs for phrase in told):
            detail = f"the question says {told[0].words!r} the average, the query {node.sql('duckdb')[:80]}"
            return Check(name="comparison", outcome="failed", detail=detail)
    return None
