"""Artifacts under their digest: damage is noticed before it is read, and mended by making them anew."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tasks.core.errors import InputError
from tasks.core.files.store import Folder, Store
from tasks.core.models.source import ArtifactRef

DATA = b"rows" * 1000


def by_bytes(store: Store, _: Path) -> ArtifactRef:
    return store.put(DATA, "catalogue.duckdb")


def by_file(store: Store, folder: Path) -> ArtifactRef:
    path = folder / "catalogue.duckdb"
    path.write_bytes(DATA)
    return store.put_file(path)


@pytest.mark.parametrize("keep", [by_bytes, by_file])
@pytest.mark.parametrize("damaged", [DATA[:-1], b"R" + DATA[1:], b"", None], ids=["cut", "changed", "empty", "gone"])
def test_a_damaged_artifact_is_not_opened_and_is_mended_when_it_is_made_anew(
    tmp_path: Path, keep: Callable[[Store, Path], ArtifactRef], damaged: bytes | None
) -> None:
    store = Store(Folder(tmp_path / "store"), tmp_path / "cache")
    ref = keep(store, tmp_path)
    assert store.local(ref).read_bytes() == DATA
    path = store.local(ref)
    path.unlink()
    if damaged is not None:
        path.write_bytes(damaged)
    later = Store(Folder(tmp_path / "store"), tmp_path / "cache")
    for read in (later.get, later.local):
        with pytest.raises(InputError, match="missing" if damaged is None else "damaged"):
            read(ref)
    assert keep(later, tmp_path) == ref and later.local(ref).read_bytes() == later.get(ref) == DATA


@pytest.mark.parametrize("in_the_way", ["artifacts", "cache"])
def test_a_place_that_takes_nothing_is_for_the_user_to_mend(tmp_path: Path, in_the_way: str) -> None:
    store = Store(Folder(tmp_path / "store"), tmp_path / "store" / "cache")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / in_the_way).write_text("a file where a folder should be")
    with pytest.raises(InputError, match="cannot write to the store"):
        by_file(store, tmp_path) if in_the_way == "artifacts" else store.scratch("catalogue-")


def test_a_draft_that_vanished_with_its_store_is_for_the_user_to_mend(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write to the store"):
        Store(Folder(tmp_path / "store"), tmp_path / "cache").put_file(tmp_path / "gone")


def test_threads_that_keep_the_same_content_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    store = Store(Folder(tmp_path / "store"), tmp_path / "cache")
    sides, rounds = 8, 40
    start = threading.Barrier(sides)

    def keep(side: int) -> set[ArtifactRef]:
        kept = set()
        for turn in range(rounds):
            path = tmp_path / f"made-{side}-{turn}"
            path.write_bytes(b"%d" % turn)
            start.wait(timeout=30)
            kept.add(store.put_file(path, "same"))
        return kept

    with ThreadPoolExecutor(sides) as pool:
        first, *others = pool.map(keep, range(sides))
    assert all(other == first for other in others)
    assert sorted(store.get(ref) for ref in first) == sorted(b"%d" % turn for turn in range(rounds))
    assert not list((tmp_path / "store").rglob(".draft-*"))
