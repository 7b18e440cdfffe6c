"""docs/cli.md says of each command which options it takes: all that `--help` shows, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from world import ROOT

from flows.cli import main  # noqa: F401  it adds the commands
from flows.cli.app import app

DOC = (ROOT / "docs" / "cli.md").read_text("utf-8")
BLOCKS = "\n".join(re.findall(r"^```\n(.*?)^```$", DOC, re.M | re.S))
USAGES = [" ".join(usage.split()) for usage in re.findall(r"^tablewright .*(?:\n +.*)*", BLOCKS, re.M)]
"""Lines such as `tablewright score PRED GOLD [--lam 0.1]`, with those that go on with them."""


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", {})
    for name, each in inner.items():
        yield from _commands(each, (*path, name))
    if not inner:
        yield path, command


COMMANDS = dict(_commands(typer.main.get_command(app)))


def _usages(path: tuple[str, ...]) -> list[str]:
    """The lines of a command; one line may be of several, as `model fetch|start`."""
    heads = {usage: re.split(r" \[| --", usage, maxsplit=1)[0].split(" ", 1)[1] for usage in USAGES}
    return [
        usage
        for usage, head in heads.items()
        if head.split()[0] == path[0] and set(path[1:]) <= set(re.findall(r"[a-z]+", head))
    ]


def _options(path: tuple[str, ...]) -> list[set[str]]:
    """Names of each option that `--help` shows, `-n` beside `--last`."""
    shown = (each for each in COMMANDS[path].params if each.param_type_name == "option" and not each.hidden)
    return [{*each.opts} for each in shown if "--help" not in each.opts]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_of_help_stands_in_the_documentation(path: tuple[str, ...]) -> None:
    usages = _usages(path)
    assert usages, f"docs/cli.md has no line `tablewright {' '.join(path)} …`"
    told = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(usages)))
    assert [names for names in _options(path) if not names & told] == []


@pytest.mark.parametrize("name", sorted({path[0] for path in COMMANDS}))
def test_no_option_stands_in_the_documentation_that_help_does_not_show(name: str) -> None:
    paths = [path for path in COMMANDS if path[0] == name]
    known = set().union(*(names for path in paths for names in _options(path)))
    told = {usage: set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", usage)) for path in paths for usage in _usages(path)}
    assert {usage: more for usage, names in told.items() if (more := names - known)} == {}


def test_every_command_stands_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)", DOC, re.M)
    assert sorted({path[0] for path in COMMANDS} - set(rows)) == []
