"""Attacks of tests/cases, as programs and as SQL → what got through of each; an empty text is a refusal."""

from __future__ import annotations

import asyncio
import re
import resource
import time
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import duckdb
from outside import SECRET, Outside

from tasks.core.errors import QueryError, SandboxError
from tasks.core.models.answer import JoinAudit
from tasks.core.sandbox import tiers
from tasks.core.sandbox.cage import Cage
from tasks.core.sandbox.runner import run_in
from tasks.core.sections import QuerySettings
from tasks.core.settings import load
from tasks.core.sql import guard
from tasks.core.sql.engine import Engine
from tasks.core.sql.joins import audit

CASES = Path(__file__).with_name("cases")
PRELUDE = """
import ctypes, json, os
ctx = json.load(open("ctx.json"))
libc = ctypes.CDLL(None, use_errno=True)
escaped, refused = [], []
def attempt(name, action):
    try:
        got = action()
    except BaseException as error:
        refused.append(f"{name}: {type(error).__name__}")
    else:
        (escaped if got else refused).append(name)
"""
REPORT = "\nresult = {'escaped': escaped, 'refused': refused}\n"
_SECONDS = 20.0
_GRACE_SECONDS = 15
"""Killing, reaping and starting anew on a busy machine."""
_PARENT_MB = 300
"""What our own process may grow by, whatever a query does."""
_SUM = "select count(*), sum(amount), min(region), max(region) from sales"
_CAGES: dict[str, Cage | str] = {}


def programs() -> list[dict[str, Any]]:
    """Attacks by programs; see the README beside the cases."""
    files = sorted((CASES / "sandbox").glob("*.toml"))
    return [{**attack, "file": f.stem} for f in files for attack in tomllib.loads(f.read_text("utf-8"))["attack"]]


def statements() -> list[tuple[str, str]]:
    """Reason of the refusal and statement, for each hostile statement."""
    lines = (CASES / "sql" / "hostile.txt").read_text("utf-8").splitlines()
    return [(reason, sql) for reason, sql in (line.split(" |", 1) for line in lines)]


def bombs() -> list[dict[str, Any]]:
    """Queries that the gate has no reason to refuse, and that would eat memory, time or disk."""
    return list(tomllib.loads((CASES / "attacks" / "bombs.toml").read_text("utf-8"))["bomb"])


def audits() -> list[dict[str, Any]]:
    """Queries made to mislead what measures their joins, with the true counts."""
    return list(tomllib.loads((CASES / "attacks" / "joins.toml").read_text("utf-8"))["query"])


def cage_of(name: str) -> Cage | str:
    """A cage that holds here, or why there is none. `/shared` = without a user number of its own."""
    if name not in _CAGES:
        tier, _, shared = name.partition("/")
        _CAGES[name] = f"no {name} here"
        for cage in tiers.cages():
            if cage.tier == tier and not (shared and cage.own_user):
                problem = asyncio.run(tiers.trouble(cage))
                if not problem:
                    _CAGES[name] = cage
                    break
                _CAGES[name] = f"no {name} here: {problem}"
    return _CAGES[name]


def attack_by_program(attack: dict[str, Any], cage: Cage, world: Outside) -> str:
    """Run an attack in a cage: all of it refused or stopped in time, and nothing outside changed, gives the empty text."""
    before, began = world.state(), time.monotonic()
    limits = load().sandbox.model_copy(update={"seconds": _SECONDS, **attack.get("limits", {})})
    report = "" if "del escaped" in attack["program"] else REPORT
    program = PRELUDE + attack["program"] + report
    found = ""
    try:
        value: Any = asyncio.run(run_in(cage, program, {"ctx.json": world.inputs}, limits)).value
    except SandboxError as error:
        expected = attack["ends"] in ("stopped", "either") and re.search(attack["error"], error.message)
        found = "" if expected and len(str(error)) < 1500 else f"ended otherwise: {error}"
    else:
        if attack["ends"] == "stopped" or value["escaped"]:
            found = f"got through: {value.get('escaped') if isinstance(value, dict) else value}"
        elif not value["refused"]:
            found = "nothing was tried"
    if time.monotonic() - began > limits.seconds + _GRACE_SECONDS:
        found = found or f"took {time.monotonic() - began:.0f} s"
    return found or changed(before, world.state())


