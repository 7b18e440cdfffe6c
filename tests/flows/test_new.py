"""`tablewright new`: loose files of every kind become a folder that inspect and answer take; bad input leaves nothing behind."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import get_args

import pytest
from world import ANSWER, QUESTION, World, make_folder

from flows import new
from flows.new import lay_out
from tasks.core.errors import InputError
from tasks.core.models.source import FileKind
from tasks.intake.knowledge import parse
from tasks.intake.parsing.headings import uncommented


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """A file of every kind, and some that are none."""
    import pandas as pd
    from papers import Paper

    folder = tmp_path / "loose"
    folder.mkdir()
    frame = pd.DataFrame({"id": [1, 2], "名称": ["茶", "cake"]})
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_csv(folder / "b.TSV", index=False, sep="\t")
    frame.to_csv(folder / "text.xls", index=False)
    frame.to_json(folder / "c.json", orient="records")
    frame.to_excel(folder / "d.xlsx", index=False)
    frame.to_parquet(folder / "e.parquet")
    with sqlite3.connect(folder / "f.db") as db:
        frame.to_sql("f", db, index=False)
    paper = Paper().new()
    paper.document.save(folder / "g.pdf")
    (folder / "h.md").write_text("# 报告\n\nText.\n", "utf-8")
    (folder / "i.html").write_text("<html><body>x</body></html>")
    (folder / "j.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + b"\0" * 40)
    (folder / "metadata.yaml").write_text("tables: {}\n")
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n")
    (folder / "empty.csv").write_bytes(b"")
    (folder / ".hidden").write_text("x")
    (folder / "task.json").write_text('{"question": "other"}')
    return folder


PLACES = {
    "a.csv": "context/csv/a.csv",
    "b.TSV": "context/csv/b.TSV",
    "text.xls": "context/csv/text.xls",
    "c.json": "context/json/c.json",
    "d.xlsx": "context/excel/d.xlsx",
    "e.parquet": "context/parquet/e.parquet",
    "f.db": "context/db/f.db",
    "g.pdf": "context/doc/g.pdf",
    "h.md": "context/doc/h.md",
    "i.html": "context/doc/i.html",
    "j.mp4": "context/video/j.mp4",
    "metadata.yaml": "context/metadata.yaml",
    "photo.png": "",
    "empty.csv": "",
    ".hidden": "",
    "task.json": "",
}


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_each_file_goes_where_its_kind_belongs_and_inspect_reads_it(world: World, tmp_path: Path, loose: Path) -> None:
    given = sorted(map(str, loose.iterdir()))
    assert "left out   " in world.call("new", str(tmp_path / "seen"), *given).stdout
    done = world.call("new", str(tmp_path / "task"), *given, "--question", "多少?", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0 and {Path(one["file"]).name: one["target"] for one in said["files"]} == PLACES
    assert all(one["reason"] for one in said["files"] if not one["target"])
    assert said["wrote"] == ["task.json", "context/knowledge.md"]
    made = tmp_path / "task"
    assert names(made) == {place for place in PLACES.values() if place} | {"task.json", "context/knowledge.md"}
    assert json.loads((made / "task.json").read_text("utf-8")) == {"task_id": "task", "question": "多少?"}
    assert all((made / place).read_bytes() == (loose / name).read_bytes() for name, place in PLACES.items() if place)
    found = json.loads(world.call("inspect", str(made), "--json").stdout)
    assert {table["name"] for table in found["catalogue"]["tables"]} == {"a", "b", "text", "c", "d", "e", "f"}
    outcomes = {file["path"]: file["outcome"] for file in found["catalogue"]["files"]}
    assert outcomes["context/doc/h.md"] == "document" and outcomes["context/video/j.mp4"] == "video"
    assert outcomes["context/knowledge.md"] == "knowledge" and found["knowledge"]["text"] == ""


def test_loose_files_are_answered_and_more_are_added(world: World, tmp_path: Path) -> None:
    context = make_folder(tmp_path / "shop") / "context"
    given = [str(context / "orders.csv"), str(context / "shop.db")]
    folder = str(tmp_path / "my task")
    done = world.call("new", folder, *given, "--question", QUESTION)
    assert done.returncode == 0 and f"tablewright answer '{folder}' --profile local" in done.stdout
    assert "context/db/shop.db" in done.stdout and "fill it in" in done.stdout
    assert world.call("answer", folder, "--out", str(tmp_path / "out"), "--no-prefect").returncode == 0
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    (tmp_path / "note.md").write_text("# Note\n")
    before = (tmp_path / "my task" / "context" / "knowledge.md").read_bytes()
    done = world.call("new", folder, str(tmp_path / "note.md"))
    assert done.returncode == 0 and (tmp_path / "my task" / "context" / "doc" / "note.md").is_file()
    assert (tmp_path / "my task" / "context" / "knowledge.md").read_bytes() == before
    assert json.loads((tmp_path / "my task" / "task.json").read_text("utf-8"))["question"] == QUESTION


def test_without_a_question_there_is_no_task_json_and_the_next_step_asks_for_one(world: World, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    done = world.call("new", str(tmp_path / "new" / "deep"), str(tmp_path / "a.csv"), str(tmp_path / "a.csv"))
    assert done.returncode == 0 and 'deep "question" --profile local' in done.stdout
    assert names(tmp_path / "new") == {"deep/context/csv/a.csv", "deep/context/knowledge.md"}


def test_knowledge_that_is_given_stands_in_place_of_the_hints(tmp_path: Path) -> None:
    (tmp_path / "knowledge.md").write_text("- x: number\n")
    (tmp_path / "a.csv").write_text("x\n1\n")
    made = lay_out(str(tmp_path / "t"), (str(tmp_path / "a.csv"), str(tmp_path / "knowledge.md")))
    assert made.wrote == () and (tmp_path / "t" / "context" / "knowledge.md").read_text() == "- x: number\n"


def test_a_database_keeps_the_rows_of_its_wal(world: World, tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "live.db")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE t (x)")
    db.execute("INSERT INTO t VALUES (1)")
    db.commit()
    made = lay_out(str(tmp_path / "task"), (str(tmp_path / "live.db"),))
    assert [one.target for one in made.files] == ["context/db/live.db", "context/db/live.db-wal"]
    db.close()
    found = json.loads(world.call("inspect", str(tmp_path / "task"), "--json").stdout)
    assert [(table["name"], table["rows"]) for table in found["catalogue"]["tables"]] == [("t", 1)]


def test_links_are_hard_ones_that_the_intake_reads(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "pointer.csv").symlink_to(tmp_path / "a.csv")
    lay_out(str(tmp_path / "task"), (str(tmp_path / "pointer.csv"),), link=True)
    linked = tmp_path / "task" / "context" / "csv" / "pointer.csv"
    assert linked.samefile(tmp_path / "a.csv") and not linked.is_symlink()


@pytest.mark.parametrize(
    ("given", "message", "step"),
    [
        (["missing.csv"], "missing.csv cannot be read: No such file", "look at its name"),
        (["sub"], "sub is a folder, and files are wanted", "name its files: "),
        (["a.csv", "sub/A.csv"], "would both be context/csv/A.csv", "rename one of them"),
        (["photo.png", "empty.csv"], "none of the files can be a source: ", "give a table or a document"),
    ],
)
def test_bad_files_are_refused_with_the_next_step_and_nothing_is_made(
    world: World, tmp_path: Path, given: list[str], message: str, step: str
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "sub" / "A.csv").write_text("x\n2\n")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / "empty.csv").write_bytes(b"")
    done = world.call("new", str(tmp_path / "task"), *(str(tmp_path / name) for name in given))
    assert done.returncode == 2 and message in done.stderr and f"next: {step}" in done.stderr
    assert not (tmp_path / "task").exists()


def test_nothing_that_is_there_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").write_text("x\n1\n")
    lay_out(str(tmp_path / "task"), (str(tmp_path / "a.csv"),), "first?")
    before = {path: path.read_bytes() for path in (tmp_path / "task").rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=r"context/csv/a\.csv is in .* already, and is not written over"):
        lay_out(str(tmp_path / "task"), (str(tmp_path / "b.csv"), str(tmp_path / "a.csv")))
    with pytest.raises(InputError, match=r"has a task\.json with another question: first\?"):
        lay_out(str(tmp_path / "task"), (str(tmp_path / "b.csv"),), "second?")
    with pytest.raises(InputError, match="holds files already") as caught:
        lay_out(str(tmp_path), (str(tmp_path / "b.csv"),))
    assert f'tablewright answer {tmp_path} "question"' in caught.value.hint
    with pytest.raises(InputError, match=r"b\.csv is a file, and a folder is to be made"):
        lay_out(str(tmp_path / "b.csv"), (str(tmp_path / "a.csv"),))
    assert before == {path: path.read_bytes() for path in (tmp_path / "task").rglob("*") if path.is_file()}


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\n1\n")
    copied = []

    def full(source: object, target: object) -> None:
        copied.append(source)
        if len(copied) == 2:
            raise OSError(28, "No space left on device", "b.csv")

    monkeypatch.setattr(new.shutil, "copyfileobj", full)
    with pytest.raises(InputError, match="No space left on device"):
        lay_out(str(tmp_path / "deep" / "task"), (str(tmp_path / "a.csv"), str(tmp_path / "b.csv")))
    assert not (tmp_path / "deep").exists() and len(copied) == 2


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (new._HINTS, ""),
        ("<!-- a -->\n- x: number\n", "\n- x: number\n"),
        ("a\n<!-- b\n- y: 1\n--> - 单位: 元\n", "a\n\n\n - 单位: 元\n"),
        ("<!-- a --><!-- b -->c", "c"),
        ("x <!-- inside a line -->\n", "x <!-- inside a line -->\n"),
        ("```\n<!-- code -->\n```\n<!-- left out -->\n", "```\n<!-- code -->\n```\n\n"),
        ("a\n<!-- never closed\n- x: 1\n", "a\n<!-- never closed\n- x: 1\n"),
    ],
)
def test_comments_of_knowledge_are_no_facts_and_lines_keep_their_numbers(text: str, left: str) -> None:
    found = uncommented(text)
    assert found == left
    assert not parse(new._HINTS).definitions + parse(new._HINTS).metrics + parse(new._HINTS).rules
    if left:
        assert len(found.splitlines()) == len(text.splitlines())


def test_every_kind_of_file_that_can_be_given_has_its_place() -> None:
    assert {*get_args(FileKind)} - {*new._PLACES} == {"database", "task", "other"}
