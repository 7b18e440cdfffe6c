"""A video → what it shows, as lines by time: its slides by change, their text by OCR, each in a killable child."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from typing import Annotated, Any

from tasks.core import ocr
from tasks.core.files import store as stores
from tasks.core.models.source import SourceFile
from tasks.core.models.value import Location
from tasks.core.models.video import VideoFile, VideoText
from tasks.core.process import ChildError, Worker
from tasks.core.sections import VideoSettings
from tasks.intake.watching import picture, pieces
from tasks.intake.watching.prepared import read_prepared
from tasks.stage import stage

_START = 60.0
"""Seconds in which a child starts, and one frame more is decoded, on a busy machine."""
_DECODING = 0.5
"""Share of the time of a file that finding its slides may take; the rest is for reading them."""


def is_installed() -> bool:
    """Whether the extra `video` is there: a decoder and a reader of pictures."""
    return importlib.util.find_spec("cv2") is not None and ocr.is_installed()


@stage()
async def watch_video(root: Annotated[str, Location()], file: SourceFile, settings: VideoSettings) -> VideoText:
    """The text of its slides. A slide that cannot be read costs itself; of a video that cannot be decoded a note says why."""
    deadline = time.monotonic() + settings.file_seconds
    with stores.current().scratch("video-") as folder:
        try:
            seen = await _slides(Path(root) / file.path, folder, settings)
        except ChildError as error:
            return _unwatched(file, f"the decoder {error.message}", error.stopped)
        if "error" in seen:
            return _unwatched(file, seen["error"])
        frames, notes, passing = await _texts(seen["slides"], settings, deadline)
    notes += [f"it was watched in part: {why}" for why in (seen["late"], seen["broken"]) if why]
    if seen["left_out"]:
        notes.append(f"{seen['left_out']} further slides were left out: video.max_slides is {settings.max_slides}")
    made = pieces.described(read_prepared({"frames": frames}, file.path), file.path, "no text was found in it")
    said = tuple(f"{file.path}: {note}" for note in notes)
    unsettled = "stopped" if passing or seen["late"] else ""
    return made.model_copy(update={"notes": (*made.notes, *said), "unsettled": unsettled})


async def _slides(path: Path, folder: str, settings: VideoSettings) -> dict[str, Any]:
    seconds = settings.file_seconds * _DECODING
    names = ("sample_seconds", "change_share", "still_seconds", "moving_seconds", "max_slides")
    request = {"path": str(path), "to": str(folder), "seconds": seconds, **settings.model_dump(include=set(names))}
    child = Worker("tasks.intake.watching.slides", settings.memory_mb)
    try:
        return await child.ask(request, seconds + _START)
    finally:
        await child.close()


async def _texts(
    slides: list[dict[str, Any]], settings: VideoSettings, deadline: float
) -> tuple[list[dict[str, Any]], list[str], bool]:
    """Each slide with the text on it, notes on those without, and whether some may fare better the next time."""
    eye = Worker("tasks.core.ocr", settings.memory_mb * 2)
    frames, notes, late = [], [], 0
    passing = False
    try:
        for slide in slides:
            late += time.monotonic() > deadline
            if late:
                continue
            try:
                text = picture.rows((await eye.ask({"picture": slide["picture"]}, ocr.SECONDS))["runs"])
            except ChildError as error:
                passing = passing or error.stopped == "time"
                notes.append(f"the slide at {slide['seconds']:g} s could not be read: OCR {error.message}")
                continue
            stands = {"burst": slide["burst"]} if slide["channel"] == "slide" else {}
            frames.append({"t": slide["seconds"], "layout": text, **stands})
    finally:
        await eye.close()
    if late:
        notes.append(f"its last {late} slides were not read: the time was used up (video.file_seconds)")
    return frames, notes, passing or bool(late)


def _unwatched(file: SourceFile, why: str, stopped: str = "") -> VideoText:
    gone = VideoFile(path=file.path, is_read=False, reason=f"not watched: {why}")
    return VideoText(files=(gone,), notes=(f"{file.path}: {why}",), unsettled="stopped" if stopped == "time" else "")
