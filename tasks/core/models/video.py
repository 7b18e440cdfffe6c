"""What the videos of a folder show and say, as lines of text with their time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from tasks.core.models.value import Value

Channel = Literal["slide", "speech", "frame"]
"""slide = a picture that stands still, or that a burst of change ends in; frame = one in passing; speech = narration."""


class VideoLine(Value):
    """Something shown or said. A spoken number is heard, not read: a locator, never a source."""

    path: str
    """The file it comes from."""
    seconds: float | None
    """From the video's start; None where the file does not say."""
    channel: Channel
    text: str
    """One line, at most some 500 characters; ` / ` stands between the rows of a picture."""

    def __str__(self) -> str:
        if self.seconds is None:
            return f"[{self.channel}] {self.text}"
        minutes, seconds = divmod(round(self.seconds, 1), 60)
        return f"[{int(minutes):02}:{seconds:04.1f} {self.channel}] {self.text}"


class VideoFile(Value):
    """What became of one file of a video or of its text."""

    path: str
    is_read: bool
    reason: str
    """What was read of it, or why nothing was."""


class VideoText(Value):
    """The text of all videos of a folder, file by file, each by time; empty when there is none."""

    lines: tuple[VideoLine, ...] = ()
    files: tuple[VideoFile, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out, cut or doubtful, with the file that it is about."""
    unsettled: Literal["", "stopped"] = ""
    """Something of it failed for a reason that may be gone the next time."""

    @property
    def text(self) -> str:
        """One line each (time, channel, text); a heading names the file where there are several."""
        return "\n".join(self._rows())

    def _rows(self) -> Iterator[str]:
        several = len({line.path for line in self.lines}) > 1
        last = ""
        for line in self.lines:
            if several and line.path != last:
                yield f"# {line.path}"
            last = line.path
            yield str(line)


def joined(*texts: VideoText) -> VideoText:
    """All of them as one: lines by file, then by time, those without a time where they stand; files each once."""
    order = {line.path: 0 for text in texts for line in text.lines}
    lines = [
        line for path in order for line in by_time(line for text in texts for line in text.lines if line.path == path)
    ]
    files: dict[str, VideoFile] = {}
    for file in (file for text in texts for file in text.files):
        files[file.path] = _both(files[file.path], file) if file.path in files else file
    return VideoText(
        lines=tuple(lines),
        files=tuple(files.values()),
        notes=tuple(dict.fromkeys(note for text in texts for note in text.notes)),
        unsettled="stopped" if any(text.unsettled for text in texts) else "",
    )


def by_time(lines: Iterator[VideoLine]) -> list[VideoLine]:
    """In order of time; a line without one stays behind the line that it follows."""
    keyed, last = [], 0.0
    for line in lines:
        last = last if line.seconds is None else line.seconds
        keyed.append((last, line))
    return [line for _, line in sorted(keyed, key=lambda pair: pair[0])]


def _both(first: VideoFile, second: VideoFile) -> VideoFile:
    reasons = "; ".join(dict.fromkeys(reason for reason in (first.reason, second.reason) if reason))
    return VideoFile(path=first.path, is_read=first.is_read or second.is_read, reason=reasons)
