"""Videos made here → the text of their slides; what cannot be seen or read costs itself, with a word."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from films import film, moving, slide

from tasks.core import ocr
from tasks.core.files.store import Store, digest_file
from tasks.core.models.source import SourceFile
from tasks.core.models.video import VideoText
from tasks.intake.watch import is_installed, watch_video
from tasks.intake.watching.picture import rows
from tasks.intake.watching.slides import watch

needs_extra = pytest.mark.skipif(not is_installed(), reason=f"needs the extra video: {ocr.INSTALL}")


def look(path: Path, settings: Any, **changed: Any) -> VideoText:
    file = SourceFile(path=path.name, kind="video", size=1, sha256=digest_file(path), outcome="video")
    return asyncio.run(watch_video(str(path.parent), file, settings.video.model_copy(update=changed)))


def seen(path: Path, settings: Any, **changed: Any) -> dict[str, Any]:
    """What the child finds, without reading it."""
    to = path.parent / "pictures"
    to.mkdir(exist_ok=True)
    return watch({"path": str(path), "to": str(to), "seconds": 60, **settings.video.model_dump(), **changed})


def test_runs_of_text_become_rows_and_cells() -> None:
    runs = [
        ["Value", 300, 100, 380, 130],
        ["Status", 80, 104, 200, 128],
        ["Total", 80, 200, 180, 230],
        ["7", 300, 199, 320, 231],
    ]
    assert rows(runs) == "Status | Value\nTotal | 7"
    assert rows([]) == ""


@needs_extra
@pytest.mark.slow
def test_slides_become_text_in_both_languages_and_a_repeat_counts_once(
    tmp_path: Path, settings: Any, store: Store
) -> None:
    first, second = slide("Orders dashboard"), slide("筛选条件", "amount >= 1000")
    path = film(
        tmp_path / "briefing.mp4", [(first, 4), (second, 4), (slide("筛选条件", "amount >= 1000", boxed=True), 4)]
    )
    video = look(path, settings)
    assert [(line.channel, line.seconds) for line in video.lines] == [("slide", 0.0), ("slide", 4.0)], video.text
    assert video.lines[0].text == "Orders dashboard"
    assert "筛选条件" in video.lines[1].text and "1000" in video.lines[1].text, video.text
    assert video.files[0].is_read and video.files[0].reason == "its text has 2 lines: 2 of slide"
    assert "repeat" in video.notes[0] and not video.unsettled
    assert look(path, settings) == video


@needs_extra
def test_a_slide_is_what_stands_still_and_its_end_counts_when_something_small_was_typed(
    tmp_path: Path, settings: Any
) -> None:
    form, typed = slide("Region", "Amount above"), slide("Region", "Amount above 5")
    path = film(tmp_path / "a.mp4", [(slide("Start"), 3), (form, 3), (typed, 2), (slide("End", "of", "it"), 0.3)])
    found = seen(path, settings)
    assert [(one["channel"], one["burst"][0]) for one in found["slides"]] == [
        ("slide", 0.0),
        ("slide", 3.0),
        ("slide", 3.0),
        ("slide", 8.0),
    ]
    assert found["slides"][2]["seconds"] == 7.5 and not found["late"] and not found["broken"]


@needs_extra
def test_what_never_stands_still_gives_a_frame_now_and_then(tmp_path: Path, settings: Any) -> None:
    path = film(tmp_path / "a.mp4", [(slide("Start"), 2), *((frame, 0.1) for frame in moving(40))])
    found = seen(path, settings, moving_seconds=1.5)
    assert [one["channel"] for one in found["slides"]] == ["slide", "frame", "frame", "slide"]


@needs_extra
def test_more_slides_than_allowed_are_counted(tmp_path: Path, settings: Any) -> None:
    path = film(tmp_path / "a.mp4", [(slide(word), 2) for word in ("One", "Two", "Three", "Four")])
    found = seen(path, settings, max_slides=2, change_share=0.001)
    assert len(found["slides"]) == 2 and found["left_out"] == 2


@needs_extra
def test_a_damaged_video_is_named(tmp_path: Path, settings: Any, store: Store) -> None:
    whole = film(tmp_path / "a.mp4", [(slide("Start"), 3)]).read_bytes()
    (tmp_path / "b.mp4").write_bytes(whole[: len(whole) // 2])
    video = look(tmp_path / "b.mp4", settings)
    assert not video.lines and video.files[0].reason.startswith("not watched: ")
    assert video.notes and not video.unsettled


@needs_extra
@pytest.mark.parametrize("text", ["#EXTM3U\n#EXTINF:9,\n{}\n#EXT-X-ENDLIST\n", "ffconcat version 1.0\nfile {}\n"])
def test_a_list_of_other_files_opens_none_of_them(tmp_path: Path, settings: Any, text: str) -> None:
    other = film(tmp_path / "other.mp4", [(slide("Secret"), 2)])
    (tmp_path / "list.m3u8").write_text(text.format(other))
    assert seen(tmp_path / "list.m3u8", settings) == {"error": "no video that can be decoded"}


@needs_extra
def test_memory_is_bounded(tmp_path: Path, settings: Any, store: Store) -> None:
    path = film(tmp_path / "a.mp4", [(slide("Start"), 3)])
    video = look(path, settings, memory_mb=256)
    assert not video.lines and video.files[0].reason.startswith("not watched: the decoder ")


@needs_extra
def test_a_picture_that_cannot_be_read_in_time_costs_itself(
    tmp_path: Path, settings: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "SECONDS", 0.01)
    video = look(film(tmp_path / "a.mp4", [(slide("Start"), 3), (slide("A", "B", "C"), 3)]), settings)
    assert not video.lines and len([note for note in video.notes if "could not be read: OCR stopped" in note]) == 2
    assert video.unsettled == "stopped" and video.files[0].reason == "no text was found in it"
