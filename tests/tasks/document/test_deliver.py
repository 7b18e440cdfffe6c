"""Tables written into the caller's folder, or the reason why not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tasks.core.errors import InputError
from tasks.core.files.store import Store
from tasks.core.models.document import DerivedTable
from tasks.document.deliver import deliver_tables


@pytest.fixture
def table(store: Store) -> DerivedTable:
    database = store.put("not read 茶".encode(), "茶.sqlite")
    return DerivedTable(
        stem="茶", table="茶", paths=("茶.md",), database=database, key="id", records=0, columns=(), perfect=True
    )


def test_tables_lie_in_derived_of_a_new_folder(table: DerivedTable, tmp_path: Path) -> None:
    assert asyncio.run(deliver_tables((table,), str(tmp_path / "deep" / "out"))) == ("derived/茶.sqlite",)
    assert (tmp_path / "deep" / "out" / "derived" / "茶.sqlite").read_text("utf-8") == "not read 茶"


def test_without_tables_no_folder_is_made(store: Store, tmp_path: Path) -> None:
    assert asyncio.run(deliver_tables((), str(tmp_path / "out"))) == () and not (tmp_path / "out").exists()


@pytest.mark.parametrize("out", ["taken", "taken/deeper", "~nobody-of-that-name/x", "a\0b"])
def test_a_folder_that_cannot_be_written_is_the_users_to_mend(out: str, table: DerivedTable, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    with pytest.raises(InputError, match="cannot write the tables to") as caught:
        asyncio.run(deliver_tables((table,), out if out.startswith("~") else str(tmp_path / out)))
    assert caught.value.hint and (tmp_path / "taken").read_text("utf-8") == "a file"
