"""Lines and the key's words → anchors that find the records' ids, without a model.

An id is a token with digits that stands in a few recurring contexts (`record 12`, `编号12`, `(012345)`). The context with
a label word that names most different ids is taken for the key; others join when they name the same ids. So a second
code of each record stays out: it has another form, or names fewer things.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tasks.core.search.words import words

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9.,%$€£¥/:_\-年月])(?P<prefix>[A-Z]{0,5}-?)(?P<digits>[0-9]{1,20})(?![0-9A-Za-z%‰％]|[.,:/][0-9]|-[0-9A-Za-z]|\s*[年月日时%‰])"
)
_LABELS = re.compile(
    r"(?i)(?:编号|序号|代码|编码|号码|标识码|识别码|流水号|单号|记录|条目|档案|第|№|#|\bno|\bnr|\bnumber|\brecord|\bid|\bcode|\bentry|\bitem|"
    r"\bcase|\bvisit|\bnotice|\bfile|\bref|\breference|\bplayer|\bunder)$"
)
_LEFT_WORDS = re.compile(r"([A-Za-z]+)[\s.:#№]*$")
_LEFT_PAIR = re.compile(r"([A-Za-z]+)[\s,]+([A-Za-z]+)[\s.:#№]*$")
_LEFT_SIGNS = re.compile(r"([\u4e00-\u9fff]{2,3})[\s:：为是]?$")
_SENTENCE = re.compile(r"(?:^[\s#>*\-]*|[.!?]\s+|[。！？]\s*)$")
_RIGHT_SIGNS = re.compile(r"\s?([\u4e00-\u9fff]{2})")
_RIGHT_WORD = re.compile(r"\s([A-Za-z]+)\b")
_LEAST = 3
"""Different ids that a context must name."""
_CONTEXTS = 80
"""Contexts of one form that are looked at, most frequent first."""
_OVERLAP_LONG, _OVERLAP_SHORT, _PURE = 0.15, 0.6, 0.9
"""Share of a context's ids that must be known ids for it to join: long codes do not meet by chance, small numbers do."""

_ZEROS, _FILL = 0.1, 0.05
"""Share of ids with zeros in front that is no chance; least share of the known ids that another context must add."""

Context = tuple[str, str]
"""Kind (what stands before: `word`, `pair`, `signs`, `start`; around: `round`; behind: `after`, `next`) and text."""


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


_Uses = dict[Context, dict[str, list[int]]]
"""Ids of each context with the lines of their uses."""


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
    found: dict[_Form, _Uses] = defaultdict(lambda: defaultdict(dict))
    for number, line in enumerate(lines):
        for match in _TOKEN.finditer(line):
            left, right = line[max(0, match.start() - 40) : match.start()], line[match.end() : match.end() + 16]
            for form in _forms(match["prefix"], match["digits"]):
                for context in _contexts(left, right):
                    found[form][context].setdefault(match[0], []).append(number)
    return {
        form: dict(sorted(kept, key=lambda item: -len(item[1]))[:_CONTEXTS])
        for form, uses in found.items()
        if (kept := [(context, ids) for context, ids in uses.items() if len(ids) >= _LEAST])
    }


def _forms(prefix: str, digits: str) -> Iterator[_Form]:
    if prefix or len(digits) >= 4 or digits.startswith("0"):
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
    if _SENTENCE.search(left):
        yield "start", ""
    if signs := _RIGHT_SIGNS.match(right):
        yield "next", signs[1]
    elif word := _RIGHT_WORD.match(right):
        yield "next", word[1].lower()


def _worth(context: Context, ids: Collection[str], wanted: frozenset[str]) -> float:
    """Different ids, more for a context with the key's own words; 0 without any label."""
    kind, text = context
    own = bool(words(text) & wanted)
    if kind in ("next", "start", "round"):
        return 0.0
    labelled = kind == "after" or bool(_LABELS.search(text))
    return len(ids) * (1.6 if own else 1.0) if labelled or own else 0.0


def _grown(form: _Form, uses: _Uses, seed: Context) -> set[str]:
    """The seed's ids and those of every context that names the same ones."""
    ids, joined = set(uses[seed]), {seed}
    least = _OVERLAP_LONG if form.long else _OVERLAP_SHORT
    while True:
        rest = {context: names for context, names in uses.items() if context not in joined and _labelled(form, context)}
        more = {context for context, names in rest.items() if len(ids & names.keys()) >= max(2, least * len(names))}
        more = more or {context for context, names in rest.items() if form.long and _fills(names, ids, uses, joined)}
        if not more:
            return ids
        joined |= more
        ids |= {name for context in more for name in uses[context]}


def _fills(names: dict[str, list[int]], ids: set[str], uses: _Uses, joined: set[Context]) -> bool:
    """Whether a context names other ids once each: records that are told in one place only.

    Where known ids begin with zeros, so must some of these, for amounts never do; else their lines must name none yet.
    """
    taken = {line for context in joined for uses_of in uses[context].values() for line in uses_of}
    places = [line for lines in names.values() for line in lines]
    zeros = sum(1 for name in ids if _zero(name)) >= _ZEROS * len(ids)
    if len(places) != len(names) or len(names) < max(_LEAST, _FILL * len(ids)):
        return False
    if zeros:
        return any(_zero(name) for name in names)
    return sum(1 for line in places if line in taken) <= (1 - _PURE) * len(places)


def _zero(name: str) -> bool:
    return name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-").startswith("0")


def _labelled(form: _Form, context: Context) -> bool:
    return form.long or context[0] == "after" or (context[0] != "next" and bool(_LABELS.search(context[1])))


def _zeros(form: _Form, ids: set[str]) -> str:
    """The form with the zeros that all ids begin with: an amount has none."""
    lead = min(len(name) - len(form.prefix) - len(name[len(form.prefix) :].lstrip("0")) for name in ids)
    return (
        re.escape(form.prefix) + "0" * lead + f"[0-9]{{{form.digits - lead}}}"
        if 0 < lead < form.digits
        else form.pattern
    )


def _patterns(form: _Form, uses: _Uses, ids: set[str]) -> tuple[str, ...]:
    """One pattern for the form where nothing else has it; else one for each context that names known ids only."""
    end = r"(?![0-9A-Za-z%‰％]|[.,:/][0-9]|-[0-9A-Za-z]|\s*[年月日时])"
    start = r"(?<![A-Za-z0-9.,%$€£¥/:_\-年月])"
    everything = {name for names in uses.values() for name in names}
    if form.long and sum(1 for name in everything if name in ids) >= 0.97 * len(everything):
        return (f"{start}({_zeros(form, ids)}){end}",)
    core = f"({form.pattern}){end}"
    found: list[str] = []
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
        elif kind == "start":
            found.append(rf"(?:^[\s#>*\-]*|[.!?]\s+|[。！？]\s*){core}")
        elif kind == "next":
            found.append(rf"(?i){start}({form.pattern})(?=\s?{text})")
        else:
            found.append(rf"{start}({form.pattern})(?=\s?号(?![楼线院]))")
    return tuple(sorted(set(found)))
