"""texts of dates in the query's conditions → those that no value can match, or whose day and month nothing decides."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tasks.core.models.evidence import Check
from tasks.solve.checking.facts import Facts, Place

_ISO = re.compile(r"[12]\d{3}-(?:\d|[%_])")
_OPEN = re.compile(r"(?<!\d)(?:0?[1-9]|1[0-2])[./-]|[./-](?:0?[1-9]|1[0-2])(?!\d)")
"""A number that may be a day and may be a month."""


def text_of_days(facts: Facts) -> Check | None:
    """A day is looked for as its column writes it, and where both are open the question has it in the same signs."""
    for place, text in _patterns(facts):
        form = place[1].form
        if form is None or form.kind == "number" or text.strip("%_ ") in facts.question:
            continue
        where = f"{place[1].name} is text such as {form.example!r} ({form.says}), and the query looks for {text!r}"
        if not form.decided and _OPEN.search(text):
            detail = f"{where}: which number is the month is not known; convert it and say which reading you take"
            return Check(name="date text", outcome="failed", detail=detail)
        if _ISO.search(text) and form.example and not _ISO.match(form.example):
            return Check(name="date text", outcome="failed", detail=f"{where}, a form that it does not have")
    return None


def _patterns(facts: Facts) -> Iterator[tuple[Place, str]]:
    """Columns of text with a pattern or text that they are held against; comparisons in order are those of casts."""
    from sqlglot import exp

    for node in facts.tree.find_all(exp.Like, exp.ILike, exp.EQ, exp.NEQ, exp.In):
        place = facts.place(node.this)
        if place is None or place[1].type != "VARCHAR":
            continue
        for value in node.expressions if isinstance(node, exp.In) else [node.expression]:
            if isinstance(value, exp.Literal) and value.is_string and re.search(r"\d", value.name):
                yield place, value.name
