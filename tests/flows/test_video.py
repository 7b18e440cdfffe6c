"""A folder's videos: each file is told of, each channel stands by itself, and what they say reaches the model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from endpoint import Body, Endpoint, Status
from films import film, slide
from intake_cases import intake_settings
from world import World, make_folder

from flows import video
from flows.video import read_videos
from tasks.core import ocr
from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.models.video import VideoText
from tasks.intake.inventory import take_inventory
from tasks.intake.watch import is_installed

PREPARED = "workdir/_video_frames/video_input.json"
TEXT = {"frames": [{"t": 4, "burst": [3, 4], "layout": "Filter panel\nquantity >= 2"}, {"t": 9, "image": "a.png"}]}
SPOKEN = Body(
    json.dumps({"text": "x", "segments": [{"start": 1.0, "end": 2.0, "text": "count the large orders"}]}).encode()
)
needs_extra = pytest.mark.skipif(not is_installed(), reason=f"needs the extra video: {ocr.INSTALL}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / "context" / "video").mkdir(parents=True)
    (tmp_path / "in" / "task.json").write_text('{"question": "q"}')
    (tmp_path / "in" / "context" / "video" / "briefing.mp4").write_bytes(b"\0\0\0\x20ftypisom" + bytes(500))
    return tmp_path / "in"


def read(folder: Path, settings: Any, store: Store, watch: bool = True, **changed: Any) -> VideoText:
    inventory = asyncio.run(take_inventory.function(str(folder), intake_settings()))
    quick = settings.retry.model_copy(update={"first_seconds": 0.01, "longest_seconds": 0.02})
    ours = settings.model_copy(update={"retry": quick})
    with door.use(door.Door(ours, store, Meter(ours.budget))):
        chosen = settings.video.model_copy(update=changed)
        return asyncio.run(read_videos(inventory, chosen, watch=watch))


def put(folder: Path, name: str, data: Any) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(data), "utf-8")


def test_what_was_prepared_stands_for_the_video(folder: Path, settings: Any, store: Store) -> None:
    put(folder, PREPARED, TEXT)
    found = read(folder, settings, store)
    assert found.text == "[00:03.0 slide] Filter panel / quantity >= 2"
    assert {file.path: (file.is_read, file.reason) for file in found.files} == {
        PREPARED: (True, "its text has 1 line: 1 of slide"),
        "context/video/briefing.mp4": (False, f"not watched: its text was prepared in {PREPARED}"),
    }


def test_a_video_that_is_not_watched_says_why(
    folder: Path, settings: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read(folder, settings, store, enabled=False).files[0].reason == "not watched: video.enabled is false"
    monkeypatch.setattr(video, "is_installed", lambda: True)
    assert read(folder, settings, store, watch=False).files[0].reason == "read when a question is asked"
    monkeypatch.setattr(video, "is_installed", lambda: False)
    assert ocr.INSTALL in read(folder, settings, store).files[0].reason


def test_speech_is_heard_where_slides_cannot_be_seen(
    folder: Path, settings: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video, "is_installed", lambda: False)
    with Endpoint([SPOKEN]) as endpoint:
        found = read(folder, settings, store, speech="whisper-tiny", speech_url=endpoint.url)
    assert found.text == "[00:01.0 speech] count the large orders"
    assert found.files[0].is_read and ocr.INSTALL in found.files[0].reason and "1 of speech" in found.files[0].reason


@needs_extra
def test_a_damaged_picture_loses_no_speech(folder: Path, settings: Any, store: Store) -> None:
    with Endpoint([SPOKEN]) as endpoint:
        found = read(folder, settings, store, speech="whisper-tiny", speech_url=endpoint.url)
    assert found.text == "[00:01.0 speech] count the large orders"
    assert "not watched: no video that can be decoded" in found.files[0].reason


@needs_extra
@pytest.mark.slow
def test_lost_speech_loses_no_slide(folder: Path, settings: Any, store: Store) -> None:
    film(folder / "context" / "video" / "briefing.mp4", [(slide("Filter panel", "quantity >= 20"), 3)])
    with Endpoint([Status(500, "no"), Status(500, "no")]) as endpoint:
        found = read(folder, settings, store, speech="whisper-tiny", speech_url=endpoint.url)
    assert "Filter panel" in found.text and "20" in found.text
    assert (
        found.files[0].is_read and "its speech was not heard" in found.files[0].reason and found.unsettled == "stopped"
    )


def test_the_text_reaches_the_model_and_the_evidence_names_each_file(world: World, tmp_path: Path) -> None:
    plain, shown = make_folder(tmp_path / "plain"), make_folder(tmp_path / "shown")
    put(shown, PREPARED, TEXT)
    world.answer(plain, tmp_path / "one")
    before = len(world.endpoint.requests)
    assert "quantity >= 2" not in json.dumps(world.endpoint.requests)
    world.answer(shown, tmp_path / "two")
    asked = [json.dumps(request["messages"]) for request in world.endpoint.requests[before:]]
    assert any("[00:03.0 slide] Filter panel / quantity >= 2" in text for text in asked)
    sources = json.loads((tmp_path / "two" / "evidence.json").read_text("utf-8"))["sources"]
    told = {source["path"]: (source["outcome"], source["reason"]) for source in sources}
    assert told[PREPARED] == ("video", "its text has 1 line: 1 of slide; 1 of 2 frames have no text")


def test_inspect_names_what_became_of_each_video_file(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    put(folder, PREPARED, TEXT)
    (folder / "context" / "clip.mp4").write_bytes(b"\0\0\0\x20ftypisom" + bytes(500))
    said = json.loads(world.call("inspect", str(folder), "--json").stdout)
    told = {file["path"]: (file["outcome"], file["reason"]) for file in said["catalogue"]["files"]}
    assert told[PREPARED] == ("video", "its text has 1 line: 1 of slide; 1 of 2 frames have no text")
    assert told["context/clip.mp4"] == ("video", f"not watched: its text was prepared in {PREPARED}")
    assert {note["code"] for note in said["notes"]} >= {"T126"} and said["problems"] == []
    assert [line["text"] for line in said["video"]["lines"]] == ["Filter panel / quantity >= 2"]
