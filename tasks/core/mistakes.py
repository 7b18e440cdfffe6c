"""Settings that are not valid → the error that says in which file, what is wrong, and which names are near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from tasks.core.errors import InputError

_LISTED = 12
"""Settings of a section that are all named where none is near."""
_SHOWN = 3
"""Mistakes that are told at once."""
_VALUE_CHARS = 60
Loc = tuple[int | str, ...]


@dataclass(frozen=True)
class Layer:
    """Settings as one place has them; later layers go before earlier ones."""

    name: str
    """The file, or in words where they come from."""
    data: dict[str, Any]


def explained(error: ValidationError, model: type[BaseModel], layers: Sequence[Layer]) -> InputError:
    """The error for the user, of the first mistakes."""
    found: dict[str, str] = {}
    for one in error.errors():
        loc, where = _placed(one["loc"], layers)
        message, hint = _mistake(loc, one["type"], one["msg"], one["input"], model)
        found.setdefault(f"{where}: {message}", hint)
    more = f" (and {len(found) - _SHOWN} more)" if len(found) > _SHOWN else ""
    hints = dict.fromkeys(filter(None, list(found.values())[:_SHOWN]))
    return InputError(
        "; ".join(list(found)[:_SHOWN]) + more,
        "; ".join([*hints, "see configs/default.toml, which explains each setting"]),
    )


def _mistake(loc: Loc, kind: str, said: str, value: Any, model: type[BaseModel]) -> tuple[str, str]:
    """What is wrong at a place, and what may have been meant."""
    *above, name = map(str, loc)
    section = ".".join(above)
    if kind == "extra_forbidden":
        outside = "there is no section" if isinstance(value, dict) else "outside of the sections there is no setting"
        what = f"[{section}] has no setting {name!r}" if section else f"{outside} {name!r}"
        return what, _meant(name, above, model)
    whole = ".".join(map(str, loc))
    if kind in ("model_type", "dict_type"):
        return f"{whole} is a section, written as [{whole}]", ""
    return f"{whole} = {str(value)[:_VALUE_CHARS]!r}: {said}", ""


def _meant(name: str, above: list[str], model: type[BaseModel]) -> str:
    """What an unknown setting is in another section, or is near to in its own or another; else what its section has."""
    here = _names(model, above)
    places = [(section, key) for section, keys in _sections(model) for key in keys]
    sections = [section for section, key in places if key == name]
    if not sections and (near := get_close_matches(name, here, _SHOWN)):
        return f"did you mean {' or '.join(near)}?"
    wanted = name if sections else next(iter(get_close_matches(name, [key for _, key in places], 1, 0.8)), "")
    if sections := [section for section, key in places if key == wanted]:
        return f"did you mean {wanted} in [{'] or ['.join(sections[:_SHOWN])}]?"
    return f"[{'.'.join(above)}] has {', '.join(here)}" if above and len(here) <= _LISTED else ""


def _names(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """Names that the section at `path` takes."""
    kind: Any = model
    for part in path:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(part)
            kind = field.annotation if field else None
        else:
            kind = get_args(kind)[1] if get_origin(kind) is dict else None
    return list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else []


def _sections(model: type[BaseModel]) -> Iterator[tuple[str, list[str]]]:
    for name, field in model.model_fields.items():
        if get_origin(field.annotation) is dict:
            yield f"{name}.NAME", _names(model, (name, "NAME"))
        elif names := _names(model, (name,)):
            yield name, names


def _placed(loc: Loc, layers: Sequence[Layer]) -> tuple[Loc, str]:
    """Where a setting stands, in the last layer that has it; a role also has those of `roles.default`."""
    paths = [loc, *([("roles", "default", *loc[2:])] if loc[0] == "roles" and len(loc) > 2 else [])]
    for path in paths:
        for layer in reversed(layers):
            if _has(layer.data, path):
                return path, layer.name
    return loc, "settings"


def _has(data: Any, path: Loc) -> bool:
    for part in path:
        if isinstance(data, list) and isinstance(part, int):
            return part < len(data)
        if not isinstance(data, dict) or part not in data:
            return False
        data = data[part]
    return True
