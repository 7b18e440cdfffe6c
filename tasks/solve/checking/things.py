"""things that the question counts → whether the query counts records in which they repeat, counted on the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import ColumnProfile, TableProfile
from tasks.core.models.evidence import Check
from tasks.solve.checking import asked
from tasks.solve.checking.each import bared, is_of
from tasks.solve.checking.facts import KEYISH, Facts
from tasks.solve.checking.measuring import Measuring, whole
from tasks.solve.mending.scopes import sources

if TYPE_CHECKING:
    from sqlglot import exp

_MEASURES = "[个名位家只款种件辆间座支所场笔张条项]"
_ENGLISH = re.compile(
    r"(?i)\b(?:how many|(?:number|count) of)\s+(?:of\s+)?(?:the\s+|all\s+)?(different\s+|distinct\s+|unique\s+)?"
    r"(?:(?!(?:people|children|times|in|of|at|on|with|for|by|from|to|and|or|who|that)\b)[a-z-]+\s+)??"
    r"(people|children|(?!times\b)[a-z]{2,}(?<![sui])s)\b(?!['’])"
)
_BEHIND = re.compile(rf"(?:多少{_MEASURES}?|几{_MEASURES})(不同的?|不重复的?)?([\u3400-\u9fff]{{2,8}})")
_AHEAD = re.compile(
    rf"([\u3400-\u9fff]{{2,}}?)(?:一共|总共|共)?有(?:多少|几){_MEASURES}?人?(?=[？?。，,；;]|$)"
    r"|([\u3400-\u9fff]{2,}?)的?(?:数量|人数|个数|总数|数目)"
)
_PLURALS = {"people": "persons", "children": "childs"}
_ONES = asked.stems(
    "account actor artist athlete author buyer child citizen client company contract customer department doctor driver employee "
    "hospital invoice manager member nurse order owner patient person player professor project pupil resident school seller singer "
    "shop store student subscriber supplier teacher team tenant user vendor voter worker"
)
_CHINESE = re.compile(
    r"员工|职工|雇员|客户|顾客|用户|会员|学生|教师|老师|医生|护士|患者|病人|司机|球员|运动员|供应商|经理|作者|演员|歌手"
    r"|公司|企业|学校|门店|商店|医院|部门|球队|订单|发票|合同|账户|项目"
)
"""What is itself in each record; a medal, a crime or a product may be its kind alone, of which the question counts each time."""


@dataclass(frozen=True)
class Thing:
    """What a part of the question counts."""

    word: str
    unique: bool
    """Different ones are asked for in so many words."""
    last: bool = False
    """The name stands at the end of the word, which is Chinese."""

    def named(self, name: str, names: tuple[str, ...] = ()) -> bool:
        """Whether the name of a column or table says the thing, and none of the names says more of the word."""
        if self.word.isascii():
            return is_of(self.word, name)
        bare = bared(name)
        return self._holds(bare) and not any(len(other) > len(bare) and self._holds(other) for other in names)

    def _holds(self, bare: str) -> bool:
        ends = self.word.endswith(bare) if self.last else self.word.startswith(bare)
        return len(bare) > 1 and ends

    def is_one(self, column: ColumnProfile) -> bool:
        """Whether each is one of its own, and the column is surely it."""
        if not self.word.isascii():
            return bool(_CHINESE.fullmatch(bared(column.name)) or (column.is_key and _CHINESE.search(self.word)))
        stems = asked.stems(self.word)
        return stems <= _ONES and (bool(KEYISH.search(column.name)) or stems == asked.stems(column.name))


@dataclass(frozen=True)
class _Key:
    """A column that names the thing."""

    text: str
    """As the query can write it."""
    column: ColumnProfile


async def counted_records(facts: Facts, counts: Measuring) -> Check | None:
    """Where things are counted that repeat in the rows, the query counts them and not the rows.

    A count that is a part of something else, or one of several that are asked for, may be meant for other things.
    """
    from sqlglot import exp

    things = tuple(_things(facts.question))
    for node in facts.tree.find_all(exp.Count):
        select = node.parent_select
        if not isinstance(select, exp.Select) or not counts_rows(node, select):
            continue
        for thing in things:
            if thing.unique and isinstance(node.this, exp.Column):
                continue
            check = await _check(thing, (node, select), _keys(thing, select, facts), counts)
            if check:
                alone = len(things) == 1 and isinstance(node.parent, exp.Select | exp.Alias)
                return check if alone else check.model_copy(update={"outcome": "noted"})
    return None


def _things(question: str) -> Iterator[Thing]:
    """Each once."""
    found = [
        Thing(_PLURALS.get(word.casefold(), word.casefold()), bool(unique))
        for unique, word in _ENGLISH.findall(question)
    ]
    for match in _BEHIND.finditer(question):
        found.append(Thing(match[2], bool(match[1]) or "种" in match[0][: match.start(2) - match.start()]))
    found += [Thing(match[1] or match[2], "种" in match[0], last=True) for match in _AHEAD.finditer(question)]
    yield from dict.fromkeys(found)


def counts_rows(node: exp.Count, select: exp.Select) -> bool:
    """An output that is a plain count of rows or of a column's values."""
    from sqlglot import exp

    if not isinstance(node.this, exp.Star | exp.Literal | exp.Column) or isinstance(
        node.parent, exp.Filter | exp.Window
    ):
        return False
    part: exp.Expr = node
    while part.parent is not None and part.parent is not select:
        part = part.parent
    return part.arg_key == "expressions"


