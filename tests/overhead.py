"""Prefect's share of a run → tables: seconds by stage and by run through Prefect and as plain calls, with an empty store and a full one.

    python tests/overhead.py [--repeats 3] [--delay 12] [--write docs/prefect.md]

Every run is a process of its own with a scripted model behind real HTTP. Runs without delay tell what a stage and a run cost; those
whose five model calls take `--delay` seconds each tell its share of a minute. The server is a real one over SQLite: cold for
the first run after it has started, warm for all others. Exit code 1 where Prefect takes more than 5 % of the slow run, or more than 2 s from the start to
the first stage.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from endpoint import Delay, Endpoint  # noqa: E402
from throughput import line, spent  # noqa: E402
from world import ASKED, World, free_port, last_run, make_folder, solver  # noqa: E402

MOST_SHARE, MOST_START = 0.05, 2.0
_HEAR = """
import sys, time
from tasks import stage
heard = []
def hear(name, event, seconds):
    if event == "start" and not heard:
        heard.append(print(f"first {time.time()} {time.process_time()}", file=sys.stderr))
stage.listener.set(hear)
"""


class Measured(NamedTuple):
    """One run, or the medians of several."""

    first: float
    """Seconds from the start of the command to that of the first stage."""
    work: float
    """Processor seconds of the command until then: what it takes on a quiet machine."""
    run: float
    """Seconds of the run, from its record."""
    stages: dict[str, float]
    """Seconds by stage."""
    cpu: float
    """Processor seconds of the command and its children."""
    server: float
    """Processor seconds of the server meanwhile."""


def measure(world: World, folder: Path, process: int | None) -> Measured:
    """Run the answer command once; `process` is that of the server, None for plain calls."""
    shutil.rmtree(world.root / "out", ignore_errors=True)
    cpu, server, began = spent(), _used(process), time.time()
    how = () if process else ("--no-prefect",)
    done = world.run("answer", str(folder), "--out", str(world.root / "out"), *how, script=_HEAR, seconds=600)
    assert done.returncode == 0, done.stderr
    first, work = next(map(float, said.split()[1:]) for said in done.stderr.splitlines() if said.startswith("first "))
    record = last_run(world.store)
    assert bool(record["prefect"]) == bool(process), "the run was to take the other way"
    stages = {one["stage"]: one["seconds"] for one in record["stages"]}
    return Measured(first - began, work, record["seconds"], stages, spent() - cpu, _used(process) - server)


def median(runs: list[Measured]) -> Measured:
    """Of each figure."""
    stages = {name: statistics.median(run.stages.get(name, 0.0) for run in runs) for name in runs[0].stages}
    figures = {
        name: statistics.median(getattr(run, name) for run in runs)
        for name in ("first", "work", "run", "cpu", "server")
    }
    return Measured(stages=stages, **figures)


def compare(root: Path, url: str, process: int, repeats: int, delay: float) -> dict[str, Measured]:
    """All ways by their name in the table; the first run through Prefect is the server's first."""
    found: dict[str, Measured] = {}
    folder = make_folder(root / "shop")
    for name, seconds, times in (("cold", 0.0, 1), ("", 0.0, repeats), ("slow", delay, 1)):
        for way, api, server in (("Prefect", url, process), ("plain", "http://127.0.0.1:9/api", None)):
            fresh, again = [], []
            for _ in range(times):
                shutil.rmtree(root / "store", ignore_errors=True)
                with Endpoint(lambda body, s=seconds: Delay(s, solver(body)) if s else solver(body)) as endpoint:
                    world = World(root, endpoint, {"PREFECT_API_URL": api, "PYTHONDONTWRITEBYTECODE": ""})
                    fresh.append(measure(world, folder, server))
                    assert endpoint.calls == ASKED
                    again.append(measure(world, folder, server))
                    assert endpoint.calls == ASKED, "a full store asks no model"
            found[f"{way} {name}".strip()] = median(fresh)
            found[f"{way} {name} cached".replace("  ", " ")] = median(again)
    return found


