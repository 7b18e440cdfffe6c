"""Store settings → the Prefect file-system block that holds the store, and that block as a store's file system."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.files.store import FileSystem, Folder
from tasks.core.sections import StoreSettings

_MISSING = {"FileNotFoundError", "NoSuchKey", "NotFound", "ResourceNotFoundError", "BlobNotFound"}
"""Error classes by which file systems say that there is no such file; their packages are not imported for it."""


class BlockFiles:
    """A Prefect file-system block as the file system of a store."""

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
        if files := getattr(self.block, "filesystem", None):
            return bool(files.exists(self.block._resolve_path(path)))
        return self.read(path) is not None

    def names(self, folder: str) -> list[str]:
        files = getattr(self.block, "filesystem", None)
        if files is None:
            raise InputError(
                f"a block of type {type(self.block).__name__} cannot list its files",
                "use a RemoteFileSystem block, or a folder, for the store",
            )
        try:
            found = files.ls(self.block._resolve_path(folder), detail=True)
        except FileNotFoundError:
            return []
        return [entry["name"].rsplit("/", 1)[-1] for entry in found if entry["type"] == "file"]


async def open_block(store: StoreSettings) -> Any:
    """The block that `store.block` names, or a local one over `store.path`; saved on the server, as Prefect asks.

    Raises InputError when there is no block of that name.
    """
    from prefect.blocks.core import Block
    from prefect.filesystems import LocalFileSystem

    if store.block:
        try:
            return await Block.aload(store.block)
        except ValueError as error:
            raise InputError(
                f"no block {store.block!r} on the Prefect server: {error}",
                "create it in the UI under Blocks, or empty store.block to use the folder",
            ) from error
    folder = str(store.folder)
    name = f"tablewright-{hashlib.sha256(folder.encode()).hexdigest()[:12]}"
    try:
        return await LocalFileSystem.aload(name)
    except ValueError:
        block = LocalFileSystem(basepath=folder)
        await block.asave(name, overwrite=True)
        return block


def files_of(block: Any) -> FileSystem:
    """The block as a store's file system; a local one is used as the folder that it is."""
    from prefect.filesystems import LocalFileSystem

    if isinstance(block, LocalFileSystem):
        return Folder(Path(block.basepath or ".").expanduser().resolve())
    return BlockFiles(block)


def _is_missing(error: BaseException) -> bool:
    reply = getattr(error, "response", None)
    code = reply.get("Error", {}).get("Code") if isinstance(reply, dict) else None
    names = {kind.__name__ for kind in type(error).__mro__}
    said = isinstance(error, ValueError) and "does not exist" in str(error)
    return bool(names & _MISSING) or code in ("404", "NoSuchKey") or said
