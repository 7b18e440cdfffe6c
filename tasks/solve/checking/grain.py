"""rows that the query counts, lists and cuts off → whether each stands for one thing, counted on the data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import TableProfile
from tasks.core.models.evidence import Check
from tasks.solve.checking import asked
from tasks.solve.checking.facts import Facts
from tasks.solve.checking.measuring import Measuring, identity, whole

if TYPE_CHECKING:
    from sqlglot import exp

_ANY = re.compile(r"(?i)\b(?:any (?:one|\d)|example|sample|some one|an arbitrary|random)\b|任意|任一|随机|举例|示例")


async def multiplied(facts: Facts, counts: Measuring) -> Check | None:
    """No value is added up, averaged or counted more than once because of a join."""
    from sqlglot import exp

    for select in facts.tree.find_all(exp.Select):
        tables = _tables(select, facts)
        if len(tables) < 2 or len(tables) != _entries(select):
            continue
        for node in select.find_all(exp.Sum, exp.Avg, exp.Count):
            if node.parent_select is not select or isinstance(node.this, exp.Distinct):
                continue
            found = await _repeated(node, select, tables, facts, counts)
            if found:
                detail = f"{node.sql('duckdb')} takes {found} rows more than once, since a join repeats them"
                return Check(name="fan-out", outcome="failed", detail=detail)
    return None


async def _repeated(
    node: exp.Expr, select: exp.Select, tables: list[tuple[exp.Table, TableProfile]], facts: Facts, counts: Measuring
) -> int:
    """Rows of the value's own table, or of every table for a plain count, that come more than once within a group."""
    from sqlglot import exp

    places = [facts.place(column) for column in node.find_all(exp.Column)]
    owners = {place[0].name for place in places if place}
    asked_of = [(t, p) for t, p in tables if p.name in owners] if owners else tables
    if isinstance(node, exp.Count):
        asked_of = tables
    if not asked_of:
        return 0
    fewest = None
    for table, profile in asked_of:
        grouped = counts.over(
            select, ["count(*) AS c", f"count(DISTINCT {identity(table, profile)}) AS d"], grouped=True
        )
        row = await counts.row(f"SELECT coalesce(sum(c - d), 0) FROM ({grouped}) WHERE c > d AND d > 0")
        if row is None:
            return 0
        fewest = whole(row[0]) if fewest is None else min(fewest, whole(row[0]))
    return fewest or 0


def _tables(select: exp.Select, facts: Facts) -> list[tuple[exp.Table, TableProfile]]:
    from sqlglot import exp

    names = {cte.alias.casefold() for cte in facts.tree.find_all(exp.CTE)}
    found = []
    for table in select.find_all(exp.Table):
        profile = facts.schema.table(table.name)
        if table.parent_select is select and profile and table.name.casefold() not in names:
            found.append((table, profile))
    return found


def _entries(select: exp.Select) -> int:
    return len(select.args.get("joins") or []) + 1


def _is_plain(select: exp.Expr) -> bool:
    """A list of rows: neither grouped, aggregated nor combined."""
    from sqlglot import exp

    return (
        isinstance(select, exp.Select)
        and not select.args.get("group")
        and not any(node.parent_select is select for node in select.find_all(exp.AggFunc, exp.Window))
    )


def _owner(select: exp.Select, facts: Facts) -> tuple[exp.Table, TableProfile] | None:
    """The one table that all outputs are columns of."""
    from sqlglot import exp

    places = [facts.place(item.unalias()) for item in select.selects if isinstance(item.unalias(), exp.Column)]
    names = {place[0].name if place else "" for place in places}
    if len(places) != len(select.selects) or len(names) != 1:
        return None
    found = [(table, profile) for table, profile in _tables(select, facts) if profile.name in names]
    return found[0] if len(found) == 1 else None


async def repeated(facts: Facts, counts: Measuring) -> Check | None:
    """A list names each thing once: where different ones are asked, and where a join alone repeats them.

    Rows that are sorted may differ in what they are sorted by.
    """
    from sqlglot import exp

    tree, unique = facts.tree, asked.UNIQUE.search(facts.question)
    if isinstance(tree, exp.Union) and not tree.args.get("distinct"):
        return await _doubled(tree, counts, "rows that both parts of the union give are listed twice")
    if not isinstance(tree, exp.Select) or not _is_plain(tree) or tree.args.get("distinct"):
        return await _uncounted(facts, counts) if unique else None
    if unique:
        return await _doubled(tree, counts, f"the question says {unique.group()!r}, and rows occur more than once")
    owner = _owner(tree, facts)
    if owner is None or _entries(tree) < 2 or tree.args.get("limit") or tree.args.get("order"):
        return None
    row = await counts.row(counts.over(tree, ["count(*)", f"count(DISTINCT {identity(*owner)})"]))
    if row and whole(row[0]) > whole(row[1]) > 0:
        detail = f"{row[1]} rows of {owner[1].name} are listed {row[0]} times, since a join repeats them"
        return Check(name="repeated", outcome="failed", detail=detail)
    return None


