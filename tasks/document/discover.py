"""Lines and the key's words → anchors that find the records' ids, without a model.

An id is a token with digits that stands in a few recurring contexts (`record 12`, `编号12`, `(012345)`). The context with
a label word that names most different ids is taken for the key; others join when they name the same ids. So a second
code of each record stays out: it has another form, or names fewer things.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.core.search.words import words

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9.,%$€£¥/:_\-])(?P<prefix>[A-Z]{0,5}-?)(?P<digits>[0-9]{1,20})(?![0-9A-Za-z%‰％]|[.,:/][0-9]|-[0-9A-Za-z]|\s*[年月日时%‰])"
)
_LABELS = re.compile(
    r"(?i)(?:编号|序号|代码|编码|号码|标识码|识别码|流水号|单号|记录|条目|档案|第|№|#|\bno|\bnr|\bnumber|\brecord|\bid|\bcode|\bentry|\bitem|"
    r"\bcase|\bvisit|\bnotice|\bfile|\bref|\breference|\bplayer|\bunder)$"
)
_LEFT_WORDS = re.compile(r"([A-Za-z]+)[\s.:#№]*$")
_LEFT_PAIR = re.compile(r"([A-Za-z]+)[\s,]+([A-Za-z]+)[\s.:#№]*$")
_LEFT_SIGNS = re.compile(r"([\u4e00-\u9fff]{2,3})[\s:：为是]?$")
_LEAST = 3
"""Different ids that a context must name."""
_CONTEXTS = 80
"""Contexts of one form that are looked at, most frequent first."""
_OVERLAP_LONG, _OVERLAP_SHORT, _PURE = 0.15, 0.6, 0.9
"""Share of a context's ids that must be known ids for it to join: long codes do not meet by chance, small numbers do."""

Context = tuple[str, str]
"""Kind (`word`, `pair`, `signs`, `after`, `round`) and text."""


@dataclass(frozen=True)
class _Form:
    prefix: str
    digits: int
    """0 = any number without leading zero."""

    @property
    def long(self) -> bool:
        return self.digits >= 4 or bool(self.prefix and self.digits >= 3)

    @property
    def pattern(self) -> str:
        return re.escape(self.prefix) + (f"[0-9]{{{self.digits}}}" if self.digits else "[0-9]{1,9}")


_Uses = dict[Context, Counter[str]]


def anchors(lines: Sequence[str], label: str) -> tuple[str, ...]:
    """Patterns for the ids that this text names its records by; empty when none stands out.

    `label` holds the key's words as the knowledge has them: contexts with one of them are preferred.
    """
    best: tuple[float, _Form, _Uses, set[str]] | None = None
    wanted = words(label)
    for form, uses in _uses(lines).items():
        seed = max(uses, key=lambda context: _worth(context, uses[context], wanted), default=None)
        if seed is None or not (worth := _worth(seed, uses[seed], wanted)):
            continue
        ids = _grown(form, uses, seed)
        score = worth * len(ids) / len(uses[seed])
        if best is None or score > best[0]:
            best = (score, form, uses, ids)
    return _patterns(*best[1:]) if best else ()


def _uses(lines: Sequence[str]) -> dict[_Form, _Uses]:
    """Tokens by form and context; rare contexts left out."""
    found: dict[_Form, dict[Context, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for line in lines:
        for match in _TOKEN.finditer(line):
            left, right = line[max(0, match.start() - 40) : match.start()], line[match.end() : match.end() + 4]
            for form in _forms(match["prefix"], match["digits"]):
                for context in _contexts(left, right):
                    found[form][context][match[0]] += 1
    return {
        form: dict(sorted(kept, key=lambda item: -len(item[1]))[:_CONTEXTS])
        for form, uses in found.items()
        if (kept := [(context, ids) for context, ids in uses.items() if len(ids) >= _LEAST])
    }


def _forms(prefix: str, digits: str) -> Iterator[_Form]:
    if prefix or len(digits) >= 4:
        yield _Form(prefix, len(digits))
    if not digits.startswith("0") and len(digits) <= 9:
        yield _Form(prefix, 0)


def _contexts(left: str, right: str) -> Iterator[Context]:
    if pair := _LEFT_PAIR.search(left):
        yield "pair", f"{pair[1]} {pair[2]}".lower()
    if word := _LEFT_WORDS.search(left):
        yield "word", word[1].lower()
    if signs := _LEFT_SIGNS.search(left):
        yield "signs", signs[1][-2:]
    if left[-1:] in "(（" and right[:1] in ")）" and left and right:
        yield "round", ""
    if re.match(r"\s?号(?![楼线院])", right):
        yield "after", "号"


def _worth(context: Context, ids: Counter[str], wanted: frozenset[str]) -> float:
    """Different ids, more for a context with the key's own words; 0 without any label."""
    kind, text = context
    own = bool(words(text) & wanted)
    labelled = kind == "after" or bool(_LABELS.search(text))
    return len(ids) * (1.6 if own else 1.0) if labelled or own else 0.0


def _grown(form: _Form, uses: _Uses, seed: Context) -> set[str]:
    """The seed's ids and those of every context that names the same ones."""
    ids, joined = set(uses[seed]), {seed}
    least = _OVERLAP_LONG if form.long else _OVERLAP_SHORT
    while True:
        more = {
            context
            for context, names in uses.items()
            if context not in joined
            and len(ids & names.keys()) >= max(2, least * len(names))
            and _labelled(form, context)
        }
        if not more:
            return ids
        joined |= more
        ids |= {name for context in more for name in uses[context]}


def _labelled(form: _Form, context: Context) -> bool:
    return form.long or context[0] == "after" or bool(_LABELS.search(context[1]))


def _patterns(form: _Form, uses: _Uses, ids: set[str]) -> tuple[str, ...]:
    """One pattern for the form where nothing else has it; else one for each context that names known ids only."""
    end = r"(?![0-9A-Za-z%‰％]|[.,:/][0-9]|-[0-9A-Za-z]|\s*[年月日时])"
    start = r"(?<![A-Za-z0-9.,%$€£¥/:_\-])"
    everything: Counter[str] = Counter()
    for names in uses.values():
        everything |= names
    if form.long and sum(1 for name in everything if name in ids) >= 0.97 * len(everything):
        return (f"{start}({form.pattern}){end}",)
    core = f"({form.pattern}){end}"
    found = []
    for (kind, text), names in uses.items():
        if sum(1 for name in names if name in ids) < _PURE * len(names) or not _labelled(form, (kind, text)):
            continue
        if kind in ("word", "pair"):
            phrase = r"[\s,]+".join(text.split())
            found.append(rf"(?i)\b{phrase}[\s.:#№]*{core}")
        elif kind == "signs":
            found.append(rf"{text}[\s:：为是]?{core}")
        elif kind == "round":
            found.append(rf"[(（]{core}(?=[)）])")
        else:
            found.append(rf"{start}({form.pattern})(?=\s?号(?![楼线院]))")
    return tuple(sorted(set(found)))
