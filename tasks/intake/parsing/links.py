"""Words of a knowledge file → links between columns, in whatever way they are put."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from tasks.core.models.semantics import Definition, Link

_N = r"[`*\"\[]*([A-Za-z_一-鿿][\w一-鿿]{0,63}+(?: [A-Za-z_]\w{0,63}+){0,3}?)[`*\"\]]*"
_TC = rf"{_N}\s*\.\s*{_N}"
_VERB = (
    r"(?:refers? to|references?|joins?(?: (?:to|with|on))?|links? to|linked to|points? to|maps? to|corresponds? to|matches|"
    r"is (?:a )?foreign key (?:to|of|for)|foreign key (?:to|of)|fk to|->|→|=>|<->|↔|==?|引用|关联到?|对应(?:于|到)?|指向|连接到?|等于|外键到?)"
)
_PATTERNS = (
    re.compile(rf"(?i)foreign key\s*\(\s*{_N}\s*\)\s*references\s+{_N}\s*\(\s*{_N}\s*\)"),
    re.compile(rf"(?i)(?<![\w.`]){_TC}\s*{_VERB}\s*{_TC}(?!\w|\.\w|\()"),
    re.compile(rf"(?i)(?<![\w.`]){_N}\s*\(\s*{_N}\s*\)\s*{_VERB}\s*{_N}\s*\(\s*{_N}\s*\)"),
    re.compile(rf"(?i)(?<![\w.`]){_N}\s*{_VERB}\s*{_TC}(?!\w|\.\w|\()"),
    re.compile(rf"{_TC}\s*(?:与|和|跟|同)\s*{_TC}\s*(?:相互)?(?:关联|对应|连接|相等|一致)"),
    re.compile(rf"{_N}\s*(?:与|和|跟|同|通过)\s*{_TC}\s*(?:相互)?(?:关联|对应|连接|相等|一致)"),
)
_OWN = (
    re.compile(
        rf"(?i)\b(?:joins?(?: (?:to|with))?|references?|refers to|links? to|foreign key (?:to|of)|fk to)\s+(?:the )?{_N}(?:\s*\.\s*{_N})?"
    ),
    re.compile(rf"(?i)\b(?:equals|same as|matches|corresponds to)\s+{_TC}"),
    re.compile(rf"(?:与|和)\s*{_N}(?:\s*\.\s*{_N})?\s*(?:表)?\s*(?:相)?(?:关联|连接)"),
    re.compile(rf"(?:关联|引用|连接|对应)(?:到|于)?\s*{_N}\s*(?:\.|表?的)\s*{_N}"),
)
_EQUALS = re.compile(
    rf"(?i)(?:\bequals|\bsame as|\bmatches|\bcorresponds to|对应[^，。,;；]*?的|等于|同)\s*{_N}(?:\s+of\b|\s*$|[，,;；。.])"
)
_STOP = frozenset(
    ["the", "a", "an", "of", "key", "table", "to", "with", "on", "and", "this", "that", "is", "are", "each"]
)
"""Words that are no names."""


def stated(text: str, table: str, line: int) -> tuple[Link, ...]:
    """Links that a line states with both columns."""
    plain = re.sub(
        r"^\s*(?:[-*+•]|\d+[.)、])?\s*(?i:link|join|relation(?:ship)?|foreign key|fk|外键|关联|关系)\s*[:：]\s*",
        "",
        text,
    )
    made: list[Link] = []
    taken: set[tuple[str, str]] = set()
    for pattern in _PATTERNS:
        for found in pattern.finditer(plain):
            parts = [part.strip() for part in found.groups()]
            here, column, there, target = parts if len(parts) == 4 else (table, *parts)
            if _is_filler(column) or _is_filler(there) or here.lower() == "foreign key" or (column, target) in taken:
                continue
            taken.add((column, target))
            made.append(Link(table=here, column=column, target_table=there, target_column=target, line=line))
    return tuple(made)


def _is_filler(name: str) -> bool:
    return set(name.lower().split()) <= _STOP


def implied(definitions: Sequence[Definition], known: frozenset[str]) -> tuple[Link, ...]:
    """Links that the meaning of a field names: `joins secumain`, `equals fund_code of the document table`.

    Where the text names only the table, the column there is the one that says it equals this field, or the one of the
    same name; a link whose other side stays unknown is left out. `known` are names of tables, in lower case.
    """
    index = _Index(definitions, known)
    made = [link for d in definitions if (link := _towards(d, index) or _equal(d, index))]
    return tuple(dict.fromkeys(made))


class _Index:
    """Definitions by what is looked for: a file may hold thousands, each of which may name another. All keys in lower case."""

    def __init__(self, definitions: Sequence[Definition], known: frozenset[str]) -> None:
        self.tables = {d.table.lower() for d in definitions if d.table} | known
        self.same: dict[tuple[str, str], str] = {}
        """(table, field) → the field as it is written first."""
        self.equal: dict[tuple[str, str], str] = {}
        """(table, field) → the first field of the table that says it equals that one."""
        self.owners: dict[str, dict[str, Definition]] = {}
        """field → table → its first definition there."""
        self.typed: dict[str, dict[str, Definition]] = {}
        """The same, of definitions that tell type or unit."""
        for d in definitions:
            table, field = d.table.lower(), d.field.lower()
            self.same.setdefault((table, field), d.field)
            if found := _EQUALS.search(d.meaning):
                self.equal.setdefault((table, found[1].lower()), d.field)
            self.owners.setdefault(field, {}).setdefault(table, d)
            if d.type or d.unit:
                self.typed.setdefault(field, {}).setdefault(table, d)


def _towards(own: Definition, index: _Index) -> Link | None:
    for pattern in _OWN:
        for found in pattern.finditer(own.meaning):
            table, column = (*found.groups(), None)[:2]
            if not table or table.lower() not in index.tables or table.lower() == own.table.lower():
                continue
            key = (table.lower(), own.field.lower())
            if target := column or index.equal.get(key) or index.same.get(key):
                return Link(table=own.table, column=own.field, target_table=table, target_column=target, line=own.line)
    return None


def _equal(own: Definition, index: _Index) -> Link | None:
    """`equals X` without a table: the one other table that has such a field."""
    found = _EQUALS.search(own.meaning)
    if not found:
        return None
    field = found[1].lower()
    others = islice(_elsewhere(index.owners, field, own), 2)
    target = next(others, None)
    if next(others, None) and own.field.lower() == field:
        target = next(_elsewhere(index.typed, field, own), None)
    if target is None:
        return None
    return Link(table=own.table, column=own.field, target_table=target.table, target_column=target.field, line=own.line)


def _elsewhere(owners: dict[str, dict[str, Definition]], field: str, own: Definition) -> Iterator[Definition]:
    """Definitions of a field in other tables than one's own."""
    return (d for table, d in owners.get(field, {}).items() if table != own.table.lower())
