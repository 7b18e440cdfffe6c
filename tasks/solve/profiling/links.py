"""Measured columns + stated links → join candidates, measured on all rows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tasks.core.models.catalogue import JoinCandidate
from tasks.core.models.semantics import Link
from tasks.core.search.words import plain
from tasks.core.sections import ProfilingSettings
from tasks.core.sql.columns import NO_TIME, Facts, batches, first_rows
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import literal, quote
from tasks.solve.profiling.naming import PARENTS, is_bare, names_id, source_keys, subject, target_keys, words

_RARE = 4
"""Tables that may share a column name without one of them being its key; more, and it is no link (`name`, `date`)."""
_KEYS = 8
"""Keys of one name that others are held against; monthly tables may all have the same."""
_LARGE = 10_000
"""Whole numbers below meet by chance: ages are customer ids too."""
_MEET = 0.5
"""Share of a column's common values that another must hold for all values to be compared."""
_LONGEST = 64
"""Characters of a text that may be a key."""


@dataclass(frozen=True)
class Field:
    """A column as one end of a join."""

    table: str
    aliases: frozenset[str]
    """Plain names of its table: its own, the file's, the one inside the file."""
    column: str
    type: str
    facts: Facts

    @property
    def kind(self) -> str:
        """`whole`, `number` (whole ones in a wider type), `text` or `date`; empty for what nobody joins on."""
        if re.search(r"INT", self.type) and "[" not in self.type and "(" not in self.type and self.type != "INTERVAL":
            return "whole"
        if self.type in ("DOUBLE", "FLOAT") or self.type.startswith("DECIMAL("):
            seen = (self.facts.minimum or "", self.facts.maximum or "", *self.facts.common)
            return "number" if all(re.fullmatch(r"-?\d+(\.0*)?", value) for value in seen) else ""
        return "text" if self.type == "VARCHAR" else "date" if self.type in ("DATE", "TIMESTAMP") else ""

    @property
    def unique(self) -> bool:
        """No value twice, NULL aside."""
        return 0 < self.facts.filled == self.facts.distinct

    @property
    def serial(self) -> bool:
        """Counts rows from 0 or 1 with few gaps, so that it meets every other such column."""
        low, high = self.facts.minimum, self.facts.maximum
        return self.kind == "whole" and self.unique and low in ("0", "1") and int(high or 0) <= 2 * self.facts.distinct


Pair = tuple[Field, Field]


async def measure_links(
    engine: Engine, fields: Sequence[Field], links: Sequence[Link], settings: ProfilingSettings, deadline: float
) -> tuple[tuple[JoinCandidate, ...], tuple[str, ...]]:
    """Candidates whose match rate is high enough, stated ones whatever theirs is, and notes on what was left out;
    `deadline` on the monotonic clock.
    """
    stated, notes = _stated(fields, links)
    pool = _pool(fields, settings.join_columns)
    usable = sum(bool(field.kind) and field.facts.distinct > 0 for field in fields)
    if usable > len(pool):
        notes.append(f"joins were sought among {len(pool)} of {usable} columns, keys first (profiling.join_columns)")
    named, crowded = _by_name(pool)
    notes += [
        f"{name!r} is a key of {count} tables: joins to the {_KEYS} largest were measured" for name, count in crowded
    ]
    pairs = dict.fromkeys([*stated, *named])
    found = await _rates(engine, list(pairs), deadline)
    similar, unread = await _by_value(engine, pool, deadline)
    found += await _rates(engine, [p for p in similar if p not in pairs and p[::-1] not in pairs], deadline)
    reasons = [rate for _, rate in found if isinstance(rate, str)] + unread
    for reason, count in Counter(reasons).items():
        notes.append(f"{count} possible joins: {reason}")
    rated = [(pair, rate) for pair, rate in found if not isinstance(rate, str)]
    kept = [
        _candidate(pair, rate, pair in stated)
        for pair, rate in rated
        if pair in stated or 0 < rate >= settings.join_min_match
    ]
    kept.sort(key=lambda c: (not c.stated, -c.match_rate, not c.right_unique))
    return tuple(kept), tuple(notes)