async def _doubled(tree: exp.Expr, counts: Measuring, said: str) -> Check | None:
    sql = tree.sql("duckdb")
    row = await counts.row(
        f"SELECT (SELECT count(*) FROM ({sql})), (SELECT count(*) FROM (SELECT DISTINCT * FROM ({sql})))"
    )
    if row and whole(row[0]) > whole(row[1]):
        return Check(name="repeated", outcome="failed", detail=f"{said} ({row[0]} rows, {row[1]} different)")
    return None


async def _uncounted(facts: Facts, counts: Measuring) -> Check | None:
    """Where different ones are asked for, a count counts them and not their repetitions."""
    from sqlglot import exp

    for node in facts.tree.find_all(exp.Count):
        select = node.parent_select
        if not isinstance(node.this, exp.Column) or not isinstance(select, exp.Select):
            continue
        text = node.this.sql("duckdb")
        grouped = counts.over(select, [f"count({text}) AS c", f"count(DISTINCT {text}) AS d"], grouped=True)
        row = await counts.row(f"SELECT count(*) FROM ({grouped}) WHERE c > d")
        if row and whole(row[0]):
            detail = f"the question asks for different ones, and {node.sql('duckdb')} counts repetitions too"
            return Check(name="repeated", outcome="failed", detail=detail)
    return None


async def merged(facts: Facts, counts: Measuring) -> Check | None:
    """A DISTINCT that nobody asked for does not make one of several things."""
    from sqlglot import exp

    if asked.UNIQUE.search(facts.question):
        return None
    for node in facts.tree.find_all(exp.Sum, exp.Avg, exp.Count):
        if isinstance(node.this, exp.Distinct) and (check := await _merged_values(node, facts, counts)):
            return check
    tree = facts.tree
    if not isinstance(tree, exp.Select) or not tree.args.get("distinct") or not _is_plain(tree):
        return None
    owner = _owner(tree, facts)
    if owner is None:
        return None
    outputs = ", ".join(item.unalias().sql("duckdb") for item in tree.selects)
    row = await counts.row(counts.over(tree, [f"count(DISTINCT ({outputs}))", f"count(DISTINCT {identity(*owner)})"]))
    if row is None or whole(row[0]) >= whole(row[1]):
        return None
    kept, things = whole(row[0]), whole(row[1])
    detail = f"DISTINCT leaves {kept} of {things} rows of {owner[1].name}, and the question does not ask for different values"
    return Check(name="merged", outcome="failed" if kept * 2 >= things else "noted", detail=detail)


async def _merged_values(node: exp.Expr, facts: Facts, counts: Measuring) -> Check | None:
    from sqlglot import exp

    select, items = node.parent_select, node.this.expressions
    if not isinstance(select, exp.Select) or len(items) != 1:
        return None
    place = facts.place(items[0])
    name = place[1].name.casefold() if place else ""
    text = items[0].sql("duckdb")
    grouped = counts.over(select, [f"count({text}) AS c", f"count(DISTINCT {text}) AS d"], grouped=True)
    if isinstance(node, exp.Count) and (place is None or place[1].is_key or _is_key_of_another(facts, items[0], name)):
        row = await counts.row(f"SELECT max(d), max(c) FROM ({grouped})") if select.args.get("group") else None
        if row is None or whole(row[0]) != 1 or whole(row[1]) < 2:
            return None
        detail = f"{node.sql('duckdb')} counts one at most in each group, of up to {row[1]} rows"
        return Check(name="merged", outcome="failed", detail=detail)
    row = await counts.row(f"SELECT count(*) FROM ({grouped}) WHERE c > d")
    if row is None or not whole(row[0]):
        return None
    if isinstance(node, exp.Count) and asked.overlap((name,), asked.stems(facts.question)) > 0:
        return None
    detail = f"{node.sql('duckdb')} takes equal values once, and the question does not ask for different ones"
    return Check(name="merged", outcome="failed", detail=detail)