def _keys(thing: Thing, select: exp.Select, facts: Facts) -> tuple[_Key, ...]:
    """Columns of what the SELECT reads that name the thing; none where its rows are the things, or it counts or groups by them."""
    from sqlglot import exp

    own = [source for source in sources(select, facts.schema) if source.position >= 0]
    names = tuple(
        bared(name) for table in facts.schema.tables.values() for name in (table.name, *(c.name for c in table.columns))
    )
    rows_of = [source.table for source in own if source.table and _is_table(thing, source.table, names)]
    found = []
    for source in own:
        for column in source.table.columns if source.table else inner_columns(source.columns, facts):
            textual = column.type == "VARCHAR" or KEYISH.search(column.name)
            is_row = source.table in rows_of and column.is_key
            if is_row or (not rows_of and textual and thing.named(column.name, names)):
                text = exp.column(column.name, table=source.alias, quoted=True).sql("duckdb")
                found.append(_Key(text, column))
    taken = {key.column.name.casefold() for key in found}
    group = select.args.get("group")
    used = [group] if group else []
    used += [node for node in facts.tree.find_all(exp.Distinct) if isinstance(node.parent, exp.Count)]
    if any(column.name.casefold() in taken for part in used for column in part.find_all(exp.Column)):
        return ()
    return tuple(found)


def _is_table(thing: Thing, table: TableProfile, names: tuple[str, ...]) -> bool:
    """Whether a row of the table is one of the things, as its name says."""
    if thing.word.isascii():
        return asked.stems(table.name) == asked.stems(thing.word)
    return thing.named(table.name, names)


def inner_columns(names: tuple[str, ...] | None, facts: Facts) -> Iterator[ColumnProfile]:
    """Columns that a subquery hands on under their own names, or may do so where its names are not known."""
    handed = None if names is None else {name.casefold() for name in names}
    seen = set()
    for column in (column for table in facts.tables for column in table.columns):
        name = column.name.casefold()
        if name not in seen and (handed is None or name in handed):
            seen.add(name)
            yield column


async def _check(
    thing: Thing, place: tuple[exp.Count, exp.Select], keys: tuple[_Key, ...], counts: Measuring
) -> Check | None:
    """The key with the most values decides; where the rows are grouped, the group with the most repetitions."""
    (node, select), best = place, None
    for key in keys:
        rows, named, different = await _measured(node, select, key, counts)
        if best is None or different > best[2]:
            best = (rows, named, different, key)
    if best is None:
        return None
    rows, named, different, key = best
    keyish = bool(KEYISH.search(key.column.name)) or key.column.is_key
    if not named > different > (0 if keyish and not select.args.get("group") else 1):
        return None
    group = " of a group" if select.args.get("group") else ""
    detail = f"{node.sql('duckdb')} counts {rows} rows{group}, which name {different} different {key.column.name}"
    sure = thing.unique or (thing.is_one(key.column) and (keyish or different * 2 <= named))
    return Check(name="counted records", outcome="failed" if sure else "noted", detail=detail)


async def _measured(node: exp.Count, select: exp.Select, key: _Key, counts: Measuring) -> tuple[int, int, int]:
    """Rows that the query counts, those of them that name a thing, and how many different; zeros where that cannot be counted."""
    from sqlglot import exp

    own = f" FILTER (WHERE {node.this.sql('duckdb')} IS NOT NULL)" if isinstance(node.this, exp.Column) else ""
    outputs = [f"count(*){own} AS n", f"count({key.text}){own} AS c", f"count(DISTINCT {key.text}){own} AS d"]
    grouped = counts.over(select, outputs, grouped=True)
    row = await counts.row(f"SELECT n, c, d FROM ({grouped}) ORDER BY c - d DESC, d DESC, n LIMIT 1")
    return (whole(row[0]), whole(row[1]), whole(row[2])) if row else (0, 0, 0)
