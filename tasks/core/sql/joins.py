"""A query + its database → each of its joins measured: rows in, rows lost, rows multiplied.

The measuring queries are made from the query's own tree: every source gets a number for each of its rows, and a
full join under the same condition shows which numbers meet. Counts are taken before the query's WHERE; the
equalities of WHERE that join comma-separated tables are conditions of those joins.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from tasks.core.errors import QueryError
from tasks.core.models.answer import JoinAudit
from tasks.core.sql.chains import Chain, Join, Source, chains
from tasks.core.sql.engine import Engine

_KEEPS_LEFT = ("left", "full")
_KEEPS_RIGHT = ("right", "full")
_CONDITION_CHARS = 200


async def audit(engine: Engine, sql: str) -> tuple[JoinAudit, ...]:
    """Measure the joins of a query that the guard has passed, in the order of its text.

    A join that cannot be measured within the query's time limit, or at all, has its reason in `problem` and no
    counts. Raises nothing for that.
    """
    from sqlglot.errors import SqlglotError

    try:
        taken = chains(sql)
    except (SqlglotError, RecursionError, ValueError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        unread = f"the query could not be taken apart ({reason})"
        return (JoinAudit(left="the query", right="its tables", condition="", kind="unknown", problem=unread),)
    deadline = time.monotonic() + engine.limits.seconds
    found: list[JoinAudit] = []
    for chain in taken:
        found += await _Measuring(engine, chain, deadline).run()
    return tuple(found)


class _Counts(NamedTuple):
    """Of a full join under the join's condition."""

    left: int
    right: int
    pairs: int
    left_alone: int
    right_alone: int
    multiplied: int
    """Left rows in more than one pair."""


class _Measuring:
    """The joins of one SELECT, one after the other: each sees all sources before it as its left side."""

    def __init__(self, engine: Engine, chain: Chain, deadline: float) -> None:
        self.engine = engine
        self.chain = chain
        self.deadline = deadline
        self.left = chain.sources[0].sql
        self.numbers = [chain.sources[0].number]
        self.free = list(chain.where)

    async def run(self) -> list[JoinAudit]:
        """One audit a join; after one that cannot be measured, those that build on it cannot either."""
        found: list[JoinAudit] = []
        broken = self.chain.sources[0].problem
        for position, join in enumerate(self.chain.joins, 1):
            source = self.chain.sources[position]
            problem = broken or join.problem or source.problem
            names: dict[str, Any] = {
                "left": ", ".join(each.label for each in self.chain.sources[:position]),
                "right": source.label,
                "kind": join.kind,
                "condition": "NATURAL" if join.natural else _short(join.condition.removeprefix("ON ")),
            }
            if not problem:
                try:
                    found.append(await self._measure(join, source, names))
                    continue
                except QueryError as error:
                    problem = error.message
            found.append(JoinAudit(**names, problem=problem))
            broken = "a join before it could not be measured"
        return found

    async def _measure(self, join: Join, source: Source, names: dict[str, Any]) -> JoinAudit:
        if join.kind == "comma":
            linked = await self._links(source)
            names = {**names, "condition": _short(" AND ".join(linked))}
            join = Join("inner", f"ON {' AND '.join(linked)}") if linked else Join("cross", "")
        counts = await (self._cross(source) if join.kind == "cross" else self._full(join, source))
        self.left = _joined(join.kind.upper(), join, self.left, source.sql)
        if join.kind not in ("semi", "anti"):
            self.numbers.append(source.number)
        return JoinAudit(**names, **_facts(join.kind, counts))

    async def _cross(self, source: Source) -> _Counts:
        (rows,), (others,) = await self._ask(f"SELECT count(*) FROM {self.left}", f"SELECT count(*) FROM {source.sql}")
        return _Counts(
            rows, others, rows * others, 0 if others else rows, 0 if rows else others, rows if others > 1 else 0
        )

    async def _full(self, join: Join, source: Source) -> _Counts:
        numbers, j = ", ".join(self.numbers), f"__pairs_{self.chain.mark}"
        here, there = f"coalesce({numbers}) IS NOT NULL", f"{source.number} IS NOT NULL"
        both = f"FROM {j} WHERE {here} AND {there}"
        (row,) = await self._ask(
            f"SELECT count(*), (SELECT count(*) FROM {j} WHERE {here} AND NOT {there}), "
            f"(SELECT count(*) FROM {j} WHERE {there} AND NOT ({here})), "
            f"(SELECT count(DISTINCT {source.number}) FROM {j}), "
            f"(SELECT count(*) FROM (SELECT 1 {both} GROUP BY {numbers})), "
            f"(SELECT count(*) FROM (SELECT 1 {both} GROUP BY {numbers} HAVING count(*) > 1)) {both}",
            before=f"{j} AS MATERIALIZED (SELECT {numbers}, {source.number} "
            f"FROM {_joined('FULL', join, self.left, source.sql)})",
        )
        pairs, alone, right_alone, right, matched, multiplied = row
        return _Counts(matched + alone, right, pairs, alone, right_alone, multiplied)

    async def _links(self, source: Source) -> list[str]:
        """Conditions of WHERE that need both sides; DuckDB itself says which names it can see where."""
        linked = []
        for condition in list(self.free):
            if await self._binds(condition, self.left) or await self._binds(condition, source.sql):
                self.free.remove(condition)
            elif await self._binds(condition, f"{self.left} CROSS JOIN {source.sql}"):
                self.free.remove(condition)
                linked.append(condition)
        return linked

    async def _binds(self, condition: str, sources: str) -> bool:
        try:
            await self._ask(f"SELECT 1 FROM {sources} WHERE {condition} LIMIT 0")
        except QueryError as error:
            if "took longer" in error.message or "memory" in error.message:
                raise
            return False
        return True

    async def _ask(self, *statements: str, before: str = "") -> list[Any]:
        """First row of each statement, when it has one; the statements see the CTEs that the SELECT sees."""
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise QueryError("no time was left for it")
        ctes = ", ".join(part for part in (self.chain.ctes, before) if part)
        head = f"WITH {'RECURSIVE ' if self.chain.recursive else ''}{ctes} " if ctes else ""
        rows = await self.engine.measure([head + statement for statement in statements], seconds, guarded=True)
        return [found[0] for found in rows if found]


def _facts(kind: str, counts: _Counts) -> dict[str, Any]:
    """The audit's numbers: what a full join counted, seen as this kind of join."""
    joined = counts.pairs
    joined += counts.left_alone if kind in _KEEPS_LEFT else 0
    joined += counts.right_alone if kind in _KEEPS_RIGHT else 0
    if kind in ("semi", "anti"):
        joined = counts.left - counts.left_alone if kind == "semi" else counts.left_alone
    return {
        "left_rows": counts.left,
        "right_rows": counts.right,
        "joined_rows": joined,
        "left_unmatched": counts.left_alone,
        "right_unmatched": counts.right_alone,
        "left_multiplied": 0 if kind in ("semi", "anti") else counts.multiplied,
    }


def _joined(kind: str, join: Join, left: str, right: str) -> str:
    return f"{left} {'NATURAL ' if join.natural else ''}{kind} JOIN {right} {join.condition}".rstrip()


def _short(text: str) -> str:
    return text if len(text) <= _CONDITION_CHARS else text[:_CONDITION_CHARS] + " …"
