"""`tablewright inspect`: every file has an outcome, every problem is named, no model is asked."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from rich.cells import cell_len
from world import World, make_folder


def test_inspect_shows_files_tables_joins_knowledge_and_problems(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    (folder / "context" / "broken.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 100)
    (folder / "context" / "clip.mp4").write_bytes(b"\0")
    done = world.call("inspect", str(folder))
    text = " ".join(done.stdout.split())
    assert done.returncode == 0 and done.stderr == ""
    for part in ("orders: 3 rows from context/orders.csv", "products: 2 rows from context/shop.db::products", "茶"):
        assert part in text
    assert "join orders.product_id = products.id: 100.0%" in text
    assert "knowledge: context/knowledge.md: 1 definitions" in text
    assert "problem T104: context/broken.db: unreadable: " in text and "clip.mp4" in text
    assert world.endpoint.calls == 0


@pytest.mark.parametrize("width", [80, 200])
def test_no_word_is_broken_on_a_narrow_terminal(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    from flows.cli.app import out

    monkeypatch.setattr(out, "width", width)
    (tmp_path / "shop").mkdir()
    names = ["customer_identifier", "单价", *(f"measured_quantity_{number}" for number in range(6))]
    rows = "".join(f"C0{number},{number}.5,{number},2,3,4,5,6\n" for number in range(3))
    (tmp_path / "shop" / "quarterly_orders.csv").write_text(f"{','.join(names)}\n{rows}", "utf-8")
    said = world.call("inspect", str(tmp_path / "shop")).stdout
    for name in (*names, "dimension", "quarterly_orders.csv"):
        assert name in said
    wide = [line for line in said.splitlines() if cell_len(line) > width]
    assert all(line.startswith(("note ", "problem ")) for line in wide), wide
    assert ("3 distinct; C00" in said) is (width < 100) and ("examples" in said) is (width > 100)
    assert ("8 columns in all, 4 shown" in said) is (width < 100)


def test_inspect_as_json_holds_the_same(world: World, tmp_path: Path) -> None:
    said = json.loads(world.call("inspect", str(make_folder(tmp_path / "shop")), "--json").stdout)
    assert {file["path"]: file["outcome"] for file in said["catalogue"]["files"]} == {
        "context/knowledge.md": "knowledge",
        "context/orders.csv": "table",
        "context/shop.db": "table",
        "task.json": "ignored",
    }
    assert said["problems"] == [] and [table["name"] for table in said["profile"]["tables"]] == ["orders", "products"]


def test_problems_and_notes_have_codes(world: World, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.csv").write_text("id,v\n007,1\n008,x\n009,2\n")
    (tmp_path / "shop" / "b.json").write_text('[{"a": 1}, {"a"')
    said = json.loads(world.call("inspect", str(tmp_path / "shop"), "--json").stdout)
    assert [(each["code"], each["place"]) for each in said["problems"]] == [("T321", "a.v"), ("T104", "b.json")]
    assert [(each["code"], each["place"]) for each in said["notes"]] == [("T311", "a.id")]
    assert said["samples"][0]["rows"][0] == ["007", "1"]


@pytest.mark.parametrize(
    ("values", "ends", "note"),
    [
        (["9", "10", "-3", "100"], ["-3", "100"], "numbers that the source holds as text: CAST(x AS DOUBLE) reads them"),
        (["1.234,5", "99,0", "9,5"], ["9,5", "1.234,5"], "with a decimal comma"),
        (["2/11/2020", "30/1/2020", "1/12/2019"], ["1/12/2019", "2/11/2020"], "dates, day first"),
        (["2020-11-02", "2020-01-30", "2019-12-01"], ["2019-12-01", "2020-11-02"],
         "dates in ISO form that the source holds as text: CAST(x AS DATE) reads them"),
        (["2020-11-02 10:00:00", "2020-01-30 09:30:00"], ["2020-01-30 09:30:00", "2020-11-02 10:00:00"],
         "dates in ISO form that the source holds as text: CAST(x AS TIMESTAMP) reads them"),
        (["丙", "甲", "b"], ["b", "甲"], ""),
    ],
)  # fmt: skip
def test_ranges_of_text_go_by_the_values_that_it_writes(
    values: list[str], ends: list[str], note: str, world: World, tmp_path: Path
) -> None:
    (tmp_path / "shop").mkdir()
    with sqlite3.connect(tmp_path / "shop" / "库.db") as db:
        db.execute("create table t (数 text)")
        db.executemany("insert into t values (?)", [(value,) for value in values])
    said = json.loads(world.call("inspect", str(tmp_path / "shop"), "--json").stdout)
    (column,) = said["profile"]["tables"][0]["columns"]
    assert [column["type"], column["minimum"], column["maximum"]] == ["VARCHAR", *ends]
    assert said["problems"] == [] and sorted(row[0] for row in said["samples"][0]["rows"]) == sorted(values)
    assert [note in each["text"] for each in said["notes"]] == [True] * bool(note)


def test_columns_of_tiny_tables_are_not_called_keys(world: World, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name, rows in (("tiny", 7), ("more", 8)):
        lines = "".join(f"{number},{number * number}\n" for number in range(rows))
        (tmp_path / "shop" / f"{name}.csv").write_text("code,squared\n" + lines)
    text = world.call("inspect", str(tmp_path / "shop")).stdout
    more, tiny = text.split("tiny: 7 rows")
    assert more.count("(key)") == 2 and "(key)" not in tiny


def test_inspect_writes_a_page(world: World, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "<b>茶.csv").write_text("name,v\n<script>alert(1)</script>,1\n绿茶,\n", "utf-8")
    (tmp_path / "shop" / "c.db").write_text("no database")
    done = world.call("inspect", str(tmp_path / "shop"), "--html", str(tmp_path / "page.html"))
    assert done.returncode == 0 and "2 files, 1 problem" in done.stdout
    inside = world.call("inspect", str(tmp_path / "shop"), "--html", str(tmp_path / "shop" / "page.html"))
    assert inside.returncode == 2 and "whose files are sources" in inside.stderr
    assert not (tmp_path / "shop" / "page.html").exists()
    page = (tmp_path / "page.html").read_text("utf-8")
    for part in (
        "&lt;script&gt;alert(1)",
        "绿茶",
        "&lt;b&gt;茶.csv",
        "T102",
        "no SQLite database",
        "2 rows, 2 columns",
    ):
        assert part in page, part
    assert "<script" not in page and "http://" not in page and "https://" not in page


def test_the_page_counts_tables_and_keeps_numbers_whole(world: World, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in "abc":
        (tmp_path / "shop" / f"{name}.csv").write_text("n,d,t\n123456789012345678901234567890,2020-01-31,some text\n")
    world.call("inspect", str(tmp_path / "shop"), "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<p>3 tables." in page and "<strong>0 problems" in page
    assert page.count('class="number">123456789012345678901234567890<') == 3
    assert page.count('class="number">2020-01-31<') == 3 and '<td dir="auto">some text<' in page


def test_inspect_needs_no_model_and_no_question(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "数据.csv").write_text("编号\n007\n", "utf-8")
    monkeypatch.delenv("MODEL_NAME")
    done = world.call("inspect", str(tmp_path / "bare"))
    assert done.returncode == 0 and "数据" in done.stdout and "007" in done.stdout and "knowledge: none" in done.stdout


def test_bad_folders_are_said(world: World, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        done = world.call("inspect", str(tmp_path / folder))
        assert done.returncode == 2 and folder in done.stderr and "next:" in done.stderr


def test_a_page_for_a_user_that_is_not_known_is_said(world: World, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.csv").write_text("n\n1\n", "utf-8")
    done = world.call("inspect", str(tmp_path / "shop"), "--html", "~nobody-of-that-name/page.html")
    assert done.returncode == 2 and "names no user of this machine" in done.stderr and "next:" in done.stderr
