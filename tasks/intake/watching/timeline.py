"""The text of a `timeline.txt` → lines with time and channel, whatever mark its lines begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tasks.core.models.video import Channel, VideoLine
from tasks.intake.watching import clock, pieces

_UNIT = r"(?:ms|seconds?|secs?|s|秒)"
_SPAN = rf"(?P<time>{clock.TIME}\s*{_UNIT}?)(?:\s*(?:-->|-|–|—|~|to|至)\s*{clock.TIME}\s*{_UNIT}?)?"
_BRACKET = re.compile(r"\s*[\[(【<](?P<head>[^\])】>\n]{1,80})[\])】>]\s*[:：|-]?\s*(?P<rest>.*)")
_INSIDE = re.compile(rf"(?<![\w#.:])(?P<sign>(?:t\s*=|@)?)\s*{_SPAN}(?![\w.:])", re.IGNORECASE)
_BARE = re.compile(rf"\s*{_SPAN}(?:\s*[|:：,]\s*|\s+|$)(?P<rest>.*)", re.IGNORECASE)
_WORDS: tuple[tuple[Channel, str], ...] = (
    ("speech", "narration|narrator|speech|speaker|spoken|voice|audio|asr|transcript|subtitle|旁白|语音|讲解|字幕|口播"),
    ("slide", "slide|layout|幻灯片?|版面"),
    ("frame", "frame|screen|shot|image|画面|帧|截图"),
)
_CHANNELS = tuple((channel, re.compile(words, re.IGNORECASE)) for channel, words in _WORDS)
_ALL = "|".join(words for _, words in _WORDS)
_LABEL = re.compile(rf"\s*(?P<head>(?:{_ALL})s?)(?:\s*#?\s*\d+)?\s*[:：|]\s*(?P<rest>.*)", re.IGNORECASE)
_KNOWN = re.compile(
    rf"{_ALL}|\b(?:t|at|burst|window|time|from|to|id|index|k|no)\b|第|时间|[\W\d_]+|[bt]\d+|{_UNIT}\b|张|页",
    re.IGNORECASE,
)
"""What the inside of a mark is made of: brackets around anything else are text."""


def read_timeline(text: str, path: str) -> Iterator[VideoLine]:
    """A line without a mark belongs to the one above it and has its time and channel."""
    seconds: float | None = None
    channel: Channel = "frame"
    for row in text.split("\n"):
        at, kind, said = _marked(row)
        if at is not None or kind:
            seconds, channel = (seconds if at is None else at), kind or ("speech" if at is not None else channel)
        yield from pieces.lines(path, seconds, channel, said)


def channel_of(words: str) -> Channel | None:
    """The channel that a mark or a key names; None when it names none."""
    return next((channel for channel, pattern in _CHANNELS if pattern.search(words)), None)


def _marked(row: str) -> tuple[float | None, Channel | None, str]:
    """Time, channel and what follows the mark; all of the row where it begins with no mark."""
    at: float | None = None
    kind: Channel | None = None
    rest = row
    for _ in range(3):  # `[00:12] [slide] text`, `00:12 slide: text`
        now, what, after = _mark(rest, at is None)
        if now is None and what is None:
            break
        at, kind, rest = (at if now is None else now), kind or what, after
    return at, kind, rest


def _mark(row: str, untimed: bool) -> tuple[float | None, Channel | None, str]:
    if (found := _BRACKET.match(row)) and not _KNOWN.sub("", found["head"]):
        return (_time(found["head"]) if untimed else None), channel_of(found["head"]), found["rest"]
    if untimed and (found := _BARE.match(row)) and _is_time(found["time"]):
        return clock.seconds(found["time"]), None, found["rest"]
    if found := _LABEL.match(row):
        return None, channel_of(found["head"]), found["rest"]
    return None, None, row


def _time(head: str) -> float | None:
    """The first number of a mark that is plainly a time: `#3 @12.5`, `frame 7 t=20`, `0.5–3.2`."""
    times = (found["time"] for found in _INSIDE.finditer(head) if found["sign"] or _is_time(found["time"], "."))
    return clock.seconds(next(times, None))


def _is_time(text: str, also: str = ":") -> bool:
    return ":" in text or also in text or not text.strip()[-1].isdigit()
