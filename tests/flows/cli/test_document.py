"""`tablewright document`: every file of the folder is named with what became of it, and documents go by all their names."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from world import World

PROFILE = '[plan]\nwriter = "rules"\n[vote]\nenabled = false\n[normalise]\nmodel_code = false\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mixed"
    (made / "sub").mkdir(parents=True)
    for name, data in {
        "a.md": b"# Note\n\nnothing to count here.\n",
        "sub/b.txt": b"nothing here either\n",
        "bad.pdf": b"%PDF-1.7\n" + b"garbage" * 50,
        "fake.docx": b"PK\x03\x04" + b"no archive" * 20,
        "text.pdf": b"Orchard OR-101 covers 12.5 hectares.",
        "old.doc": b"\xd0\xcf\x11\xe0 old",
        "README": b"text without suffix\n",
        "photo.png": b"\x89PNG\r\n",
        "t.csv": b"a,b\n1,2\n",
        "knowledge.md": b"# Terms\n",
        ".hidden": b"",
    }.items():
        (made / name).write_bytes(data)
    with sqlite3.connect(made / "s.db") as db:
        db.execute("CREATE TABLE t (x INTEGER)")
    return made


def run(world: World, folder: Path, *more: str, code: int = 5) -> Any:
    (world.root / "profile.toml").write_text(PROFILE)
    profile = str(world.root / "profile.toml")
    done = world.call("document", str(folder), "--profile", profile, "--out", str(world.root / "out"), *more)
    assert done.returncode == code, done
    return done


def test_every_file_is_named_with_what_became_of_it(world: World, folder: Path) -> None:
    told = json.loads(run(world, folder, "--json").stdout)
    documents = {path: about for about in told["documents"] for path in about["paths"]}
    assert set(documents) == {"a.md", "sub/b.txt", "bad.pdf", "fake.docx"} and set(told["left_out"]) == {"text.pdf"}
    others = told["others"]
    assert set(others) == {"old.doc", "README", "photo.png", "t.csv", "s.db", "knowledge.md", ".hidden"}
    assert "save it as PDF or Markdown" in others["old.doc"] and "without suffix" in others["README"]
    assert others["t.csv"].startswith("a table") and others["knowledge.md"].startswith("read as knowledge")
    shown = run(world, folder).stdout
    lines = [line for line in shown.splitlines() if ": " in line and not line.startswith(" ")]
    every = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {line.partition(": ")[0] for line in lines} >= every


def test_a_reason_names_no_place_of_this_machine(world: World, folder: Path) -> None:
    done = run(world, folder, "--json")
    about = {about["paths"][0]: about["reason"] for about in json.loads(done.stdout)["documents"]}
    assert "bad.pdf" in about["bad.pdf"] and about["fake.docx"]
    assert str(folder.parent) not in done.stdout.replace(str(world.root / "out"), "")
    assert all("/tmp" not in reason for reason in about.values())


@pytest.mark.parametrize("name", ["b.txt", "b", "B.TXT", "sub/b.txt", "./sub/b.txt"])
def test_a_document_goes_by_its_name_with_and_without_suffix_and_by_its_path(
    world: World, folder: Path, name: str
) -> None:
    told = json.loads(run(world, folder, "--only", name, "--json").stdout)
    assert [about["paths"] for about in told["documents"]] == [["sub/b.txt"]]
    assert told["others"]["a.md"] == "ignored; not among the documents that were asked for"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("c.md", "there is no document 'c.md'"),
        ("other/b.txt", "there is no document 'other/b.txt'"),
        ("old.doc", "old.doc is no document that can be read: .doc documents are not read"),
        ("t.csv", "t.csv is no document that can be read: csv"),
    ],
)
def test_a_name_that_is_no_document_is_an_error_that_lists_the_names(
    world: World, folder: Path, name: str, said: str
) -> None:
    error = " ".join(run(world, folder, "--only", name, code=2).stderr.split())
    assert said in error and "the folder's documents: a.md, bad.pdf, fake.docx, sub/b.txt" in error
