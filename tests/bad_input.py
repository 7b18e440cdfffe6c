"""All cases of dirty input: files as they are met in practice → the tables that are expected of them.

As root and as an unprivileged user, where it may change the user. One line a case, then totals; the exit code is 1 when
anything is wrong. `--page` writes docs/problems.md anew instead.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from machines import as_user, python_for  # noqa: E402

NOBODY = 65534


class Lines:
    """A line for each case as it ends; `wrong` are those that did not give what they must."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[tuple[str, str]] = []
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # pytest takes the other one

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest for each phase of a test."""
        if report.when != "call" and not report.failed and not (report.when == "setup" and report.skipped):
            return
        suite, _, name = report.nodeid.removeprefix("tests/tasks/intake/test_").partition(".py::test_")
        outcome = "WRONG" if report.failed else "skipped" if report.skipped else "ok"
        self.counts[outcome] += 1
        if report.failed:
            said = str(getattr(report.longrepr, "reprcrash", "") or report.longreprtext)
            self.wrong.append((f"{suite}: {name}", said.strip().splitlines()[0][:300] if said.strip() else ""))
        print(f"{outcome:8}{suite:14}{_readable(name)}", file=self._out, flush=True)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of cases that cannot even be read is wrong too."""
        if report.failed:
            self.counts["WRONG"] += 1
            self.wrong.append((report.nodeid, report.longreprtext.strip().splitlines()[-1]))


def _readable(name: str) -> str:
    """`a_file_becomes[csv.toml-GBK]` → `a file becomes: GBK`."""
    name = name.encode("ascii", "backslashreplace").decode("unicode_escape", "replace")
    name = "".join(sign if sign.isprintable() else "␤" for sign in name)
    what, _, case = name.removesuffix("]").partition("[")
    return f"{what.replace('_', ' ')}: {case}" if case else what.replace("_", " ")


def main() -> int:
    """Run what the command line asks for; 1 when a case is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--page", action="store_true", help="write docs/problems.md from tasks/intake/loading/problems.py"
    )
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.page:
        from tasks.intake.loading.problems import page

        (ROOT / "docs" / "problems.md").write_text(page(), "utf-8")
        return 0
    return part(given.only) if given.part else everything(given.only)


def everything(only: str) -> int:
    """All cases as each user, in a process of its own; then the totals of each once more."""
    totals, codes = [], []
    with tempfile.TemporaryDirectory(prefix="bad-input-") as folder:
        for user, python in users(Path(folder)):
            if not python:
                totals.append(f"no case as user {user}: it can run no Python over this checkout and its packages")
                codes.append(1)
                continue
            argv = [python, "-B", str(Path(__file__)), "--part", "--only", only]
            with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **as_user(user)) as process:
                last = ""
                assert process.stdout
                for line in process.stdout:
                    print(line, end="", flush=True)
                    last = line.strip() or last
            totals.append(last)
            codes.append(process.returncode)
    print("\n" + "\n".join(totals))
    return 1 if any(codes) else 0


def users(folder: Path) -> Iterator[tuple[int, str]]:
    """Number and interpreter of each user that this one may be."""
    yield os.getuid(), sys.executable
    if os.getuid() == 0:
        yield NOBODY, python_for(NOBODY, folder)


def part(only: str) -> int:
    """All cases as the present user; 1 when one is wrong or there is none."""
    lines = Lines()
    asked = ["-k", only] if only else []
    os.chdir(ROOT)
    chosen = ["-m", "not slow", "-p", "no:terminal", "-p", "no:randomly", "-p", "no:cacheprovider"]
    chosen += ["-o", "addopts=--import-mode=importlib --strict-markers"]
    code = pytest.main([*chosen, *asked, "tests/tasks/intake"], plugins=[lines])
    user = "root" if os.geteuid() == 0 else f"user {os.geteuid()}"
    for name, said in lines.wrong:
        print(f"WRONG {name}\n      {said}")
    total = sum(lines.counts.values())
    listed = ", ".join(f"{count} {outcome}" for outcome, count in sorted(lines.counts.items()))
    print(f"{total} cases as {user}: {listed}")
    return 1 if lines.wrong or not total or code not in (0, 1) else 0


if __name__ == "__main__":
    sys.exit(main())
