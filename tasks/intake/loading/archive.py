"""ZIP archive of an office file → its list of names, after a look at what it would unpack to."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tasks.core.errors import InputError

_UNPACKED = 8 << 30
"""More than any real workbook unpacks to."""
_RATIO = 400
"""Sheets of equal cells reach about 100; a bomb is near 1,000."""
_SMALL = 64 << 20
"""Up to this size any ratio is harmless."""
_KINDS = {
    "xl/workbook.bin": "xlsb",
    "content.xml": "ods",
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint file",
}


def unpack(path: Path) -> zipfile.ZipFile:
    """Open an archive without unpacking it. Raises InputError when it is damaged or a bomb."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError) as error:
        raise InputError(f"a damaged ZIP archive or Excel file: {error}") from error
    packed = sum(item.compress_size for item in archive.infolist())
    unpacked = sum(item.file_size for item in archive.infolist())
    if unpacked > _UNPACKED or (unpacked > _SMALL and unpacked > _RATIO * packed):
        archive.close()
        raise InputError(f"it would unpack from {packed >> 10:,} KB to {unpacked >> 20:,} MB, so it was not opened")
    return archive


def names(archive: zipfile.ZipFile) -> dict[str, str]:
    """The real name of each file, by its name in lower case with forward slashes."""
    return {name.replace("\\", "/").lower().lstrip("/"): name for name in archive.namelist()}


def kind(archive: zipfile.ZipFile) -> str:
    """`xlsx`, `xlsb` or `ods`. Raises InputError for anything else."""
    found = names(archive)
    if any(name.endswith(".xml") and name.startswith("xl/workbook") for name in found):
        return "xlsx"
    what = next((what for name, what in _KINDS.items() if name in found), "a ZIP archive")
    if what in ("xlsb", "ods"):
        return what
    raise InputError(f"{what}, no Excel workbook")
