"""Content-addressed files, stage records and journal replies on one file system.

Layout below the store's root: `artifacts/ab/<sha256>/<name>`, `records/<stage>/<key>.json`,
`journal/ab/<digest>.json`. The root is a local folder, or whatever a Prefect file-system block writes to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

from tasks.core.errors import InputError
from tasks.core.files import lock
from tasks.core.models.source import ArtifactRef

GATE = "cleaning.lock"
"""In the cache: many use at once, or one removes."""
_COPY_BYTES = 1 << 20
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


class FileSystem(Protocol):
    """What a store needs of a place: whole files by relative path. Writes replace."""

    def read(self, path: str) -> bytes | None:
        """The bytes, or None when there is no such file."""

    def write(self, path: str, data: bytes) -> None:
        """Write the file, whole or not at all."""

    def exists(self, path: str) -> bool:
        """Whether the file is there."""

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder, in no order; none when it is not there."""


class Folder:
    """A local folder as a file system; writes are atomic."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> bytes | None:
        try:
            return (self.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, path: str, data: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=".draft-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(draft).chmod(0o644)
            Path(draft).replace(target)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def exists(self, path: str) -> bool:
        return (self.root / path).is_file()

    def names(self, folder: str) -> list[str]:
        try:
            with os.scandir(self.root / folder) as entries:
                return [entry.name for entry in entries if entry.is_file()]
        except (FileNotFoundError, NotADirectoryError):
            return []


class Store:
    """Artifacts, records and journal over one file system.

    `cache` is a local folder where artifacts of a remote file system are laid to be opened; for a
    local `Folder` artifacts are opened in place.
    """

    def __init__(self, files: FileSystem, cache: Path) -> None:
        self.files = files
        self.cache = cache
        self._whole: set[ArtifactRef] = set()

    def put(self, data: bytes, name: str) -> ArtifactRef:
        """Keep these bytes under their digest; what lies there, damaged maybe, is replaced."""
        ref = ArtifactRef(sha256=hashlib.sha256(data).hexdigest(), name=name, size=len(data))
        self.write(_artifact_path(ref), data)
        return ref

    def put_file(self, path: Path, name: str = "") -> ArtifactRef:
        """Keep a local file like `put`; it is moved into a local store, so give it away."""
        with _writing():
            ref = ArtifactRef(sha256=digest_file(path), name=name or path.name, size=path.stat().st_size)
        target = _artifact_path(ref)
        if isinstance(self.files, Folder):
            place = self.files.root / target
            with _writing():
                place.parent.mkdir(parents=True, exist_ok=True)
                draft = place.parent / f".draft-{uuid.uuid4().hex}"
                shutil.move(path, draft)
                draft.chmod(0o444)
                draft.replace(place)
        else:
            self.write(target, path.read_bytes())
            with _writing():
                place = self._copy(ref)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, place)
        return ref

    def get(self, ref: ArtifactRef) -> bytes:
        """The bytes of an artifact. Raises InputError when they are gone or changed."""
        data = self.files.read(_artifact_path(ref))
        if data is None or hashlib.sha256(data).hexdigest() != ref.sha256:
            raise _lost(ref, "missing" if data is None else "damaged")
        return data

    def has(self, ref: ArtifactRef) -> bool:
        """Whether the artifact is there (its content is not read)."""
        return self.files.exists(_artifact_path(ref))

    def local(self, ref: ArtifactRef) -> Path:
        """A local path with the artifact's bytes, only to be read. Raises InputError when they are gone or changed.

        They are compared once: reading a large file costs seconds.
        """
        if isinstance(self.files, Folder):
            path = self.files.root / _artifact_path(ref)
            if not path.is_file():
                raise _lost(ref, "missing")
            if ref not in self._whole and digest_file(path) != ref.sha256:
                raise _lost(ref, "damaged")
            self._whole.add(ref)
            return path
        path = self._copy(ref)
        if not (path.is_file() and path.stat().st_size == ref.size):
            Folder(self.cache).write(f"{ref.sha256}/{ref.name}", self.get(ref))
        return path

    def _copy(self, ref: ArtifactRef) -> Path:
        """Where the copy of a remote artifact lies on this machine."""
        return self.cache / ref.sha256 / ref.name

    def read(self, path: str) -> bytes | None:
        """A record or journal entry by its path below the root; None when there is none."""
        return self.files.read(path)

    def fetch(self, path: str) -> bytes | None:
        """As `read`, and it and the artifacts that it names count as used now: `tablewright clean` passes over them.

        On a remote file system nothing is marked, and nothing cleaned.
        """
        if not isinstance(self.files, Folder):
            return self.files.read(path)
        with lock.gate(self.cache / GATE, alone=False):
            data = self.files.read(path)
            if data is not None:
                _touch(self.files.root / path)
                for digest in set(_DIGEST.findall(data)):
                    _touch(self.files.root / f"artifacts/{digest[:2].decode()}/{digest.decode()}")
        return data

    def write(self, path: str, data: bytes) -> None:
        """Keep a record or journal entry. Raises InputError when the place does not take it."""
        with _writing():
            self.files.write(path, data)

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder below the root. Raises InputError where the place cannot list them."""
        return self.files.names(folder)

    def scratch(self, prefix: str) -> tempfile.TemporaryDirectory[str]:
        """A temporary folder on the store's own disk. Raises InputError when the place does not take it."""
        with _writing():
            self.cache.mkdir(parents=True, exist_ok=True)
            return tempfile.TemporaryDirectory(prefix=prefix, dir=self.cache)


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write to the store: {error}",
            "free disk space, or set TABLEWRIGHT_STORE or store.path to another folder",
        ) from error


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):  # not there, or another user's
        os.utime(path)


def digest_file(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_COPY_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _lost(ref: ArtifactRef, how: str) -> InputError:
    return InputError(
        f"artifact {ref.name!r} ({ref.sha256[:12]}) is {how} in the store",
        "delete the store's folder `records` and run again: what is needed is made anew",
    )


def _artifact_path(ref: ArtifactRef) -> str:
    return f"artifacts/{ref.sha256[:2]}/{ref.sha256}/{ref.name}"


_current: ContextVar[Store] = ContextVar("store")


def current() -> Store:
    """The store of this run. Raises LookupError outside `use`."""
    return _current.get()


@contextlib.contextmanager
def use(store: Store) -> Iterator[Store]:
    """Make this the store of everything called inside."""
    token = _current.set(store)
    try:
        yield store
    finally:
        _current.reset(token)
