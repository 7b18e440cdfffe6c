"""The JSON of a `video_input.json` → its frames' texts and its transcript as lines by time, and what could not be read.

The file is known by what it holds, not by one layout: frames with a time, an index, a window of change and a text; a transcript
as segments, words or one text. Keys are matched by meaning; what has no text is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tasks.core.models.video import Channel, VideoLine, VideoText, by_time
from tasks.intake.watching import pieces, spoken
from tasks.intake.watching.flat import flat
from tasks.intake.watching.frame import LAYOUT, TEXT, TIME, WINDOW, Frame, read_frame
from tasks.intake.watching.timeline import channel_of, read_timeline

_SPOKEN = re.compile(
    r"transcript|chunk|speech|asr|narrat|spoken|segment|subtitle|utterance|words?$|旁白|语音|字幕", re.IGNORECASE
)
_SHOWN = re.compile(r"frame|slide|image|picture|screen|shot|page|幻灯|画面|帧", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s|/]+")
"""What two readings of one picture may differ in."""
_DEPTH = 4


class _Found:
    """Frames, spoken lines and texts of frames that stand apart from them, as they are come upon."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.frames: list[Frame] = []
        self.spoken: list[VideoLine] = []
        self.texts: dict[str, str] = {}
        self.other: list[str] = []
        """Texts of no known kind."""
        self.odd = 0

    def look(self, data: Any, key: str = "", depth: int = 0) -> None:
        """Take what this value holds; `key` is what it is called."""
        if depth > _DEPTH or not data:
            return
        if _SPOKEN.search(key):
            self.spoken += spoken.lines(self.path, data)
        elif isinstance(data, list):
            self._list(data, key, depth)
        elif isinstance(data, dict) and LAYOUT.search(key) and not _SHOWN.search(key):
            self.texts |= {str(name): flat(text) for name, text in data.items()}
        elif isinstance(data, dict) and _SHOWN.search(key) and all(isinstance(item, dict) for item in data.values()):
            self._list([{"index": name, **item} for name, item in data.items()], key, depth)
        elif isinstance(data, dict):
            for name, value in data.items():
                if isinstance(value, list | dict) or _SPOKEN.search(name):
                    self.look(value, name, depth + 1)

    def _list(self, data: list[Any], key: str, depth: int) -> None:
        apart = bool(LAYOUT.search(key)) and not _SHOWN.search(key)
        for number, item in enumerate(data):
            if isinstance(item, dict):
                self._item(item, key, depth, f"#{number}" if apart else "")
            elif apart and isinstance(item, str | list):
                self.texts[f"#{number}"] = flat(item)
            elif isinstance(item, str) and _SHOWN.search(key):
                self.frames.append(read_frame({"name": item}, key))
            else:
                self._unknown(item)

    def _item(self, item: dict[str, Any], key: str, depth: int, apart: str) -> None:
        kind = " ".join(str(item[name]) for name in ("type", "kind", "channel", "source", "role") if name in item)
        if channel_of(kind) == "speech":
            self.spoken += spoken.lines(self.path, [item])
        elif apart:
            frame = read_frame(item, key)
            self.texts[frame.number or apart] = frame.text
        elif _SHOWN.search(f"{key} {kind}") or any(LAYOUT.search(name) or WINDOW.search(name) for name in item):
            self.frames.append(read_frame(item, f"{key} {kind}"))
        elif any(isinstance(value, list | dict) for value in item.values()):
            self.look(item, "", depth + 1)
        elif any(TIME.match(name) for name in item):
            self.spoken += spoken.lines(self.path, [item])
        else:
            self._unknown(item)

    def _unknown(self, item: Any) -> None:
        texts = [value for name, value in item.items() if TEXT.search(name)] if isinstance(item, dict) else [item]
        text = "\n".join(filter(None, map(flat, texts)))
        self.odd += not text
        self.other += [text] if text else []


def read_prepared(data: Any, path: str) -> VideoText:
    """All of it as lines by time; a text without any of them has a note that says so."""
    found = _Found(path)
    found.look(data)
    notes: list[str] = []
    shown = list(_shown(found, notes))
    other = list(read_timeline("\n".join(found.other), path))
    if found.odd:
        notes.append(f"{found.odd} entries are neither a frame nor speech")
    if not (shown or found.spoken or other):
        notes.append("no text of a frame and no transcript was found in it")
    return pieces.bounded(by_time(iter([*shown, *found.spoken, *other])), path, notes)


def _shown(found: _Found, notes: list[str]) -> Iterator[VideoLine]:
    """The frames' texts, each once within a burst of change and not again while nothing else is shown."""
    repeated = silent = untimed = 0
    here: set[str] = set()
    last, until = "", -1.0
    for frame in _ordered(found):
        text, key = frame.text, _SEPARATORS.sub("", frame.text).casefold()
        if frame.window is None or frame.window[0] > until:
            here = {last}
        until = max(until, frame.window[1]) if frame.window else -1.0
        silent += not text
        untimed += frame.at is None
        repeated += bool(text) and key in here
        if text and key not in here:
            here.add(key)
            last = key
            channel: Channel = "slide" if frame.is_slide else "frame"
            yield from pieces.lines(found.path, frame.at, channel, text)
    counted = (
        (repeated, "repeat the text shown before, which stands once"),
        (silent, "have no text"),
        (untimed, "have no time"),
    )
    notes += [f"{count} of {len(found.frames)} frames {what}" for count, what in counted if count]


def _ordered(found: _Found) -> list[Frame]:
    """With the texts that stand apart, by number or else by position; by time where all have one, else as they stand."""
    frames = [
        frame if frame.text else frame._replace(text=found.texts.get(frame.number) or found.texts.get(f"#{at}", ""))
        for at, frame in enumerate(found.frames)
    ]
    if any(frame.at is None for frame in frames):
        return frames
    return sorted(frames, key=lambda frame: frame.at or 0.0)
