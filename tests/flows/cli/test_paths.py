"""A path that is not there, in every argument of every command: told by its name with the next step, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import World, make_folder

GONE = "nicht 这里"
FOLDER = (f"there is no folder '{GONE}'", "give the path of")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("answer", GONE, "how many?"), FOLDER),
        (("answer", "shop", "how many?", "--profile", f"{GONE}.toml"), (f"no profile '{GONE}.toml'", "choose one of")),
        (("answer", "--from", GONE, "how many?"), (f"there is no run '{GONE}'", "tablewright runs")),
        (("document", GONE), FOLDER),
        (("document", "shop", "--only", GONE), (f"there is no document '{GONE}'", "the folder's documents: none")),
        (("trace", "t", "r", "c", "--out", GONE), (f"there is no folder '{GONE}'", "--out")),
        (("inspect", GONE), FOLDER),
        (("inspect", "shop", "--html", f"{GONE}/x.html"), (f"cannot be written to {GONE}/x.html", "give another file")),
        (("batch", GONE, "out"), FOLDER),
        (("batch", "tasks", "out", "--gold", GONE), FOLDER),
        (("container", "--input", GONE, "--output", "out", "--logs", "logs"), FOLDER),
        (("score", GONE, "tasks"), FOLDER),
        (("score", "table.csv", GONE), (f"there is no file or folder '{GONE}'", "give a gold.csv, or a folder")),
        (("score", "tasks", GONE), (f"there is no file or folder '{GONE}'", "give a gold.csv, or a folder")),
        (("score", GONE, "table.csv"), (f"there is no prediction '{GONE}'", "give the CSV file")),
        (("suite", "check", GONE), FOLDER),
        (("suite", "write", GONE), FOLDER),
        (("suite", "write", "shop"), ("shop has no folder gold/", "a suite holds")),
        (("benchmark", "run", "--suite", GONE, "--no-prefect"), (f"{GONE}'", "give the path of")),
        (("benchmark", "list", "--results", GONE), FOLDER),
        (("benchmark", "query", "SELECT 1", "--results", GONE), FOLDER),
        (("benchmark", "report", "one", "--results", GONE), FOLDER),
        (("benchmark", "accept", "one", "--results", GONE), FOLDER),
        (("runs", "--gold", GONE), FOLDER),
        (("resume", GONE), (f"there is no run '{GONE}'", "tablewright runs")),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else None,
)
def test_what_is_not_there_is_told_by_its_name_and_the_next_step(
    arguments: tuple[str, ...], says: tuple[str, str], world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_folder(tmp_path / "shop")
    make_folder(tmp_path / "tasks" / "task_1")
    (tmp_path / "tasks" / "task_1" / "gold.csv").write_text("n\n1\n")
    (tmp_path / "table.csv").write_text("n\n1\n")
    done = world.call(*arguments)
    first, _, then = done.stderr.partition("next: ")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert says[0] in first and says[1] in then and "Traceback" not in done.stderr, done.stderr
