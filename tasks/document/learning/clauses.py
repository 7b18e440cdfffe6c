"""A line + what was matched in it → the parts that no pattern explains.

Whether patterns cover a record is asked of every clause, not of the values found: a clause that nobody explains may hold
a value, take one back, or speak of something else. A number that no match holds, and words of doubt, explain nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_SHORT = ("No", "no", "Mr", "Mrs", "Ms", "Dr", "St", "ca", "vs", "cf", "eg", "ie", "approx", "incl", "excl", "Jan", "Feb",
          "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec")  # fmt: skip
_NO_END = "".join(rf"(?<!\b{word})" for word in _SHORT)
_STOP = rf"[。！？!?\n]+|(?<=[a-z0-9%)\"”’€$]){_NO_END}\.(?=\s+[^a-z\s]|\s*$)"
"""Ends a sentence; the point of an initial or of these words ends none."""
_SENTENCE = re.compile(_STOP)
_BREAK = re.compile(rf"{_STOP}|[；;|]|(?<![0-9]),|,(?![0-9])|(?<![０-９])，|，(?![０-９])")
_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?|[\u3400-\u9fff]")
_DIGIT = re.compile(r"[0-9０-９]")
_MOST = 12
"""Words, or signs of Chinese, of a clause that may stand beside its matches."""
_NAME = re.compile(r"(?<=[a-z,;:)] )[A-Z][a-z]+")
"""A name, or what looks like one, within a clause: it may be a value that a match did not take."""
_NAMING = 4
"""The same beside nothing but the record's name."""
_DOUBT = re.compile(
    r"\b(?:not|never|no longer|neither|nor|without|except|unless|unlike|instead|rather than|if|would|could|might|may"
    r"|reported(?:ly)?|rumou?r\w*|alleged\w*|claim\w*|expect\w*|plan(?:ned|s)|propos\w*|forecast\w*|draft\w*|preliminary"
    r"|unconfirmed|denied|disput\w*|last year|previous(?:ly)?|formerly|earlier)\b"
    r"|未|非|不|并无|除|若|如果|假如|倘|拟|传|据称|据悉|预计|预期|可能|或许|计划|草案|初步|否认|去年|上年|此前|曾|原本",
    re.IGNORECASE,
)


def unexplained(line: str, values: Sequence[Span], others: Sequence[Span], names: Sequence[Span]) -> list[Span]:
    """Clauses of the line that are not explained by matches of values and others; `names` are places where it names its own record.

    Words of doubt matter where a value is taken.
    """
    open_ones = []
    for clause in clauses(line):
        taken, told, own = (_in(spans, clause) for spans in (values, others, names))
        rest = _without(line, clause, [*taken, *told, *own])
        most = _MOST if taken or told else _NAMING if own else 0
        if not most or len(_WORD.findall(rest)) > most or _is_open(rest, bool(taken)):
            open_ones.append(clause)
    return open_ones


def clauses(line: str) -> Iterator[Span]:
    """Start and end of each clause that says anything."""
    yield from _parts(line, _BREAK)


def sentences(line: str) -> list[Span]:
    """Start and end of each sentence that says anything."""
    return list(_parts(line, _SENTENCE))


def marked(line: str, span: Span) -> str:
    """The sentence around a clause, which stands in ⟦brackets⟧."""
    start, end = next(((low, high) for low, high in sentences(line) if low <= span[0] < high), (0, len(line)))
    low, high = max(start, span[0]), min(end, span[1])
    clause = line[low:high]
    inner = clause.strip()
    return f"{line[start:low]}{clause.replace(inner, f'⟦{inner}⟧', 1)}{line[high:end]}".strip()


def _parts(line: str, stop: re.Pattern[str]) -> Iterator[Span]:
    start = 0
    for end in (*(found.end() for found in stop.finditer(line)), len(line)):
        if any(char.isalnum() for char in line[start:end]):
            yield end - len(line[start:end].lstrip()), end
        start = end


def _in(spans: Sequence[Span], clause: Span) -> list[Span]:
    return [(low, high) for low, high in spans if low < clause[1] and high > clause[0]]


def _is_open(rest: str, is_valued: bool) -> bool:
    """Whether what no match holds may be a value, or doubts the one that was taken."""
    return bool(_DIGIT.search(rest) or _NAME.search(" ".join(rest.split())) or (is_valued and _DOUBT.search(rest)))


def _without(line: str, clause: Span, spans: list[Span]) -> str:
    """The clause with a space in place of these."""
    text = list(line[clause[0] : clause[1]])
    for low, high in spans:
        for at in range(max(low, clause[0]) - clause[0], min(high, clause[1]) - clause[0]):
            text[at] = " "
    return "".join(text)
