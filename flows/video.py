"""folder → the text of its videos: what was prepared of them, else what they show and say, each channel by itself."""

from __future__ import annotations

import asyncio

from tasks.core import ocr
from tasks.core.models.source import Inventory, SourceFile
from tasks.core.models.video import VideoFile, VideoText, joined
from tasks.core.sections import VideoSettings
from tasks.intake.hear import hear_video
from tasks.intake.listing.kinds import is_frames_file
from tasks.intake.video import read_video
from tasks.intake.watch import is_installed, watch_video


async def read_videos(inventory: Inventory, settings: VideoSettings, *, watch: bool = True) -> VideoText:
    """Lines by time, and what became of each file; empty without a video. `watch` false = only say what would be done."""
    files = inventory.of("video")
    if not files:
        return VideoText()
    prepared = await read_video(inventory)
    films = [file for file in files if not is_frames_file(file.path)]
    known = next((file.path for file in prepared.files if file.is_read), "")
    if known or not watch or not settings.enabled:
        why = f"its text was prepared in {known}" if known else _plan(settings)
        return joined(prepared, *(_left(file, why) for file in films))
    turn = asyncio.Lock()
    return joined(prepared, *await asyncio.gather(*(_film(inventory.root, file, settings, turn) for file in films)))


def explained(files: tuple[SourceFile, ...], video: VideoText) -> tuple[SourceFile, ...]:
    """The files with what became of the videos among them, and what of their text was left out."""
    told = {file.path: _told(file, video.notes) for file in video.files}
    return tuple(
        file.model_copy(update={"reason": told[file.path]}) if file.outcome == "video" and file.path in told else file
        for file in files
    )


def _told(file: VideoFile, notes: tuple[str, ...]) -> str:
    own = (note.removeprefix(f"{file.path}: ") for note in notes if note.startswith(f"{file.path}: "))
    return "; ".join([file.reason, *(note for note in own if note not in file.reason)])


async def _film(root: str, file: SourceFile, settings: VideoSettings, turn: asyncio.Lock) -> VideoText:
    """What one video shows and says. Watched one at a time, for each takes all cores."""
    heard = await hear_video(root, file, settings.hearing) if settings.speech else VideoText()
    if not is_installed():
        return joined(_left(file, _plan(settings)), heard)
    async with turn:
        return joined(await watch_video(root, file, settings.seeing), heard)


def _plan(settings: VideoSettings) -> str:
    """Why the slides of a video are not read; empty when they are."""
    if not settings.enabled:
        return "video.enabled is false"
    return "" if is_installed() else f"slides need the extra `video` ({ocr.INSTALL})"


def _left(file: SourceFile, why: str) -> VideoText:
    reason = f"not watched: {why}" if why else "read when a question is asked"
    return VideoText(files=(VideoFile(path=file.path, is_read=False, reason=reason),))
