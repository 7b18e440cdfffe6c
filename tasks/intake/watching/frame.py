"""One frame of a prepared text → its time, its window of change, its text, by the meaning of its keys."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tasks.intake.watching import clock
from tasks.intake.watching.flat import flat
from tasks.intake.watching.timeline import channel_of

LAYOUT = re.compile(r"layout|hiccup|ocr|版面", re.IGNORECASE)
WINDOW = re.compile(r"burst|window|change", re.IGNORECASE)
TEXT = re.compile(r"text|content|markdown|html|words|caption|description|文字|内容", re.IGNORECASE)
TIME = re.compile(
    r"(?:t|time|ts|timestamp|start|begin|from|at|pts|second|offset|时间)(?:_?(?:t|time|s|sec|secs|seconds|ms))?s?$",
    re.IGNORECASE,
)
_NAME = re.compile(r"name|file|path|image|src|uri|png", re.IGNORECASE)
_NUMBER = re.compile(r"i|k|idx|index|id|no|number|slide|frame", re.IGNORECASE)
_NAMED_TIME = re.compile(r"_t(\d+(?:\.\d+)?)")
_NAMED_WINDOW = re.compile(r"_b(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


class Frame(NamedTuple):
    """A frame as it was told."""

    at: float | None
    """Where its burst of change begins: what is said of it is said from then on. Seconds."""
    window: tuple[float, float] | None
    text: str
    is_slide: bool
    number: str
    """Its index or id as written; empty when it has none."""


def read_frame(item: dict[str, Any], called: str) -> Frame:
    """`called` is what the list of it, and its kind, are called."""
    names = " ".join(value for name, value in item.items() if _NAME.search(name) and isinstance(value, str))[:500]
    window = _window(item, names)
    times = (clock.seconds(value, name.lower().endswith("ms")) for name, value in item.items() if TIME.match(name))
    at = next((time for time in times if time is not None), None)
    if at is None and (told := _NAMED_TIME.search(names)):
        at = clock.seconds(told[1])
    numbers = (item[name] for name in item if _NUMBER.fullmatch(name))
    texts = [flat(value) for name, value in item.items() if LAYOUT.search(name)]
    if not any(texts):
        texts = [flat(value) for name, value in item.items() if TEXT.search(name) and not _NAME.search(name)]
    return Frame(
        at=window[0] if window else at,
        window=window,
        text="\n".join(filter(None, texts)),
        is_slide=bool(window) or channel_of(f"{called} {names}") == "slide",
        number=next((str(number) for number in numbers if isinstance(number, int | str)), ""),
    )


def _window(item: dict[str, Any], names: str) -> tuple[float, float] | None:
    """Where the burst of change before a frame begins and ends."""
    ends: list[Any] = []
    for name, value in item.items():
        if not WINDOW.search(name):
            continue
        if isinstance(value, dict):
            ends += value.values()
        elif isinstance(value, str):
            ends += re.split(r"\s*(?:-->|[-–—~,])\s*", value)
        else:
            ends += value if isinstance(value, list) else [value]
    if not ends and (told := _NAMED_WINDOW.search(names)):
        ends = list(told.groups())
    times = [time for time in map(clock.seconds, ends) if time is not None]
    return (min(times), max(times)) if len(times) >= 2 else None
