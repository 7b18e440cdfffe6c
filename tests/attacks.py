"""All attacks by SQL and by programs, in each tier of this machine and of lesser ones, as root and as an unprivileged user.

One line a case, then totals; the exit code is 1 when anything got through. `--cost` prints what isolation costs instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import hostile  # noqa: E402
from endpoint import Endpoint  # noqa: E402
from machines import MACHINES, as_user, deny, python_for  # noqa: E402
from outside import Outside, outside  # noqa: E402
from validators import approved, schema  # noqa: E402
from world import ANSWER, CONTRACT, SQL, World, last_run, make_folder  # noqa: E402

from tasks.core.errors import SandboxError  # noqa: E402
from tasks.core.sandbox import tiers  # noqa: E402
from tasks.core.sandbox.cage import Cage  # noqa: E402
from tasks.core.sandbox.runner import run_program  # noqa: E402
from tasks.core.settings import load  # noqa: E402

NOBODY = 65534
CAGES = ("bubblewrap+seccomp", "landlock+seccomp", "bubblewrap+seccomp/shared", "landlock+seccomp/shared")
PROGRAM = "result = [{'category': 'cake', 'n': len(rows)}]"


class Case(NamedTuple):
    """What became of one attack."""

    suite: str
    name: str
    outcome: str
    """`refused`, `ESCAPED` or `skipped`."""
    detail: str = ""


def main() -> int:
    """Run what the command line asks for; 1 when an attack got through."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cost", action="store_true", help="what each tier and the SQL worker cost")
    parser.add_argument("--only", default="", help="only suites whose name contains this: sql, program, run")
    parser.add_argument("--part", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cost:
        import cost

        return cost.main()
    if given.part:
        for case in part(given.part, given.only):
            print(json.dumps(case), flush=True)
        return 0
    return everything(given.only)


def everything(only: str) -> int:
    """Each part in a process of its own, so that one that is killed is seen; then the totals."""
    began, totals = time.monotonic(), Counter[tuple[str, str, str, str]]()
    print(f"Python {platform.python_version()}, {platform.system()} {platform.release()}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        for who, user, python, wanted in users(Path(folder), only):
            for machine in MACHINES:
                for case in run_part(python, user, machine, wanted):
                    totals[case.suite, machine, who, case.outcome] += 1
                    told = f": {case.detail}" if case.detail else ""
                    print(f"{case.outcome:8} {case.suite} | {machine} | {who} | {case.name}{told}", flush=True)
    refused, escaped, skipped = summary(totals)
    print(f"\n{refused} refused, {escaped} escaped, {skipped} skipped, {time.monotonic() - began:.0f} s")
    return 1 if escaped or not refused else 0


def users(folder: Path, only: str) -> Iterator[tuple[str, int, str, str]]:
    """Name, number, interpreter and suites of each user. Root comes twice where its interpreter lies in its own home:
    a user number of its own for programs without namespaces needs one that others can read."""
    user = os.getuid()
    yield "root" if user == 0 else f"uid {user}", user, sys.executable, only
    if user == 0:
        python = python_for(NOBODY, folder)
        if python not in ("", sys.executable) and only in "program":
            yield "root, /usr", user, python, "program"
        yield f"uid {NOBODY}", NOBODY, python, only


def summary(totals: Counter[tuple[str, str, str, str]]) -> list[int]:
    """Print a line for each suite, machine and user; refused, escaped and skipped cases in all."""
    outcomes = ("refused", "ESCAPED", "skipped")
    print(f"\n{'suite':42} {'machine':14} {'user':10} refused escaped skipped")
    for suite, machine, who in dict.fromkeys(key[:3] for key in totals):
        found = [totals[suite, machine, who, outcome] for outcome in outcomes]
        print(f"{suite:42} {machine:14} {who:10} {found[0]:7} {found[1]:7} {found[2]:7}")
    return [sum(count for key, count in totals.items() if key[3] == outcome) for outcome in outcomes]


def run_part(python: str, user: int, machine: str, only: str) -> Iterator[Case]:
    """The cases of one machine as one user; a process that ends before its time has let something through."""
    if not python:
        why = f"uid {user} can run no Python over this checkout and its packages"
        yield Case("all suites", "everything", "skipped", why)
        return
    argv = [python, "-B", str(Path(__file__)), "--part", machine, "--only", only]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **as_user(user)) as process:
        assert process.stdout
        for line in process.stdout:
            yield Case(*json.loads(line))
    if process.returncode:
        yield Case("the suite's own process", "stays alive", "ESCAPED", f"exit code {process.returncode}")


def part(machine: str, only: str) -> Iterator[Case]:
    """All suites on this machine, made lesser first. Names of suites say what the attacks met."""
    if MACHINES[machine]:
        deny(MACHINES[machine])
    with (
        tempfile.TemporaryDirectory(prefix="attacks-", ignore_cleanup_errors=True) as name,
        outside(Path(name)) as world,
    ):
        folder = Path(name)
        if machine == "all" and only in "sql":
            yield from gate()
            yield from wall(folder, world)
        if only in "program":
            yield from by_programs(machine, world)
        if only in "run":
            yield whole_run(folder, machine)


def verdict(suite: str, name: str, found: str, detail: str = "") -> Case:
    """Escaped with what was found, refused without."""
    return Case(suite, name, "ESCAPED" if found else "refused", found or detail)


def gate() -> Iterator[Case]:
    """Every hostile statement before DuckDB's parser."""
    for reason, sql in hostile.statements():
        yield verdict("sql: gate", sql[:90] or "(empty)", hostile.pass_gate(reason, sql), reason)


def wall(folder: Path, world: Outside) -> Iterator[Case]:
    """What the locked database does by itself, without the gate; bombs; and queries that mislead the audit of joins."""
    runner = asyncio.Runner()
    context = hostile.sql_world(folder, world)
    target = runner.run(context.__aenter__())
    for _, sql in hostile.statements():
        yield verdict("sql: database without the gate", sql[:90] or "(empty)", *runner.run(target.second_wall(sql)))
    for case in hostile.bombs():
        yield verdict("sql: bombs", case["name"], *runner.run(target.bomb(case, folder)))
    for case in hostile.audits():
        yield verdict("sql: audit of joins", case["name"], runner.run(target.join(case)))
    runner.run(context.__aexit__(None, None, None))
    runner.close()


def by_programs(machine: str, world: Outside) -> Iterator[Case]:
    """Every attack in every tier; on a lesser machine in the tier that is chosen there."""
    isolation, chosen = asyncio.run(tiers.choose())
    if isolation.tier == "none":
        yield from all_refused(isolation)
        return
    done: list[Cage] = []
    for name in CAGES if machine == "all" else (isolation.tier,):
        suite, cage = f"program: {name}", hostile.cage_of(name) if machine == "all" else chosen
        if isinstance(cage, str):
            yield Case(suite, "every attack", "skipped", cage)
        elif cage in done or cage is None:
            yield Case(suite, "every attack", "skipped", "this user shares its number in any case")
        else:
            done.append(cage)
            for attack in hostile.programs():
                yield verdict(suite, attack["name"], hostile.attack_by_program(attack, cage, world))


def all_refused(isolation: tiers.Isolation) -> Iterator[Case]:
    """Below the last tier no program starts, and the refusal says what to install."""
    for attack in hostile.programs():
        try:
            asyncio.run(run_program(hostile.PRELUDE + attack["program"], {}, load().sandbox))
            found = "it ran"
        except SandboxError as error:
            found = "" if "are not run" in error.message and error.hint == isolation.hint else f"ended: {error}"
        yield verdict("program: none", attack["name"], found)


def whole_run(folder: Path, machine: str) -> Case:
    """A question of which the model wants to solve a part by a program: what tier, what it is told, what is answered."""
    tier = asyncio.run(tiers.probe()).tier
    suite, name = f"run: {tier}", "the answer comes, with or without programs"
    expected = {"no namespaces": "landlock+seccomp", "no Landlock": "bubblewrap+seccomp", "neither": "none"}
    if tier != expected.get(machine, tier):
        if tier == "none":
            return Case(suite, name, "skipped", f"this machine has no {expected[machine]} at all")
        return Case(suite, name, "ESCAPED", f"chosen on a machine with {machine}")
    with Endpoint(_computing) as endpoint:
        world = World(folder, endpoint)
        os.environ.update(world.variables())
        world.answer(make_folder(folder / "task"), folder / "out")
        told = str(endpoint.requests[2]["messages"][-1]["content"])
    record, evidence = last_run(world.store), json.loads((folder / "out" / "evidence.json").read_text("utf-8"))
    wrong = []
    if (folder / "out" / "answer.csv").read_text("utf-8") != ANSWER:
        wrong.append("another answer")
    if record["isolation"]["tier"] != tier or evidence["solving"]["tier"] != ("" if tier == "none" else tier):
        wrong.append("the record or the evidence names another tier")
    if len(told) > 1500 or ("are not run" in told) != (tier == "none"):
        wrong.append(f"the model was told {told[:300]!r}")
    return verdict(suite, name, "; ".join(wrong), "" if tier != "none" else "the model was told why, and used SQL")


def _computing(body: dict[str, Any]) -> str:
    """A scripted model that tries a program first, and hands in a query then."""
    if said := approved(body):
        return said
    if schema(body) == "ContractReply":
        return json.dumps(CONTRACT)
    first = not any(message["role"] == "assistant" for message in body["messages"])
    tool, arguments = ("compute", {"sql": SQL, "program": PROGRAM}) if first else ("submit", {"sql": SQL})
    return json.dumps({"thought": "", "tool": tool, "arguments": arguments})


if __name__ == "__main__":
    sys.exit(main())
