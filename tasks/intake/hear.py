"""A video → what is said in it, as lines by time, from the transcription model that `[video] speech` names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import door
from tasks.core.models.source import SourceFile
from tasks.core.models.value import Location
from tasks.core.models.video import VideoFile, VideoText
from tasks.core.sections import SpeechSettings
from tasks.intake.watching import pieces
from tasks.intake.watching.prepared import read_prepared
from tasks.stage import stage


@stage()
async def hear_video(root: Annotated[str, Location()], file: SourceFile, settings: SpeechSettings) -> VideoText:
    """The text of its speech. Where it cannot be had, a note says why: what is shown counts without it.

    Raises InputError when the endpoint's settings are wrong.
    """
    if file.size > settings.megabytes << 20:
        return _unheard(file, f"the file is larger than video.speech_mb ({settings.megabytes})", passing=False)
    try:
        said = await door.hear(Path(root) / file.path, file.sha256, settings)
    except (ModelError, BudgetError) as error:
        return _unheard(file, error.told, passing=True)
    made = read_prepared({"transcript": [{"start": at, "text": text} for at, text in said]}, file.path)
    return pieces.described(made, file.path, "nobody speaks in it")


def _unheard(file: SourceFile, why: str, passing: bool) -> VideoText:
    gone = VideoFile(path=file.path, is_read=False, reason=f"its speech was not heard: {why}")
    return VideoText(
        files=(gone,), notes=(f"{file.path}: its speech was not heard: {why}",), unsettled="stopped" if passing else ""
    )
