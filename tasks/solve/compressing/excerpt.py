"""question + knowledge → the statements of the knowledge that matter for it, each with its line, under a token budget.

Chosen by relevance, not position: a rule at the end of a long file counts as much as one at its start. Definitions
of columns are not repeated here; they stand with their columns. Those of other terms are shown where the question
shares a word with them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.llm.tokens import count
from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.search.coined import computed, sentence
from tasks.core.search.words import words
from tasks.solve.showing.layout import one_line

_ITEM_CHARS = 600
_METRIC, _RULE, _PASSAGE = 0, 1, 2
_UNASKED_SHARE = 0.4
"""Most that statements without a word of the question may take of the budget."""


@dataclass(frozen=True)
class _Item:
    kind: int
    line: int
    text: str


@dataclass(frozen=True)
class Elsewhere:
    """What of the knowledge is no statement of its own, and what stands elsewhere in the brief."""

    told: frozenset[int] = frozenset()
    """Lines of statements that are shown there."""
    terms: Sequence[Definition] = ()
    """Definitions of what is no column."""


_NOTHING = Elsewhere()


def excerpt(
    question: str, knowledge: Knowledge, tokens: int, terse: bool = False, elsewhere: Elsewhere = _NOTHING
) -> str:
    """Metrics, rules and other passages, best first into the budget, then in the order of the file.

    `terse` leaves out passages, and what shares no word with the question: it leads small models astray.
    """
    asked = words(question)
    items = [*_metrics(knowledge), *_rules(knowledge), *(() if terse else _passages(knowledge))]
    items += [item for item in _terms(elsewhere.terms) if words(item.text) & asked]
    items = [item for item in items if item.line not in elsewhere.told]
    if not items:
        return ""
    head = f"Knowledge ({one_line(knowledge.path, 80) or 'knowledge.md'}, by line):"
    found = {item: words(item.text) & asked for item in items}
    spread = Counter(word for words_found in found.values() for word in words_found)
    worth = {item: sum(math.log(1 + len(items) / spread[w]) for w in sorted(found[item])) for item in items}
    chosen: list[_Item] = []
    used = count(head) + 20
    for item in sorted(items, key=lambda item: (not worth[item], item.kind, -worth[item], item.line)):
        cost = count(item.text) + 4
        if used + cost <= (tokens if worth[item] else 0 if terse else tokens * _UNASKED_SHARE):
            chosen.append(item)
            used += cost
    lines = [f"[{item.line}] {item.text}" for item in sorted(chosen, key=lambda item: (item.line, item.kind))]
    if terse:
        return "\n".join([head, *lines]) if lines else ""
    left = len(items) - len(chosen)
    lines += [f"({left} more statements not shown)"] * bool(left)
    return "\n".join([head, *lines])


def _metrics(knowledge: Knowledge) -> list[_Item]:
    found = []
    for metric in knowledge.metrics:
        text = " = ".join(part for part in (metric.name, metric.formula) if part)
        text += f": {metric.meaning}" * bool(metric.meaning) + f" [{metric.unit}]" * bool(metric.unit)
        found.append(_Item(_METRIC, metric.line, one_line(text, _ITEM_CHARS)))
    return found


def _terms(terms: Sequence[Definition]) -> list[_Item]:
    return [
        _Item(_METRIC if computed(term) else _RULE, term.line, one_line(sentence(term), _ITEM_CHARS)) for term in terms
    ]


def _rules(knowledge: Knowledge) -> list[_Item]:
    return [_Item(_RULE, rule.line, one_line(rule.text, _ITEM_CHARS)) for rule in knowledge.rules]


def _passages(knowledge: Knowledge) -> list[_Item]:
    """Paragraphs of lines that no other statement was read from; a heading alone is none."""
    read = {
        item.line
        for group in (knowledge.definitions, knowledge.metrics, knowledge.links, knowledge.rules)
        for item in group
    }
    found: list[_Item] = []
    heading, start = "", 0
    lines: list[str] = []
    for number, line in enumerate([*knowledge.text.split("\n"), "#"], 1):
        is_heading = bool(re.match(r"\s{0,3}#", line))
        if line.strip() and not is_heading and number not in read:
            start = start if lines else number
            lines.append(line.strip())
            continue
        if lines:
            text = " ".join([heading + ":"] * bool(heading) + lines)
            found.append(_Item(_PASSAGE, start, one_line(text, _ITEM_CHARS)))
            lines = []
        if is_heading:
            heading = line.strip().strip("#").strip()
    return found