def changed(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What is not as it was."""
    return "; ".join(
        f"{name}: {before[name]} became {after[name]}"
        for name in before
        if before[name] != after[name] and not (name == "descriptors" and _fewer(before[name], after[name]))
    )


def _fewer(before: Any, after: Any) -> bool:
    """Descriptors that an earlier test left may be closed at any time; none may be added."""
    return after < before if isinstance(before, int) else set(after) < set(before)


def pass_gate(reason: str, sql: str) -> str:
    """A hostile statement must be refused, with its reason."""
    verdict = guard.check(sql, ("sales", "products", "订单", "odd name; drop table sales"))
    if verdict is None:
        return "the gate let it through"
    return "" if reason in verdict else f"refused for another reason: {verdict}"


class SqlWorld:
    """A catalogue with its engine, amid the targets of attacks."""

    def __init__(self, engine: Engine, world: Outside) -> None:
        self.engine = engine
        self.world = world
        self.bytes = engine.database.read_bytes()

    async def second_wall(self, sql: str) -> tuple[str, str]:
        """A hostile statement straight to the locked database, as if there were no gate: what got through, how it ended."""
        before = await self._state()
        try:
            rows = await self.engine.measure([relocated(sql, self.world)], self.engine.limits.seconds)
            said, ended = str(rows), "it ran: nothing was read or changed"
        except QueryError as error:
            said = ended = error.message
        if SECRET.strip() in said:
            return f"read: {said[:200]}", ended
        return changed(before, await self._state()), ended[:100]

    async def bomb(self, case: dict[str, Any], folder: Path) -> tuple[str, str]:
        """What got through, and how it ended."""
        before, began, ended = await self._state(), time.monotonic(), "answered"
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            if case.get("export"):
                await self.engine.export(case["sql"], folder / "answer.csv")
            else:
                await self.engine.query(case["sql"], case.get("preview"))
        except QueryError as error:
            ended = error.message[:100]
        seconds = time.monotonic() - began
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) >> 10
        limit = self.engine.limits.seconds * (2 if case.get("export") else 1) + _GRACE_SECONDS
        (folder / "answer.csv").unlink(missing_ok=True)
        found = f"took {seconds:.0f} s" if seconds > limit else ""
        found = found or (f"our own process grew by {grown} MB" if grown > _PARENT_MB else "")
        found = found or ("" if re.search(case["ends"], ended) else f"ended otherwise: {ended}")
        return found or changed(before, await self._state()), f"{ended}, {seconds:.1f} s"

    async def join(self, case: dict[str, Any]) -> str:
        """Measure the joins of a query: true counts, or a reason why there are none; and nothing else happens."""
        before, began = await self._state(), time.monotonic()
        found = await audit(self.engine, case["sql"])
        if time.monotonic() - began > self.engine.limits.seconds + _GRACE_SECONDS:
            return f"took {time.monotonic() - began:.0f} s"
        true = case.get("counts")
        wrong = [str(counts(one)) for one in found if true and not one.problem and counts(one) != true]
        if "problem" in case and not all(re.search(case["problem"], one.problem) for one in found):
            wrong += [one.problem for one in found]
        return "; ".join(wrong) or changed(before, await self._state())

    async def _state(self) -> dict[str, Any]:
        """All that a query could change; the engine's child may be another one, but there is just one."""
        rows = (await self.engine.query(_SUM)).rows
        tables = (await self.engine.query("show tables", 100)).rows
        state = self.world.state()
        return {
            **state,
            **{name: len(state[name]) for name in ("children", "descriptors")},
            "rows": rows,
            "tables": tables,
            "database": self.engine.database.read_bytes() == self.bytes,
            "beside it": sorted(path.name for path in self.engine.database.parent.iterdir()),
        }


def counts(found: JoinAudit) -> list[int]:
    """Rows left and right, joined, left and right without partner, left with several."""
    one = found
    return [
        *(one.left_rows, one.right_rows, one.joined_rows),
        *(one.left_unmatched, one.right_unmatched, one.left_multiplied),
    ]


def relocated(sql: str, world: Outside) -> str:
    """The statement aimed at the secret, folder and port of this world."""
    aims = {
        "/etc/passwd": str(world.secret),
        "/tmp/": f"{world.folder}/",
        "127.0.0.1:9": f"127.0.0.1:{world.ctx['tcp']}",
        "'HOME'": "'CANARY'",
    }
    for old, new in aims.items():
        sql = sql.replace(old, new)
    return sql


@asynccontextmanager
async def sql_world(folder: Path, world: Outside, **limits: Any) -> AsyncIterator[SqlWorld]:
    """A small catalogue in `folder`, with names that are attacks themselves."""
    path = folder / "catalogue" / "catalogue.duckdb"
    if not path.parent.exists():
        path.parent.mkdir()
        make_catalogue(path)
    values = {"seconds": 4, "memory_mb": 1024, "preview_rows": 50, "max_rows": 1_000_000, **limits}
    async with Engine(path, QuerySettings(**values)) as engine:
        await engine.query("select 1")
        yield SqlWorld(engine, world)


def make_catalogue(path: Path) -> None:
    """The tables that the statements of tests/cases name."""
    with duckdb.connect(str(path)) as connection:
        for statement in tomllib.loads((CASES / "attacks" / "catalogue.toml").read_text("utf-8"))["statements"]:
            connection.execute(statement)
