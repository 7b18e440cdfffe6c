"""A reader that goes away, as `| head -1` does: the command goes on, says nothing of it, and ends with its own exit code."""

from __future__ import annotations

import os
import sys

import pytest
import typer
from rich.console import Console
from world import ROOT, World

from flows.cli import pipe

LONG = "茶 tea\n" * 20_000


def test_what_is_written_without_a_reader_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", None)
        pipe.be_patient()
        os.close(reading)
        typer.echo(LONG)
        Console().print(LONG)
        assert sys.stdout.write(LONG) == len(LONG)
        sys.stdout.flush()
        assert isinstance(sys.stdout, pipe.Patient) and sys.stdout.fileno() == writing
        assert sys.stderr is None


@pytest.mark.parametrize(("folder", "code"), [("shop", 0), ("nowhere", 2)])
def test_a_command_whose_reader_is_gone_ends_quietly_with_its_own_exit_code(
    folder: str, code: int, world: World
) -> None:
    with world.start("inspect", str(ROOT / "data" / "samples" / folder), "--json") as done:
        assert done.stdout and done.stderr
        done.stdout.close()
        said = done.stderr.read()
        assert (done.wait(), "BrokenPipe" in said, "Traceback" in said) == (code, False, False), said
    assert (said == "") == (code == 0)