def _is_key_of_another(facts: Facts, column: exp.Expr, name: str) -> bool:
    place = facts.place(column)
    ends = {(link.left_table, link.left_column) for link in facts.profile.joins}
    return name.endswith(("id", "code", "no", "key", "编号", "编码", "代码", "号")) or bool(
        place and (place[0].name, place[1].name) in ends
    )


async def ties(facts: Facts, counts: Measuring) -> Check | None:
    """No row is cut off that deserves its place as much as the last one kept; where that was counted, it is said."""
    from sqlglot import exp

    counted = []
    for select in facts.tree.find_all(exp.Select, exp.SetOperation):
        limit, order = select.args.get("limit"), select.args.get("order")
        count = limit.args.get("expression") if limit else None
        if not isinstance(count, exp.Literal) or facts.contract.ties == "cut":
            continue
        keys = _keys(select, order) if order and isinstance(select, exp.Select) else []
        if not order:
            if check := await _unordered(select, int(count.name), facts, counts):
                return check
            continue
        if not keys or not isinstance(select, exp.Select) or select.args.get("distinct"):
            continue
        more = await _tied(select, keys, int(count.name), counts)
        counted += [count.name] * (more == 0)
        if more:
            detail = f"{more} more rows are as good as the last of the {count.name} that the query takes"
            grave = facts.contract.ties == "keep_all" or _several(facts)
            return Check(name="ties", outcome="failed" if grave else "noted", detail=detail)
    if not counted:
        return None
    detail = f"no other row is as good as the last of the {' and the '.join(counted)} that the query takes"
    return Check(name="ties", outcome="passed", detail=detail)


async def _unordered(select: exp.Query, count: int, facts: Facts, counts: Measuring) -> Check | None:
    """The first rows of no order are any rows."""
    from sqlglot import exp

    first = select.args.get("from_")
    if _ANY.search(facts.question) or count == 0 or (first and isinstance(first.this, exp.Subquery)):
        return None
    every = select.copy()
    every.set("limit", None)
    row = await counts.row(f"SELECT count(*) FROM ({every.sql('duckdb')})")
    if row is None or whole(row[0]) <= count:
        return None
    detail = f"the query takes {count} of {row[0]} rows and does not say which"
    return Check(name="ties", outcome="failed", detail=detail)


def _several(facts: Facts) -> bool:
    """The question asks for all that share the first place, as its plural says."""
    import re

    return bool(
        re.search(
            r"(?i)\b(?:which|what) \w+s (?:have|are|were|did)\b|\b(?:all|those|every)\b|哪些|所有|全部", facts.question
        )
    )


def _keys(select: exp.Select, order: exp.Expr) -> list[tuple[str, bool]]:
    """Keys of the order as SQL over the SELECT's rows, and whether each falls."""
    from sqlglot import exp

    outputs = {item.alias.casefold(): item.this for item in select.selects if isinstance(item, exp.Alias)}
    found = []
    for ordered in order.expressions:
        node = ordered.this
        if isinstance(node, exp.Literal):
            at = int(node.name) - 1
            node = select.selects[at].unalias() if 0 <= at < len(select.selects) else node
        elif isinstance(node, exp.Column) and not node.table:
            node = outputs.get(node.name.casefold(), node)
        found.append((node.sql("duckdb"), bool(ordered.args.get("desc"))))
    return found


async def _tied(select: exp.Select, keys: list[tuple[str, bool]], count: int, counts: Measuring) -> int | None:
    """Rows beyond the cut whose keys all equal those of the last one before it; None where they could not be counted."""
    names = [f"k{at}" for at in range(len(keys))]
    inner = counts.over(
        select, [f"{text} AS {name}" for (text, _), name in zip(keys, names, strict=True)], grouped=True
    )
    by = ", ".join(f"{name} {'DESC' if falls else 'ASC'}" for name, (_, falls) in zip(names, keys, strict=True))
    place = f"SELECT *, row_number() OVER (ORDER BY {by}) AS place FROM ({inner})"
    same = " AND ".join(f"a.{name} IS NOT DISTINCT FROM b.{name}" for name in names)
    row = await counts.row(
        f"WITH ranked AS ({place}) SELECT count(*) FROM ranked a JOIN ranked b ON {same} "
        f"WHERE b.place = {count} AND a.place > {count}"
    )
    return whole(row[0]) if row else None
