"""Profile + definitions → the role of every column and table, as measured or as the knowledge says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, Profile, TableProfile
from tasks.core.models.metadata import Basis, ColumnRole, TableRole
from tasks.solve.describing.names import column_id
from tasks.solve.profiling.naming import is_bare, names_id, subject, words

_NUMBER = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL\(.*\))")
_WRITTEN = re.compile(r"[$€£¥￥]? ?(1,234 ?\S{0,3}|d ?[%‰])|[$€£¥￥] ?d")
"""Shape of numbers that are held as text."""
_TIMES = frozenset(["year", "month", "quarter", "week", "day", "weekday", "hour", "date"])
_TIME_ENDS = ("年", "年份", "年度", "月", "月份", "季度", "周", "日", "日期")
_PRIMARY = re.compile(r"(?i)\bprimary key\b|\bpk\b|主键")
_FOREIGN = re.compile(r"(?i)\bforeign key\b|\bfk\b|外键")
_CATEGORY = re.compile(r"(?i)categor|enum|枚举|类别|string|text|字符|文本|date|日期|bool|布尔")
_FACT = re.compile(r"(?i)\bfact table\b|事实表")
_DIMENSION = re.compile(r"(?i)\bdimension table\b|\blookup table\b|维度表|维表|字典表|码表")


class Role(NamedTuple):
    """What a column is, and what it refers to."""

    role: ColumnRole
    refers_to: str = ""
    match_rate: float | None = None
    basis: Basis = "measured"


class Told(NamedTuple):
    """What the knowledge says of a column that bears on its role."""

    meaning: str = ""
    type: str = ""


def column_roles(profile: Profile, told: Mapping[str, Told]) -> dict[str, Role]:
    """A role for every column, by id. A key is the likeliest of the columns that are unique and filled."""
    links = _links(profile.joins)
    targets = {_right(join) for join in profile.joins if join.right_unique}
    return {made: role for table in profile.tables for made, role in _of_table(table, links, targets, told).items()}


def table_role(
    table: TableProfile, roles: Sequence[Role], fact_links: int, description: str
) -> tuple[TableRole, Basis]:
    """A fact table has a measure and enough foreign keys, unless the knowledge or its name says what it is."""
    if _FACT.search(description):
        return "fact", "knowledge"
    if _DIMENSION.search(description):
        return "dimension", "knowledge"
    first = (words(table.name) or ("",))[0]
    if first in ("fact", "dim"):
        return ("fact" if first == "fact" else "dimension"), "measured"
    linked = sum(role.role == "foreign_key" for role in roles)
    return ("fact" if linked >= fact_links and any(r.role == "measure" for r in roles) else "dimension"), "measured"


def _of_table(
    table: TableProfile, links: Mapping[str, JoinCandidate], targets: set[str], told: Mapping[str, Told]
) -> dict[str, Role]:
    ids = [column_id(table.name, column.name) for column in table.columns]
    primary = {made for made in ids if _PRIMARY.search(told.get(made, Told()).meaning)}
    basis: Basis = "knowledge" if primary else "measured"
    primary = primary or _likeliest(table, ids, links, targets)
    roles: dict[str, Role] = {}
    for made, column in zip(ids, table.columns, strict=True):
        known, link = told.get(made, Told()), links.get(made)
        if made in primary:
            roles[made] = Role("primary_key", basis=basis)
        elif link:
            rate = link.match_rate if _left(link) == made else None
            target = _right(link) if _left(link) == made else _left(link)
            roles[made] = Role("foreign_key", target, rate, "knowledge" if link.stated else "measured")
        elif _FOREIGN.search(known.meaning):
            roles[made] = Role("foreign_key", basis="knowledge")
        else:
            roles[made] = Role("measure" if _is_measure(column, known) else "dimension")
    return roles


def _links(joins: Sequence[JoinCandidate]) -> dict[str, JoinCandidate]:
    """The best link of each referring column: stated first, then by match; never both ways between two columns."""
    chosen: dict[str, JoinCandidate] = {}
    taken: set[frozenset[str]] = set()
    both = {(_left(join), _right(join)) for join in joins}
    ranked = sorted(joins, key=_worth)
    for join in ranked:
        left, right = _left(join), _right(join)
        if not join.right_unique and not join.stated:
            continue
        if join.left_unique and not join.right_unique:
            if (right, left) in both:
                continue  # that one says the same from the side that refers
            left, right = right, left
        if left not in chosen and frozenset((left, right)) not in taken:
            chosen[left] = join
            taken.add(frozenset((left, right)))
    return chosen


def _worth(join: JoinCandidate) -> tuple[bool, bool, float, bool, bool]:
    """The smallest is best; of equals the one whose names agree."""
    other = words(join.left_column)[:-1] != subject(join.right_table)
    return not join.stated, not join.right_unique, -join.match_rate, other, join.left_column != join.right_column


def _refers(made: str, link: JoinCandidate | None) -> bool:
    """Whether a unique column is that of other rows: it is said to be, or its name speaks of the table that it meets."""
    if link is None or _left(link) != made:
        return False
    return link.stated or words(link.right_column)[:-1] == subject(link.right_table)


def _likeliest(
    table: TableProfile, ids: Sequence[str], links: Mapping[str, JoinCandidate], targets: set[str]
) -> set[str]:
    """The one key candidate that is named, placed or referred to like a key; in a small table many are unique by chance."""
    best, most = "", 0
    for at, (made, column) in enumerate(zip(ids, table.columns, strict=True)):
        if not column.is_key or _refers(made, links.get(made)) or _is_fraction(column):
            continue
        found = words(column.name)
        own = is_bare(found) or (names_id(found) and found[:-1] == subject(table.name))
        points = (
            4 * own
            - 4 * (made in links and made not in targets)
            + 3 * names_id(found)
            + 3 * (made in targets)
            + 2 * (at == 0)
            - 2 * _is_time(column)
        )
        if points > most:
            best, most = made, points
    return {best} if best else set()


def _is_fraction(column: ColumnProfile) -> bool:
    kind = column.type
    if kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL("):
        return not all(re.fullmatch(r"-?\d+(\.0*)?", value) for value in column.examples)
    return False


def _is_time(column: ColumnProfile) -> bool:
    """A day or a part of the calendar; `delivery_days` is a quantity."""
    name = column.name.casefold()
    part = not name.endswith("s") and bool(_TIMES & set(words(name)[-1:]))
    return column.type in ("DATE", "TIMESTAMP", "TIME") or part or name.endswith(_TIME_ENDS)


def _is_measure(column: ColumnProfile, known: Told) -> bool:
    found = words(column.name)
    if names_id(found) or _is_time(column) or _CATEGORY.fullmatch(known.type.strip()):
        return False
    if _NUMBER.fullmatch(column.type):
        return True
    return column.type == "VARCHAR" and bool(_WRITTEN.fullmatch(column.shape))


def _left(join: JoinCandidate) -> str:
    return column_id(join.left_table, join.left_column)


def _right(join: JoinCandidate) -> str:
    return column_id(join.right_table, join.right_column)
