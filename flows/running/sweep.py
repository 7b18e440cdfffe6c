"""configs/benchmark.toml, and what was asked beside it → the request of a benchmark; what was asked wins."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flows.running.grid import BenchmarkRequest, make_request
from tasks.core.errors import InputError
from tasks.core.files.paths import expand, is_file
from tasks.core.sections import PROJECT

_FIELDS = [name for name in BenchmarkRequest.model_fields if name not in ("config", "run")]


def asked(config: str, given: dict[str, Any]) -> BenchmarkRequest:
    """The request of a file of `configs/` by its name, or of a path that ends in .toml, with the fields that were given over it.

    Raises InputError for a file that is not there or no TOML, and for a field that it may not have or a value that a field does not take.
    """
    if not config:
        return make_request(**given)
    path = _path(config)
    said = _read(path)
    if strange := next((name for name in said if name not in _FIELDS), ""):
        near = get_close_matches(strange, _FIELDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"it may have {', '.join(_FIELDS)}"
        raise InputError(f"{path} has {strange!r}, which is no field of a benchmark", hint)
    try:
        BenchmarkRequest(**said)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {name} {first['input']!r}: {first['msg']}", "mend the file") from error
    if "repeats" in given:
        said.pop("seeds", None)  # which would go before them
    return make_request(**{**said, **given})


def settled(request: BenchmarkRequest) -> BenchmarkRequest:
    """The request with its file read. Of a form, which fills in every field, those that differ from their defaults go before the file.

    Raises InputError as `asked`.
    """
    return asked(request.config, request.model_dump(exclude_defaults=True, exclude={"config"}))


def _path(config: str) -> Path:
    path = expand(config).absolute() if config.endswith(".toml") else PROJECT / "configs" / f"{config}.toml"
    if not is_file(path):
        raise InputError(
            f"there is no file {path}", "name a file of configs/, as `benchmark`, or give the path of a .toml"
        )
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}", "mend the file: it is TOML, in UTF-8") from error
