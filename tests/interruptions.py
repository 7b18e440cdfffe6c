"""Faults × ways to go on → a table: is the answer that of an undisturbed run, and was any kept reply asked for again?

    python tests/interruptions.py [--write docs/resume.md]

Every fault happens to a process of its own, forked from this one, at a place that is known to the write, the call or the
stage; those of a Prefect server and its worker, in `outages.py`, while the model is asked. Exit code 1 when a cell of the table is not "equal".
"""

from __future__ import annotations

import argparse
import errno
import functools
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

import outages  # noqa: E402
from endpoint import Endpoint, Status  # noqa: E402
from world import ASKED, STAGES, World, files, make_folder, solver  # noqa: E402

WAYS = ("resume", "again")
QUICK = "[retry]\nfirst_seconds = 0.01\nlongest_seconds = 0.02\ncool_seconds = 0.01\n"


@dataclass(frozen=True)
class Fault:
    """What happens; `inside` prepares the process that it happens to, `outside` what lies around it."""

    name: str
    inside: Callable[[], None] = lambda: None
    outside: Callable[[World], None] = lambda world: None
    after: Callable[[World], None] = lambda world: None
    """Done to the store when the process has ended."""
    lost: int = 0
    """Replies that arrived and could not be kept: they are asked for once more."""
    answered: int | None = None
    """Requests that the endpoint answers before it turns away all others; those do not count."""


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at(stage_name: str, event: str, act: Callable[[], None]) -> Callable[[], None]:
    """Act at an event of a stage."""

    def prepare() -> None:
        from tasks import stage

        stage.listener.set(lambda name, heard, _: act() if (name, heard) == (stage_name, event) else None)

    return prepare


def patched(place: str, number: int, act: Callable[[], None], before: bool) -> Callable[[], None]:
    """Act before or after the call of this number of a method, `module:Class.name`."""

    def prepare() -> None:
        import importlib

        module, _, path = place.partition(":")
        owner, name = path.split(".")
        kind = getattr(importlib.import_module(module), owner)
        original, seen = getattr(kind, name), [0]

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            seen[0] += 1
            if before and seen[0] >= number:
                act()
            done = original(self, *args, **kwargs)
            if not before and seen[0] >= number:
                act()
            return done

        setattr(kind, name, method)

    return prepare


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def after_calls(calls: int, status: int) -> Callable[[World], None]:
    """The endpoint turns requests away, once it has answered so many."""

    def prepare(world: World) -> None:
        answered = [0]

        def reply(body: dict[str, Any]) -> Any:
            answered[0] += 1
            return solver(body) if answered[0] <= calls else Status(status, "no")

        world.endpoint.replies = reply

    return prepare


