"""Benchmarks of tests/bench → docs/performance.md: ratios to peers, growth, pictures of it, all from one run.

`python tests/performance.py [--write docs/performance.md] [--only WORDS] [--from FILE]`; without `--write` it prints. What stands
below the mark in the page, before and after of what was fixed, is kept. Exit code 1 when something is over its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import growth  # noqa: E402

MARK = "<!-- written by tests/performance.py; what follows is kept -->"
PEERS = ("duckdb", "pandas", "polars", "pdfplumber", "pymupdf4llm")
_PICTURES = ("PDF pages", "CSV", "JSON", "SQLite")
"""What begins so stands in the first picture, the rest in the second."""


@dataclass
class Ran:
    """What one runner took, by size."""

    seconds: dict[int, float] = field(default_factory=dict)
    cpu: dict[int, float] = field(default_factory=dict)
    said: dict[int, dict[str, str]] = field(default_factory=dict)

    @property
    def points(self) -> list[tuple[int, float]]:
        """Sizes and seconds."""
        return sorted(self.seconds.items())


@dataclass
class Race:
    """One thing done by ours and others."""

    what: str
    unit: str
    limit: dict[str, Any] = field(default_factory=dict)
    runners: dict[str, Ran] = field(default_factory=dict)

    @property
    def largest(self) -> int:
        """The largest size that ours was run at."""
        return max(self.runners["ours"].seconds)

    @property
    def ratio(self) -> float | None:
        """Seconds of ours in those of the peer that the limit names, at the largest size."""
        peer = self.runners.get(self.limit["peer"])
        return self.runners["ours"].seconds[self.largest] / peer.seconds[self.largest] if peer else None

    @property
    def over(self) -> list[str]:
        """Limits that ours does not keep."""
        limit, mine, found = self.limit, self.runners["ours"], []
        if self.ratio is not None and limit["ratio"] and self.ratio > limit["ratio"]:
            found.append(f"{self.ratio:.1f} times {limit['peer']}, at most {limit['ratio']:g}")
        if limit["seconds"] and mine.seconds[self.largest] > limit["seconds"]:
            found.append(f"{mine.seconds[self.largest]:.2f} s, at most {limit['seconds']:g}")
        if len(mine.points) > 1 and growth.exponent(mine.points) > limit["exponent"]:
            found.append(f"grows with exponent {growth.exponent(mine.points):.2f}, at most {limit['exponent']:g}")
        return found


def races(ran: dict[str, Any]) -> list[Race]:
    """What a pytest-benchmark file says, by what is done; without ours nothing is raced."""
    found: dict[str, Race] = {}
    for one in ran["benchmarks"]:
        told = one["extra_info"]
        race = found.setdefault(told["what"], Race(told["what"], told["unit"]))
        race.limit = told.get("limit") or race.limit
        runner = race.runners.setdefault(told["who"], Ran())
        runner.seconds[told["size"]] = one["stats"]["min"]
        runner.cpu[told["size"]] = told["cpu"]
        runner.said[told["size"]] = told.get("said", {})
    return [race for race in found.values() if "ours" in race.runners and race.limit]


def ratios(found: Sequence[Race]) -> str:
    """The table of ratios, one row a race."""
    lines = [
        "| what | size | ours | peer | ratio | at most | processor ratio | growth | within |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for race in found:
        mine, name, limit, size = race.runners["ours"], race.limit["peer"], race.limit, race.largest
        peer = race.runners.get(name)
        told = f"{name} {clock(peer.seconds[size])}" if peer else "–"
        most = f"{limit['ratio']:g}" if peer else f"{limit['seconds']:g} s"
        cpu = f"{mine.cpu[size] / peer.cpu[size]:.1f}" if peer and peer.cpu[size] > 0 else "–"
        grown = f"{growth.exponent(mine.points):.2f}" if len(mine.points) > 1 else "–"
        ratio = f"{race.ratio:.2f}" if race.ratio is not None else "–"
        cells = (race.what, f"{size:,} {race.unit}", clock(mine.seconds[size]), told, ratio, most, cpu, grown)
        lines.append(f"| {' | '.join(cells)} | {'**no**' if race.over else 'yes'} |")
    return "\n".join(lines)


def details(race: Race) -> str:
    """Every runner at every size, and what is known of the result."""
    sizes = sorted({size for ran in race.runners.values() for size in ran.seconds})
    lines = [f"### {race.what}", ""]
    if race.limit["why"]:
        lines += [
            f"Beside its peer ours {race.limit['why']}."
            if race.limit["peer"]
            else f"{race.limit['why'].capitalize()}.",
            "",
        ]
    head = ["who", *(f"{size:,}" for size in sizes), f"{race.unit} a second", "growth", "result"]
    lines += [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for who, ran in race.runners.items():
        times = [clock(ran.seconds[size]) if size in ran.seconds else "–" for size in sizes]
        rate = sizes[-1] / ran.seconds[sizes[-1]] if sizes[-1] in ran.seconds else 0.0
        grown = f"{growth.exponent(ran.points):.2f}" if len(ran.points) > 1 else "–"
        said = "; ".join(f"{name} {value}" for name, value in ran.said[max(ran.said)].items())
        lines.append(f"| {' | '.join([who, *times, number(rate), grown, said or '–'])} |")
    return "\n".join(lines)


def clock(seconds: float) -> str:
    """Seconds for reading."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.2g} ms"


