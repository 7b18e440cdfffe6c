"""One line or table row of a knowledge file → a field with type, unit, meaning and examples."""

from __future__ import annotations

import re
from typing import NamedTuple

from tasks.core.models.semantics import Definition

_TYPE = re.compile(
    r"(?i)(?:(?:var|n|nvar)?char|text|string|str|(?:big|small|tiny)?int(?:eger)?\d*|number|numeric|real|float\d*|double(?: precision)?|"
    r"decimal|date|datetime|timestamp|time|year|bool(?:ean)?|category|categorical|enum|blob|json|uuid|字符串?|字符型|文本|整数|整型|数值|"
    r"数字|浮点数?|小数|日期|时间|日期时间|枚举|类别|布尔值?)(?:\s*\([\d, ]+\))?"
)
_PLACEHOLDERS = {"字段", "列", "field", "column", "-", "—", "/", "n/a", "无", "none"}
_UNIT = re.compile(r"(?i)(?:\bunits?\s*(?:[:：=]|is\b|are\b)|单位\s*[:：=为是]?)\s*([^，,;；。)）\]]+)")
_MEASURED = re.compile(
    r"(?i)\b(?:measured|expressed|given|stored|quoted|recorded) (?:in|as) ([A-Za-z%‰$€£¥][\w%$€£¥/² ]{0,24}?)(?=[.,;)]|$)"
)
_SHORT_UNIT = re.compile(
    r"(?i)%|‰|元.*|.*元|万.*|亿.*|股|手|人|家|次|个|天|日|年|小时|分钟|秒|吨|千克|公斤|克|米|公里|平方.*|立方.*|千瓦时?|℃|度|"
    r"[a-zμ$€£¥°]{1,4}(?:/[a-z²³0-9μ]{1,6})?|[A-Z]{3}(?: per .*)?|ratio|percent|points?|days?|hours?|years?|months?|minutes?|seconds?|"
    r"in [a-z ]+|(?:thousand|million|billion)s?(?: .*)?|.*比例.*|.*[个件台辆](?:/.*)?|.+/.{1,4}"
)
_EXAMPLES = re.compile(
    r"(?i)(?:\bexamples?(?: values?)?|\be\.g\.|\bfor example|\bsample values?|\bvalues|例如|如[:：]|示例|样例|取值|枚举)\s*[:：]?\s*(.+)$"
)
_LINE = re.compile(
    r"""^(?:[-*+•·]|\d+[.)、])?\s*
    (?:\*\*\s*`?(?P<bold>[^*`]+?)`?\s*\*\*|`(?P<tick>[^`]+)`|(?P<plain>[^\s:：|（(\[=`*][^:：|（(\[=`*]{0,60}?))
    \s*(?P<paren>(?:[（(\[].*?[)）\]])?)
    \s*(?:\*\*)?\s*(?P<sep>[:：]|\s[-—–]{1,2}\s|=>|\s*$)\s*(?:\*\*)?\s*
    (?P<rest>.*)$""",
    re.VERBOSE,
)


class Where(NamedTuple):
    """The field that a statement is about."""

    table: str
    field: str
    line: int


def field(text: str, table: str, line: int, strict: bool) -> Definition | None:
    """The field that a bullet or plain line defines; None when it defines none.

    With `strict` the name must look like one: in backticks or bold, with an underscore or a dot, or in lower case.
    """
    body, inside = _bold_with_type(text.strip())
    found = _LINE.match(body)
    if not found:
        return None
    name = (found["bold"] or found["tick"] or found["plain"] or "").strip()
    rest, paren = found["rest"].strip(), inside or _balanced(body, found)
    if not rest and not paren:
        return None
    if found["plain"] and not _is_name(name, strict):
        return None
    if inside is None and paren and found["paren"] and paren != found["paren"][1:-1]:
        rest = _after(body, found)
    owner, column = _split(name)
    return define(Where(owner or table, column, line), paren, rest)


def define(where: Where, paren: str, text: str, unit: str = "") -> Definition:
    """A definition from its parts: what stands in brackets after the name, and the text."""
    kind, told, more = _bracket(paren)
    meaning, examples = _examples(text)
    meaning, last_kind, last_unit = _tail(meaning)
    if more:
        meaning = f"{more}. {meaning}" if meaning else more
    stated = _UNIT.search(text) or _MEASURED.search(text)
    unit = _no_dash(unit) or told or last_unit or (stated[1].strip() if stated else "")
    return Definition(
        table=where.table,
        field=where.field,
        type=kind or last_kind,
        meaning=meaning.strip(" .。，,;；"),
        unit=_no_dash(unit),
        examples=examples,
        line=where.line,
    )


