"""Lines, examples → anchors for short ids (M-01, A1) that stand one a paragraph, near its beginning.

Ids are listed one by one, so that a code of the same form in the running text (reports to M-09) is no record.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tasks.core.search.words import words

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9.,$€£¥/_\-])(?P<prefix>[A-Za-z]{1,6})(?P<sep>[-–_/.]?)(?P<digits>[0-9]{1,6})"
    r"(?![0-9A-Za-z%‰％]|[.,:/][0-9]|-[0-9A-Za-z])"
)
_SPACED = re.compile(
    r"(?<![A-Za-z0-9.,$€£¥/_\-])(?P<prefix>[A-Za-z]{1,6})(?P<sep> )(?P<digits>[0-9]{1,6})(?![0-9A-Za-z%‰％]|[.,:/][0-9])"
)
_EXAMPLE = re.compile(
    r"(?i)(?:\blike|\bsuch as|\be\.g\.,?|\bfor example|\bexamples?|\bin the form|例如|形如|比如|譬如|示例|样例|如)\s*[:：]?\s*"
    r"[\"'“‘`「]?([A-Za-z]{1,6}[-–_/. ]?[0-9]{1,6})(?![0-9A-Za-z])"
)
_NOT_IDS = (
    "Q H FY CY EUR USD GBP CNY RMB CHF JPY HKD CAD AUD SEK NOK DKK INR COVID ISO DIN EN CO MAY IN AT ON OF TO BY NO"
)
"""Quarters, years, currencies, standards and short words: with digits they are no ids."""
_MARKS = re.compile(r"[\s#>*\-•|·_(（\[【\"“'‘`]*$")
_LAST_WORD = re.compile(r"([A-Za-z]{2,})[\s:.,#№*]*$|([\u4e00-\u9fff]{2})[\s:：为是]?$")
_FAR = 60
"""Signs before an id that stands near the beginning of its paragraph."""
_LEAST, _ONCE = 3, 0.8
"""Ids that must stand so without an example; share of the paragraphs whose first id is one of its own."""
_ANCHOR_CHARS = 900


@dataclass
class _Shape:
    """Paragraphs whose first code is of one prefix and separator."""

    uses: list[tuple[str, str, int]] = field(default_factory=list)
    """Id, what stands before it (`start`, `round`, a word), and how far in."""


def examples(label: str, given: Iterable[str] = ()) -> tuple[str, ...]:
    """Ids that the knowledge gives as examples: `like M-01`, 形如 A1, and those in its list of examples."""
    listed = [text.strip() for text in given if _TOKEN.fullmatch(text.strip()) or _SPACED.fullmatch(text.strip())]
    return tuple(dict.fromkeys((*(match[1] for match in _EXAMPLE.finditer(label)), *listed)))


def anchors(lines: Sequence[str], label: str, shown: Sequence[str]) -> tuple[str, ...]:
    """Patterns that together name each record; empty when no form stands out. `shown` are examples of ids."""
    forms = {(match["prefix"], match["sep"]) for text in shown if (match := _match(text))}
    shapes = _shapes(lines, spaced=any(sep == " " for _, sep in forms))
    wanted = words(label)
    best: tuple[tuple[bool, int, int, float], list[str]] | None = None
    for form, shape in shapes.items():
        if forms and form not in forms:
            continue
        ids = _ids(shape, told=form in forms)
        if len(ids) < (2 if form in forms else _LEAST) or len(ids) < _ONCE * len(shape.uses):
            continue
        own = any(words(before) & wanted for _, before, _ in shape.uses)
        far = sum(at for _, _, at in shape.uses) / len(shape.uses)
        rank = (own, len(ids), sum(before == "start" for _, before, _ in shape.uses), -far)
        if best is None or rank > best[0]:
            best = (rank, ids)
    return tuple(_patterns(best[1])) if best else ()


def _match(text: str) -> re.Match[str] | None:
    return _TOKEN.fullmatch(text) or _SPACED.fullmatch(text)


def _shapes(lines: Sequence[str], spaced: bool) -> dict[tuple[str, str], _Shape]:
    """By prefix and separator the first code of each paragraph."""
    found: dict[tuple[str, str], _Shape] = defaultdict(_Shape)
    for line in lines:
        first: set[tuple[str, str]] = set()
        matches = [*_TOKEN.finditer(line), *(_SPACED.finditer(line) if spaced else ())]
        for match in sorted(matches, key=lambda match: match.start()):
            form = (match["prefix"], match["sep"])
            if match.start() > _FAR or form in first:
                continue
            first.add(form)
            found[form].uses.append((match[0], _before(line[: match.start()], line[match.end() :]), match.start()))
    return {form: shape for form, shape in found.items() if _is_code(form)}


def _is_code(form: tuple[str, str]) -> bool:
    return form[0].upper() not in _NOT_IDS.split()


def _before(left: str, right: str) -> str:
    if left.rstrip()[-1:] in ("(", "（") and right[:1] in (")", "）") and _MARKS.fullmatch(left) is None:
        return "round"
    if _MARKS.match(left):
        return "start"
    word = _LAST_WORD.search(left)
    return (word[1] or word[2]).lower() if word else ""


def _ids(shape: _Shape, told: bool) -> list[str]:
    """Different ids in the order of the text; without an example those in a context that others stand in too."""
    contexts: dict[str, set[str]] = defaultdict(set)
    for name, before, _ in shape.uses:
        contexts[before].add(name)
    kept = (n for n, before, _ in shape.uses if told or (before and len(contexts[before]) > 1))
    return [*dict.fromkeys(kept)]


def _patterns(ids: Sequence[str]) -> Iterator[str]:
    """The ids as alternatives, in patterns that are not too long."""
    part: list[str] = []
    for name in ids:
        if part and sum(map(len, part)) + len(part) + len(re.escape(name)) > _ANCHOR_CHARS:
            yield _pattern(part)
            part = []
        part.append(re.escape(name))
    if part:
        yield _pattern(part)


def _pattern(part: Sequence[str]) -> str:
    return rf"(?<![A-Za-z0-9_\-])({'|'.join(part)})(?![0-9A-Za-z]|[.,:/][0-9]|-[0-9A-Za-z])"
