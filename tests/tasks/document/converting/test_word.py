from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from papers import convert

from tasks.core.files.store import Store


def test_headings_paragraphs_lists_and_tables(tmp_path: Path, settings: Any, store: Store) -> None:
    import docx

    document = docx.Document()
    document.add_heading("年度报告", 0)
    document.add_heading("Stations", 2)
    document.add_paragraph("First  sentence.\nSecond line.")
    document.add_paragraph("one point", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [c for row in table.rows for c in row.cells], ["名称", "Cost", "甲|乙", "1,234.50"], strict=True
    ):
        cell.text = text
    document.add_paragraph("After the table.")
    document.sections[0].header.paragraphs[0].text = "Running head"
    document.save(str(tmp_path / "d.docx"))
    made, lines, places = convert(tmp_path / "d.docx", settings, store)
    assert made.status == "converted" and made.notes == ("the pages' headers and footers were left out",)
    assert lines == [
        "# 年度报告",
        "## Stations",
        "First sentence.",
        "Second line.",
        "- one point",
        "| 名称 | Cost |",
        "| --- | --- |",
        "| 甲\\|乙 | 1,234.50 |",
        "After the table.",
    ]
    assert places[3].line == 4 and places[3].page == 0


def test_bombs_and_other_files_are_refused(tmp_path: Path, settings: Any, store: Store) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (40 << 20))
    (tmp_path / "no.docx").write_bytes(b"PK\x03\x04 not really")
    (tmp_path / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 locked")
    for name, said in (("bomb.docx", "unpacks"), ("no.docx", "damaged"), ("old.docx", "password")):
        made, _, _ = convert(tmp_path / name, settings, store)
        assert made.status == "unreadable" and said in made.reason, made
