"""A dry run: exact prompts and places of what would be sent, bounds and prices; nothing is sent, nothing it leaves misleads a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from world import ANSWER, ASKED, QUESTION, World, make_folder

from tasks.core.llm import tokens

PROFILE = """
[endpoints.main]
concurrency = 1
[budget]
calls = 40
"""


def dry(world: World, *arguments: str) -> dict[str, Any]:
    done = world.call("answer", *arguments, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_a_dry_run_says_what_a_run_then_sends(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    said = dry(world, str(folder), "--as-of", "2026-01-31")
    assert world.endpoint.calls == 0 and said["question"] == QUESTION and said["earlier"] is None
    assert [part["stage"] for part in said["planned"]] == ["write_contract", "solve_question"]
    assert {(part["model"], *part["places"]) for part in said["planned"]} == {("scripted", world.endpoint.url)}
    assert "2 validators look at its answer, and again after each of up to 3 rejections" in said["later"]
    assert "up to 30 turns" in said["later"] and said["total"]["money"] is None
    assert not list((world.store / "runs").glob("*")) and not list((world.store / "journal").glob("*"))
    world.answer(folder, tmp_path / "out")
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER and world.endpoint.calls == ASKED
    first = said["planned"][0]
    assert first["prompts"] == world.endpoint.requests[0]["messages"]
    assert (first["calls"], first["tokens_in"]) == (1, tokens.count_messages(first["prompts"]))
    assert first["tokens_out"] == world.endpoint.requests[0]["max_tokens"]
    again = dry(world, str(folder), "--as-of", "2026-01-31")
    assert again["planned"] == [] and again["total"]["calls"] == 0
    other = dry(world, str(folder), "另一个问题?", "--as-of", "2026-01-31")
    assert other["earlier"] == {"runs": 1, "calls": ASKED, "tokens": other["earlier"]["tokens"]}
    assert world.endpoint.calls == ASKED


def test_a_dry_run_is_told_in_words_with_a_price_where_it_is_known(
    world: World, tmp_path: Path, monkeypatch: Any
) -> None:
    folder = make_folder(tmp_path / "shop")
    (tmp_path / "tight.toml").write_text(PROFILE)
    text = world.call("answer", str(folder), "--profile", str(tmp_path / "tight.toml"), "--dry-run").stdout
    assert (
        "price not known" in text and "the budget stops it at calls 40" in text and text.endswith("nothing was sent\n")
    )
    monkeypatch.setenv("MODEL_NAME", "gpt-4o-mini")
    (part, _) = dry(world, str(folder))["planned"]
    assert abs(part["money"] - (part["tokens_in"] * 0.15 + part["tokens_out"] * 0.60) / 1e6) < 1e-9
    monkeypatch.delenv("MODEL_API_URL")
    monkeypatch.delenv("MODEL_NAME")
    said = dry(world, str(folder), "--profile", "local")
    assert {place for part in said["planned"] for place in part["places"]} == {"this machine"}
    assert said["total"]["money"] == 0.0 and world.endpoint.calls == 0
    assert said["later"].startswith("the solver may ask for 5 further samples, with up to ")
