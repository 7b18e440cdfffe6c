"""Folders that the UI may name: inside the roots, links followed, output and earlier runs too; profiles by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from world import World, make_folder

from flows.running.request import AnswerRequest, DocumentRequest
from flows.running.roots import check_roots
from tasks.core.errors import InputError
from tasks.core.files.store import Folder, Store
from tasks.core.settings import load


def test_only_folders_in_the_roots_may_be_named(store: Store, tmp_path: Path) -> None:
    for name in ("data/店", "data2", "secret"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data" / "link").symlink_to(tmp_path / "secret")
    roots = (str(tmp_path / "nowhere"), str(tmp_path / "data"))

    def ask(folder: str, **more: Any) -> None:
        check_roots(AnswerRequest(folder=str(tmp_path / folder), **more), roots, store)

    for folder in ("data", "data/店", "data/../data/店"):
        ask(folder)
    ask("data/店", out=str(tmp_path / "data" / "out"))
    for folder in ("secret", "data2", "data/../secret", "data/link", "."):
        with pytest.raises(InputError, match="lies in none of the folders"):
            ask(folder)
    with pytest.raises(InputError, match="the output folder"):
        ask("data", out=str(tmp_path / "data2"))
    with pytest.raises(InputError, match="only names of profiles"):
        ask("data", profile=str(tmp_path / "data" / "own.toml"))
    with pytest.raises(InputError, match="lies in none"):
        check_roots(DocumentRequest(folder="/etc"), roots, store)
    check_roots(DocumentRequest(folder="/etc"), (), store)


def test_a_run_outside_of_the_roots_is_not_asked_again(world: World, tmp_path: Path, monkeypatch: Any) -> None:
    ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    store = Store(Folder(world.store), world.store / "cache")
    again = AnswerRequest(folder=str(tmp_path / "data"), base=ended.run, question="?")
    check_roots(again, (str(tmp_path / "shop"),), store)
    with pytest.raises(InputError, match=f"the folder of run {ended.run}"):
        check_roots(again, (str(tmp_path / "data"),), store)
    profile = tmp_path / "own.toml"
    profile.write_text("[prefect]\nroots = []\n")
    monkeypatch.setenv("TABLEWRIGHT_ROOTS", f"{tmp_path / 'a'}:{tmp_path / 'b'}:")
    assert load(str(profile)).prefect.roots == (str(tmp_path / "a"), str(tmp_path / "b"))
