"""A dry run over a document of many records told alike: it tells what learned patterns would take, near to what the run then takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import extractors
import pytest
from knower import Knower, Known
from world import World

QUESTION = "How many hives have a white queen?"


def dry(world: World, folder: Path, known: Known, *more: str) -> str:
    """What a dry run over the document says; its plan is written by rules, so that slices are known beforehand."""
    (folder / "context" / "doc").mkdir(parents=True)
    (folder / "context" / "doc" / f"{known.stem}.md").write_text("\n".join(known.lines), "utf-8")
    (folder / "context" / "knowledge.md").write_text(known.knowledge, "utf-8")
    profile = folder.with_suffix(".toml")
    profile.write_text('[plan]\nwriter = "rules"\n[normalise]\nmodel_code = false\n')
    done = world.call("answer", str(folder), QUESTION, "--profile", str(profile), "--dry-run", *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["hives", "lakes"])
def test_of_many_records_told_alike_patterns_are_estimated_near_to_what_they_take(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    known = next(extractors.made([name], [1000]))[1]
    said: dict[str, Any] = json.loads(dry(world, tmp_path / "asked", known, "--json"))
    assert world.endpoint.calls == 0
    parts = {part["stage"]: part for part in said["planned"] if part["estimated"]}
    assert sorted(parts) == ["extract_lines", "learn_patterns"]
    assert not [p for p in said["planned"] if p["stage"] in parts and not p["estimated"]]
    assert len(parts["learn_patterns"]["prompts"]) == 1
    (told,) = said["patterns"]
    assert (told["document"], told["records"]) == (known.stem, 1000)
    assert told["calls"] == sum(part["calls"] for part in parts.values())
    assert told["tokens"] == sum(part["tokens_in"] + part["tokens_out"] for part in parts.values())
    assert told["tokens"] < told["slice_tokens"] / 4

    reader = Knower(known, extractors.RECORDINGS)
    for variable in ("MODEL_API_URL", "MODEL_NAME", "MODEL_API_KEY"):
        monkeypatch.delenv(variable, raising=False)  # the profile of the run names the reader
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "store"))
    extractors.draw(known, reader, tmp_path)
    calls, sent, back = (sum(spent[at] for spent in reader.spent.values()) for at in range(3))
    assert reader.spent["patterns"][0]
    assert calls / 2 <= told["calls"] <= calls * 2
    assert (sent + back) / 2 <= told["tokens"] <= (sent + back) * 2
    profile = str(tmp_path / "profile.toml")
    done = world.call("answer", str(tmp_path / "task"), QUESTION, "--profile", profile, "--dry-run", "--json")
    paid = json.loads(done.stdout)
    assert paid["patterns"] == [] and not parts.keys() & {part["stage"] for part in paid["planned"]}


def test_the_words_say_that_it_is_an_estimate_for_patterns(world: World, tmp_path: Path) -> None:
    known = next(extractors.made(["hives"], [400]))[1]
    text = " ".join(dry(world, tmp_path / "asked", known).split())
    assert "learn_patterns (estimate)" in text and "extract_lines (estimate)" in text
    assert (
        "400 records told alike would be read by learned patterns, an estimate of" in text
        and "where slices take" in text
    )


def test_few_records_are_foretold_as_slices(world: World, tmp_path: Path) -> None:
    known = next(extractors.made(["hives"], [100]))[1]
    said: dict[str, Any] = json.loads(dry(world, tmp_path / "asked", known, "--json"))
    assert said["patterns"] == [] and not any(part["estimated"] for part in said["planned"])
    (slices,) = [part for part in said["planned"] if part["stage"] == "extract_lines"]
    assert slices["calls"] == len(slices["prompts"]) == 3
