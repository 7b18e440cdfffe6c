"""tables, columns and joins of the query → whether something links them so, and whether the question is about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.answer import JoinAudit
from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, TableProfile
from tasks.core.models.evidence import Check
from tasks.core.search.words import plain
from tasks.solve.checking import asked
from tasks.solve.checking.facts import KEYISH, Facts, Place
from tasks.solve.mending.scopes import columns_of

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = 0.75
"""Share of the words that say what a column means from which the question speaks of it."""
_BARE = {"id", "no", "nr", "number", "key", "编号", "序号"}
_SURE = 0.5
"""Share of matches from which a measured link is one, and no chance."""


def join_keys(facts: Facts) -> Check | None:
    """Tables are joined on columns whose values were measured to meet, or that bear one name."""
    for left, right in _links(facts):
        one, other = facts.place(left), facts.place(right)
        if one is None or other is None or one[0].name == other[0].name:
            continue
        better = _better(facts, one, other)
        known = _known(facts, one, other)
        by_chance = (known is None or not known.stated) and better and better is not known and _are_bare(one, other)
        if not by_chance and (known or plain(one[1].name) == plain(other[1].name)):
            continue
        if better is None and not _strangers(one, other, facts):
            continue
        said = f"joined on {_dotted(one)} = {_dotted(other)}, whose values are not known to mean the same"
        if better:
            said += f"; {better.left_table}.{better.left_column} = {better.right_table}.{better.right_column} is what links them"
        return Check(name="join key", outcome="failed", detail=said)
    return _empty(facts)


def _links(facts: Facts) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Two columns that are held equal, also by IN over a list of one."""
    from sqlglot import exp

    for equal in facts.tree.find_all(exp.EQ):
        if isinstance(equal.this, exp.Column) and isinstance(equal.expression, exp.Column):
            yield equal.this, equal.expression
    for listed in facts.tree.find_all(exp.In):
        query = listed.args.get("query")
        inner = query.this if isinstance(query, exp.Subquery) else query
        if isinstance(inner, exp.Select) and len(inner.selects) == 1:
            yield listed.this, inner.selects[0].unalias()


def _known(facts: Facts, one: Place, other: Place) -> JoinCandidate | None:
    ends = {(one[0].name, one[1].name), (other[0].name, other[1].name)}
    return next(
        (
            link
            for link in facts.profile.joins
            if {(link.left_table, link.left_column), (link.right_table, link.right_column)} == ends
        ),
        None,
    )


def _are_bare(one: Place, other: Place) -> bool:
    """Both are called `id` and no more: each numbers the rows of its own table, and equal numbers meet by chance."""
    return {plain(one[1].name), plain(other[1].name)} <= _BARE


def _empty(facts: Facts) -> Check | None:
    """An inner join in which no row finds a partner."""
    for audit in facts.joins:
        if (
            audit.kind == "inner"
            and not audit.problem
            and audit.left_rows
            and audit.right_rows
            and not audit.joined_rows
        ):
            detail = f"no row of {audit.left} finds a partner in {audit.right} by {audit.condition}"
            return Check(name="join key", outcome="failed", detail=detail)
    return None


def _better(facts: Facts, one: Place, other: Place) -> JoinCandidate | None:
    """A measured link between the same two tables, of more than bare numbers where there is one."""
    tables = {one[0].name, other[0].name}
    found = [link for link in facts.profile.joins if {link.left_table, link.right_table} == tables]
    named = [link for link in found if not {plain(link.left_column), plain(link.right_column)} <= _BARE]
    found = named or found
    return max(found, key=lambda link: (link.stated, link.match_rate), default=None)


def _strangers(one: Place, other: Place, facts: Facts) -> bool:
    """Neither column is unique: each row would meet several, and nothing says that they belong together."""
    return not (one[1].is_key or other[1].is_key) and bool(facts.profile.joins)


def _dotted(place: Place) -> str:
    return f"{place[0].name}.{place[1].name}"


