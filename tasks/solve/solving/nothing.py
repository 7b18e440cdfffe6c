"""a submitted query without rows → what leaves none, and the values nearest to those that it looks for in vain, for the solver."""

from __future__ import annotations

from tasks.core.evidence.checks import UNMADE
from tasks.solve.checking import gaps
from tasks.solve.checking.emptied import emptied
from tasks.solve.checking.facts import Facts
from tasks.solve.checking.look import made
from tasks.solve.checking.measuring import Measuring
from tasks.solve.mending.dialect import parse
from tasks.solve.solving.bench import Bench


async def reasons(bench: Bench, sql: str) -> tuple[str, ...]:
    """In sentences, each counted within the engine's seconds; none where the query cannot be read or counted."""
    tree, _ = parse(sql)
    if tree is None:
        return ()
    given = bench.assignment
    facts = Facts(given.question.text, bench.contract, tree, given.profile)
    counts = Measuring(bench.engine, tree)
    found = [await made(look.__name__, look, facts, counts) for look in (gaps.elsewhere, gaps.unlike)]
    found.insert(0, await made("emptied", emptied, bench.engine, sql))
    return tuple(check.detail for check in found if check and check.name != UNMADE)
