"""Lines of a knowledge file → headings, blocks of code and the kind of statement each line may hold.

Nothing here assumes a layout: Markdown headings, underlined headings, numbered ones (`一、`, `1.`) and none at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tasks.core.models.semantics import Section

Mode = Literal["", "fields", "metrics", "links", "rules", "examples", "intro"]

_ATX = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_NUMBER = re.compile(
    r"^\s*(?:第?[一二三四五六七八九十百]+[、.．章节]\s*|[（(][一二三四五六七八九十\d]+[)）]\s*|(?:\d+\.)*\d+[.、)）:：]?\s+|[A-Z][.)]\s+)"
)
_WORDS: tuple[tuple[Mode, str], ...] = (
    ("examples", r"use cases?|exempl|examples?|sample (?:quer|question)|示例|用例|案例|样例|例子|常见问题"),
    ("metrics", r"metrics?|formulas?|formulae|kpis?|indicators?|calculat|computed|derived|指标|公式|计算"),
    ("links", r"relation|joins?\b|foreign keys?|links?\b|keys?\b|references|关联|关系|外键|连接"),
    (
        "rules",
        r"rules?|conventions?|constraints?|caveats?|notes?\b|remarks?|assumptions?|polic|guideline|glossary|terms?\b|"
        r"terminology|definitions of terms|business|quality|units?\b|规则|约定|口径|注意|约束|规范|术语|名词|备注|其他|其它|"
        r"业务|惯例|单位|要求|限制",
    ),
    ("fields", r"fields?|columns?|schema|tables?|entit|dictionar|structure|字段|表|列|结构|数据字典"),
    ("intro", r"introduction|overview|background|about|purpose|summary|简介|概述|背景|引言|介绍|说明|总览"),
)
_GENERIC = re.compile(
    rf"(?i)(?:(?:{'|'.join(words for _, words in _WORDS)})[a-z]*|data(?:sets?)?|sources?|general|appendix|conclusions?|contents?|"
    r"details?|information|definitions?|guide|faq|contact|licen[cs]e|changelog|versions?|history|files?|context|scope|"
    r"questions?|answers?|todo|misc(?:ellaneous)?|documents?|description|domain|knowledge|readme|usage|conventions?)"
)
"""A heading of one such word names no table."""
_MODES = tuple((mode, re.compile(rf"(?i)(?<![a-z])(?:{words})")) for mode, words in _WORDS)


@dataclass(frozen=True)
class Line:
    """One line outside of comments, with what is known of its place."""

    number: int
    text: str
    mode: Mode
    table: str
    """The table that the nearest heading names; empty when none does."""
    heading: bool = False
    code: bool = False


def clean(title: str) -> str:
    """A title without numbering, emphasis, backticks and a final colon."""
    plain = re.sub(r"[*_`]{1,3}(?=\S)(.+?)(?<=\S)[*_`]{1,3}", r"\1", title) if re.search(r"[*`]", title) else title
    return _NUMBER.sub("", plain).strip().rstrip(":：").strip()


def lines(text: str, tables: frozenset[str]) -> Iterator[Line]:
    """All lines, headings among them. `tables` are names that are known to be tables, in lower case."""
    stack: list[tuple[int, Mode, str]] = []
    scanned = list(_scan(text))
    levels = [level for _, _, level, _, _ in scanned if level]
    one_title = levels.count(1) == 1
    for number, raw, level, title, code in scanned:
        if level == 1 and one_title:
            stack = [(1, mode_of(title, "") if len(levels) == 1 else "", "")]
        elif level:
            while stack and stack[-1][0] >= level:
                stack.pop()
            above = stack[-1][1] if stack else ""
            table = named_table(title, tables)
            mode = "fields" if table and above in ("", "fields", "intro") else mode_of(title, above)
            stack.append((level, mode, table if mode in ("fields", "", "links", "intro") else ""))
        mode, table = _place(stack)
        yield Line(number, title if level else raw, mode, table, bool(level), code)


def _place(stack: list[tuple[int, Mode, str]]) -> tuple[Mode, str]:
    if not stack:
        return "", ""
    return stack[-1][1], next((table for _, _, table in reversed(stack) if table), "")


def sections(text: str) -> tuple[Section, ...]:
    """Every heading."""
    return tuple(
        Section(title=title, level=level, first_line=number) for number, _, level, title, _ in _scan(text) if level
    )


def mode_of(title: str, above: Mode) -> Mode:
    """The kind of statements under this heading; that of the heading above when its words say nothing."""
    plain = clean(title)
    if above in ("metrics", "examples"):
        return above
    return next((mode for mode, words in _MODES if words.search(plain)), above)


def named_table(title: str, tables: frozenset[str]) -> str:
    """The table that a heading names; empty when it names none."""
    plain = clean(title)
    ticked = re.findall(r"`([^`]+)`", title)
    parts = [
        *ticked,
        *re.findall(r"[（(]\s*([A-Za-z_][\w.]*)\s*[)）]", plain),
        *re.findall(r"[A-Za-z_][\w]*", plain),
        plain,
    ]
    known = [part for part in parts if _stem(part).lower() in tables]
    known += sorted((name for name in tables if " " in name and name in plain.lower()), key=len, reverse=True)
    if known and (ticked or not any(words.fullmatch(known[0]) for _, words in _MODES)):
        return _stem(known[0])
    told = re.match(
        r"(?i)(?:(?:table|entity|collection|file)(?:\s+|\s*[:：]\s*)|(?:数据表|表名?|实体)(?:\s+|\s*[:：]\s*))"
        r"[`*]*([A-Za-z_][\w.]*|[^\s（(:：`]+)",
        plain,
    )
    if told and not told[1].lower().startswith(("and", "of", "field", "结构", "与", "和")):
        return _stem(told[1])
    if len(ticked) == 1 and re.fullmatch(r"[\w.]+", ticked[0]):
        return _stem(ticked[0])
    found = re.fullmatch(r"([A-Za-z_]\w*)\s*(?:[（(].*[)）]|[-—–:：].*|table|表)?", plain)
    if found and not _GENERIC.fullmatch(found[1]) and not re.match(r"[A-Z][a-z]+ ", plain):
        return found[1]
    if re.fullmatch(r"\w{1,20}表\d*|表\d+", plain) and not re.fullmatch(
        "(?:数据|字段|列|各|主|附|对照|所有|全部)表", plain
    ):
        return plain
    inner = re.fullmatch(r"[^\s（(]+\s*[（(]\s*([A-Za-z_]\w*)\s*[)）]", plain)
    return inner[1] if inner else ""


def _stem(name: str) -> str:
    return re.sub(r"(?i)\.(csv|tsv|json|jsonl|db|sqlite3?|md|pdf)$", "", name.strip())


def _scan(text: str) -> Iterator[tuple[int, str, int, str, bool]]:
    """Number, line, heading level (0 = none), title, and whether it is code. Comments and front matter are left out."""
    rows = text.splitlines()
    at, fence, comment = _front(rows), "", False
    while at < len(rows):
        row = rows[at]
        at += 1
        if comment or (not fence and row.lstrip().startswith("<!--")):
            comment = "-->" not in row
            continue
        mark = re.match(r"\s*(```+|~~~+)", row)
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            continue
        if fence:
            yield at, row, 0, "", True
            continue
        head = _ATX.match(row)
        under = rows[at] if at < len(rows) else ""
        if head:
            yield at, row, len(head[1]), head[2].strip(), False
        elif (
            row.strip() and re.fullmatch(r"\s*(={3,}|-{3,})\s*", under) and not row.lstrip().startswith(("|", "-", ">"))
        ):
            yield at, row, 1 if "=" in under else 2, row.strip(), False
            at += 1
        elif (lone := re.fullmatch(r"\s*\*\*([^*]+?)[:：]?\*\*[:：]?\s*", row)) and not lone[1].endswith((".", "。")):
            yield at, row, 5, lone[1].strip(), False
        elif (
            re.match(r"\s*[一二三四五六七八九十]+、", row)
            and len(row) <= 30
            and not row.rstrip().endswith(("。", "；", ";"))
        ):
            yield at, row, 2, row.strip(), False
        else:
            yield at, row, 0, "", False


def uncommented(text: str) -> str:
    """The text without its comments (`<!-- … -->` at the beginning of a line, outside of code), line for line.

    A comment that is never closed stays; a text of comments alone is empty.
    """
    rows = text.splitlines(keepends=True)
    fence, at = "", 0
    while at < len(rows):
        mark = re.match(r"\s*(```+|~~~+)", rows[at])
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and rows[at].lstrip().startswith("<!--"):
            end = next((row for row in range(at, len(rows)) if "-->" in rows[row]), None)
            if end is None:
                break
            rest = rows[end].partition("-->")[2]
            rows[at:end] = ["\n"] * (end - at)
            rows[end] = rest if rest.strip() else "\n"
            at = end - 1 if rest.lstrip().startswith("<!--") else end
        at += 1
    found = "".join(rows)
    return found if found.strip() else ""


def _front(rows: list[str]) -> int:
    """Lines of YAML front matter."""
    if not rows or rows[0].strip() != "---":
        return 0
    return next((at + 1 for at, row in enumerate(rows[1:40], 1) if row.strip() in ("---", "...")), 0)
