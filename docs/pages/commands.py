"""The commands as Typer knows them → a page of usage, arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docs.pages import cell, code, table


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its whole name, those of groups too: `tablewright`, `tablewright answer`, `tablewright model fetch`."""
    import typer

    import flows.cli.main  # noqa: F401  registers them
    from flows.cli.app import app

    yield from _below("tablewright", typer.main.get_command(app))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for child in getattr(command, "commands", {}).values():
        yield from _below(f"{name} {child.name}", child)


def options(command: Any) -> list[Any]:
    """Its options in their order, without `--help`."""
    return [one for one in command.params if one.param_type_name == "option" and "--help" not in one.opts]


def arguments(command: Any) -> list[Any]:
    """Its arguments in their order."""
    return [one for one in command.params if one.param_type_name == "argument"]


def usage(name: str, command: Any) -> str:
    """The line that says how it is called."""
    given = [_argument(one) for one in arguments(command)]
    more = ["COMMAND …"] if getattr(command, "commands", None) else []
    return " ".join([name, *(["[OPTIONS]"] if options(command) else []), *given, *more])


def page() -> str:
    """The page of all commands."""
    parts = [
        "# Commands and options\n",
        "Made from the code. [Command line](../cli.md) says what the commands do; `tablewright COMMAND --help` prints "
        "the same as this page.\n",
    ]
    for name, command in commands():
        parts.append(f"## {name}\n")
        parts.append(f"```\n{usage(name, command)}\n```\n")
        parts.append((command.help or "").strip() + "\n")
        if found := arguments(command):
            parts.append(table(("argument", "what"), [(code(_argument(one)), cell(one.help or "")) for one in found]))
        if found := options(command):
            rows = [(code(_names(one)), cell(_default(one)), cell(one.help or "")) for one in found]
            parts.append(table(("option", "default", "what"), rows))
        if below := getattr(command, "commands", None):
            rows = [(code(f"{name} {one.name}"), cell(one.help or "")) for one in below.values()]
            parts.append(table(("command", "what"), rows))
    return "\n".join(parts)


def _argument(one: Any) -> str:
    shown = one.metavar or one.name.upper()
    shown += "…" * (one.nargs == -1)
    return shown if one.required else f"[{shown}]"


def _names(one: Any) -> str:
    value = "" if one.is_flag else f" {one.metavar or one.opts[-1].lstrip('-').upper().replace('-', '_')}"
    return ", ".join([*one.opts, *one.secondary_opts]) + value


def _default(one: Any) -> str:
    """Empty where there is none, or where the help says what comes without it."""
    if one.is_flag or one.default in (None, "", (), []) or callable(one.default):
        return ""
    return f"`{one.default}`"
