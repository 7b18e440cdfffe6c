"""Definitions of a knowledge + names of columns → the terms that are no column: what they are called, what computes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks.core.models.semantics import Definition, Knowledge, Metric
from tasks.core.search.words import plain

_IDENTIFIER = re.compile(r"[A-Za-z]\w*_\w+")
_WORD = re.compile(r"[a-z][a-z0-9]*")
"""One word in lower case: the name of a field as well."""
_COMPUTED = re.compile(
    r"(?i)(?:^|[.;:：。；] ?)(?:the |an? )?(?:[a-z]+ ){0,2}?"
    r"(?:sum|total|average|mean|median|ratio|share|percentage|proportion|number|count|difference|minimum|maximum)"
    r" (?:of|over|between)\b"
    r"|\b(?:divided by|multiplied by|minus)\b|\b(?:sum|avg|count|min|max)\s*\("
    r"|之和|求和|之比|之差|除以|乘以|减去|占[^，。；]{1,12}的(?:比例|比重|百分比)|的(?:总和|合计|总额|平均值?|均值|数量|个数|人数|次数|总数)"
)
_CALLED_WORDS, _CALLED_SIGNS = 4, 3
"""Most words, and fewest signs, of another name in brackets."""


def coined(knowledge: Knowledge, columns: Iterable[str]) -> tuple[Definition, ...]:
    """Definitions of what is no column of any table. What looks like a field, or stands among typed ones, must be computed."""
    known = {plain(name) for name in columns}
    typed = {plain(item.table) for item in knowledge.definitions if item.type}
    return tuple(
        item
        for item in knowledge.definitions
        if item.meaning
        and not item.type
        and plain(item.field) not in known
        and not _IDENTIFIER.fullmatch(item.field)
        and (computed(item) or not (_WORD.fullmatch(item.field) or plain(item.table) in typed))
    )


def computed(term: Definition) -> bool:
    """Whether its meaning says how it is computed."""
    return bool(_COMPUTED.search(term.meaning))


def called(term: Definition) -> tuple[str, ...]:
    """Its name, and the other one that stands in brackets behind it."""
    other, _ = _apart(term)
    return (term.field, other) if other else (term.field,)


def as_metric(term: Definition) -> Metric:
    """A term that is computed, as a metric."""
    other, rest = _apart(term)
    name = f"{term.field} ({other})" if other else term.field
    return Metric(name=name, formula=rest, unit=term.unit, line=term.line)


def sentence(term: Definition) -> str:
    """The term as one line."""
    other, rest = _apart(term)
    name = f"{term.field} ({other})" if other else term.field
    return f"{name}: {rest}" + (f" [{term.unit}]" if term.unit else "")


def _apart(term: Definition) -> tuple[str, str]:
    """Another name in front of the meaning, where what stood in brackets was put there, and the rest."""
    head, dot, rest = term.meaning.partition(". ")
    is_name = len(head) >= _CALLED_SIGNS and len(head.split()) <= _CALLED_WORDS and not _COMPUTED.search(head)
    return (head, rest) if dot and rest.strip() and is_name else ("", term.meaning)
