"""configs/default.toml and the models of its sections → a page of every setting with value, bounds, unit and reason."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple, get_args, get_origin

from docs.pages import ROOT, cell, code, table

_LINE = re.compile(r"(?P<name>\w+) = (?P<value>(?:\"[^\"]*\"|\[[^\]]*\]|[^#\s]+))\s*#\s*(?P<reason>.*)")
_SIGNS = {"Ge": "≥", "Gt": ">", "Le": "≤", "Lt": "<"}


class Setting(NamedTuple):
    """A line of default.toml."""

    section: str
    name: str
    value: str
    reason: str


def settings() -> tuple[list[Setting], dict[str, str]]:
    """Every setting of default.toml in its order, and what the sections say of themselves."""
    found: list[Setting] = []
    said: dict[str, str] = {}
    section = ""
    for line in (ROOT / "configs" / "default.toml").read_text("utf-8").splitlines():
        if head := re.fullmatch(r"\[([\w.]+)\]\s*(?:#\s*(.*))?", line):
            section = head[1]
            said[section] = head[2] or ""
        elif setting := _LINE.fullmatch(line):
            found.append(Setting(section, setting["name"], setting["value"], setting["reason"]))
    return found, said


def kinds() -> dict[tuple[str, str], str]:
    """By section and name, of every setting that the code knows: its type with bounds, in words."""
    from tasks.core.settings import Settings

    found: dict[tuple[str, str], str] = {}
    for section, field in Settings.model_fields.items():
        kind = field.annotation
        if get_origin(kind) is dict:
            section, kind = f"{section}.*", get_args(kind)[1]
        for name, inner in getattr(kind, "model_fields", {}).items():
            found[section, name] = _kind(inner)
    return found


def page() -> str:
    """The page of all settings."""
    known, (found, said) = kinds(), settings()
    parts = [
        "# Settings\n",
        "Made from `configs/default.toml` and from what the code accepts. A profile (`--profile NAME`, or a `.toml` of yours) overrides "
        "single values; the environment overrides those that [command line](../cli.md#environment) names.\n",
    ]
    for section, remark in said.items():
        parts.append(f"## [{section}]\n")
        if remark:
            parts.append(remark[0].upper() + remark[1:] + ".\n")
        rows = [
            (code(one.name), code(one.value), cell(known.get((_family(section), one.name), "")), cell(one.reason))
            for one in found
            if one.section == section
        ]
        parts.append(
            table(("setting", "default", "takes", "unit and reason"), rows) if rows else "As `[roles.default]`.\n"
        )
    return "\n".join(parts)


def _family(section: str) -> str:
    first, _, rest = section.partition(".")
    return f"{first}.*" if rest else section


def _kind(field: Any) -> str:
    bounds = [f"{sign} {value}" for part in field.metadata for name, sign in _SIGNS.items()
              if (value := getattr(part, name.lower(), None)) is not None]  # fmt: skip
    return " ".join([_named(field.annotation), ", ".join(bounds)]).strip()


def _named(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(f"`{one}`" for one in get_args(kind))
    if get_origin(kind) is tuple:
        return f"list of {_named(get_args(kind)[0])}"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return names.get(kind, getattr(kind, "__name__", str(kind)))
