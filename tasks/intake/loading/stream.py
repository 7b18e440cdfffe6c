"""JSON text → its values one after another, in bounded memory; numbers keep their digits.

The standard decoder is used for every single value; only the outermost brackets are walked here, so that an array of
a million records is never in memory at once.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from tasks.core.errors import InputError

_CHUNK = 1 << 20
_VALUE = 256 << 20
"""Longest single value, in characters."""
_BLANK = re.compile(r"[ \t\r\n\ufeff]*")


class Int(str):
    """An integer, as written."""


class Float(str):
    """A number with point or exponent, as written."""


class Stream:
    """A position in a JSON text."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._passed = 0
        """Line ends before the buffer."""
        self._ended = False
        self.repeated: set[str] = set()
        """Keys that occur twice in one object; the last value counts."""
        self.constants = 0
        """NaN and Infinity, read as null."""
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=Int,
            parse_float=Float,
            parse_constant=self._constant,
            strict=False,
        )

    def peek(self) -> str:
        """The next character that is no blank; empty at the end."""
        while True:
            self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def following(self, character: str) -> str:
        """The next character that is no blank after this one, without stepping; empty at the end."""
        while self.peek() == character:
            start = _BLANK.match(self._text, self._at + 1).end()  # type: ignore[union-attr]
            if start < len(self._text) or not self._more():
                return self._text[start : start + 1]
        return ""

    def take(self, character: str) -> None:
        """Step over this character. Raises InputError when another one is there."""
        found = self.peek()
        if found != character:
            what = repr(found) if found else "the end of the file"
            raise InputError(f"not valid JSON: {character!r} expected in line {self.line()}, found {what}")
        self._at += 1

    def value(self) -> Any:
        """The next value, whole. Raises InputError with the line where it is broken."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError:
                raise InputError(f"nested too deeply (line {self.line()})") from None
            except json.JSONDecodeError as error:
                if len(self._text) - self._at < _VALUE and self._more(whole=True):
                    continue
                where = self._passed + self._text.count("\n", 0, error.pos) + 1
                what = error.msg.removesuffix(" starting at").removesuffix(" at")
                raise InputError(f"not valid JSON: {what} in line {where}") from None
            if end == len(self._text) and self._more():
                continue
            self._at = end
            return value

    def items(self) -> Iterator[None]:
        """Stop before each element of the array that begins here; the caller takes the value."""
        self.take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield
            if self.peek() == "]":
                self._at += 1
                return
            self.take(",")

    def members(self) -> Iterator[str]:
        """The key of each member of the object that begins here; the caller takes the value."""
        self.take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise InputError(f"not valid JSON: a key in double quotes expected in line {self.line()}")
            key = str(self.value())
            self.take(":")
            yield key
            if self.peek() == "}":
                self._at += 1
                return
            self.take(",")

    def lines(self) -> Iterator[tuple[int, str, list[Any] | InputError]]:
        """Number, text, and values (or what is wrong) of each line that is not blank."""
        for number, line in enumerate(self._rows(), self._passed + 1):
            text = line.strip("\ufeff \t\r\n")
            if text:
                yield number, line.rstrip("\r\n"), self._line(text)

    def is_sequence(self) -> bool:
        """Whether another object follows the one that begins here; judged by what is at hand."""
        self.peek()
        try:
            _, end = self._decoder.raw_decode(self._text, self._at)
        except (ValueError, RecursionError):
            return False
        after = _BLANK.match(self._text, end)
        return self._text[after.end() : after.end() + 1] == "{" if after else False

    def line(self) -> int:
        """The line of this position, from 1."""
        return self._passed + self._text.count("\n", 0, self._at) + 1

    def _rows(self) -> Iterator[str]:
        rest = self._text[self._at :] + ("" if self._ended else self._file.readline())
        yield from io.StringIO(rest)  # splitlines() ends lines at U+2028 too, which JSON has within texts
        yield from self._file

    def _line(self, text: str) -> list[Any] | InputError:
        values, at = [], 0
        try:
            while at < len(text):
                value, end = self._decoder.raw_decode(text, at)
                values.append(value)
                at = _BLANK.match(text, end).end()  # type: ignore[union-attr]
        except RecursionError:
            return InputError("nested too deeply")
        except json.JSONDecodeError as error:
            return InputError(f"not valid JSON: {error.msg} at character {error.pos + 1}")
        return values

    def _more(self, whole: bool = False, keep: int = -1) -> bool:
        """Read on; `whole` doubles what is kept, so that a long value costs no more than twice its length."""
        if self._ended:
            return False
        start = self._at if keep < 0 else keep
        self._passed += self._text.count("\n", 0, start)
        rest = self._text[start:]
        chunk = self._file.read(max(_CHUNK, len(rest)) if whole else _CHUNK)
        self._ended = not chunk
        self._text, self._at = rest + chunk, 0
        return bool(chunk)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            self.repeated.update(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return made

    def _constant(self, _: str) -> None:
        self.constants += 1
