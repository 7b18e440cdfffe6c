"""The loading child: one request a source file → its tables in the DuckDB file.

A reader that fails, hangs or eats the memory ends here; the parent goes on with the next file.
"""

from __future__ import annotations

import errno
import functools
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

from tasks.core import answering, settings
from tasks.core.errors import InputError
from tasks.core.files.store import digest_file
from tasks.core.sql.build import Builder, warm
from tasks.intake.loading import csvfile, excelfile, jsonfile, parquetfile, sqlitefile
from tasks.intake.loading.forms import with_forms
from tasks.intake.loading.part import Loaded

_SHARE = 3
"""DuckDB gets one part in so many of the child's memory; readers and libraries need the rest."""


class Loader:
    """Answers the requests of `catalogue`: open, one a file, finish. DuckDB gets a part of `memory_mb`."""

    def __init__(self, memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self._builder: Builder | None = None

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request, one reply."""
        scratch = Path(request["scratch"])
        builder = self._builder = self._builder or Builder(
            Path(request["database"]), scratch, self._memory_mb // _SHARE, bool(request.get("small"))
        )
        if "names" in request:
            builder.finish([(stored, name) for stored, name in request["names"]])
            self._builder = None
            return {}
        if "path" not in request:
            builder.rehearse()
            return {}
        return self._load(request, builder, scratch).model_dump(mode="json")

    def _load(self, request: dict[str, Any], builder: Builder, scratch: Path) -> Loaded:
        try:
            loaded = _read(request, builder, scratch)
            if request["kind"] != "derived":  # its columns have the types of their plan
                loaded = loaded.model_copy(update={"parts": with_forms(loaded.parts, builder)})
            if digest_file(Path(request["path"])) == request["sha256"]:
                return loaded
            failed = Loaded(error="it changed while it was read: run again", passing=True)
        except InputError as error:
            failed = Loaded(error=error.message)
        except MemoryError:
            failed = Loaded(error=f"reading it needs more than {self._memory_mb} MB")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                failed = Loaded(disk=str(error))
            else:
                failed = Loaded(error=f"cannot be read: {error.strerror}", passing=True)
        except Exception as error:  # noqa: BLE001 - the door of the file readers: what a file does to them is said, not raised
            first = (str(error).strip().splitlines() or [""])[0][:300]
            full = "No space left" in first or "disk quota" in first.lower()
            failed = Loaded(disk=first) if full else Loaded(error=self._said(error, first))
        except BaseException as error:
            if (
                type(error).__name__ != "PanicException"
            ):  # of a reader in Rust: it is no Exception, and has no class to name
                raise
            failed = Loaded(error=f"damaged: {(str(error).splitlines() or [''])[0][:300]}")
        builder.discard(request["stored"])
        return failed

    def _said(self, error: Exception, first: str) -> str:
        """What a library says; DuckDB's want of memory is no fault of the file's form, what damage looks like from inside is."""
        name = type(error).__name__
        if name == "OutOfMemoryException":
            return f"reading it needs more than {self._memory_mb} MB"
        if isinstance(error, RecursionError):
            return "damaged, or nested too deeply: its parts refer to each other without end"
        if isinstance(error, zipfile.BadZipFile | zlib.error | EOFError) or "Invalid unicode" in first:
            return f"damaged: {first}"
        return f"{name}: {first}"


def main() -> None:
    """Be the child."""
    settings.set_default("OPENBLAS_NUM_THREADS", "1")  # each of its threads takes address space
    settings.set_default("JE_ARROW_MALLOC_CONF", "background_thread:false")  # one thread: then it can be forked
    answering.answer_requests(lambda request: _loader().handle(request), warm)


@functools.cache
def _loader() -> Loader:
    """The one of this child, whose memory is known when it answers."""
    return Loader(int(sys.argv[1]))


def _read(request: dict[str, Any], builder: Builder, scratch: Path) -> Loaded:
    path, stored, kind = Path(request["path"]), str(request["stored"]), request["kind"]
    if kind == "sqlite":
        with builder.transaction():
            return sqlitefile.load(path, stored, builder, scratch, float(request["seconds"]))
    if kind == "derived":
        with builder.transaction():
            return sqlitefile.load_table(path, stored, builder, request["table"], request["types"])
    if kind == "json":
        with builder.transaction():
            return Loaded(parts=jsonfile.load(path, stored, builder, scratch))
    if kind == "excel":
        with builder.transaction():
            return excelfile.load(path, stored, builder)
    if kind == "parquet":
        with builder.transaction():
            return Loaded(parts=(parquetfile.load(path, stored, builder),))
    if kind == "csv":
        return Loaded(parts=csvfile.load(path, stored, builder, int(request["sample_bytes"]), scratch))
    raise ValueError(f"no reader for files of kind {kind!r}")


if __name__ == "__main__":
    main()
