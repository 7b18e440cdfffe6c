"""The loading child: one request a source file → its tables in the DuckDB file.

A reader that fails, hangs or eats the memory ends here; the parent goes on with the next file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tasks.core import process
from tasks.core.errors import InputError
from tasks.core.sql.build import Builder
from tasks.intake import csvfile, jsonfile, sqlitefile
from tasks.intake.part import Loaded

_SHARE = 3
"""DuckDB gets one part in so many of the child's memory; readers and libraries need the rest."""


def main() -> None:
    """Answer the requests of `catalogue`."""
    open_builder: dict[str, Builder] = {}

    def handle(request: dict[str, Any]) -> dict[str, Any]:
        database, scratch = Path(request["database"]), Path(request["scratch"])
        builder = open_builder.get("it")
        if builder is None:
            builder = open_builder["it"] = Builder(database, scratch, int(sys.argv[1]) // _SHARE)
        if "names" in request:
            open_builder.pop("it").finish([(stored, name) for stored, name in request["names"]])
            return {}
        return _load(request, builder, scratch).model_dump(mode="json")

    process.answer_requests(handle)


def _load(request: dict[str, Any], builder: Builder, scratch: Path) -> Loaded:
    try:
        return _read(request, builder, scratch)
    except InputError as error:
        reason = error.message
    except MemoryError:
        reason = f"reading it needs more than {sys.argv[1]} MB"
    except Exception as error:  # noqa: BLE001 - the door of the file readers: what a file does to them is said, not raised
        first = (str(error).strip().splitlines() or [""])[0]
        reason = f"{type(error).__name__}: {first[:300]}"
    builder.discard(request["stored"])
    return Loaded(error=reason)


def _read(request: dict[str, Any], builder: Builder, scratch: Path) -> Loaded:
    path, stored, kind = Path(request["path"]), str(request["stored"]), request["kind"]
    if kind == "sqlite":
        with builder.transaction():
            return sqlitefile.load(path, stored, builder, scratch, float(request["view_seconds"]))
    if kind == "json":
        with builder.transaction():
            return Loaded(parts=jsonfile.load(path, stored, builder, scratch))
    return Loaded(parts=csvfile.load(path, stored, builder, int(request["sample_bytes"]), scratch))


if __name__ == "__main__":
    main()
