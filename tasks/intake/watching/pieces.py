"""Texts of a video → lines of a bounded length, cut between rows and sentences, and no more of them than are bearable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from tasks.core.models.video import Channel, VideoFile, VideoLine, VideoText
from tasks.core.wording import counted

MOST_CHARS = 400
"""Of one line: what chooses lines by relevance cuts long ones."""
_ALL_CHARS, _ALL_LINES = 400_000, 20_000
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_CUTS = (re.compile(r" / "), re.compile(r"(?<=[。！？；])|(?<=[.!?;])\s"), re.compile(r"\s"))
"""Where a text that is too long is cut, best first."""


def clean(text: str) -> str:
    """On one line: rows joined by ` / `, no control characters, no half surrogates, single blanks."""
    rows = (" ".join(row.split()) for row in _CONTROL.sub(" ", text).split("\n"))
    return " / ".join(row for row in rows if row)


def lines(path: str, seconds: float | None, channel: Channel, text: str) -> Iterator[VideoLine]:
    """A text as lines with the same time; none when it is blank."""
    for piece in _pieces(clean(text)):
        yield VideoLine(path=path, seconds=seconds, channel=channel, text=piece)


def bounded(found: Iterable[VideoLine], path: str, notes: Iterable[str] = ()) -> VideoText:
    """The first lines up to what is bearable; the others are counted."""
    kept: list[VideoLine] = []
    chars = dropped = 0
    for line in found:
        chars += len(line.text)
        if dropped or chars > _ALL_CHARS or len(kept) >= _ALL_LINES:
            dropped += 1
        else:
            kept.append(line)
    said = [f"{path}: {note}" for note in notes]
    if dropped:
        said.append(
            f"{path}: {counted(dropped, 'line was', 'lines were')} left out at its end: a text has at most {_ALL_CHARS:,} characters"
        )
    return VideoText(lines=tuple(kept), notes=tuple(said))


def described(made: VideoText, path: str, nothing: str) -> VideoText:
    """With what became of its file; `nothing` is said when it has no line."""
    counts = Counter(line.channel for line in made.lines)
    said = ", ".join(f"{count} of {channel}" for channel, count in counts.items())
    reason = f"its text has {counted(len(made.lines), 'line')}: {said}" if said else nothing
    return made.model_copy(update={"files": (VideoFile(path=path, is_read=bool(said), reason=reason),)})


def _pieces(text: str) -> Iterator[str]:
    while len(text) > MOST_CHARS:
        at, skip = _cut(text)
        yield text[:at].strip()
        text = text[skip:].strip()
    if text:
        yield text


def _cut(text: str) -> tuple[int, int]:
    """Where the first piece ends and where the next begins."""
    for pattern in _CUTS:
        ends = [found.span() for found in pattern.finditer(text, MOST_CHARS // 4, MOST_CHARS)]
        if ends:
            return ends[-1]
    return MOST_CHARS, MOST_CHARS
