"""A workbook from what fills it, taken in."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from intake_cases import Built, build
from openpyxl import Workbook


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Built]:
    """Write a workbook and take it in; what is given fills its sheets."""

    def do(
        fill: Callable[[Workbook], Any], name: str = "book.xlsx", edit: Callable[[bytes], bytes] | None = None
    ) -> Built:
        folder = tmp_path / "folder"
        folder.mkdir(exist_ok=True)
        book = Workbook()
        fill(book)
        content = io.BytesIO()
        book.save(content)
        data = content.getvalue()
        (folder / name).write_bytes(edit(data) if edit else data)
        return build(folder, tmp_path / "store")

    return do
