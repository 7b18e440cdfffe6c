"""Speech of a video from a transcription endpoint over real HTTP: with times, without, refused, twice."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from endpoint import Body, Endpoint, Status

from tasks.core.files.store import Store, digest_file
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.models.source import SourceFile
from tasks.core.models.video import VideoText
from tasks.intake.hear import hear_video

SEGMENTS = {"text": "先看订单。Then filter.", "segments": [
    {"id": 0, "start": 1.5, "end": 3.0, "text": "先看订单。"}, {"id": 1, "start": 62.0, "end": 64.0, "text": " Then filter."}]}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "briefing.mp4").write_bytes(b"\0\0\0\x20ftypisom and so on")
    return tmp_path / "in"


def hear(folder: Path, settings: Any, store: Store, url: str, **changed: Any) -> tuple[VideoText, Meter]:
    path = folder / "briefing.mp4"
    file = SourceFile(path=path.name, kind="video", size=path.stat().st_size, sha256=digest_file(path), outcome="video")
    video = settings.video.model_copy(update={"speech": "whisper-tiny", "speech_url": url, **changed})
    quick = settings.retry.model_copy(update={"first_seconds": 0.01, "longest_seconds": 0.02})
    ours = settings.model_copy(update={"retry": quick})
    meter = Meter(ours.budget)
    with door.use(door.Door(ours, store, meter)):
        return asyncio.run(hear_video(str(folder), file, video.hearing)), meter


def body(data: dict[str, Any]) -> Body:
    return Body(json.dumps(data).encode())


def test_segments_become_lines_by_time_and_are_asked_for_once(folder: Path, settings: Any, store: Store) -> None:
    with Endpoint([body(SEGMENTS)]) as endpoint:
        video, meter = hear(folder, settings, store, endpoint.url)
        assert [str(line) for line in video.lines] == ["[00:01.5 speech] 先看订单。", "[01:02.0 speech] Then filter."]
        assert video.files[0].is_read and meter.spend().total().calls == 1
        assert endpoint.paths == ["/v1/audio/transcriptions"]
        form = endpoint.requests[0]["form"]
        assert "whisper-tiny" in form and "verbose_json" in form and "ftypisom and so on" in form
        again, meter = hear(folder, settings, store, endpoint.url)
        assert again == video and endpoint.calls == 1 and meter.spend().total().calls == 0


def test_a_changed_setting_reads_the_transcript_from_the_journal(folder: Path, settings: Any, store: Store) -> None:
    with Endpoint([body(SEGMENTS)]) as endpoint:
        hear(folder, settings, store, endpoint.url)
        video, meter = hear(folder, settings, store, endpoint.url, speech_mb=24)
        assert len(video.lines) == 2 and endpoint.calls == 1 and meter.spend().total().journaled == 1


def test_an_endpoint_without_times_gives_a_line_without_one(folder: Path, settings: Any, store: Store) -> None:
    with Endpoint(
        [Status(400, {"error": {"message": "response_format is not supported"}}), body({"text": "all of it"})]
    ) as endpoint:
        video, _ = hear(folder, settings, store, endpoint.url)
    assert video.text == "[speech] all of it"


def test_speech_that_cannot_be_had_is_said_and_tried_again(folder: Path, settings: Any, store: Store) -> None:
    with Endpoint([Status(503, "busy"), Status(503, "busy"), body(SEGMENTS)]) as endpoint:
        video, _ = hear(folder, settings, store, endpoint.url)
        assert not video.lines and video.unsettled == "stopped"
        assert video.files[0].reason.startswith("its speech was not heard: ") and "busy" in video.notes[0]
        assert hear(folder, settings, store, endpoint.url)[0].lines


def test_a_large_video_is_not_sent(folder: Path, settings: Any, store: Store) -> None:
    (folder / "briefing.mp4").write_bytes(b"\0\0\0\x20ftypisom" + bytes(2 << 20))
    with Endpoint([]) as endpoint:
        video, _ = hear(folder, settings, store, endpoint.url, speech_mb=1)
        assert "larger than video.speech_mb (1)" in video.files[0].reason and endpoint.calls == 0