def tear(folder: str) -> Callable[[World], None]:
    """The newest file there is cut in half."""

    def act(world: World) -> None:
        newest = max((world.store / folder).rglob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        newest.chmod(0o644)
        newest.write_bytes(newest.read_bytes()[: newest.stat().st_size // 2])

    return act


def faults() -> list[Fault]:
    """All of them, from the first stage to the last."""
    keep, write = "tasks.core.llm.journal:Journal.keep", "tasks.core.files.store:Folder.write"
    solving = at("solve_question", "done", kill)
    return [
        *(Fault(f"kill -9 as stage {name} begins", at(name, "start", kill)) for name in STAGES[3:12:2]),
        *(Fault(f"kill -9 as stage {name} has ended", at(name, "done", kill)) for name in STAGES),
        *(Fault(f"kill -9 with reply {n} just kept", patched(keep, n, kill, before=False)) for n in (1, 2, 3)),
        *(Fault(f"kill -9 with reply {n} arrived, not kept", patched(keep, n, kill, before=True), lost=1) for n in (1, 2, 3)),
        *(Fault(f"kill -9 at write {n} of the store", patched(write, n, kill, before=True), lost=1) for n in (2, 8, 16)),
        *(Fault(f"disk full from write {n} on", patched(write, n, full, before=True), lost=1) for n in (2, 8, 16)),
        *(Fault(f"endpoint gone after {n} replies", outside=after_calls(n, 503), answered=n) for n in (0, 1, 2)),
        Fault("endpoint refuses the key after 1 reply", outside=after_calls(1, 401), answered=1),
        *(
            Fault(f"{sign.name} as stage {name} begins", at(name, "start", lambda sign=sign: os.kill(os.getpid(), sign)))
            for sign, name in ((signal.SIGTERM, "solve_question"), (signal.SIGINT, "write_contract"))
        ),
        Fault("kill -9, and the last record torn", solving, after=tear("records")),
        Fault("kill -9, and the last kept reply torn", solving, after=tear("journal")),
    ]  # fmt: skip


def preload() -> None:
    """Import once what every child would import again; the children share it."""
    from flows import answer, clean, runs, solve  # noqa: F401
    from flows.cli import main  # noqa: F401
    from tasks.core.llm import client
    from tasks.solve import deliver, workbook  # noqa: F401

    client._litellm()


def forked(work: Callable[[], int]) -> int:
    """Exit code of the work in a child, negative for a signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Bench:
    """One folder, one endpoint, a new store for each case."""

    def __init__(self, root: Path, endpoint: Endpoint) -> None:
        self.root, self.world = root, World(root, endpoint)
        (root / "quick.toml").write_text(QUICK)
        self.folder = make_folder(root / "shop")
        self.whole = self._undisturbed()

    def case(self, fault: Fault, way: str) -> tuple[str, str]:
        """How the run ended that the fault hit, and `equal` or what is wrong after going on this way."""
        world, out = self._fresh(), self.root / "out"
        fault.outside(world)
        forked(lambda: self._answer(world, out, fault.inside))
        fault.after(world)
        world.endpoint.replies = solver
        ended = self._run_of(world)
        turned_away = 0 if fault.answered is None else len(world.endpoint.requests) - fault.answered
        code = forked(lambda: self._go_on(world, out, way, ended["run"]))
        if code:
            return ended["status"], f"exit code {code}"
        if (found := files(out)) != self.whole:
            return ended["status"], f"differs: {', '.join(sorted(n for n in found if found[n] != self.whole.get(n)))}"
        asked = world.endpoint.calls - self.before
        allowed = ASKED + fault.lost + turned_away
        return ended["status"], "equal" if asked <= allowed else f"{asked - ASKED} calls too many"

    def _fresh(self) -> World:
        for name in ("store", "out"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        self.world.endpoint.replies, self.before = solver, self.world.endpoint.calls
        self.world.endpoint.requests.clear()
        os.environ.update(self.world.variables())
        return self.world

    def _answer(self, world: World, out: Path, inside: Callable[[], None] = lambda: None) -> int:
        inside()
        arguments = ("answer", str(self.folder), "--as-of", "2026-01-31", "--no-prefect", "--out", str(out))
        return world.call(*arguments, "--profile", str(self.root / "quick.toml")).returncode

    def _go_on(self, world: World, out: Path, way: str, run: str) -> int:
        return world.call("resume", run, "--no-prefect").returncode if way == "resume" else self._answer(world, out)

    def _undisturbed(self) -> dict[str, bytes]:
        world = self._fresh()
        assert forked(lambda: self._answer(world, self.root / "out")) == 0
        assert world.endpoint.calls - self.before == ASKED
        return files(self.root / "out")

    def _run_of(self, world: World) -> dict[str, Any]:
        said: list[dict[str, Any]] = []
        path = self.root / "listed.json"
        forked(lambda: path.write_text(world.call("runs", "--json").stdout) and 0)
        said = json.loads(path.read_text())
        return said[0]


def table(rows: list[tuple[str, str, list[str]]], ways: tuple[str, ...]) -> str:
    """Markdown, below how many cells are as they shall be."""
    head = f"| what happens | the run is then | {' | '.join(f'`{way}`' for way in ways)} |\n|---|---|{'---|' * len(ways)}\n"
    lines = "".join(f"| {name} | {status} | {' | '.join(cells)} |\n" for name, status, cells in rows)
    return f"{_equal(rows)} of {len(rows) * len(ways)} are equal.\n\n{head}{lines}"


def _equal(rows: list[tuple[str, str, list[str]]]) -> int:
    return sum(cell == "equal" for *_, cells in rows for cell in cells)


def processes(only: str) -> list[tuple[str, str, list[str]]]:
    """Faults of one process, without a server."""
    rows: list[tuple[str, str, list[str]]] = []
    chosen = [fault for fault in faults() if only in fault.name]
    if not chosen:
        return rows
    preload()
    with tempfile.TemporaryDirectory(prefix="interruptions-") as root, Endpoint(solver) as endpoint:
        bench = Bench(Path(root), endpoint)
        for fault in chosen:
            results = [bench.case(fault, way) for way in WAYS]
            rows.append((fault.name, results[0][0], [cell for _, cell in results]))
            print(f"{fault.name:<54} {results[0][0]:<22} {' '.join(cell for _, cell in results)}", flush=True)
    return rows


def services(only: str) -> list[tuple[str, str, list[str]]]:
    """Outages of server and worker."""
    if not any(only in outage.name for outage in outages.OUTAGES):
        return []
    with tempfile.TemporaryDirectory(prefix="outages-") as root:
        return outages.rows(Path(root), only, functools.partial(print, flush=True))


def main() -> int:
    """Run all cases; 1 when one is not equal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path, help="a Markdown file whose tables are written anew")
    parser.add_argument("--only", default="", help="faults with this in their name")
    chosen = parser.parse_args()
    first, second = processes(chosen.only), services(chosen.only)
    equal, total = _equal([*first, *second]), len(first) * len(WAYS) + len(second) * len(outages.WAYS)
    print(f"{equal} of {total} equal")
    if chosen.write:
        text = chosen.write.read_text("utf-8") if chosen.write.exists() else ""
        above = text.partition("<!-- table -->")[0]
        below = f"## Server and worker\n\n{table(second, outages.WAYS)}"
        chosen.write.write_text(f"{above}<!-- table -->\n\n{table(first, WAYS)}\n{below}")
    return int(equal != total)


if __name__ == "__main__":
    sys.exit(main())
