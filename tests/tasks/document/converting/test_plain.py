from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from papers import convert

from tasks.core.files.store import Store


@pytest.mark.parametrize("name", ["a.md", "a.markdown", "a.TXT"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_lines_are_those_of_the_file(tmp_path: Path, settings: Any, store: Store, name: str, codec: str) -> None:
    text = "# 标题\r\n\r\n某公司公告：销售总额增长，区域包括华北、华东、华南与西部地区，合计三千万元。\r\n| a | b |\r\n"
    (tmp_path / name).write_bytes(text.encode(codec))
    made, lines, places = convert(tmp_path / name, settings, store)
    assert (made.status, made.stem, made.lines) == ("as_is", "a", 4)
    assert lines == text.split("\r\n")[:-1]
    assert [(place.path, place.line, place.page, place.box) for place in places] == [
        (name, n, 0, None) for n in range(1, 5)
    ]


def test_blank_files_are_empty(tmp_path: Path, settings: Any, store: Store) -> None:
    (tmp_path / "a.md").write_text("\n  \n")
    made, _, _ = convert(tmp_path / "a.md", settings, store)
    assert (made.status, made.text) == ("empty", None)
