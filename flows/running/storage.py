"""Store settings → the Prefect file-system block that holds the store, and that block as a store's file system."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tasks.core.errors import InputError
from tasks.core.files.store import FileSystem, Folder
from tasks.core.sections import StoreSettings

_MISSING = {"FileNotFoundError", "NoSuchKey", "NotFound", "ResourceNotFoundError", "BlobNotFound"}
"""Error classes by which file systems say that there is no such file; their packages are not imported for it."""
_PACKAGES = {
    "s3": "pip install --no-deps --require-hashes -r requirements-machines.txt",
    "gs": "pip install gcsfs",
    "abfs": "pip install adlfs",
}
"""Where a scheme's file system comes from."""
_FLAT = {"s3", "s3a", "gs", "gcs", "abfs", "az"}
"""Schemes of places without folders."""


class BlockFiles:
    """A Prefect file-system block as the file system of a store, through the two methods that every such block has."""

    def __init__(self, block: Any) -> None:
        self.block = block

    def read(self, path: str) -> bytes | None:
        try:
            data: bytes = self.block.read_path(path, _sync=True)
        except BaseException as error:
            if _is_missing(error):
                return None
            raise
        return data

    def write(self, path: str, data: bytes) -> None:
        self.block.write_path(path, data, _sync=True)

    def exists(self, path: str) -> bool:
        return self.read(path) is not None

    def names(self, folder: str) -> list[str]:
        raise InputError(
            f"a block of type {type(self.block).__name__} cannot list its files",
            "use a RemoteFileSystem block, a URL, or a folder, for the store",
        )


class RemoteFiles:
    """What a RemoteFileSystem block writes to, asked directly: one request a file.

    The block's own methods look for a file's size and for its folder first, in listings that fsspec keeps as they once
    were: of a file that another machine has written since they know nothing, or read half.
    """

    def __init__(self, block: Any) -> None:
        """Raises InputError when the package of that kind of place is not installed."""
        self.block = block
        scheme = urlsplit(block.basepath).scheme
        try:
            self.files = block.filesystem
        except RuntimeError as error:
            hint = _PACKAGES.get(scheme, f"install fsspec's package for {scheme}")
            raise InputError(f"no package is installed for stores like {block.basepath!r}", hint) from error

    def read(self, path: str) -> bytes | None:
        with self._asked("read from"):
            try:
                data: bytes = self.files.cat_file(self._at(path))
            except FileNotFoundError:
                return None
        return data

    def write(self, path: str, data: bytes) -> None:
        place = self._at(path)
        with self._asked("write to"):
            try:
                self.files.pipe_file(place, data)
            except FileNotFoundError:
                if urlsplit(place).scheme in _FLAT:  # there is no such bucket, and none is made of a slip
                    raise
                self.files.makedirs(place.rpartition("/")[0], exist_ok=True)
                self.files.pipe_file(place, data)

    def exists(self, path: str) -> bool:
        with self._asked("read from"):
            self.files.invalidate_cache()
            return bool(self.files.exists(self._at(path)))

    def names(self, folder: str) -> list[str]:
        with self._asked("list"):
            self.files.invalidate_cache()
            try:
                found = self.files.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return []
            finally:
                self.files.invalidate_cache()  # Prefect reads through the same one
        return [entry["name"].rsplit("/", 1)[-1] for entry in found if entry["type"] == "file"]

    def _at(self, path: str) -> str:
        place: str = self.block._resolve_path(path)
        return place

    @contextlib.contextmanager
    def _asked(self, what: str) -> Iterator[None]:
        boto = sys.modules.get("botocore.exceptions")  # its errors are no OSError
        kinds = (OSError, boto.BotoCoreError, boto.ClientError) if boto else (OSError,)
        try:
            yield
        except kinds as error:
            raise InputError(
                f"cannot {what} the store {self.block.basepath!r}: {type(error).__name__}: {error}",
                "look whether it is reached from this machine, and at the variables with its address and keys",
            ) from error


def is_url(block: str) -> bool:
    """Whether `store.block` says where the store is, and not a block's name."""
    return "://" in block


async def open_block(store: StoreSettings, *, saved: bool = True) -> Any:
    """The block that `store.block` names, one over its URL, or a local one over `store.path`.

    `saved` on the server, as Prefect asks of a block that it keeps results in. Raises InputError when there is no block of that name.
    """
    from prefect.blocks.core import Block
    from prefect.filesystems import LocalFileSystem, RemoteFileSystem

    if store.block and not is_url(store.block):
        try:
            return await Block.aload(store.block)
        except ValueError as error:
            raise InputError(
                f"no block {store.block!r} on the Prefect server: {error}",
                "create it in the UI under Blocks, or empty store.block to use the folder",
            ) from error
    place = store.block or str(store.folder)
    made = RemoteFileSystem(basepath=place) if store.block else LocalFileSystem(basepath=place)
    if not saved:
        return made
    name = f"tablewright-{hashlib.sha256(place.encode()).hexdigest()[:12]}"
    try:
        return await type(made).aload(name)
    except ValueError:
        await made.asave(name, overwrite=True)
        return made


def files_of(block: Any) -> FileSystem:
    """The block as a store's file system; a local one is used as the folder that it is."""
    from prefect.filesystems import LocalFileSystem, RemoteFileSystem

    if isinstance(block, LocalFileSystem):
        return Folder(Path(block.basepath or ".").expanduser().resolve())
    return RemoteFiles(block) if isinstance(block, RemoteFileSystem) else BlockFiles(block)


def _is_missing(error: BaseException) -> bool:
    reply = getattr(error, "response", None)
    code = reply.get("Error", {}).get("Code") if isinstance(reply, dict) else None
    names = {kind.__name__ for kind in type(error).__mro__}
    said = isinstance(error, ValueError) and "does not exist" in str(error)
    return bool(names & _MISSING) or code in ("404", "NoSuchKey") or said