def report(found: dict[str, Measured], delay: float) -> tuple[str, bool]:
    """Both tables, and whether the targets are met."""
    share = (found["Prefect slow"].run - found["plain slow"].run) / (ASKED * delay)
    start, work = found["Prefect"].first, found["Prefect"].work
    rows = [
        ("", "start to first stage s", "of it cpu s", "run s", "cpu s of the run", "cpu s of the server"),
        ("---",) * 6,
        *((name, *(f"{x:.2f}" for x in (m.first, m.work, m.run, m.cpu, m.server))) for name, m in _named(found, delay)),
    ]
    quick = ("plain", "Prefect", "plain cached", "Prefect cached")
    stages = [
        ("stage", *(f"{way} ms" for way in quick)),
        ("---",) * 5,
        *((name, *(f"{found[way].stages.get(name, 0) * 1000:.0f}" for way in quick)) for name in found["plain"].stages),
        ("all", *(f"{sum(found[way].stages.values()) * 1000:.0f}" for way in quick)),
    ]
    said = (
        f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}. Prefect takes {share:.1%} of a run whose model calls take "
        f"{ASKED * delay:g} s (at most {MOST_SHARE:.0%}), and {start:.2f} s from the command's start to the first stage (at most {MOST_START:g} s; {work:.2f} s of processor time).\n"
    )
    text = "\n".join([said, *map(line, rows), "", *map(line, stages), ""])
    return text, share <= MOST_SHARE and start <= MOST_START


def _named(found: dict[str, Measured], delay: float) -> list[tuple[str, Measured]]:
    told = {
        "": "model at once, empty store",
        "cached": "full store",
        "cold": "first run after the server's start",
        "slow": f"model calls of {ASKED * delay:g} s, empty store",
    }
    kept = [
        f"{way} {kind}".strip() for kind in told for way in ("plain", "Prefect") if (way, kind) != ("plain", "cold")
    ]
    return [(f"{name.split()[0]}, {told[name.partition(' ')[2]]}", found[name]) for name in kept]


def _used(process: int | None) -> float:
    """Processor seconds of the server's session so far."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat") if process else ():
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == process:
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def main(show: Callable[[str], None] = print) -> int:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs without delay, of which medians are told")
    parser.add_argument("--delay", type=float, default=12.0, help="seconds of each of the five replies of a slow run")
    parser.add_argument("--write", type=Path, help="a Markdown file whose part after <!-- overhead --> is written anew")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = served(Path(scratch), given.repeats, given.delay)
    text, good = report(found, given.delay)
    show(text)
    if given.write:
        before, mark, after = given.write.read_text("utf-8").partition("<!-- overhead -->\n")
        rest = after.partition("<!-- end of overhead -->")
        given.write.write_text(f"{before}{mark}\n{text}\n{rest[1]}{rest[2]}", "utf-8")
    return 0 if good else 1


def served(scratch: Path, repeats: int, delay: float) -> dict[str, Measured]:
    """All measured over a server of its own, which ends with it."""
    from flows.running import server
    from tasks.core import process, settings

    url = f"http://127.0.0.1:{free_port()}/api"
    environment: dict[str, Any] = settings.environment(**server.variables(url), PREFECT_HOME=str(scratch / "prefect"))
    os.environ["PREFECT_HOME"] = environment["PREFECT_HOME"]
    with (scratch / "server.log").open("w") as log:
        child = process.start(
            [sys.executable, "-m", "prefect", "server", "start"], stdout=log, stderr=log, env=environment
        )
        try:
            began = time.monotonic()
            while not server.healthy(url, 1.0):
                assert child.poll() is None and time.monotonic() - began < 180, json.dumps(str(log))
                time.sleep(0.2)
            return compare(scratch, url, child.pid, repeats, delay)
        finally:
            process.stop(child)


if __name__ == "__main__":
    sys.exit(main())
