"""All tests, the marked ones included → docs/test-full.md, with date, machine and every skip."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "test-full.md"
MORE = "MORE"
"""The variable of `make test-full` that takes more of pytest's arguments."""


def main() -> int:
    """Run pytest without deselection and write the page; the exit code is pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        done = subprocess.run([sys.executable, "-m", "pytest", f"--junitxml={report}", *sys.argv[1:]], cwd=ROOT)
        if not report.is_file():
            return done.returncode
        TARGET.write_text(page(report, done.returncode, sys.argv[1:]), "utf-8")
    print(f"written: {TARGET.relative_to(ROOT)}")
    return done.returncode


def page(report: Path, code: int, arguments: list[str]) -> str:
    """The result as Markdown, from pytest's JUnit file; the arguments tell whether a part alone was run."""
    suite = ET.parse(report).getroot().find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    outcomes = Counter(outcome(case) for case in cases)
    seconds = float(suite.get("time", "0"))
    by_file: dict[str, Counter[str]] = {}
    for case in cases:
        by_file.setdefault(case.get("classname", "?"), Counter())[outcome(case)] += 1
    at = arguments.index("-m") if "-m" in arguments else len(arguments)
    part = f' {MORE}="{shlex.join(arguments[at : at + 2])}"' if arguments[at:] else ""
    lines = [
        "# Full test run",
        "",
        f"`make test-full{part}` on {date.today().isoformat()}: {', '.join(f'{n} {k}' for k, n in sorted(outcomes.items()))} "
        f"in {seconds:.0f} s; exit code {code}.",
        f"Python {platform.python_version()}, {platform.system()} {platform.release()}, {os.cpu_count()} cores.",
        "",
        "| tests | passed | skipped | failed |",
        "|---|---|---|---|",
    ]
    for name, counts in sorted(by_file.items()):
        failed = counts["failed"] + counts["error"]
        lines.append(f"| {name} | {counts['passed']} | {counts['skipped']} | {failed} |")
    for title, kind in (("Skipped", "skipped"), ("Failed", "failed"), ("Errors", "error")):
        found = [case for case in cases if outcome(case) == kind]
        if found:
            lines += ["", f"## {title}", *(f"- `{case.get('name')}`: {why(case)}" for case in found)]
    return "\n".join(lines) + "\n"


def outcome(case: ET.Element) -> str:
    """passed, skipped, failed or error."""
    for tag, name in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return name
    return "passed"


def why(case: ET.Element) -> str:
    """The first line of the reason."""
    for tag in ("skipped", "failure", "error"):
        node = case.find(tag)
        if node is not None:
            return (node.get("message") or "").splitlines()[0][:200]
    return ""


if __name__ == "__main__":
    sys.exit(main())
