"""Prepared texts of videos: found in their usual places, read in any layout, never a crash, nothing lost without a word."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from intake_cases import intake_settings

from tasks.core.files.store import Store
from tasks.core.models.video import VideoText
from tasks.core.search.passages import passages
from tasks.intake.inventory import take_inventory
from tasks.intake.video import read_video
from tasks.intake.watching.prepared import read_prepared
from tasks.intake.watching.timeline import read_timeline

CASES = tomllib.loads((Path(__file__).parents[2] / "cases" / "video" / "prepared.toml").read_text("utf-8"))["case"]
FRAMES = "_video_frames"


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def read(folder: Path) -> VideoText:
    inventory = asyncio.run(take_inventory.function(str(folder), intake_settings()))
    return asyncio.run(read_video.function(inventory))


def one(text: str) -> str:
    return json.dumps({"frames": [{"t": 1, "layout": text}]})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_layout_becomes_lines_by_time(tmp_path: Path, case: dict[str, Any]) -> None:
    name = "timeline.txt" if "text" in case else "video_input.json"
    video = read(put(tmp_path, {f"workdir/{FRAMES}/{name}": case.get("text", case.get("json", ""))}))
    assert [str(line) for line in video.lines] == case["lines"]
    assert video.text == "\n".join(case["lines"])
    assert [note.partition(": ")[2] for note in video.notes] == case.get("notes", [])
    assert [file.is_read for file in video.files] == [bool(case["lines"])]


@pytest.mark.parametrize(
    "place", [FRAMES, f"workdir/{FRAMES}", f"context/{FRAMES}", f"context/workdir/{FRAMES}", f"context/video/{FRAMES}"]
)
def test_the_text_is_found_in_the_folder_and_its_context(tmp_path: Path, place: str) -> None:
    put(
        tmp_path,
        {"task.json": '{"question": "q"}', "context/a.csv": "a\n1\n", f"{place}/video_input.json": one("Panel")},
    )
    put(tmp_path, {f"{place}/hiccup.json": '[{"a": 1}]', f"{place}/timeline_hiccup.txt": "x"})
    assert read(tmp_path).text == "[00:01.0 frame] Panel"
    inventory = asyncio.run(take_inventory.function(str(tmp_path), intake_settings()))
    outcomes = {file.path: (file.kind, file.outcome) for file in inventory.files}
    assert outcomes.pop("task.json") == ("task", "ignored") and outcomes.pop("context/a.csv") == ("csv", "table")
    assert outcomes == {
        f"{place}/video_input.json": ("video", "video"),
        f"{place}/hiccup.json": ("video", "ignored"),
        f"{place}/timeline_hiccup.txt": ("video", "ignored"),
    }


def test_the_timeline_is_read_only_where_the_json_gives_nothing(tmp_path: Path) -> None:
    put(tmp_path, {f"{FRAMES}/video_input.json": one("A"), f"{FRAMES}/timeline.txt": "[00:02 slide] B"})
    both = read(tmp_path)
    assert both.text == "[00:01.0 frame] A"
    assert [(file.path.rpartition("/")[2], file.is_read) for file in both.files] == [
        ("video_input.json", True),
        ("timeline.txt", False),
    ]
    put(tmp_path, {f"{FRAMES}/video_input.json": '{"frames": ['})
    broken = read(tmp_path)
    assert broken.text == "[00:02.0 slide] B"
    assert [file.is_read for file in broken.files] == [False, True] and "not valid JSON" in broken.notes[0]


def test_several_videos_have_a_heading_each_and_equal_copies_count_once(tmp_path: Path) -> None:
    put(tmp_path, {f"a/{FRAMES}/video_input.json": one("A"), f"b/{FRAMES}/video_input.json": one("B")})
    put(tmp_path, {f"workdir/{FRAMES}/video_input.json": one("A")})
    video = read(tmp_path)
    assert video.text.split("\n") == [
        f"# a/{FRAMES}/video_input.json",
        "[00:01.0 frame] A",
        f"# b/{FRAMES}/video_input.json",
        "[00:01.0 frame] B",
    ]
    assert video.files[2].reason == f"the same as a/{FRAMES}/video_input.json"


def test_a_folder_without_video_has_no_text(tmp_path: Path) -> None:
    assert read(put(tmp_path, {"a.csv": "a\n1\n"})) == VideoText()


def test_long_texts_are_cut_into_lines_that_relevance_can_choose_and_the_rest_is_counted(tmp_path: Path) -> None:
    rows = [f"row {n}: region {n} has status ok" for n in range(100)]
    rows[70] = "row 70: the threshold of the harbour fee is 12"
    put(tmp_path, {f"{FRAMES}/video_input.json": one("\n".join(rows))})
    video = read(tmp_path)
    assert max(len(line.text) for line in video.lines) <= 400
    assert " / ".join(line.text for line in video.lines) == " / ".join(rows)
    chosen = passages("Which harbour fee is above the threshold?", video.text, 600)
    assert "harbour fee is 12" in chosen and len(chosen) <= 600
    put(tmp_path, {f"{FRAMES}/video_input.json": one("x " * 300_000)})
    endless = read(tmp_path)
    assert sum(len(line.text) for line in endless.lines) <= 400_000 and "left out" in endless.notes[0]


def test_a_file_that_is_too_large_or_too_deep_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {f"{FRAMES}/video_input.json": "[" * 200_000})
    assert "not valid JSON" in read(tmp_path).notes[0]
    monkeypatch.setattr("tasks.intake.video._MOST_BYTES", 1000)
    put(tmp_path, {f"{FRAMES}/video_input.json": one("x" * 2000)})
    assert "larger than" in read(tmp_path).notes[0]


def test_the_stage_answers_from_its_record(tmp_path: Path, store: Store) -> None:
    put(tmp_path / "in", {f"{FRAMES}/video_input.json": one("A")})
    inventory = asyncio.run(take_inventory.function(str(tmp_path / "in"), intake_settings()))
    assert asyncio.run(read_video(inventory)) == asyncio.run(read_video(inventory))


KEYS = some.sampled_from(["frames", "slides", "transcript", "segments", "words", "layout", "hiccup", "t", "time", "start",
                          "burst", "text", "index", "name", "type", "parts", "x", ""])  # fmt: skip
LEAVES = some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=20)
ANYTHING = some.recursive(
    LEAVES, lambda inner: some.lists(inner, max_size=4) | some.dictionaries(KEYS, inner, max_size=5), max_leaves=30
)


@given(ANYTHING)
@settings(max_examples=150)
def test_no_layout_is_a_crash(data: Any) -> None:
    video = read_prepared(data, "v.json")
    assert all(line.text == " ".join(line.text.split()) and line.text for line in video.lines)
    VideoText.model_validate_json(video.model_dump_json())
    json.dumps(video.model_dump(), allow_nan=False)


@given(some.text(max_size=300))
@settings(max_examples=150)
def test_no_timeline_is_a_crash_and_unmarked_lines_stay(text: str) -> None:
    for line in read_timeline(text, "t.txt"):
        assert line.text
