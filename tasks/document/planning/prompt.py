"""Numbered document, or a sample of it, and knowledge → the planner's prompt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tasks.core.llm.prompts import fence, fill
from tasks.core.llm.tokens import count
from tasks.core.models.semantics import Knowledge
from tasks.core.sections import PlanSettings
from tasks.document.planning import fields

_GLOBAL_LINES = 80
_BEFORE, _AFTER = 5, 10
"""Lines of the knowledge around the document's name."""
_LINE_CHARS = 600
"""Of one line in a sample."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_ID = re.compile(r"(?<![\w.,])(?=[A-Za-z0-9\-]*[0-9])[A-Za-z]{0,6}-?[0-9]{1,20}(?![\w%]|[.,][0-9])", re.ASCII)
_IDS = 30


def prompt(path: Path, stem: str, lines: Sequence[str], knowledge: Knowledge, settings: PlanSettings) -> str:
    """The first message to the planner."""
    shown, told = document(lines, settings.sample_tokens)
    listed = [
        f"{column.name} | {column.type} | {column.unit} | {column.doc_meaning}"
        for column in fields.columns(stem, knowledge)
    ]
    return fill(
        path,
        stem=fence(stem),
        shown=told,
        document=fence(shown),
        fields=fence("\n".join(listed) or "(none listed)"),
        general=fence(general(knowledge, settings.global_chars) or "(none)"),
        local=fence(local(stem, knowledge, settings.local_chars) or "(none)"),
    )


def document(lines: Sequence[str], tokens: int) -> tuple[str, str]:
    """The numbered text, whole or as a sample within about so many tokens, and a sentence that says which."""
    whole = "\n".join(_numbered(number, line) for number, line in enumerate(lines, 1))
    if count(whole) <= tokens:
        return whole, f"The whole document, {len(lines)} lines:"
    parts = [*_facts(lines)]
    left = tokens - count("\n".join(parts))
    chosen = _spread(lines, left)
    parts += [_numbered(number, lines[number - 1][:_LINE_CHARS]) for number in chosen]
    return "\n".join(
        parts
    ), f"A sample of the document, which has {len(lines)} lines; lines between the shown ones are alike:"


def general(knowledge: Knowledge, chars: int) -> str:
    """Conventions of the knowledge, then its first lines: the former hold for every table and often stand last."""
    rules = [rule.text for rule in knowledge.rules]
    taken = _within(rules, chars * 3 // 4)
    used = sum(len(line) + 1 for line in taken)
    head = [line for line in knowledge.text.split("\n")[:_GLOBAL_LINES] if line.strip()]
    return "\n".join([*taken, *_within(head, chars - used)])


def local(stem: str, knowledge: Knowledge, chars: int) -> str:
    """Lines around every place that names the document."""
    rows = knowledge.text.split("\n")
    hits = [at for at, row in enumerate(rows) if stem.casefold() in row.casefold()]
    wanted = sorted({at for hit in hits for at in range(max(0, hit - _BEFORE), min(len(rows), hit + _AFTER + 1))})
    return "\n".join(_within([rows[at] for at in wanted if rows[at].strip()], chars))


def _facts(lines: Sequence[str]) -> list[str]:
    """Headings with their lines, and the tokens that look like ids with how often they come up."""
    heads = [f"{number:04d}\t{line[:120]}" for number, line in enumerate(lines, 1) if _HEADING.match(line)]
    times = Counter(token for line in lines for token in _ID.findall(line))
    common = ", ".join(f"{token} ×{times[token]}" for token in list(times)[:_IDS])
    shapes = Counter(re.sub(r"[0-9]", "9", token) for token in times)
    forms = ", ".join(f"{shape}: {number} different" for shape, number in shapes.most_common(8))
    return [
        "[headings]",
        *(heads[:60] or ["(none)"]),
        "[tokens with digits, in text order, and how often each occurs]",
        common or "(none)",
        "[their forms]",
        forms or "(none)",
        "[lines]",
    ]


def _spread(lines: Sequence[str], tokens: int) -> list[int]:
    """Lines of content: first and last of every part first, then evenly between, as far as the budget goes."""
    content = [number for number, line in enumerate(lines, 1) if line.strip() and not _HEADING.match(line)]
    if not content:
        return []
    heads = [number for number, line in enumerate(lines, 1) if _HEADING.match(line)]
    order: dict[int, None] = dict.fromkeys([*content[:8], *content[-6:]])
    for head in heads:
        order |= dict.fromkeys([number for number in content if number > head][:2])
        order |= dict.fromkeys([number for number in content if number < head][-2:])
    step = len(content)
    while step > 1:
        order |= dict.fromkeys(content[step // 2 :: step])
        step //= 2
    chosen: list[int] = []
    for number in order:
        cost = count(_numbered(number, lines[number - 1][:_LINE_CHARS])) + 1
        if cost > tokens:
            break
        tokens -= cost
        chosen.append(number)
    return sorted(chosen)


def _numbered(number: int, line: str) -> str:
    return f"{number:04d}\t{line}"


def _within(rows: list[str], chars: int) -> list[str]:
    kept = []
    for row in rows:
        if len(row) + 1 > chars:
            break
        chars -= len(row) + 1
        kept.append(row)
    return kept
