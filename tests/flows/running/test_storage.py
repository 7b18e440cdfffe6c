"""A Prefect block as a store's file system: reads, misses in the words of several file systems, writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prefect.filesystems import RemoteFileSystem

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


@pytest.mark.service
def test_a_store_on_s3_is_seen_whole_by_another_machine_at_once(bucket: Any, tmp_path: Path) -> None:
    ours, theirs = (at_url(bucket.url, tmp_path / name) for name in ("ours", "theirs"))
    assert ours.names("runs") == theirs.names("runs") == [] and theirs.read("runs/a.json") is None
    for length in (1, 70_000, 3):  # longer, then shorter than what was listed and read before
        ours.write("runs/店.json", b"x" * length)
        assert theirs.names("runs") == ["店.json"] and theirs.read("runs/店.json") == b"x" * length
        assert RemoteFileSystem(basepath=bucket.url).read_path("runs/店.json") == b"x" * length
    assert theirs.files.exists("runs/店.json") and not theirs.files.exists("runs/other.json")
    (tmp_path / "表.bin").write_bytes(bytes(range(256)) * 500_000)  # above what one request carries
    ref = ours.put_file(tmp_path / "表.bin")
    assert ours.local(ref).is_relative_to(tmp_path / "ours") and theirs.local(ref).is_relative_to(tmp_path / "theirs")
    assert theirs.get(ref) == ours.local(ref).read_bytes() == theirs.local(ref).read_bytes()
    assert bucket.keys("artifacts/") == [f"artifacts/{ref.sha256[:2]}/{ref.sha256}/表.bin"]
    theirs.write(f"artifacts/{ref.sha256[:2]}/{ref.sha256}/表.bin", b"damaged")
    with pytest.raises(InputError, match="damaged"):
        ours.get(ref)


@pytest.mark.service
def test_an_s3_store_that_is_not_reached_is_told(bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = at_url("s3://no-such-bucket/x", tmp_path)
    assert nowhere.read("runs/a.json") is None
    with pytest.raises(InputError, match="cannot write to the store 's3://no-such-bucket/x'"):
        nowhere.write("runs/a.json", b"{}")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    block = RemoteFileSystem(basepath="s3://away/x", settings={"config_kwargs": {"retries": {"max_attempts": 0}}})
    with pytest.raises(InputError, match="cannot read from the store 's3://away/x'") as told:
        Store(files_of(block), tmp_path).read("runs/a.json")
    assert "variables with its address" in told.value.hint


def test_a_place_whose_package_is_not_installed_names_it() -> None:
    with pytest.raises(InputError, match="no package is installed for stores like 'gs://b/x'") as told:
        files_of(RemoteFileSystem(basepath="gs://b/x"))
    assert "gcsfs" in told.value.hint


def at_url(url: str, cache: Path) -> Store:
    """A store as one machine sees it: fsspec shares its files among equal settings of one process."""
    block: Any = RemoteFileSystem(basepath=url, settings={"skip_instance_cache": True})
    return Store(files_of(block), cache)


def test_a_block_that_cannot_list_says_so() -> None:
    with pytest.raises(InputError, match="cannot list its files"):
        BlockFiles(Failing(ValueError())).names("runs")


def test_a_local_block_is_used_as_the_folder_that_it_is(tmp_path: Path) -> None:
    from prefect.filesystems import LocalFileSystem

    files = files_of(LocalFileSystem(basepath=str(tmp_path)))
    assert isinstance(files, Folder) and files.root == tmp_path
