"""Inventory → the text that was made of its videos beforehand, as lines by time.

Looked for in every folder `_video_frames` below the folder, of which `workdir/` and the folder itself are the usual places:
`video_input.json`, else `timeline.txt`.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path, PurePosixPath

from tasks.core.files.text import read_text
from tasks.core.models.source import Inventory, SourceFile
from tasks.core.models.video import VideoFile, VideoText, joined
from tasks.intake.listing.kinds import VIDEO_TEXTS, is_frames_file
from tasks.intake.watching import pieces
from tasks.intake.watching.prepared import read_prepared
from tasks.intake.watching.timeline import read_timeline
from tasks.stage import stage

_MOST_BYTES = 32 << 20
"""Pictures may stand in the JSON; one that is larger holds little else."""


@stage()
async def read_video(inventory: Inventory) -> VideoText:
    """The prepared texts; empty when there are none. A file of any layout costs a note at most."""
    return await asyncio.to_thread(_all, inventory)


def _all(inventory: Inventory) -> VideoText:
    places: dict[str, dict[str, SourceFile]] = {}
    for file in inventory.of("video"):
        path = PurePosixPath(file.path)
        if is_frames_file(file.path):
            places.setdefault(path.parent.as_posix(), {})[path.name.casefold()] = file
    seen: dict[str, str] = {}
    return joined(*(_place(Path(inventory.root), files, seen) for files in places.values()))


def _place(root: Path, files: dict[str, SourceFile], seen: dict[str, str]) -> VideoText:
    """The better of the texts of one folder; `seen` holds the path of each content that was read."""
    found: list[VideoText] = []
    for file in (files[name] for name in VIDEO_TEXTS if name in files):
        better = next((text.files[0].path for text in found if text.lines), "")
        if twin := better or seen.get(file.sha256, ""):
            why = "not needed: the text is read from" if better else "the same as"
            found.append(VideoText(files=(VideoFile(path=file.path, is_read=False, reason=f"{why} {twin}"),)))
            continue
        seen[file.sha256] = file.path
        found.append(_read(root / file.path, file.path))
    return joined(*found)


def _read(path: Path, name: str) -> VideoText:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return _unread(name, f"larger than {_MOST_BYTES >> 20} MB")
        text, _, damaged = read_text(path)
        made = _parsed(text, name)
    except OSError as error:
        return _unread(name, f"cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        return _unread(name, f"not valid JSON: {error}")
    notes = (f"{name}: {damaged} characters could not be decoded; U+FFFD stands for them",) if damaged else ()
    made = pieces.described(made, name, "no text was found in it")
    return made.model_copy(update={"notes": (*made.notes, *notes)})


def _parsed(text: str, name: str) -> VideoText:
    if name.casefold().endswith(".json"):
        return read_prepared(json.loads(text), name)
    return pieces.bounded(read_timeline(text, name), name)


def _unread(name: str, why: str) -> VideoText:
    return VideoText(files=(VideoFile(path=name, is_read=False, reason=why),), notes=(f"{name}: {why}",))