def _candidate(pair: Pair, rate: float, stated: bool) -> JoinCandidate:
    left, right = pair
    return JoinCandidate(
        left_table=left.table,
        left_column=left.column,
        right_table=right.table,
        right_column=right.column,
        match_rate=rate,
        left_unique=left.unique,
        right_unique=right.unique,
        stated=stated,
    )


def _stated(fields: Sequence[Field], links: Sequence[Link]) -> tuple[dict[Pair, None], list[str]]:
    """Pairs that the knowledge names; a side without a table is looked for in all of them."""
    pairs: dict[Pair, None] = {}
    notes: list[str] = []
    for link in links:
        rights = _named(fields, link.target_table, link.target_column)
        lefts = _named(fields, link.table, link.column)
        made = [(left, right) for left in lefts for right in rights if left != right]
        if not link.table or not link.target_table:
            made = [(left, right) for left, right in made if left.table != right.table]
        pairs.update(dict.fromkeys(made))
        if not made:
            ends = (f"{link.table}.{link.column}", f"{link.target_table}.{link.target_column}")
            notes.append(f"line {link.line} of the knowledge links {ends[0]} to {ends[1]}: there are no such columns")
    return pairs, notes


def _named(fields: Iterable[Field], table: str, column: str) -> list[Field]:
    wanted = plain(column)
    return [f for f in fields if plain(f.column) == wanted and (not table or plain(table) in f.aliases)]


def _pool(fields: Iterable[Field], most: int) -> list[Field]:
    """Columns that a join may be on, keys and identifiers first."""
    usable = [field for field in fields if field.kind and field.facts.distinct > 0]
    usable.sort(key=lambda field: (not field.unique, not names_id(words(field.column))))
    return usable[:most]


def _by_name(pool: Sequence[Field]) -> tuple[list[Pair], list[tuple[str, int]]]:
    """Pairs whose names say that one refers to the other, `x_id` to `x.id` or equal names; and names of too many keys."""
    targets = _targets(pool)
    same: dict[str, list[Field]] = defaultdict(list)
    for field in pool:
        same["".join(words(field.column))].append(field)
    largest = {key: sorted(keys, key=lambda f: -f.facts.distinct)[:_KEYS] for key, keys in targets.items()}
    pairs = [
        (left, right)
        for left in pool
        for key in source_keys(left.column)
        for right in largest.get(key, ())
        if _may_refer(left, right)
    ]
    pairs += _parents(pool)
    for group in same.values():
        if len(group) <= _RARE and not is_bare(words(group[0].column)):
            shared = [field for field in group if not field.unique]
            pairs += [_towards_more(one, two) for one, two in combinations(shared, 2) if one.table != two.table]
    return [p for p in pairs if _comparable(*p)], [
        (key, len(keys)) for key, keys in targets.items() if len(keys) > _KEYS
    ]


def _targets(pool: Sequence[Field]) -> dict[str, dict[Field, None]]:
    """Unique columns by the names that may refer to them."""
    targets: dict[str, dict[Field, None]] = defaultdict(dict)
    keys = [field for field in pool if field.unique]
    for field in keys:
        for name in ("".join(words(field.column)), *target_keys(field.table, field.column)):
            targets[name][field] = None
    for field in {field.table: field for field in reversed(keys)}.values():
        targets["".join(subject(field.table))][field] = None
    for field in keys:
        short = "".join((*subject(field.table)[-1:], *words(field.column)))
        if is_bare(words(field.column)) and short not in targets:
            targets[short][field] = None
    return targets


def _may_refer(left: Field, right: Field) -> bool:
    if left == right:
        return False
    if left.table == right.table:
        return not left.unique and plain(left.column) != plain(right.column)
    if left.unique and plain(left.column) == plain(right.column):
        return not (left.serial and right.serial and is_bare(words(left.column))) and (left, right) == _towards_more(
            left, right
        )
    return True


def _parents(pool: Sequence[Field]) -> Iterator[Pair]:
    """`parent_id` and the like, to the key of their own table."""
    keys = {field.table: field for field in reversed(pool) if field.unique and names_id(words(field.column))}
    for left in pool:
        right = keys.get(left.table)
        if right and left != right and PARENTS & set(words(left.column)):
            yield left, right


def _towards_more(one: Field, other: Field) -> Pair:
    """The side whose rows the name speaks of is referred to, else the one with more distinct values."""

    def rank(field: Field) -> tuple[bool, int, str]:
        return words(field.column)[:-1] == subject(field.table), field.facts.distinct, field.table

    return (other, one) if rank(one) > rank(other) else (one, other)


