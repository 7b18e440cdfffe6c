"""values written in the query → those that neither the question nor the knowledge gives, where data was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.solve.checking import asked
from tasks.solve.checking.facts import Comparison, Facts

if TYPE_CHECKING:
    from sqlglot import exp

_CJK = re.compile(r"[\u3400-\u9fff]")
_LABELS = 3
"""Texts of up to so many signs may be codes: M for male."""
_MISTYPED, _ALIKE = 5, 0.8
"""Letters from which a word is known though it is mistyped, and how alike the two must be, 0 to 1."""


def typed_output(facts: Facts) -> Check | None:
    """No column of the answer is a value that was written into the query; a text beside data may be a label."""
    from sqlglot import exp

    for select in _outer(facts.tree):
        labels = any(item.find(exp.Column, exp.AggFunc) for item in select.selects)
        for item in select.selects:
            bare = item.unalias()
            while isinstance(bare, exp.Paren | exp.Cast | exp.Neg | exp.Round):
                bare = bare.this
            if isinstance(bare, exp.Literal) and not (bare.is_string and labels) and not _is_said(bare.name, facts):
                detail = f"the answer shows {bare.name!r}, which is written in the query and read from no data"
                return Check(name="typed value", outcome="failed", detail=detail)
    return None


def empty_handed(facts: Facts) -> Check | None:
    """No output is shown twice, and nothing is taken from itself or divided by itself."""
    from sqlglot import exp

    for node in facts.tree.find_all(exp.Sub, exp.Div, exp.EQ, exp.GT, exp.LT):
        if isinstance(node.this, exp.Column) and node.this == node.expression:
            detail = f"{node.sql('duckdb')} is the same for all rows: a column stands against itself"
            return Check(name="same column", outcome="failed", detail=detail)
    for select in _outer(facts.tree):
        outputs = [item.unalias().sql("duckdb").casefold() for item in select.selects]
        twice = next((text for text in outputs if outputs.count(text) > 1), None)
        if twice and twice != "*":
            return Check(name="same column", outcome="failed", detail=f"the answer shows {twice} twice")
    return None


def typed_cell(facts: Facts) -> Check | None:
    """No value of a record is exchanged by hand for one that stands in neither question nor knowledge."""
    from sqlglot import exp

    for case in facts.tree.find_all(exp.Case):
        for branch in case.args.get("ifs") or []:
            put, condition = branch.args.get("true"), branch.this
            if not isinstance(put, exp.Literal) or not isinstance(case.args.get("default"), exp.Column):
                continue
            if condition.find(exp.EQ) and not _is_said(put.name, facts):
                detail = f"the query puts {put.name!r} in place of {case.args['default'].sql('duckdb')} for one record"
                return Check(name="typed value", outcome="failed", detail=detail)
    return None


def said_texts(facts: Facts) -> Check | None:
    """Texts that rows are held against stand in the question or the knowledge, or are short codes."""
    for one in facts.comparisons:
        if not one.text or one.number is not None or re.match(r"\d{4}[-/.年]\d{1,2}", one.value):
            continue
        if len(one.value) <= _LABELS or _is_said(one.value, facts) or _is_near(one, facts):
            continue
        outcome = "failed" if _is_name(one) else "noted"
        detail = f"the query looks for {one.name} {one.value!r}, which neither the question nor the knowledge says"
        return Check(name="typed value", outcome="failed" if outcome == "failed" else "noted", detail=detail)
    return None


def unused_texts(facts: Facts) -> Check | None:
    """What the question puts in quotes, and values of the data that it names, stand in the query."""
    query = facts.tree.sql("duckdb").casefold()
    for quoted in re.findall(
        r"'([^']{2,40})'(?![a-z])|\"([^\"]{2,40})\"|[“「『]([^”」』]{2,40})[”」』]", facts.question
    ):
        text = next(part for part in quoted if part).strip()
        if not _occurs(text, query):
            detail = f"the question names {text!r}, and the query does not"
            return Check(name="unused value", outcome="failed", detail=detail)
    names = " ".join(part for t in facts.profile.tables for part in (t.name, *(c.name for c in t.columns)))
    for table in facts.tables:
        for column in table.columns:
            for value in column.examples if column.type == "VARCHAR" else ():
                plain = (
                    len(value) < (2 if _CJK.search(value) else 4)
                    or value.islower()
                    or value.casefold() in names.casefold()
                )
                if plain or not re.search(rf"(?<![A-Za-z]){re.escape(value)}(?![A-Za-z])", facts.question):
                    continue
                if not _occurs(value, query) and facts.question.find(value) > 0:
                    detail = (
                        f"the question names {value!r}, a value of {table.name}.{column.name}, and the query does not"
                    )
                    return Check(name="unused value", outcome="failed", detail=detail)
    return None


def _occurs(text: str, query: str) -> bool:
    """The text, or most of its words, stand in the query."""
    words = [word for word in re.findall(r"\w+", text.casefold()) if len(word) > 1]
    return text.casefold() in query or (bool(words) and sum(word in query for word in words) * 2 > len(words))


def _is_name(one: Comparison) -> bool:
    """A key, or a column of many values: what it holds must be given, no word of the question can be meant by it."""
    return bool(one.place and (one.place[1].is_key or one.place[1].distinct > one.place[0].rows / 2))


def _is_said(value: str, facts: Facts) -> bool:
    plain = value.strip("% ").casefold()
    if plain in f"{facts.question}\n{facts.said}".casefold():
        return True
    try:
        number = float(plain)
    except ValueError:
        return False
    return number in (0, 1, 100) or number in asked.spoken(facts.question) | asked.spoken(facts.said)


def _is_near(one: Comparison, facts: Facts) -> bool:
    """One of its words is said, in any form, or written as people mistype it."""
    said = asked.stems(facts.question)
    own = [word for word in asked.stems(one.value) if len(word) >= _MISTYPED]
    if asked.overlap((one.value,), said) >= 0.5 or any(get_close_matches(word, said, 1, _ALIKE) for word in own):
        return True
    parts, spoken = one.value.casefold().split(), re.findall(r"[\w.-]+", facts.question.casefold())
    runs = [" ".join(spoken[at : at + len(parts)]) for at in range(len(spoken) - len(parts) + 1)]
    same = [run for run in runs if re.findall(r"\d+", run) == re.findall(r"\d+", one.value)]
    return len(one.value) >= _MISTYPED and bool(get_close_matches(" ".join(parts), same, 1, _ALIKE))


def _outer(tree: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs whose rows are the answer."""
    from sqlglot import exp

    if isinstance(tree, exp.SetOperation):
        yield from _outer(tree.this)
        yield from _outer(tree.expression)
    elif isinstance(tree, exp.Subquery):
        yield from _outer(tree.this)
    elif isinstance(tree, exp.Select):
        yield tree