def needless(facts: Facts) -> Check | None:
    """Every joined table gives something: a column, a condition, or what the question speaks of."""
    said = asked.stems(facts.question) | asked.stems(" ".join(column.meaning for column in facts.contract.columns))
    for select, table, profile in _read(facts):
        if not _is_leaf(select, table, facts) or _is_meant(profile, said, facts):
            continue
        audit = _audit(facts, profile.name)
        effect = _effect(audit, profile.name)
        if audit and not effect:
            continue
        foreign = asked.is_chinese(facts.question) and not asked.is_chinese(profile.name + profile.about)
        lost = audit and audit.left_multiplied == 0
        detail = f"{profile.name} is joined, and nothing of it is used or asked for{effect}"
        sure = _is_understood(select, facts, said) and not (foreign and lost)
        return Check(name="needless table", outcome="failed" if sure else "noted", detail=detail)
    return None


def _is_understood(select: exp.Select, facts: Facts, said: set[str]) -> bool:
    """The question speaks of something that the query reads in words of ours; where rows are counted, of a table.

    Else it may speak of the table too, in words that we do not know: purchases for orders, or another language.
    """
    from sqlglot import exp

    if any(_is_meant(table, said, facts) for table in facts.tables):
        return True
    counted = any(isinstance(node.this, exp.Star) for node in select.find_all(exp.Count))
    return not counted and any(_fit(place[1], said) > 0 for place in _used(facts))


def _read(facts: Facts) -> Iterator[tuple[exp.Select, exp.Table, TableProfile]]:
    """Tables of joins, each with its SELECT; and those that a condition alone reads."""
    from sqlglot import exp

    for select in facts.tree.find_all(exp.Select):
        entries = [node for node in select.find_all(exp.Table) if node.parent_select is select]
        inside = isinstance(select.parent, exp.In | exp.Exists) or isinstance(select.parent_select, exp.Select)
        condition = select.find_ancestor(exp.In, exp.Exists) is not None and inside
        if len(entries) < 2 and not (condition and entries and not select.args.get("where")):
            continue
        for table in entries:
            profile = facts.schema.table(table.name)
            if profile:
                yield select, table, profile


def _is_leaf(select: exp.Select, table: exp.Table, facts: Facts) -> bool:
    """The table's columns stand in the condition of one join alone, or in nothing but a list of keys."""
    from sqlglot import exp

    own = [column for column in columns_of(select) if _belongs(column, table, facts)]
    if any(isinstance(item, exp.Star) or item.is_star for item in select.selects if not isinstance(item, exp.Count)):
        return False
    joined = list(select.args.get("joins") or [])
    if not joined:
        return select.args.get("group") is None and select.args.get("limit") is None and not select.find(exp.AggFunc)
    places = {id(column.find_ancestor(exp.Join)) for column in own if column.find_ancestor(exp.Join)}
    outside = [column for column in own if not column.find_ancestor(exp.Join)]
    if any(not _is_link(column) for column in own if column.find_ancestor(exp.Join)):
        return False
    return not outside and len(places) == 1


def _is_link(column: exp.Column) -> bool:
    from sqlglot import exp

    equal = column.parent
    return isinstance(equal, exp.EQ) and isinstance(equal.this, exp.Column) and isinstance(equal.expression, exp.Column)


def _belongs(column: exp.Column, table: exp.Table, facts: Facts) -> bool:
    if column.table:
        return column.table.casefold() == table.alias_or_name.casefold()
    place = facts.place(column)
    return bool(place and place[0].name.casefold() == table.name.casefold())


def _is_meant(profile: TableProfile, said: set[str], facts: Facts) -> bool:
    """The question names the table, by what its name has and those of the other tables have not, or what it is about."""
    others = asked.stems(" ".join(table.name for table in facts.tables if table.name != profile.name))
    own = asked.stems(profile.name)
    return asked.overlap((own - others) or own, said) > 0 or asked.overlap((profile.about,), said) >= 0.5


def _audit(facts: Facts, name: str) -> JoinAudit | None:
    folded = name.casefold()
    return next((a for a in facts.joins if not a.problem and a.right.casefold().split(" (")[0] == folded), None)


def _effect(audit: JoinAudit | None, name: str) -> str:
    if audit is None:
        return ""
    if audit.left_multiplied:
        return f"; {audit.left_multiplied} rows are counted more than once for it"
    if audit.left_unmatched and audit.kind not in ("left", "full"):
        return f"; {audit.left_unmatched} rows without a partner in {name} are lost for it"
    return ""