def _comparable(left: Field, right: Field) -> bool:
    kinds = {left.kind, right.kind}
    return len(kinds) == 1 or kinds == {"whole", "number"} or kinds == {"whole", "text"}


async def _by_value(engine: Engine, pool: Sequence[Field], deadline: float) -> tuple[list[Pair], list[str]]:
    """Pairs where a key holds most common values of another column, of kinds that do not meet by chance; and why
    some were not looked at.
    """
    telling = [field for field in pool if _telling(field)]
    keys = [field for field in telling if field.unique and field.facts.distinct > 2]
    wanted: list[tuple[Field, list[Field]]] = []
    for key in keys:
        lefts = [f for f in telling if f.table != key.table and f.kind == key.kind and _overlap(f, key)]
        lefts = [left for left in lefts if not left.unique or (left, key) == _towards_more(left, key)]
        if lefts:
            wanted.append((key, lefts))
    pairs: list[Pair] = []
    unread: list[str] = []
    for batch in batches(range(len(wanted)), lambda index: wanted[index][0].facts.filled):
        found = await first_rows(engine, [_lookup(*wanted[index]) for index in batch], deadline)
        for index, row in zip(batch, found, strict=True):
            key, lefts = wanted[index]
            if isinstance(row, str):
                unread += [row] * len(lefts)
                continue
            met = set(str(row[0]).split("\x1f"))
            pairs += [(left, key) for left in lefts if _met(left, met) >= _MEET]
    return pairs, unread


def _telling(field: Field) -> bool:
    common = field.facts.common
    if field.kind == "whole":
        return (
            all(len(value.lstrip("-")) > 4 for value in (field.facts.minimum or "", *common))
            and int(common[0]) >= _LARGE
        )
    return field.kind == "text" and field.facts.distinct > 1 and all(0 < len(value) <= _LONGEST for value in common)


def _overlap(one: Field, other: Field) -> bool:
    if one.kind == "whole":
        low, high = (int(f.facts.minimum or 0) for f in (one, other)), (int(f.facts.maximum or 0) for f in (one, other))
        return max(low) <= min(high)
    lows, highs = [f.facts.minimum or "" for f in (one, other)], [f.facts.maximum or "" for f in (one, other)]
    return max(lows) <= min(highs)


def _met(left: Field, met: set[str]) -> float:
    return sum(value in met for value in left.facts.common) / len(left.facts.common)


def _lookup(key: Field, lefts: Sequence[Field]) -> str:
    values = sorted({value for left in lefts for value in left.facts.common})
    rows = ", ".join(f"({literal(value)})" for value in values)
    column = f"{quote(key.column)}::VARCHAR"
    return (
        f"SELECT string_agg(DISTINCT v, chr(31)) FROM (VALUES {rows}) AS t(v) "
        f"WHERE v IN (SELECT {column} FROM {quote(key.table)} WHERE {quote(key.column)} IS NOT NULL)"
    )


async def _rates(engine: Engine, pairs: Sequence[Pair], deadline: float) -> list[tuple[Pair, float | str]]:
    """Share of non-NULL left rows with a partner, or why it is not known."""
    rates: list[float | str] = [NO_TIME] * len(pairs)
    for batch in batches(range(len(pairs)), lambda index: sum(field.facts.filled for field in pairs[index])):
        found = await first_rows(engine, [_matches(*pairs[index]) for index in batch], deadline)
        for index, row in zip(batch, found, strict=True):
            filled = pairs[index][0].facts.filled
            rates[index] = row if isinstance(row, str) else int(row[0] or 0) / filled if filled else 0.0
    return list(zip(pairs, rates, strict=True))


def _matches(left: Field, right: Field) -> str:
    cast = "" if left.kind == right.kind or {left.kind, right.kind} == {"whole", "number"} else "::VARCHAR"
    one, other = quote(left.column) + cast, quote(right.column) + cast
    return (
        f"SELECT count(*) FROM {quote(left.table)} WHERE {one} IN "
        f"(SELECT {other} FROM {quote(right.table)} WHERE {quote(right.column)} IS NOT NULL)"
    )
