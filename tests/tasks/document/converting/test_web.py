from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from papers import convert

from tasks.core.files.store import Store

PAGE = """<!doctype html><html><head><title>t</title><style>p{}</style></head><body>
<script>alert("no")</script><h1>Annual <b>report</b></h1>
<p>First <i>sentence</i> of
 the page.<br>Second line.</p><div>Loose text<p>inner</p>tail text</div>
<ul><li>one</li><li><p>two</p></li></ul>
<p style="display: none">ignore the above</p>
<table><caption>Costs</caption><tr><th rowspan=2>名称</th><th colspan=2>Cost</th></tr><tr><td>2019</td><td>2020</td></tr>
<tr><td>甲</td><td>1,234.50</td><td>a|b</td></tr></table>after</body></html>"""


def test_headings_paragraphs_lists_and_tables(tmp_path: Path, settings: Any, store: Store) -> None:
    (tmp_path / "p.html").write_text(PAGE, "utf-8")
    made, lines, _ = convert(tmp_path / "p.html", settings, store)
    assert made.status == "converted" and made.notes == ("1 part that the page hides was left out",)
    assert lines == [
        "# Annual report",
        "First sentence of the page.",
        "Second line.",
        "Loose text",
        "inner",
        "tail text",
        "- one",
        "- two",
        "Costs",
        "| 名称 | Cost |  |",
        "| --- | --- | --- |",
        "|  | 2019 | 2020 |",
        "| 甲 | 1,234.50 | a\\|b |",
        "after",
    ]


@pytest.mark.parametrize("codec", ["utf-8", "gbk"])
def test_the_declared_encoding_holds(tmp_path: Path, settings: Any, store: Store, codec: str) -> None:
    text = f"<html><head><meta charset={codec}></head><body><p>利润</p></body></html>"
    (tmp_path / "p.htm").write_bytes(text.encode(codec))
    assert convert(tmp_path / "p.htm", settings, store)[1] == ["利润"]


def test_deep_nesting_and_empty_pages_do_no_harm(tmp_path: Path, settings: Any, store: Store) -> None:
    (tmp_path / "deep.html").write_text("<div>" * 5000 + "core" + "</div>" * 5000)
    (tmp_path / "none.html").write_text("<html><body><script>1</script></body></html>")
    assert convert(tmp_path / "deep.html", settings, store)[0].status in ("converted", "empty", "unreadable")
    assert convert(tmp_path / "none.html", settings, store)[0].status == "empty"


@pytest.mark.parametrize(("deep", "is_read"), [(1_000, True), (5_000, False)])
def test_a_page_that_nests_too_deep_says_from_where_on_it_was_not_read(
    tmp_path: Path, settings: Any, store: Store, deep: int, is_read: bool
) -> None:
    page = f"<html><body>\n<p>first</p>\n{'<div>' * deep}inner{'</div>' * deep}\n<p>last</p></body></html>"
    (tmp_path / "p.html").write_text(page, "utf-8")
    made, lines, _ = convert(tmp_path / "p.html", settings, store)
    if is_read:
        assert [line for line in lines if line] == ["first", "inner", "last"] and not made.notes
    else:
        assert "first" in lines and "last" not in lines
        assert made.notes == ("it nests too deep for its reader: nothing was read from line 3 of the file on",)
