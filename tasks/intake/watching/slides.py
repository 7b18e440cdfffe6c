"""The watching child: a video → pictures of what stands still in it, and of what moves for long; by the extra `video`.

A slide is a stretch between two large changes. It is taken where it comes to rest, and once more at its end when something small
changed meanwhile: a value typed into a form matters, and a cursor does not. Frames are compared small and grey, kept in full.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.core import answering, settings

_WIDTH = 480
"""Dots across in which two frames are compared."""
_KEPT_WIDTH = 1920
"""Widest picture that is kept."""
_DELTA = 25
"""Of 255: a dot that differs less is noise of the compression."""
_SMALL = 20
"""So many times less than a change is a small one: a number in small print."""
_LONGEST = 7 * 86_400
_SLACK = 2.0
"""Seconds by which a video may end before the length that it tells."""


@dataclass
class _Sight:
    """A frame: when, in full, and as it is compared."""

    at: float
    full: Any
    small: Any


class Watcher:
    """Follows one video; `take` is given each picture that shall be kept."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.taken: list[dict[str, Any]] = []
        self._before: _Sight | None = None
        self._rest: _Sight | None = None
        """Where the present stretch came to rest; None while all moves."""
        self._still_since: float | None = None
        self._moving_since = 0.0
        self._passing = 0.0

    def see(self, sight: _Sight) -> None:
        """The next sampled frame."""
        before, self._before = self._before, sight
        if before is None or self._differs(before, sight):
            if before is not None and self._rest is not None:
                self._leave(before)
                self._moving_since = self._passing = sight.at
            self._still_since = None
            if before is not None and sight.at - self._passing >= self.request["moving_seconds"]:
                self._passing = sight.at
                self._take(sight, "frame", self._moving_since)
            return
        if self._still_since is None:
            self._still_since = before.at
        if self._rest is None and sight.at - self._still_since >= self.request["still_seconds"]:
            self._rest = sight
            self._take(sight, "slide", self._moving_since)
        elif self._rest is not None and self._differs(self._rest, sight):
            self._leave(sight)  # it changed too slowly for two samples to show
            self._moving_since = self._passing = sight.at
            self._rest = sight
            self._take(sight, "slide", sight.at)

    def end(self) -> None:
        """No frame follows: what stood last counts, however short."""
        if self._before is None:
            return
        if self._rest is None:
            self._take(self._before, "slide", self._moving_since)
        else:
            self._leave(self._before)

    def _leave(self, last: _Sight) -> None:
        """A stretch ends: its end is kept when a little of it is new."""
        assert self._rest
        if last is not self._rest and self._differs(self._rest, last, self.request["change_share"] / _SMALL):
            self._take(last, "slide", self._moving_since)
        self._rest = None

    def _take(self, sight: _Sight, channel: str, since: float) -> None:
        import cv2

        if len(self.taken) >= self.request["max_slides"]:
            self.taken.append({})
            return
        picture = str(Path(self.request["to"]) / f"{len(self.taken):04}.png")
        if not cv2.imwrite(picture, sight.full):
            raise OSError(f"{picture} cannot be written")
        seconds, window = round(sight.at, 2), [round(since, 2), round(sight.at, 2)]
        self.taken.append({"seconds": seconds, "burst": window, "channel": channel, "picture": picture})

    def _differs(self, one: _Sight, other: _Sight, share: float | None = None) -> bool:
        import cv2

        if one.small.shape != other.small.shape:
            return True
        changed = cv2.countNonZero(cv2.inRange(cv2.absdiff(one.small, other.small), _DELTA, 255))
        return bool(changed > one.small.size * (self.request["change_share"] if share is None else share))


def watch(request: dict[str, Any]) -> dict[str, Any]:
    """`slides`: seconds, burst, channel and picture of each in order; how many were `left_out`; why it was not seen to its end, `late` or
    `broken`; `error` when nothing can be seen."""
    import cv2

    cv2.setNumThreads(1)
    settings.set_default("OPENCV_FFMPEG_CAPTURE_OPTIONS", "protocol_whitelist;file")
    capture = cv2.VideoCapture(request["path"], cv2.CAP_FFMPEG)
    try:
        if not capture.isOpened():
            return {"error": "no video that can be decoded"}
        watcher, last, late, broken = Watcher(request), 0.0, "", ""
        deadline = time.monotonic() + request["seconds"]
        for sight in _sampled(capture, request["sample_seconds"]):
            watcher.see(sight)
            last = sight.at
            if time.monotonic() > deadline:
                late = f"the time for it was used up after {last:.0f} s of it (video.file_seconds)"
                break
        else:
            watcher.end()
            broken = _broken_off(capture, last)
    except cv2.error as error:
        return {"error": f"it cannot be decoded: {str(error)[:200]}"}
    finally:
        capture.release()
    slides = [slide for slide in watcher.taken if slide]
    return {"slides": slides, "left_out": len(watcher.taken) - len(slides), "late": late, "broken": broken}


def _sampled(capture: Any, every: float) -> Iterator[_Sight]:
    """One frame each `every` seconds by the video's clock, else by its count of frames."""
    import cv2

    rate = capture.get(cv2.CAP_PROP_FPS)
    rate = rate if 0.1 <= rate <= 1000 else 25.0
    number, due, at = -1, 0.0, 0.0
    while capture.grab():
        number += 1
        clock = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        at = clock if at < clock <= _LONGEST else number / rate
        if at + 1e-6 < due:
            continue
        fine, full = capture.retrieve()
        if not fine or full is None:
            continue
        due = at + every
        yield _Sight(at, _within(full, _KEPT_WIDTH), _compared(full))


def _broken_off(capture: Any, last: float) -> str:
    """Whether the frames end well before the length that the file tells."""
    import cv2

    rate, count = capture.get(cv2.CAP_PROP_FPS), capture.get(cv2.CAP_PROP_FRAME_COUNT)
    length = count / rate if rate > 0 and count > 0 else 0.0
    return f"it breaks off after {last:.0f} of {length:.0f} s" if _SLACK + last < 0.9 * length <= _LONGEST else ""


def _compared(full: Any) -> Any:
    import cv2

    return cv2.GaussianBlur(cv2.cvtColor(_within(full, _WIDTH), cv2.COLOR_BGR2GRAY), (3, 3), 0)


def _within(picture: Any, width: int) -> Any:
    import cv2

    high, wide = picture.shape[:2]
    if wide <= width:
        return picture
    return cv2.resize(picture, (width, max(1, round(high * width / wide))), interpolation=cv2.INTER_AREA)


def main() -> None:
    """Answer requests until the parent ends."""
    answering.answer_requests(watch)


if __name__ == "__main__":
    main()
