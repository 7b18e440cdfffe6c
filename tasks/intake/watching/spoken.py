"""A transcript of any layout (segments, words, one text) → spoken lines with their time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tasks.core.models.video import VideoLine
from tasks.intake.watching import clock, pieces

_START = re.compile(
    r"(?:start|begin|from|t|time|ts|timestamp|at|offset|onset|开始)(?:_?(?:t|time|s|sec|secs|seconds|ms))?$",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"segment|chunk|utterance|sentence|line|item|result|cue|transcript|narrat|speech|words?$", re.IGNORECASE
)
_TEXT = re.compile(r"text|transcript|content|sentence|utterance|caption|words?$|^w$|文本|内容", re.IGNORECASE)
_ENDS = "。！？!?.;；"
_LONG, _DEPTH = 200, 4
_ASCII = re.compile(r"[\x21-\x7e]$")


def lines(path: str, data: Any, depth: int = 0) -> Iterator[VideoLine]:
    """Lines as they stand; single words are put together into sentences."""
    if isinstance(data, str):
        for row in data.split("\n"):
            yield from pieces.lines(path, None, "speech", row)
    elif isinstance(data, dict) and depth < _DEPTH:
        yield from _held(path, data, depth)
    elif isinstance(data, list):
        told = [_told(item) for item in data]
        texts = [(at, text) for at, text in told if text]
        if (
            any(not text and isinstance(item, dict) for item, (_, text) in zip(data, told, strict=True))
            and depth < _DEPTH
        ):
            for item in data:
                yield from lines(path, item, depth + 1)
            return
        wordy = len(texts) > 3 and sum(len(text) for _, text in texts) <= 12 * len(texts) and not _has_sentences(texts)
        for at, text in _sentences(texts) if wordy else texts:
            yield from pieces.lines(path, at, "speech", text)


def _held(path: str, data: dict[str, Any], depth: int) -> Iterator[VideoLine]:
    """Its parts with times where it has such, else its text: both say the same."""
    for name, value in data.items():
        if _PARTS.search(name) and isinstance(value, list | dict):
            found = list(lines(path, value, depth + 1))
            if found:
                yield from found
                return
    at, text = _told(data)
    yield from pieces.lines(path, at, "speech", text)


def _told(item: Any) -> tuple[float | None, str]:
    """Time and text of one segment or word: an object, a list (start, end, text), or a text."""
    if isinstance(item, str):
        return None, item
    if isinstance(item, list | tuple):
        return clock.seconds(next(iter(item), None)), " ".join(
            part for part in item if isinstance(part, str) and clock.seconds(part) is None
        )
    if not isinstance(item, dict):
        return None, ""
    times = (clock.seconds(value, name.lower().endswith("ms")) for name, value in item.items() if _START.match(name))
    text = next(
        (value for name, value in item.items() if _TEXT.search(name) and isinstance(value, str) and value.strip()), ""
    )
    return next((time for time in times if time is not None), None), text


def _has_sentences(texts: list[tuple[float | None, str]]) -> bool:
    return sum(text.rstrip()[-1:] in _ENDS for _, text in texts) > len(texts) / 3


def _sentences(words: list[tuple[float | None, str]]) -> Iterator[tuple[float | None, str]]:
    at: float | None = None
    said = ""
    for when, word in words:
        if not said:
            at = when
        glue = (
            " " if said and _ASCII.search(said) and re.match(r"[\x21-\x7e]", word) and word not in _ENDS + "," else ""
        )
        said += glue + word
        if word.rstrip()[-1:] in _ENDS or len(said) > _LONG:
            yield at, said
            said = ""
    if said:
        yield at, said
