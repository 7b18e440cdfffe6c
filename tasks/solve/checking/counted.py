"""a replayed answer + a count of its query → whether it has all the rows that there are, and of how many a limit leaves these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.core.errors import QueryError
from tasks.core.models.answer import Submission
from tasks.core.models.evidence import Check, CheckOutcome, Replay
from tasks.core.sql.engine import Engine
from tasks.solve.mending.dialect import parse

if TYPE_CHECKING:
    from sqlglot import exp

NAME = "row count"


async def counted(engine: Engine, submission: Submission, replay: Replay) -> Check | None:
    """The answer's rows against `count(*)` of its query without order and limit.

    None where a program makes the rows, the query cannot be read, or counting fails or takes longer than a query may.
    """
    tree, _ = parse(submission.sql)
    if tree is None or submission.program or replay.truncated:
        return None
    statement = f"SELECT count(*) FROM ({unlimited(tree).sql('duckdb')}) AS counted"
    try:
        rows = (await engine.measure([statement], engine.limits.seconds, guarded=True))[0]
    except QueryError:
        return None
    return compare(replay.rows, int(str(rows[0][0])), limited(tree))


def compare(rows: int, count: int, is_limited: bool) -> Check:
    """What the two numbers say: equal, cut by the query's own limit (whether that was asked for, other checks say), or different."""
    outcome: CheckOutcome = "passed"
    detail = f"{rows} rows, as a count of the query gives"
    if rows < count and is_limited:
        detail = f"{rows} of the {count} rows that the query has without its limit"
    elif rows != count:
        outcome, detail = "failed", f"the answer has {rows} rows, and a count of its query gives {count}"
    return Check(name=NAME, outcome=outcome, detail=detail)


def unlimited(tree: exp.Expr) -> exp.Expr:
    """The query without its own order, limit and offset."""
    copy = tree.copy()
    for clause in ("order", "limit", "offset"):
        copy.set(clause, None)
    return copy


def limited(tree: exp.Expr) -> bool:
    """Whether the query itself takes only some of its rows."""
    return bool(tree.args.get("limit") or tree.args.get("offset"))