def is_type(text: str) -> bool:
    """Whether a text is the name of a data type."""
    return bool(_TYPE.fullmatch(text.strip()))


def _bold_with_type(text: str) -> tuple[str, str | None]:
    """`- **name (type):** text` with the type moved out of the bold part."""
    found = re.match(
        r"^((?:[-*+•]|\d+[.)])?\s*)\*\*\s*`?([^*`(（]+?)`?\s*[（(]((?:[^()（）]|[（(][^()（）]*[)）])*)[)）]\s*([:：]?)\s*\*\*\s*[:：]?\s*(.*)$",
        text,
    )
    if not found:
        return re.sub(r"([:：])\s*\*\*", r"**\1", text, count=1), None
    return f"{found[1]}**{found[2]}**: {found[5]}", found[3]


def _balanced(body: str, found: re.Match[str]) -> str:
    """The bracket after the name, to its own end: `varchar(50)` has brackets inside."""
    start = found.start("paren")
    if not found["paren"]:
        return ""
    depth = 0
    for at in range(start, len(body)):
        depth += body[at] in "(（["
        depth -= body[at] in ")）]"
        if not depth:
            return body[start + 1 : at]
    return found["paren"][1:-1]


def _after(body: str, found: re.Match[str]) -> str:
    end = found.start("paren") + len(_balanced(body, found)) + 2
    return re.sub(r"^\s*(?:\*\*)?\s*[:：—–-]*\s*(?:\*\*)?\s*", "", body[end:])


def _is_name(name: str, strict: bool) -> bool:
    if not strict:
        return len(name.split()) <= 5
    return bool(re.fullmatch(r"[A-Za-z_][\w]*(?:\.[\w ]+)?", name)) and (
        "_" in name or "." in name or name == name.lower()
    )


def _split(name: str) -> tuple[str, str]:
    owner, dot, column = name.partition(".")
    return (owner, column) if dot and re.fullmatch(r"\w+", owner) and column.strip() else ("", name)


def _bracket(paren: str) -> tuple[str, str, str]:
    """Type, unit and the rest of what stands in brackets after a name."""
    kind = unit = ""
    more = []
    for part in re.split(r"[，,;；](?![^(（]*[)）])", paren):
        piece = part.strip()
        if not piece or piece.lower() in _PLACEHOLDERS:
            continue
        if found := _UNIT.match(piece):
            unit = piece[found.start(1) :].strip()
        elif not kind and is_type(piece):
            kind = piece
        elif not unit and _SHORT_UNIT.fullmatch(piece):
            unit = re.sub(r"(?i)^in ", "", piece)
        else:
            more.append(piece)
    return kind, unit, ", ".join(more)


def _examples(text: str) -> tuple[str, tuple[str, ...]]:
    found = _EXAMPLES.search(text)
    if not found:
        listed = re.search(r"[:：]\s*((?:[^/,;:：]+ / ){2,}[^/,;.]+)", text)
        return text, tuple(part.strip() for part in listed[1].split("/")) if listed else ()
    values = (
        re.sub(r"[)）]?[.。]?$", "", found[1].strip())
        if found.start() and text[found.start() - 1] in "(（"
        else found[1].strip()
    )
    values = values.rstrip(".。")
    mark = next((mark for mark in ("、", "; ", "；", ", ", "，", " / ", "/", ",") if mark in values), None)
    parts = tuple(part.strip().strip("`'\"“”") for part in (values.split(mark) if mark else [values]))
    kept = text if re.search(r"取值|枚举|(?i:\bvalues)", found[0][:8]) else text[: found.start()]
    return kept, tuple(part for part in parts if part)[:20]


def _tail(text: str) -> tuple[str, str, str]:
    """Type or unit in brackets at the end of a text, taken off it."""
    found = re.search(
        r"\s*[\[（(]([^\[\]()（）]{1,30}|[^\[\]()（）]{1,20}[（(][^()（）]{1,10}[)）])[\]）)]\s*[.。]?$", text
    )
    if not found:
        return text, "", ""
    inside = found[1].strip()
    if is_type(inside) or (listed := re.match(r"(枚举|取值|enum|values|e\.g\.)\s*[:：]?", inside)):
        return (
            text[: found.start()],
            inside if is_type(inside) else "枚举" if listed and listed[1] == "枚举" else "",
            "",
        )
    if text[found.start() :].lstrip().startswith("[") or _SHORT_UNIT.fullmatch(inside):
        return text[: found.start()], "", re.sub(r"(?i)^in ", "", inside)
    return text, "", ""


def _no_dash(unit: str) -> str:
    plain = unit.strip().strip("`*")
    return "" if plain.lower() in _PLACEHOLDERS else plain
