"""First lines of a delimited file → delimiter, quote, lines above the header, and whether there is a header."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass

from tasks.intake.loading import subhead
from tasks.intake.loading.records import Dialect, Irregular, Record, records

_DELIMITERS = (",", ";", "\t", "|", "，")
_LINES = 400
_VALUE = re.compile(r"[-+]?[\d.,]*\d[\d.,]*%?|\d{4}-\d\d?-\d\d?.*|\d\d?[/.]\d\d?[/.]\d{2,4}.*")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_Tried = tuple[float, Dialect, list[tuple[int, Record]], int]
"""Score, dialect, records, width."""
_YEAR = re.compile(r"(1[89]|20|21)\d\d")


@dataclass(frozen=True)
class Layout:
    """Where the records of a file begin."""

    dialect: Dialect
    above: int
    """Lines above the header (or the first record): titles, comments, `sep=`."""
    header: bool
    notes: tuple[str, ...] = ()


def sniff(sample: str, suffix: str) -> Layout:
    """Judge the first lines of a file; `suffix` (`.tsv`) decides where two readings fit equally well."""
    lines = list(io.StringIO(sample, newline=""))[:_LINES]  # splitlines() ends lines at U+2028 and others, CSV does not
    told = re.match(r"(?i)sep=(.)$", lines[0].rstrip("\r\n")) if lines else None
    body = lines[1:] if told else lines
    preferred = "\t" if suffix in (".tsv", ".tab") else "|" if suffix == ".psv" else ","
    choices = [told[1]] if told else sorted(_DELIMITERS, key=lambda mark: mark != preferred)
    best: _Tried | None = None
    every: list[_Tried] = []
    for delimiter in choices:
        for quote in ('"', "'"):
            tried = _try(body, _dialect(body, delimiter, quote))
            if tried:
                every.append(tried)
            if tried and (best is None or tried[0] > best[0] + 1e-9):
                best = tried
    best = _better(best, every) if best else None
    if best is None:
        dialect = Dialect(told[1] if told else preferred)
        found, width = _read(body, dialect), 1
    else:
        _, dialect, found, width = best
    first = first_record(found, width)
    above = (1 if told else 0) + (found[first][0] - 1 if first < len(found) else 0)
    header, notes = _header([record for _, record in found[first:]])
    if header and first < len(found):
        rows = [[_field(part) for part in record] for _, record in found[first + 1 :]]
        at = found[first + 1][0] + bool(told) if rows else 0
        notes = (*notes, *subhead.said(at, found[first][1], rows))
    if told:
        notes = (*notes, f"the first line names the delimiter {told[1]!r}")
    if best and not told and (also := _as_regular(best, every, preferred)):
        listed = ", ".join(f"{each[1].delimiter!r} ({each[3]} columns)" for each in also)
        notes = (
            *notes,
            f"divided by {dialect.delimiter!r} into {width} columns, though {listed} divides it as regularly",
        )
    if width == 1 and found and re.search(r"\S(?: {2,}|、)\S", found[first][1][0] or ""):
        notes = (*notes, "one column only, though its name holds blanks or signs that may separate columns")
    return Layout(_spaced(dialect, found[first:]), above, header, notes)


def _field(part: str | None) -> subhead.Field | None:
    text = (part or "").strip()
    return subhead.Field(text, bool(_VALUE.fullmatch(text))) if text else None


def _dialect(lines: list[str], delimiter: str, quote: str) -> Dialect:
    text = "".join(lines)
    backslash = text.count(f"\\{quote}") > 0 and f"{quote}{quote}" not in text.replace(f"\\{quote}", "")
    return Dialect(delimiter, quote, "\\" if backslash and f"{quote}" in text.replace(f"\\{quote}", "") else "")


def _read(lines: list[str], dialect: Dialect) -> list[tuple[int, Record]]:
    return list(records(lines, dialect, Irregular(lambda *_: None)))


def _better(best: _Tried, every: list[_Tried]) -> _Tried:
    """A comma that only ever stands inside of numbers is a decimal comma, where another delimiter divides as regularly."""
    if best[1].delimiter != ",":
        return best
    for other in every:
        if other[1].delimiter != "," and _is_regular(other):
            parts = [part for _, record in other[2] for part in record if part and "," in part]
            if parts and all(_DECIMAL_COMMA.fullmatch(part.strip()) for part in parts):
                return other
    return best


def _as_regular(best: _Tried, every: list[_Tried], preferred: str) -> list[_Tried]:
    """Other delimiters that give every record the same width too; the suffix decides for the one that it names."""
    if not _is_regular(best) or (preferred != "," and best[1].delimiter == preferred):
        return []
    found = {each[1].delimiter: each for each in every if _is_regular(each)}
    return [each for mark, each in found.items() if mark != best[1].delimiter]


def _is_regular(tried: _Tried) -> bool:
    return len(tried[2]) > 1 and all(len(record) == tried[3] for _, record in tried[2])


def _try(lines: list[str], dialect: Dialect) -> _Tried | None:
    """Score by how many records have the commonest width; None when this delimiter does not divide the lines."""
    if dialect.quote == "'":
        mark = re.escape(dialect.delimiter)
        quoted = len(re.findall(rf"(?:^|{mark})'[^'\n]*'(?={mark}|$)", "".join(lines), re.MULTILINE))
        if quoted < 2 or quoted < 0.5 * (len(lines) - 1):
            return None
    found = _read(lines, dialect)
    plain = [record for _, record in found if not (record[0] or "").startswith("#")] or [record for _, record in found]
    widths = Counter(map(len, plain))
    if not widths:
        return None
    width, count = max(widths.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))
    if width < 2 or (count < 2 and len(plain) > 1) or count < 0.5 * len(plain):
        return None
    if dialect.delimiter == "，" and count < len(plain):
        return None  # also the comma of Chinese prose
    score = count / len(plain) + min(width, 50) / 500 + (0.05 if dialect.quote == "'" else 0)
    return score, dialect, found, width


def first_record(found: list[tuple[int, Record]], width: int) -> int:
    """Index of the first record that is neither title nor comment, where most records have `width` fields."""
    for index, (_, record) in enumerate(found[:60]):
        filled = sum(bool(part and part.strip()) for part in record)
        comment = (record[0] or "").startswith("#") and (
            (width == 1 and (record[0] or "").startswith("# ")) or len(record) != width
        )
        title = width > 2 and (len(record) < 0.6 * width or (filled == 1 and not _continues(found, index, width)))
        title = title or (width == 2 and len(record) == 1 and index + 1 < len(found))
        title = title or _groups(record, found[index + 1][1] if index + 1 < len(found) else [], width)
        if not (comment or title):
            return index
    return 0


def _groups(record: Record, below: Record, width: int) -> bool:
    """Whether this record only groups the names below it: `,2019,,2020,` over `item,count,price,count,price`."""
    filled = [part for part in record if part and part.strip()]
    names = [part for part in below if part and part.strip()]
    return (
        width > 2
        and len(filled) <= 0.5 * width
        and len(names) > max(len(filled), 0.7 * width)
        and not any(_VALUE.fullmatch(name.strip()) and not _YEAR.fullmatch(name.strip()) for name in names)
        and not all(_YEAR.fullmatch(name.strip()) for name in names)
    )


def _continues(found: list[tuple[int, Record]], index: int, width: int) -> bool:
    """Whether records of one filled field are usual here."""
    later = found[index + 1 : index + 20]
    return sum(sum(bool(part) for part in record) <= 1 for _, record in later) > 0.5 * max(1, len(later))


def _header(found: list[Record]) -> tuple[bool, tuple[str, ...]]:
    """Whether the first record names the columns, and a note where it is doubtful."""
    if not found:
        return True, ()
    first = [part.strip() for part in found[0] if part and part.strip()]
    values = [part for part in first if _VALUE.fullmatch(part)]
    if values and len(values) >= max(1, 0.5 * len(first)):
        if all(_YEAR.fullmatch(part) for part in values) and len(values) < len(first):
            return True, ()
        if len(found) > 1 and len(values) == len(first) and all(_YEAR.fullmatch(part) for part in values):
            return True, ("the first line holds years only and was taken as the names of the columns",)
        return False, ("the first line looks like values, so the columns have no names here and are numbered",)
    return True, ()


def _spaced(dialect: Dialect, found: list[tuple[int, Record]]) -> Dialect:
    """Whether every field but the first begins with a blank."""
    later = [part for _, record in found for part in record[1:] if part]
    if later and all(part.startswith(" ") for part in later):
        return Dialect(dialect.delimiter, dialect.quote, dialect.escape, spaced=True)
    return dialect
