"""Every file of a folder ends in exactly one outcome, with a reason where it is not used."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import sqlite3
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from intake_cases import intake_settings

from tasks.core import process
from tasks.core.errors import InputError
from tasks.core.models.source import Inventory
from tasks.intake.inventory import take_inventory
from tasks.intake.loading.problems import kind_of


def look(folder: Path | str, **limits: Any) -> Inventory:
    return asyncio.run(take_inventory.function(str(folder), intake_settings(**limits)))


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def outcomes(inventory: Inventory) -> dict[str, tuple[str, str, str]]:
    return {file.path: (file.kind, file.outcome, file.reason) for file in inventory.files}


def test_a_task_folder_has_its_sources_in_context(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "task.json": '{"question": "q"}',
            "gold.csv": "a\n1\n",
            "context/csv/a.csv": "a\n1\n",
            "context/JSON/B.JSON": "[]",
            "context/doc/c.md": "text",
            "context/doc/d.pdf": b"%PDF-1.7 x",
            "context/video/e.mp4": b"\0\0\0\x20ftypisom",
            "context/video/f.MP4": "#EXTM3U\nhttp://127.0.0.1/x.ts\n",
            "context/Knowledge.MD": "# k",
        },
    )
    inventory = look(tmp_path)
    assert inventory.context == "context"
    assert outcomes(inventory) == {
        "context/JSON/B.JSON": ("json", "table", ""),
        "context/Knowledge.MD": ("knowledge", "knowledge", ""),
        "context/csv/a.csv": ("csv", "table", ""),
        "context/doc/c.md": ("document", "document", ""),
        "context/doc/d.pdf": ("document", "document", ""),
        "context/video/e.mp4": ("video", "video", ""),
        "context/video/f.MP4": ("video", "unreadable", "text or damaged, no video"),
        "gold.csv": ("csv", "ignored", "lies outside context/, where the sources of a task are"),
        "task.json": ("task", "ignored", "holds the question"),
    }
    assert [file.path for file in inventory.files] == sorted(file.path for file in inventory.files)


def test_files_directly_under_a_folder(tmp_path: Path) -> None:
    put(tmp_path, {"task.json": "{}", "a.csv": "a\n1\n", "deep/er/b.tsv": "b\n1\n", "knowledge.md": "k"})
    inventory = look(tmp_path)
    assert inventory.context == ""
    assert [file.path for file in inventory.of("table")] == ["a.csv", "deep/er/b.tsv"]


def test_every_kind_that_is_not_read_says_so(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "a.xlsx": b"PK\x03\x04x",
            "b.parquet": b"PAR1",
            "c.odt": b"PK\x03\x04x",
            "d.zip": b"PK\x03\x04x",
            "e": "text",
            "f.weird": "x",
            ".hidden.csv": "a\n1\n",
            ".git/config": "x",
            "__MACOSX/a.csv": "x",
            "~$a.xlsx": "x",
            "Thumbs.db": b"\xd0\xcf\x11\xe0",
            "g.csv": b"PK\x03\x04x",
            "h.pdf": "<html>",
            "i.db": "a,b\n1,2\n",
            "j.csv.gz": b"\x1f\x8bx",
            "k.png": b"\x89PNG",
        },
    )
    found = outcomes(look(tmp_path))
    reasons = {path: (outcome, reason) for path, (_, outcome, reason) in found.items()}
    assert len(found) == 16
    assert reasons["a.xlsx"] == reasons["b.parquet"] == ("table", "")
    assert reasons["c.odt"] == ("ignored", ".odt documents are not read: save it as PDF or Markdown")
    assert reasons["d.zip"][0] == reasons["j.csv.gz"][0] == "ignored"
    assert "unpack" in reasons["d.zip"][1] and "unpack" in reasons["j.csv.gz"][1]
    assert reasons["e"] == ("ignored", "a file without suffix is not read")
    assert reasons["f.weird"] == ("ignored", "files with the suffix .weird are not read")
    assert reasons[".hidden.csv"] == ("ignored", "hidden file")
    assert reasons[".git"] == reasons["__MACOSX"] == ("ignored", "hidden folder")
    assert reasons["~$a.xlsx"][0] == reasons["Thumbs.db"][0] == "ignored"
    assert reasons["g.csv"][0] == "table" and "whatever its suffix says" in reasons["g.csv"][1]
    assert reasons["h.pdf"] == ("unreadable", "no PDF")
    assert reasons["i.db"][0] == "unreadable"
    assert reasons["k.png"] == ("ignored", "a PNG picture")
    assert all(reason for path, (_, reason) in reasons.items() if path not in ("a.xlsx", "b.parquet"))


@pytest.mark.parametrize("name", ["a.csv", "a.TSV", "a.psv", "a.json", "a.txt", "a.md", "knowledge.md", "a.xls"])
@pytest.mark.parametrize(
    "data",
    [
        bytes(5000),
        b"id,name\n" + bytes(500),
        b"\xff\xfe" + random.Random(7).randbytes(3000),
        random.Random(8).randbytes(5000),
        random.Random(9).randbytes(300),
        struct.pack("<800d", *(1 / number for number in range(1, 801))),
        struct.pack("<900i", *range(900)),
    ],
    ids=["NUL", "a header and NUL", "a mark and noise", "noise", "little noise", "doubles", "integers"],
)
def test_bytes_that_are_no_text_are_unreadable_whatever_their_suffix(tmp_path: Path, name: str, data: bytes) -> None:
    ((_, outcome, reason),) = outcomes(look(put(tmp_path, {name: data}))).values()
    if name == "a.xls" and b"\0" in data and not data.startswith(b"\xff\xfe"):
        assert outcome == "table", "the workbook's reader says what it is"
        return
    assert outcome == "unreadable"
    assert reason.startswith("binary, not text: get it again, or export it as text"), reason
    assert kind_of(reason).code == "T109" and kind_of(reason).problem


def test_every_file_has_its_digest(tmp_path: Path) -> None:
    put(tmp_path, {"a.csv": "a\n1\n", "b.bin": b"\0" * 3_000_000})
    for file in look(tmp_path).files:
        assert file.sha256 == hashlib.sha256((tmp_path / file.path).read_bytes()).hexdigest()
        assert file.size == (tmp_path / file.path).stat().st_size


def test_links_inside_are_followed_and_links_outside_refused(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", {"secret.csv": "a\n1\n", "more/x.csv": "a\n1\n"})
    folder = put(tmp_path / "folder", {"real/a.csv": "a\n1\n"})
    (folder / "link.csv").symlink_to("real/a.csv")
    (folder / "linked").symlink_to("real", target_is_directory=True)
    (folder / "absolute.csv").symlink_to(folder / "real" / "a.csv")
    (folder / "out.csv").symlink_to(outside / "secret.csv")
    (folder / "outdir").symlink_to(outside / "more", target_is_directory=True)
    (folder / "up.csv").symlink_to("../outside/secret.csv")
    (folder / "nothing.csv").symlink_to("real/missing.csv")
    (folder / "real" / "loop").symlink_to("..", target_is_directory=True)
    (folder / "self").symlink_to("self")
    found = outcomes(look(folder))
    tables = sorted(path for path, (_, outcome, _) in found.items() if outcome == "table")
    assert tables == ["absolute.csv", "link.csv", "linked/a.csv", "real/a.csv"]
    for path in ("out.csv", "outdir", "up.csv"):
        assert found[path][1:] == ("ignored", "a link that leaves the folder")
    assert found["nothing.csv"][1:] == found["self"][1:] == ("ignored", "a link to nothing")
    assert found["real/loop"][1:] == ("ignored", "a link back to a folder above it")


def test_a_linked_folder_may_be_the_root(tmp_path: Path) -> None:
    put(tmp_path / "real", {"a.csv": "a\n1\n"})
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    inventory = look(tmp_path / "link")
    assert inventory.root == str((tmp_path / "real").resolve())
    assert [file.outcome for file in inventory.files] == ["table"]


def test_pipes_and_sockets_are_not_opened(tmp_path: Path) -> None:
    put(tmp_path, {"a.csv": "a\n1\n"})
    os.mkfifo(tmp_path / "pipe.csv")
    assert outcomes(look(tmp_path))["pipe.csv"][1:] == ("ignored", "not a regular file")


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    put(tmp_path, {"a.csv": "a\n1\n"})
    try:
        Path(os.fsdecode(bytes(tmp_path) + b"/b\xff.csv")).write_text("a\n1\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    inventory = look(tmp_path)
    assert outcomes(inventory)["b\\udcff.csv"][1:] == ("unreadable", "its name is not valid UTF-8: rename it")
    inventory.model_dump_json()


def test_side_files_of_a_database_belong_to_it(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("create table t (a)")
    put(tmp_path, {"a.db-wal": "x", "a.db-shm": "x", "a.db-journal": "x"})
    found = outcomes(look(tmp_path))
    assert found["a.db"] == ("sqlite", "table", "")
    for side in ("wal", "shm", "journal"):
        assert found[f"a.db-{side}"][1:] == ("ignored", "belongs to a.db and is read with it")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path / "missing", "there is no folder"),
        (lambda path: put(path, {"file.csv": "a"}) / "file.csv", "is a file, and the folder with the data is wanted"),
        (lambda path: path, "is empty"),
        (lambda path: "", "there is no folder"),
    ],
)
def test_a_folder_that_cannot_be_used(tmp_path: Path, make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        look(make(tmp_path))
    assert raised.value.hint


def test_too_many_files(tmp_path: Path) -> None:
    put(tmp_path, {f"{i}.csv": "a" for i in range(6)})
    assert len(look(tmp_path, max_files=6).files) == 6
    with pytest.raises(InputError, match="more than 5 files"):
        look(tmp_path, max_files=5)


def test_files_without_read_permission(tmp_path: Path) -> None:
    """In a child without privileges, where this test runs as root."""
    put(tmp_path / "folder", {"a.csv": "a\n1\n", "b.csv": "a\n1\n", "closed/c.csv": "a\n1\n"})
    (tmp_path / "folder" / "b.csv").chmod(0)
    (tmp_path / "folder" / "closed").chmod(0)
    for path in (tmp_path, *tmp_path.parents):
        if os.geteuid() == 0 and path != Path("/") and "pytest" in str(path):
            path.chmod(0o755)
    program = (
        "import asyncio, os, sys\n"
        "from tasks.core.settings import load\n"
        "from tasks.intake.inventory import take_inventory\n"
        "limits = load().intake\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "for file in asyncio.run(take_inventory.function(sys.argv[1], limits)).files:\n"
        "    print(file.path, file.outcome, file.reason, sep='|')\n"
    )
    root = Path(__file__).resolve().parents[3]
    done = process.run([sys.executable, "-c", program, str(tmp_path / "folder")], 60, cwd=root)
    (tmp_path / "folder" / "closed").chmod(0o755)
    assert done.stdout.splitlines() == [
        "a.csv|table|",
        "b.csv|unreadable|cannot be read: Permission denied",
        "closed|unreadable|the folder cannot be read: Permission denied",
    ], done.stderr