def kept(facts: Facts) -> Check | None:
    """Things without a partner stay in the answer where the question wants those that have none too."""
    wish = asked.KEPT.search(facts.question)
    for audit in facts.joins if wish else ():
        lost = audit.left_unmatched or audit.right_unmatched
        if audit.kind == "inner" and lost and not audit.problem:
            detail = f"the question wants those without too, and {lost} rows of {audit.left} and {audit.right} find no partner"
            return Check(name="lost rows", outcome="failed", detail=detail)
    if wish and (condition := _undone(facts)):
        detail = f"the question wants those without too, and {condition} drops what the outer join keeps of them"
        return Check(name="lost rows", outcome="failed", detail=detail)
    return None


def _undone(facts: Facts) -> str:
    """A condition that only rows with a partner can meet, behind a LEFT JOIN; empty where there is none."""
    from sqlglot import exp

    for select in facts.tree.find_all(exp.Select):
        where, joins = select.args.get("where"), select.args.get("joins") or []
        outer = {join.this.alias_or_name.casefold() for join in joins if join.side == "LEFT"}
        for part in (
            where.this.flatten() if where and isinstance(where.this, exp.And) else [where.this] if where else []
        ):
            bare = part.unnest()
            is_null = isinstance(bare, exp.Is)
            if is_null or bare.find(exp.Or, exp.Coalesce, exp.Subquery, exp.Select):
                continue
            columns = list(bare.find_all(exp.Column))
            if columns and all(column.table.casefold() in outer for column in columns):
                return str(bare.sql("duckdb"))
    return ""


def similar(facts: Facts) -> Check | None:
    """No column is named or meant by the question more plainly than the one that is used."""
    said = asked.stems(facts.question)
    used = {(place[0].name, place[1].name) for place in _used(facts)}
    for place in _used(facts):
        own = _fit(place[1], said)
        if own >= _PLAIN or asked.overlap((place[1].name,), said) or place[1].is_key or _is_linked(facts, place):
            continue
        for other in _rivals(facts, place, used):
            if (_fit(other[1], said) if own == 0 else asked.overlap((other[1].name,), said)) >= 1:
                detail = (
                    f"the query reads {_dotted(place)}, and the words of the question are those of {_dotted(other)}"
                )
                return Check(name="column", outcome="failed" if own == 0 else "noted", detail=detail)
    return None


def _used(facts: Facts) -> list[Place]:
    """Columns of outputs, conditions and measures, without those that only join."""
    from sqlglot import exp

    found = []
    for column in facts.tree.find_all(exp.Column):
        place = facts.place(column)
        if place and not _is_link(column):
            found.append(place)
    return list(dict.fromkeys(found))


def _rivals(facts: Facts, place: Place, used: set[tuple[str, str]]) -> Iterator[Place]:
    for table in facts.tables:
        for column in table.columns:
            same = (column.type == "VARCHAR") == (place[1].type == "VARCHAR")
            key_like = column.is_key or _is_linked(facts, (table, column)) or KEYISH.search(column.name)
            if (table.name, column.name) not in used and same and not key_like:
                yield table, column


def _fit(column: ColumnProfile, said: set[str]) -> float:
    """How much of the column's name, or of what it means, the question says, 0 to 1; the better of the two."""
    return max(asked.overlap((column.name,), said), asked.overlap((column.meaning,), said))


def _is_linked(facts: Facts, place: Place) -> bool:
    links = [link for link in facts.profile.joins if link.stated or link.match_rate >= _SURE]
    ends = {(link.left_table, link.left_column) for link in links}
    ends |= {(link.right_table, link.right_column) for link in links}
    return (place[0].name, place[1].name) in ends


def similar_table(facts: Facts) -> Check | None:
    """No table with the same columns is named by the question where the one that is used is not."""
    said = asked.stems(facts.question)
    for table in facts.tables:
        if asked.overlap((table.name,), said) > 0:
            continue
        needed = {place[1].name.casefold() for place in _used(facts) if place[0].name == table.name}
        for other in facts.profile.tables:
            if (
                other in facts.tables
                or not needed
                or all(map(KEYISH.search, needed))
                or asked.overlap((other.name,), said) < 1
            ):
                continue
            if needed <= {column.name.casefold() for column in other.columns}:
                detail = f"the query reads {table.name}, and the question speaks of {other.name}, which has these columns too"
                return Check(name="table", outcome="failed", detail=detail)
    return None
