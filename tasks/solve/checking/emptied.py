"""a query without rows → the first of its tables, joins and conditions after which none is left, counted step by step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.core.evidence.checks import EMPTY
from tasks.core.models.evidence import Check
from tasks.core.sql.engine import Engine
from tasks.core.wording import counted
from tasks.solve.checking.measuring import Measuring, whole
from tasks.solve.mending.dialect import parse

if TYPE_CHECKING:
    from sqlglot import exp

_CHARS = 100
_DEPTH = 5
"""Subqueries and CTEs within each other that are looked into."""


async def emptied(engine: Engine, sql: str) -> Check | None:
    """`the answer has no rows: of 4 rows of shops none meets city = 'x'`; None where the query has rows, or that cannot be counted.

    Counting takes at most the engine's seconds.
    """
    tree, _ = parse(sql)
    why = await _Looking(tree, Measuring(engine, tree)).query(tree, _DEPTH) if tree is not None else ""
    return Check(name=EMPTY, outcome="noted", detail=f"the answer has no rows: {why}") if why else None


def with_reason(found: Iterable[Check], why: Check | None) -> tuple[Check, ...]:
    """The checks with this one in place of that of the same name, or behind them where there is none."""
    others = [check for check in found if why is None or check.name != EMPTY or why.name != EMPTY]
    return (*others, *([why] if why else []))


@dataclass
class _Looking:
    tree: exp.Expr
    counts: Measuring

    async def query(self, part: exp.Expr, left: int) -> str:
        """Why a query has no rows."""
        from sqlglot import exp

        while isinstance(part, exp.Subquery | exp.Paren) and not part.args.get("joins"):
            part = part.this
        if not left:
            return ""
        if isinstance(part, exp.Union):
            return await self.query(part.this, left - 1)
        if isinstance(part, exp.SetOperation):
            own = await self.query(part.this, left - 1)
            other = await self.query(part.expression, left - 1) if isinstance(part, exp.Intersect) else ""
            word = "is" if isinstance(part, exp.Intersect) else "is missing"
            return own or other or f"no row of the first part {word} in the second"
        return await self.select(part, left) if isinstance(part, exp.Select) else ""

    async def select(self, select: exp.Select, left: int) -> str:
        """Its tables, then its joins, conditions and groups, one after the other: the first that leaves nothing."""
        from sqlglot import exp

        first, joins = select.args.get("from_"), select.args.get("joins") or []
        if first is None:
            return ""
        before, of = -1, _named(first.this)
        for at in range(len(joins) + 1):
            rows = await self.count(select, joins[:at])
            if rows is None:
                return ""
            if not rows:
                source = joins[at - 1].this if at else first.this
                return await self.source(source, left) or _joined(joins[at - 1], of, before)
            before = rows
            of = of if not at else "those joined"
        where, met = select.args.get("where"), ""
        parts = (
            list(where.this.flatten()) if where and isinstance(where.this, exp.And) else [where.this] if where else []
        )
        for at, part in enumerate(parts):
            rows = await self.count(select, joins, parts[: at + 1])
            if rows is None:
                return ""
            if not rows:
                said = f"{counted(before, 'row')} {f'that meet {met}' if met else f'of {of}'}"
                return f"of {said} none meets {_text(part)}"
            before, met = rows, f"{met} AND {_text(part)}" if met else _text(part)
        return await self.grouped(select, before)

    async def grouped(self, select: exp.Select, rows: int) -> str:
        """What HAVING, QUALIFY or a limit leaves of rows that there are."""
        having = select.args.get("having")
        if having:
            copy = select.copy()
            copy.set("having", None)
            row = await self.counts.row(f"SELECT count(*) FROM ({self.counts.over(copy, ['1 AS one'], grouped=True)})")
            kept = await self.counts.row(
                f"SELECT count(*) FROM ({self.counts.over(select, ['1 AS one'], grouped=True)})"
            )
            if row and kept and not whole(kept[0]):
                return f"of {counted(whole(row[0]), 'group')} none meets {_text(having.this)}"
        if select.args.get("qualify"):
            return f"of {counted(rows, 'row')} none meets {_text(select.args['qualify'].this)}"
        cut = next((select.args[clause] for clause in ("offset", "limit") if select.args.get(clause)), None)
        return f"of {counted(rows, 'row')} none is left by {cut.sql('duckdb').strip()}" if cut is not None else ""

    async def source(self, source: exp.Expr, left: int) -> str:
        """Why what a SELECT reads has no rows; empty where it has some."""
        from sqlglot import exp

        if isinstance(source, exp.Subquery):
            return await self.query(source, left - 1) if await self.is_empty(source.sql("duckdb")) else ""
        if not isinstance(source, exp.Table):
            return ""
        ctes = {cte.alias.casefold(): cte for cte in self.tree.find_all(exp.CTE)}
        bare = source.copy()
        bare.set("joins", None)
        bare.set("alias", None)
        if not await self.is_empty(bare.sql("duckdb")):
            return ""
        cte = ctes.get(source.name.casefold())
        return await self.query(cte.this, left - 1) if cte else f"{source.name} has none"

    async def is_empty(self, text: str) -> bool:
        """Whether a table or subquery has no rows."""
        from sqlglot import exp

        own = self.tree.args.get("with_")
        ahead = f"{own.sql('duckdb')} " if isinstance(own, exp.With) else ""
        row = await self.counts.row(f"{ahead}SELECT count(*) FROM {text}")
        return bool(row) and not whole(row[0]) if row else False

    async def count(self, select: exp.Select, joins: list[exp.Expr], parts: list[exp.Expr] | None = None) -> int | None:
        """Rows of its tables with so many joins and conditions; None where they cannot be counted."""
        from sqlglot import exp

        copy = select.copy()
        copy.set("joins", [join.copy() for join in joins])
        copy.set("where", exp.Where(this=exp.and_(*[part.copy() for part in parts])) if parts else None)
        row = await self.counts.row(self.counts.over(copy, ["count(*)"]))
        return whole(row[0]) if row else None


def _joined(join: exp.Expr, of: str, rows: int) -> str:
    on = join.args.get("on")
    using = ", ".join(column.name for column in join.args.get("using") or ())
    by = f" by {_text(on)}" if on is not None else f" by {using}" if using else ""
    return f"of {counted(rows, 'row')} of {of} none finds a partner in {_named(join.this)}{by}"


def _named(source: exp.Expr) -> str:
    from sqlglot import exp

    return str(source.name if isinstance(source, exp.Table) else source.alias_or_name or "the subquery")


def _text(part: exp.Expr) -> str:
    said = " ".join(str(part.sql("duckdb")).split())
    return said if len(said) <= _CHARS else f"{said[:_CHARS]} …"