def number(rate: float) -> str:
    """A rate for reading."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def page(found: Sequence[Race], head: str, kept: str) -> str:
    """All of docs/performance.md."""
    over = [f"- {race.what}: {'; '.join(race.over)}" for race in found if race.over]
    parts = [
        "# Performance",
        "How fast each part is beside a plain peer on the same data in the same run, how it grows with size, and what was made faster. A peer is a yardstick: it does\n"
        "less than ours, or other things. Written by the command below; it ends with 1 where something is over its limit.",
        head,
        "## Ratios",
        "At the largest size: the quickest of two to five rounds. `ratio` is ours in seconds of the peer, `processor ratio` the same of processor time, children included. `growth` is the\n"
        "exponent between the two largest sizes: 1 is linear; n log n stays below 1.25.",
        ratios(found),
        "Over a limit:\n\n" + "\n".join(over) if over else "Nothing is over its limit.",
        "## Growth",
        "![Seconds by size of reading files](pictures/growth_reading.png)\n\n![Seconds by size of all else](pictures/growth_rest.png)",
        "## Each race",
        *(details(race) for race in found),
        MARK,
    ]
    return "\n\n".join(parts) + "\n" + kept


def draw(found: Sequence[Race], folder: Path) -> None:
    """The two pictures."""
    for name, first in (("growth_reading.png", True), ("growth_rest.png", False)):
        chosen = [race for race in found if race.what.startswith(_PICTURES) is first]
        plots = [
            growth.curves(race.what, race.unit, {who: ran.points for who, ran in race.runners.items()})
            for race in chosen
            if len(race.runners["ours"].points) > 1
        ]
        if plots:
            (folder / name).write_bytes(growth.picture(plots))


def run(only: str, to: Path) -> dict[str, Any]:
    """Run the benchmarks. Raises SystemExit when one of them fails."""
    argv = [sys.executable, "-m", "pytest", "tests/bench", "-o", "python_files=bench_*.py", "-o", "python_functions=bench_*",
            "-p", "no:randomly", "-p", "no:xdist", "-W", "ignore", "--benchmark-quiet", f"--benchmark-json={to}"]  # fmt: skip
    done = subprocess.run([*argv, *(["-k", only] if only else [])], cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"the benchmarks ended with {done.returncode}: nothing is written")
    return dict(json.loads(to.read_text("utf-8")))


def _quoted(only: str) -> str:
    return f' ONLY="{only}"' if only else ""


def main() -> int:
    """Run, write, and say what is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="the page to write, with its pictures beside it")
    parser.add_argument("--only", default="", help="benchmarks whose names match, as pytest's -k")
    parser.add_argument("--from", dest="file", type=Path, help="a run that was kept, in place of a new one")
    parser.add_argument("--keep", type=Path, help="where to keep what pytest-benchmark says")
    given = parser.parse_args()
    load, began = ", ".join(f"{one:.1f}" for one in os.getloadavg()), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        ran = (
            json.loads(given.file.read_text("utf-8"))
            if given.file
            else run(given.only, given.keep or Path(scratch) / "ran.json")
        )
    found = races(ran)
    peers = ", ".join(f"{name} {version(name)}" for name in PEERS)
    head = (
        f"{date.today()}, `make bench{_quoted(given.only)}`: Python {platform.python_version()}, {platform.system()} {platform.release()}, {os.cpu_count()} cores, "
        f"load at the start {load}, {time.monotonic() - began:.0f} s in all; {peers}."
    )
    kept = ""
    if given.write and given.write.exists():
        kept = given.write.read_text("utf-8").partition(MARK)[2].lstrip("\n")
    text = page(found, head, f"\n{kept}" if kept else "")
    if given.write:
        given.write.write_text(text, "utf-8")
        draw(found, given.write.parent / "pictures")
    print(ratios(found) if given.write else text)
    return 1 if any(race.over for race in found) else 0


if __name__ == "__main__":
    sys.exit(main())
