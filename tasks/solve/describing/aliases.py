"""Knowledge → what it calls tables and columns beside their names, and what it says of tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tasks.core.models.catalogue import Profile
from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.search.words import plain
from tasks.solve.describing.names import Names, column_id
from tasks.solve.describing.roles import Told

_LONGEST = 300
"""Characters of a table's description."""
_ALSO = re.compile(
    r"(?i)(?:\b(?:also (?:called|known as|named)|a\.?k\.?a\.?|alias(?:es)?|synonyms?)\b[:：]?|又称|又名|也叫|也称|亦称|简称|俗称|别名|中文名称?|英文名称?)"
    r"\s*[:：为是]?\s*([^.。;；()（）]+)"
)
_OR = re.compile(r"\s*(?:[,，、/]|\bor\b|\band\b|或者?|和)\s*")
_MARKS = " \t`'\"“”‘’「」*"
_CLAUSE = re.compile(r"[.,;:，。；：（(\n]")
_CJK = re.compile(r"[\u3400-\u9fff]")
_SIGNS, _WORDS = 12, 4
"""Longest clause that is a name in Chinese, and in English."""
_LEADS = re.compile(
    r"(?i)^(?:refers? to|references?|joins?|equals|one of|id of|links? to|foreign key|primary key|单位|关联|引用|对应|主键|外键|取值|如|例|形如|每|见|是|为)"
)
_MEANS = re.compile(
    r"(?i)^[-*+•·\d.)、\s]*[`*“\"「]*(?P<term>[^`*”\"」:：=]{1,30}?)[`*”\"」]*\s*(?::|：|=|\bmeans\b|\brefers to\b|\bis the same as\b|即|指的?是?|就是)\s*"
    r"[`\"]?(?P<name>[\w.]+)[`\"]?[.。]?$"
)
_LISTED = re.compile(r"^\s*(?:[-*+•·|>]|\d+[.)、]|#)")
_LOCATED = re.compile(r"(?i)^(?:located in|source|file|path|stored in|位置|来源|文件)\b|^(?:位置|来源|文件)")


@dataclass
class Said:
    """By id of a column, or canonical name of a table."""

    columns: dict[str, Told] = field(default_factory=dict)
    aliases: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    descriptions: dict[str, str] = field(default_factory=dict)

    def aliases_of(self, made: str) -> tuple[str, ...]:
        """In the order of the knowledge, each once."""
        return tuple(self.aliases.get(made, ()))


def read_told(profile: Profile, knowledge: Knowledge, names: Names) -> Said:
    """What the knowledge says, by the definitions that the profile took for each column; `names` learns the aliases."""
    said = Said()
    meanings = {column_id(t.name, c.name): c.meaning for t in profile.tables for c in t.columns}
    types = _types(knowledge, names, meanings)
    for table in profile.tables:
        for column in table.columns:
            made = column_id(table.name, column.name)
            said.columns[made] = Told(column.meaning, types.get(made, ""))
            for alias in _aliases(column.name, column.meaning):
                said.aliases[made][alias] = None
    for definition in knowledge.definitions:
        _of_table(definition, names, said)
    _terms(knowledge, names, said)
    _headings(knowledge, names, said)
    for made, aliases in said.aliases.items():
        if made in said.columns:
            for alias in aliases:
                names.add_alias(alias, made)
    return said


def _types(knowledge: Knowledge, names: Names, meanings: Mapping[str, str]) -> dict[str, str]:
    """What the knowledge calls the type of a column, by the definition that the profile took for it."""
    found: dict[str, str] = {}
    for definition in knowledge.definitions:
        if not definition.type:
            continue
        if definition.table and (table := names.table(definition.table)):
            found |= {made: definition.type for made in [names.column(table, definition.field)] if made}
            continue
        alike = names.columns.get(plain(definition.field), [])
        taken = [
            made
            for made in alike
            if meanings.get(made) == definition.meaning and (definition.meaning or not definition.table)
        ]
        for made in taken:
            found.setdefault(made, definition.type)
    return found


def _aliases(name: str, meaning: str) -> Iterator[str]:
    """What a meaning calls the column beside its name: what it says it is also called, and its first words in the other script."""
    yield from also_called(meaning)
    first = _CLAUSE.split(meaning, maxsplit=1)[0].strip(_MARKS)
    if (
        not first
        or _LEADS.match(first)
        or re.search(r"、|或|\bor\b", first)
        or bool(_CJK.search(first)) == bool(_CJK.search(name))
    ):
        return
    if len(first) <= _SIGNS if _CJK.search(first) else len(first.split()) <= _WORDS:
        yield first


def also_called(text: str) -> list[str]:
    """What a text says that its subject is also called."""
    return [alias for also in _ALSO.finditer(text) for alias in _listed(also[1])]


def _listed(text: str) -> list[str]:
    parts = (part.strip(_MARKS) for part in _OR.split(text))
    return [part for part in parts if part and len(part) <= 40]


def _of_table(definition: Definition, names: Names, said: Said) -> None:
    """`- **orders**: one row per order` defines a table, where no column has the name."""
    table = names.table(definition.field)
    if table and not definition.table and not names.columns.get(plain(definition.field)):
        said.descriptions.setdefault(table, definition.meaning[:_LONGEST])
        said.aliases[table] |= dict.fromkeys(_aliases(table, definition.meaning))


def _terms(knowledge: Knowledge, names: Names, said: Said) -> None:
    """Lines such as `sales means order_amount` or `- 订单表 = orders`; a name of several things teaches nothing."""
    for text in knowledge.text.splitlines():
        found = _MEANS.match(text.replace("**", ""))
        if not found or plain(found["term"]) == plain(found["name"]):
            continue
        ids = names.columns.get(plain(found["name"]), [])
        made = names.resolve(found["name"]) or (ids[0] if len(ids) == 1 else "") or names.table(found["name"])
        if made and not names.columns.get(plain(found["term"])) and not names.table(found["term"]):
            said.aliases[made][found["term"].strip(_MARKS)] = None


def _headings(knowledge: Knowledge, names: Names, said: Said) -> None:
    """The heading of a table may call it otherwise too, and the prose below it says what its rows are."""
    lines = knowledge.text.splitlines()
    for section in knowledge.sections:
        parts = [part.strip(_MARKS) for part in re.split(r"[（(）)\[\]:：—–|/]|\s-\s", section.title)]
        tables = {table: part for part in parts if part and (table := names.table(part))}
        if len(tables) != 1:
            continue
        ((table, called),) = tables.items()
        for part in parts:
            number = re.fullmatch(r"[\d.\s]*|[一二三四五六七八九十]+、?", part)
            if part and part != called and not number and len(part) <= 40 and not names.table(part):
                said.aliases[table][part] = None
        if prose := _prose(lines[section.first_line :]):
            said.descriptions.setdefault(table, prose)


def _prose(lines: list[str]) -> str:
    """The text before the first list, table or heading."""
    taken: list[str] = []
    for line in lines:
        if _LISTED.match(line) or (taken and not line.strip()):
            break
        if line.strip() and not _LOCATED.match(line.strip()):
            taken.append(line.strip())
    return " ".join(taken)[:_LONGEST]
