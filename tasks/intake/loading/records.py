"""Lines of delimited text → records; a field that is empty without quotes is None, one with quotes is ''.

Stricter than Python's csv module, which cannot tell those two apart and reads an unclosed quote to the end of the file.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_OPEN_LINES = 2000
_OPEN_CHARS = 64 << 20
"""A quoted field longer than either was never closed."""

Record = list[str | None]


@dataclass(frozen=True)
class Dialect:
    """How the fields of a file are told apart."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    """A backslash where quotes inside quotes are written so; empty when they are doubled."""
    spaced: bool = False
    """A blank follows each delimiter and is no part of the value."""


@dataclass
class Irregular:
    """What was met on the way; `aside` takes line number, line, and reason."""

    aside: Callable[[int, str, str], None]
    blank_lines: int = 0
    one_column: bool = False
    """In a file of one column a blank line between others is a record without a value."""
    loose_quotes: int = 0
    long_fields: int = 0
    """Quoted fields over more than 20 lines."""


class _Unclosed(Exception):
    pass


class _Stray(Exception):
    pass


def records(lines: Iterable[str], dialect: Dialect, met: Irregular) -> Iterator[tuple[int, Record]]:
    """Line number (1-based) and fields of each record. Blank lines at the end are nothing."""
    pending: deque[tuple[int, str]] = deque()
    source = enumerate(lines, 1)
    split = _splitter(dialect, met)
    blank: list[int] = []
    while (item := pending.popleft() if pending else next(source, None)) is not None:
        number, line = item
        text = line.rstrip("\r\n")
        if not text:
            blank.append(number)
            continue
        if blank:
            if met.one_column:
                for gap in blank:
                    yield gap, [None]
            else:
                met.blank_lines += len(blank)
            blank.clear()
        if dialect.quote not in text:
            yield number, _plain(text, dialect)
            continue
        taken = [line]
        while True:
            try:
                yield number, split("".join(taken).rstrip("\r\n"), len(taken))
                met.long_fields += len(taken) > 20
                break
            except _Unclosed:
                more = _up_to_quote(pending, source, dialect.quote, taken)
                if more:
                    continue
                reason = "a quote that is never closed"
            except _Stray:
                reason = "a quote that is closed in a later line, in the middle of a field"
            met.aside(number, text, reason)
            pending.extendleft(reversed([(number + 1 + i, later) for i, later in enumerate(taken[1:])]))
            break


def _up_to_quote(
    pending: deque[tuple[int, str]], source: Iterator[tuple[int, str]], quote: str, taken: list[str]
) -> bool:
    """Add lines up to the next with a quote; False when there is none within the limits."""
    size = sum(map(len, taken))
    while len(taken) < _OPEN_LINES and size < _OPEN_CHARS:
        item = pending.popleft() if pending else next(source, None)
        if item is None:
            return False
        taken.append(item[1])
        size += len(item[1])
        if quote in item[1]:
            return True
    return False


def _plain(text: str, dialect: Dialect) -> Record:
    fields = text.split(dialect.delimiter)
    if dialect.spaced:
        fields = [part.lstrip(" ") for part in fields]
    return [part or None for part in fields]


def _splitter(dialect: Dialect, met: Irregular) -> Callable[[str, int], Record]:
    mark, delimiter = re.escape(dialect.quote), dialect.delimiter
    inside = rf"(?:[^{mark}\\]+|\\.)*+" if dialect.escape else rf"(?:[^{mark}]+|{mark}{mark})*+"
    quoted = re.compile(rf"{mark}({inside}){mark}", re.DOTALL)
    unescape = re.compile(rf"\\([{mark}\\])")

    def split(text: str, lines: int) -> Record:
        fields: Record = []
        position, end = 0, len(text)
        while True:
            if dialect.spaced:
                while text.startswith(" ", position):
                    position += 1
            if text.startswith(dialect.quote, position):
                found = quoted.match(text, position)
                if not found:
                    raise _Unclosed
                stop = found.end()
                if stop == end or text.startswith(delimiter, stop):
                    body = found[1]
                    fields.append(
                        unescape.sub(r"\1", body) if dialect.escape else body.replace(dialect.quote * 2, dialect.quote)
                    )
                else:
                    if "\n" in found[0] or "\r" in found[0]:
                        raise _Stray
                    stop = text.find(delimiter, stop)
                    stop = end if stop < 0 else stop
                    fields.append(text[position:stop])
                    met.loose_quotes += 1
            else:
                stop = text.find(delimiter, position)
                stop = end if stop < 0 else stop
                fields.append(text[position:stop] or None)
            if stop >= end:
                return fields
            position = stop + len(delimiter)

    return split
