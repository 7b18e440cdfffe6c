"""The report: its page needs nothing else, its picture is one, and it replaces its own section only."""

from __future__ import annotations

import asyncio
import re
import struct
from pathlib import Path

import pytest

from tasks.benchmark.report import write_report
from tasks.benchmark.reporting.section import markers, replace_section
from tasks.core.errors import InputError
from tasks.core.models.benchmark import Benchmark, Move, Paired, SetupScore, StageScore, Suite, SuiteTask, TaskScores

EVIL = "<script>x</script>套件"


def found(folder: Path) -> Benchmark:
    """A run with a name that would act on a page."""
    counts = {"tasks": 2, "repeats": 3, "answered": 1.0, "perfect": 0.5, "seconds": 2.0, "tokens": 1500.0}
    setup = {"suite": EVIL, "version": "7", "model": "", **counts, "calls": 3.0, "paid": 1.0, "money": 0.25}
    move = Move(suite=EVIL, task="task_1", setup="default", before=1.0, after=0.25)
    return Benchmark(
        run="r1",
        folder=str(folder),
        suites=(Suite(name=EVIL, folder="", tasks=(SuiteTask(task="t", asked="", gold=""),), disputed={"t": "a | b"}),),
        setups=(
            SetupScore(**setup, profile="bare", score=0.5, sigma=None),
            SetupScore(**setup, profile="default", score=0.625, sigma=0.0125),
        ),
        stages=(StageScore(suite=EVIL, profile="bare", model="", stage="extraction", metric="recall", right=3, of=4, trials=1),),
        costs=(),
        tasks=(TaskScores(suite=EVIL, task="t", profile="bare", model="", score=0.5, sigma=None, status="failed", why="<b>", left_out="x"),),
        against=Paired(before="r0", after="r1", pairs=9, unpaired=1, difference=-0.1, moves=(move,), p=1.0),
    )  # fmt: skip


def test_the_page_is_self_contained_and_names_do_not_act(tmp_path: Path) -> None:
    asyncio.run(write_report(found(tmp_path)))
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<script" not in page and "&lt;script&gt;x&lt;/script&gt;套件" in page
    assert not re.search(r"(src|href)\s*=|@import|url\(", page) and page.count("<svg") == 1
    for said in ("0.625", "0.013", "3 of 4", "r0", "0.250", "sign test p = 1", "1 are not compared"):
        assert said in page, said


def test_the_markdown_holds_the_same_figures(tmp_path: Path) -> None:
    asyncio.run(write_report(found(tmp_path)))
    text = (tmp_path / "report.md").read_text("utf-8")
    row = next(line for line in text.splitlines() if "| default |" in line)
    assert [cell.strip() for cell in row.strip("|").split("|")][1:] == [
        "default", "2", "3", "100%", "0.625", "0.013", "50%", "2.0", "1,500", "3.0", "1.0", "0.25"
    ]  # fmt: skip
    assert "<" not in text and "&lt;script>x&lt;/script>套件/t: a | b" in text
    assert "9 tasks on both sides: 0 better, 1 worse, 8 as before; mean -0.100" in text and "1.00 → 0.25" in text


def test_the_picture_is_a_png_of_its_plots(tmp_path: Path) -> None:
    asyncio.run(write_report(found(tmp_path)))
    data = (tmp_path / "plots.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and (width, height) == (1520, 2 * (3 * (44 + 2 * 24 + 26) + 44 + 24 + 26))
    import pymupdf

    colours = {pymupdf.Pixmap(data).pixel(x, 106) for x in range(480, 700, 10)}
    assert colours == {(43, 108, 163)}, "the first bar reaches half of the axis in the first setup's colour"


def test_only_the_section_between_the_markers_changes(tmp_path: Path) -> None:
    begin, end = markers("nightly")
    before, after = "# 结果\r\n\ntext  \n" + begin, end + "\n\ntrailing  text"
    file = tmp_path / "results.md"
    for old in ("", "\nlast night\n"):
        file.write_bytes((before + old + after).encode())
        asyncio.run(write_report(found(tmp_path), str(file), "nightly"))
        text = file.read_bytes().decode()
        assert text.startswith(before + "\n\nRun `r1`") and text.endswith("\n\n" + after) and "last night" not in text


@pytest.mark.parametrize("text", ["", "BEGIN", "END BEGIN", "BEGIN END BEGIN END"])
def test_a_file_without_one_pair_of_markers_is_left_alone(tmp_path: Path, text: str) -> None:
    begin, end = markers("x")
    file = tmp_path / "results.md"
    file.write_text(text.replace("BEGIN", begin).replace("END", end))
    old = file.read_bytes()
    with pytest.raises(InputError, match="has no place for this"):
        replace_section(file, "x", "new")
    assert file.read_bytes() == old
