"""Knowledge and a document's name → the columns that the knowledge gives its table, with type, unit and meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks.core.models.document import ColumnType, PlanColumn
from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.values.worded import worded

_TYPES: tuple[tuple[ColumnType, str], ...] = (
    ("datetime", r"datetime|timestamp|日期时间"),
    ("date", r"date|日期"),
    ("boolean", r"bool|布尔"),
    ("duration", r"duration|interval|时长"),
    ("integer", r"int|整数|整型|bigint"),
    ("number", r"number|numeric|real|float|double|decimal|数值|数字|浮点|小数"),
    ("text", r"char|text|string|str\b|enum|categor|字符|文本|枚举|类别|uuid"),
)
_KEY = re.compile(r"(?i)主键|primary\s+key|唯一(?:标识|编号)|unique\s+(?:id|key|identifier)")
_DATE = re.compile(r"(?i)\bdate\b|\bday (?:of|on)\b|\b(?:first|last) day\b|日期|时间$|日$")
_CODE = re.compile(r"(?i)\bcode\b|\bnumber, |代码|编码|编号|标识码|leading zeros?|前导零|string|字符串|joins? ")


def definitions(stem: str, knowledge: Knowledge) -> tuple[Definition, ...]:
    """Fields of the table that is named like the document, in the order of the knowledge; each name once.

    A unit that the meaning names in words counts as one.
    """
    tables = {d.table.casefold() for d in knowledge.definitions if d.table}
    table = _table(stem.casefold(), tables)
    found: dict[str, Definition] = {}
    for definition in knowledge.definitions:
        if table and definition.table.casefold() == table and definition.field:
            unit = definition.unit or worded(definition.type, definition.meaning)
            found.setdefault(definition.field.casefold(), definition.model_copy(update={"unit": unit}))
    return tuple(found.values())


def columns(stem: str, knowledge: Knowledge) -> tuple[PlanColumn, ...]:
    """The knowledge's fields as columns, the key first; empty when it lists none."""
    listed = definitions(stem, knowledge)
    if not listed:
        return ()
    at = next((i for i, d in enumerate(listed) if _KEY.search(d.meaning) or _KEY.search(d.type)), 0)
    ordered = (listed[at], *listed[:at], *listed[at + 1 :])
    return tuple(column(definition, is_key=not index) for index, definition in enumerate(ordered))


def column(definition: Definition, is_key: bool) -> PlanColumn:
    """One field as a column; a key is always text, so that leading zeros stay."""
    meaning = definition.meaning or definition.field
    return PlanColumn(
        name=definition.field,
        doc_meaning=meaning,
        task_meaning=f"{meaning} [{definition.unit}]" if definition.unit else meaning,
        type="text" if is_key else _type(definition),
        unit="" if is_key else definition.unit,
        role="key" if is_key else "data",
    )


def speaks_of(rule: str, name: str) -> bool:
    """Whether a rule names the field, as a word of its own."""
    return bool(name) and bool(re.search(rf"(?i)(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", rule))


def within(rules: Iterable[str], chars: int) -> str:
    """The rules, one a line and each once, as far as they fit into so many characters; a shorter one may follow a long one."""
    found: list[str] = []
    for text in dict.fromkeys(rules):
        if sum(map(len, found)) + len(text) <= chars:
            found.append(text)
    return "\n".join(found)


def column_type(text: str) -> ColumnType | None:
    """The type that a word names; None when it names none."""
    return next((kind for kind, words in _TYPES if re.search(rf"(?i){words}", text)), None)


def _type(definition: Definition) -> ColumnType:
    if definition.type and (stated := column_type(definition.type)):
        return stated
    if definition.unit:
        return "number"
    if _CODE.search(definition.meaning):
        return "text"
    return "date" if _DATE.search(definition.meaning) else "text"


def _table(stem: str, tables: set[str]) -> str:
    """The table of that name, or the longest one that the stem begins with (`recall_notice` of `recall_notice_2020`)."""
    if stem in tables:
        return stem
    begun = [table for table in tables if stem.startswith(table) and not stem[len(table)].isalnum()]
    return max(begun, key=len, default="")
