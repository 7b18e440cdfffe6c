"""A Prefect block as a store's file system: reads, misses in the words of several file systems, writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flows.clean import clean
from flows.running.storage import BlockFiles, files_of
from tasks.core.errors import InputError
from tasks.core.files.store import Folder, Store


class NoSuchKey(Exception):
    pass


class ClientError(Exception):
    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


class Failing:
    """A block whose every read ends with an error, as blocks of other packages do."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def read_path(self, path: str, _sync: bool) -> bytes:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        ValueError("Path /x does not exist."),
        FileNotFoundError("x"),
        NoSuchKey(),
        ClientError("404"),
        ClientError("NoSuchKey"),
    ],
    ids=repr,
)
def test_a_missing_file_is_none_in_the_words_of_every_file_system(error: Exception) -> None:
    assert BlockFiles(Failing(error)).read("x") is None
    assert BlockFiles(Failing(error)).exists("x") is False


@pytest.mark.parametrize(
    "error",
    [ValueError("outside of the base path"), PermissionError("x"), ClientError("403"), KeyboardInterrupt()],
    ids=repr,
)
def test_other_trouble_is_raised(error: BaseException) -> None:
    with pytest.raises(type(error)):
        BlockFiles(Failing(error)).read("x")


def test_a_remote_block_keeps_artifacts_and_lays_them_into_the_cache(tmp_path: Path) -> None:
    from prefect.filesystems import RemoteFileSystem

    block: Any = RemoteFileSystem(basepath=f"memory://{tmp_path.name}/store")
    store = Store(files_of(block), tmp_path / "cache")
    (tmp_path / "大.txt").write_text("内容", "utf-8")
    ref = store.put_file(tmp_path / "大.txt")
    assert store.has(ref) and store.get(ref).decode() == "内容" and not (tmp_path / "大.txt").exists()
    assert store.local(ref).read_text("utf-8") == "内容" and store.local(ref).is_relative_to(tmp_path / "cache")
    assert store.read("records/none.json") is None and not store.files.exists("records/none.json")
    assert store.names("runs") == []
    for path in ("runs/20260131-店.json", "runs/20260130-a.json", "runs/below/c.json"):
        store.write(path, b"{}")
    assert sorted(store.names("runs")) == ["20260130-a.json", "20260131-店.json"]
    with pytest.raises(InputError, match="the store is a Prefect block"):
        clean(store, days=0, journal=True, dry=False)


def test_a_block_that_cannot_list_says_so() -> None:
    with pytest.raises(InputError, match="cannot list its files"):
        BlockFiles(Failing(ValueError())).names("runs")


def test_a_local_block_is_used_as_the_folder_that_it_is(tmp_path: Path) -> None:
    from prefect.filesystems import LocalFileSystem

    files = files_of(LocalFileSystem(basepath=str(tmp_path)))
    assert isinstance(files, Folder) and files.root == tmp_path
