"""Words of a knowledge file → links between columns, in whatever way they are put."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    tables = {d.table.lower() for d in definitions if d.table} | known
    made = [link for d in definitions if (link := _towards(d, definitions, tables) or _equal(d, definitions))]
    return tuple(dict.fromkeys(made))


def _towards(own: Definition, definitions: Sequence[Definition], tables: set[str]) -> Link | None:
    for pattern in _OWN:
        for found in pattern.finditer(own.meaning):
            table, column = (*found.groups(), None)[:2]
            if not table or table.lower() not in tables or table.lower() == own.table.lower():
                continue
            target = column or _partner(own, table, definitions)
            if target:
                return Link(table=own.table, column=own.field, target_table=table, target_column=target, line=own.line)
    return None


def _partner(own: Definition, table: str, definitions: Sequence[Definition]) -> str:
    there = [d for d in definitions if d.table.lower() == table.lower()]
    for other in there:
        found = _EQUALS.search(other.meaning)
        if found and found[1].lower() == own.field.lower():
            return other.field
    return next((d.field for d in there if d.field.lower() == own.field.lower()), "")


def _equal(own: Definition, definitions: Sequence[Definition]) -> Link | None:
    """`equals X` without a table: the one other table that has such a field."""
    found = _EQUALS.search(own.meaning)
    if not found:
        return None
    owners = [d for d in definitions if d.field.lower() == found[1].lower() and d.table.lower() != own.table.lower()]
    named = [d for d in owners if re.search(r"(?i)document|文档", own.meaning)] or owners
    if len({d.table for d in named}) > 1:
        named = named[:1] if own.field.lower() != found[1].lower() else [d for d in named if d.type or d.unit][:1]
    if not named:
        return None
    return Link(
        table=own.table, column=own.field, target_table=named[0].table, target_column=named[0].field, line=own.line
    )
