"""files → the caller's folder, each whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.files.paths import expand
from tasks.core.files.store import Folder


def write_all(out: str, files: Mapping[str, bytes], what: str, *, without: str = "") -> Path:
    """Write the files, by name below the folder `out`, which is made where there are some; the folder, absolute.

    `without` is a file that shall not lie there any more. Raises InputError, `what` cannot be written, when the folder
    does not take them.
    """
    try:
        folder = expand(out).absolute()
        if without:
            (folder / without).unlink(missing_ok=True)
        for name, data in files.items():
            Folder(folder).write(name, data)
    except (InputError, OSError, ValueError) as error:  # a NUL in the name is no OSError
        said = getattr(error, "strerror", None) or error
        hint = "choose a folder that you may write to, on a disk with room"
        raise InputError(f"cannot write {what} to {out!r}: {said}", hint) from error
    return folder
