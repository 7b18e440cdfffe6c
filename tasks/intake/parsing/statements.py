"""Text of a knowledge file → definitions, metrics, links and rules, each with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.core.models.semantics import Definition, Link, Metric, Rule
from tasks.intake.parsing import fields, links
from tasks.intake.parsing.headings import Line, clean, lines

_LONGEST = 2000
"""A longer line is prose: it is kept as a rule and not taken apart."""
_BULLET = re.compile(r"^(\s*)(?:[-*+•·]|\d+[.)、)]|[（(]\d+[)）]|[①-⑳])\s*(?=\S)")
_METRIC = re.compile(r"^(.{1,80}?)\s*(?:=|＝|:=|≡)\s*(?![=>])(.+)$")
_NAMED = re.compile(r"^([^:：]{1,80}?)\s*[:：]\s*(.+)$")
_OPERATOR = re.compile(
    r"[÷×*/+−=<>∑Σ∏√]|\s-\s|(?i:\b(?:sum|avg|count|min|max|divided by|times|minus|plus|per)\b)|除以|乘以|减去|加上|小于|大于|之和|之比|占"
)
_FORMULA = re.compile(
    r"(?i)^(?:formula|calculation|definition|expression|sql|公式|计算公式|计算方法|计算方式|算法|定义)\s*[:：=]\s*(.+)$"
)
_SAYS = re.compile(
    r"(?i)\b(?:means?|defined|refers to|counts? as|is called|are called)\b|是指|指的是|称为|视为|定义为|等于|[=＝≥≤<>]"
    r"|(?:\b(?:before|after|since|until|over|under|above|below|more than|less than|at least|at most)\b|超过|低于|高于|不足|不少于)[^.。]{0,20}[0-9]"
    r"|[0-9]\s*年?\s*(?:以前|之前|以后|之后|以上|以下)"
)
"""What a sentence of an introduction has that says more than what the file is about."""
_LOCATED = re.compile(r"(?i)^(?:located in|source|file|path|stored in|位置|来源|文件)\b|^(?:位置|来源|文件)")
_COLUMNS = (
    ("field", r"fields?(?: names?)?|columns?(?: names?)?|names?|attributes?|variables?|字段名?称?|列名?|名称|属性|变量"),
    ("metric", r"metrics?(?: names?)?|indicators?|kpis?|measures?|指标名?称?"),
    ("type", r"(?:data ?)?types?|类型|数据类型|字段类型"),
    ("unit", r"units?|单位"),
    ("formula", r"formulas?|calculation|expression|definition|how.*|公式|计算.*|算法|口径"),
    ("meaning", r"descriptions?|meanings?|comments?|remarks?|notes?|explanation|definition|details?|说明|含义|描述|备注|注释|解释|中文名?|释义"),
    ("examples", r"(?:examples?|samples?)(?: values?)?|values?|示例|样例|例子|取值(?:范围)?|枚举值?"),
    ("table", r"tables?(?: names?)?|entity|数据表|表名?|所属表"),
    ("target", r"references?|foreign keys?|refers to|links? to|joins?|关联(?:表|字段)?|外键"),
)  # fmt: skip
_DDL = re.compile(r"(?i)^\s*create\s+(?:table|view)\s+(?:if not exists\s+)?[`\"\[]?([\w.]+)[`\"\]]?")
_DDL_COLUMN = re.compile(r"(?i)^\s*[`\"\[]?(\w[\w ]*?)[`\"\]]?\s+(\w+(?:\s*\([\d, ]+\))?)(?=[\s,]|$)(.*)$")


@dataclass
class Statements:
    """What was found so far, in line order."""

    definitions: list[Definition] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)


class _Reader:
    def __init__(self, tables: frozenset[str]) -> None:
        self.found = Statements()
        self._tables = tables
        self._header: list[str] = []
        self._row_before: list[str] | None = None
        self._ddl = ""
        self._titled = False
        """Whether the heading above is the name of the last metric."""
        self._listed = False
        """Whether the fields under this heading are bullets or table rows, so that plain lines are prose."""
        self._last: tuple[str, int] = ("", 0)
        """Kind of the last statement and the indent of its bullet, for the lines that go on with it."""

    def take_all(self, found: Sequence[Line]) -> None:
        """Read all lines in order."""
        heads = [at for at, line in enumerate(found) if line.heading]
        for begin, end in zip([0, *heads], [*heads, len(found)], strict=True):
            block = found[begin:end]
            self._listed = any(_BULLET.match(line.text) or line.text.lstrip().startswith("|") for line in block[1:])
            for line in block:
                self._take(line)

    def _take(self, line: Line) -> None:
        text = line.text.strip().lstrip(">").strip()
        if line.heading:
            self._header, self._row_before, self._last = [], None, ("", 0)
            self._titled = False
            self._heading(line)
        elif line.code:
            self._code(line)
        elif not text:
            self._header, self._row_before = [], None
        elif text.startswith("|") or (self._header and "|" in text):
            self._row(text, line)
        elif line.mode != "examples":
            self._header, self._row_before = [], None
            self._statement(line, text)

    def _heading(self, line: Line) -> None:
        if line.mode == "metrics" and not _is_container(line.text):
            name, unit = _name_and_unit(clean(line.text))
            self.found.metrics.append(Metric(name=name, unit=unit, line=line.number))
            self._last = ("metric", 0)
            self._titled = True

    def _statement(self, line: Line, text: str) -> None:
        bullet = _BULLET.match(line.text)
        body = line.text[bullet.end() :].strip() if bullet else text
        indent = len(line.text) - len(line.text.lstrip())
        if len(body) > _LONGEST:
            self._rule(line, body, True)
            return
        if self._goes_on(bool(bullet), indent, body):
            return
        self._last = ("", indent)
        if stated := links.stated(body, line.table, line.number):
            self.found.links += stated
            if line.mode in ("links", "fields", "") or re.match(
                r"(?i)(link|join|foreign key|fk|外键|关联)\s*[:：]", body
            ):
                return
        if line.mode == "metrics":
            self._metric(body, line)
        elif line.mode == "rules" or not self._field(line, text, bool(bullet)):
            self._rule(line, body, bool(bullet))

    def _field(self, line: Line, text: str, bullet: bool) -> bool:
        if line.mode in ("links", "intro") and not line.table:
            return False
        if not bullet and self._listed:
            return line.mode == "fields"
        if not bullet and line.table and not re.match(r"^[`*]*\w+[`*]*\s*(?:[（(].*?[)）])?\s*[:：]", text):
            return bool(_LOCATED.match(text)) or line.mode == "fields"
        strict = not line.table and line.mode != "fields"
        made = fields.field(text, line.table, line.number, strict)
        if made is None:
            return False
        self.found.definitions.append(made)
        self._last = ("field", len(line.text) - len(line.text.lstrip()))
        return True

    def _metric(self, body: str, line: Line) -> None:
        plain = re.sub(r"[*`]{1,3}", "", body)
        formula = _FORMULA.match(plain)
        if formula and self.found.metrics and not self.found.metrics[-1].formula:
            self._amend_metric(formula=formula[1].strip())
            return
        found = _METRIC.match(plain)
        if found and not (":" in found[1] or "：" in found[1]):
            name, unit = _name_and_unit(found[1])
            self.found.metrics.append(Metric(name=name, formula=found[2].strip(), unit=unit, line=line.number))
        elif named := _NAMED.match(plain):
            name, unit = _name_and_unit(named[1])
            text = named[2].strip()
            key = "formula" if _OPERATOR.search(text) else "meaning"
            self.found.metrics.append(Metric(**{"name": name, key: text}, unit=unit, line=line.number))
        elif self._titled:
            self._amend_metric(meaning=plain)
        else:
            self.found.rules.append(Rule(text=body, line=line.number))
        self._last = ("metric", len(line.text) - len(line.text.lstrip()))

    def _amend_metric(self, **changes: str) -> None:
        last = self.found.metrics[-1]
        if "meaning" in changes and last.meaning:
            changes["meaning"] = f"{last.meaning} {changes['meaning']}"
        self.found.metrics[-1] = last.model_copy(update=changes)

    def _rule(self, line: Line, body: str, bullet: bool) -> None:
        if line.mode == "examples" or (line.mode in ("fields", "links") and not bullet):
            return
        if line.mode == "intro" and not _SAYS.search(body):
            return
        self.found.rules.append(Rule(text=body, line=line.number))
        self._last = ("rule", len(line.text) - len(line.text.lstrip()))

    def _goes_on(self, bullet: bool, indent: int, body: str) -> bool:
        """A deeper line that belongs to the statement above it."""
        kind, above = self._last
        if not kind or indent <= above or (bullet and kind == "metric" and _METRIC.match(body)):
            return False
        if kind == "rule":
            last = self.found.rules[-1]
            self.found.rules[-1] = last.model_copy(update={"text": f"{last.text} {body}"})
        elif kind == "metric":
            formula = _FORMULA.match(re.sub(r"[*`]", "", body))
            self._amend_metric(**({"formula": formula[1]} if formula else {"meaning": body}))
        else:
            own = self.found.definitions[-1]
            more = fields.define(fields.Where(own.table, own.field, own.line), "", body)
            self.found.definitions[-1] = own.model_copy(
                update={
                    "meaning": "; ".join(filter(None, (own.meaning, more.meaning))),
                    "unit": own.unit or more.unit,
                    "examples": own.examples or more.examples,
                }
            )
        return True

    def _row(self, text: str, line: Line) -> None:
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", text.strip().strip("|"))]
        if all(re.fullmatch(r":?-{1,}:?", cell) for cell in cells):
            self._header = [_column(cell) for cell in self._row_before or []]
        elif not self._header:
            self._row_before = cells
        else:
            self._cells(dict(zip(self._header, cells, strict=False)), cells, line)

    def _cells(self, row: dict[str, str], cells: list[str], line: Line) -> None:
        row = {key: re.sub(r"^[`*]+|[`*]+$", "", value) for key, value in row.items()}
        if line.mode == "examples":
            return
        name = row.get("field", "")
        if row.get("metric") or (line.mode == "metrics" and name):
            title, unit = _name_and_unit(row.get("metric") or name)
            unit = fields.define(fields.Where("", title, line.number), "", "", row.get("unit", "")).unit or unit
            self.found.metrics.append(
                Metric(
                    name=title,
                    formula=row.get("formula", ""),
                    meaning=row.get("meaning", ""),
                    unit=unit,
                    line=line.number,
                )
            )
        elif stated := links.stated(" = ".join(cells[:2]), line.table, line.number) if line.mode == "links" else ():
            self.found.links += stated
        elif name and line.mode != "rules":
            self._cell_field(row, line)
        else:
            self.found.rules.append(Rule(text=" | ".join(cells), line=line.number))

    def _cell_field(self, row: dict[str, str], line: Line) -> None:
        text = ". ".join(filter(None, (row.get("meaning") or row.get("formula", ""),)))
        if row.get("examples", "").strip("-"):
            text = f"{text}. Examples: {row['examples']}"
        owner, _, column = row["field"].rpartition(".")
        table = row.get("table", "") or owner or line.table
        made = fields.define(fields.Where(table, column, line.number), row.get("type", ""), text, row.get("unit", ""))
        if not made.type and (kind := row.get("type", "").strip("- ")):
            made = made.model_copy(update={"type": kind, "meaning": made.meaning.removeprefix(kind).lstrip(". ")})
        self.found.definitions.append(made)
        if target := re.match(r"(\w+)[.(](\w+)\)?$", row.get("target", "")):
            self.found.links.append(
                Link(table=table, column=column, target_table=target[1], target_column=target[2], line=line.number)
            )

    def _code(self, line: Line) -> None:
        """CREATE TABLE statements; a formula below a metric's heading. Other code is left alone."""
        text = line.text.strip()
        if begin := _DDL.match(text):
            self._ddl = begin[1]
        elif self._ddl and (found := links.stated(text, self._ddl, line.number)) and "foreign" in text.lower():
            self.found.links += found
        elif self._ddl and re.match(r"(?i)\s*(primary|unique|constraint|key|index|check|\()", text):
            return
        elif self._ddl and text.startswith(")"):
            self._ddl = ""
        elif self._ddl and (column := _DDL_COLUMN.match(text)) and fields.is_type(re.sub(r"\s*\(.*", "", column[2])):
            note = re.search(r"(?i)--\s*(.+)$|comment\s+'([^']*)'", column[3])
            said = (note[1] or note[2]) if note else ""
            self.found.definitions.append(
                fields.define(fields.Where(self._ddl, column[1], line.number), column[2], said)
            )
        elif line.mode == "metrics" and self._last[0] == "metric" and not self.found.metrics[-1].formula:
            self._amend_metric(formula=text)


def read(text: str, tables: frozenset[str]) -> Statements:
    """Every statement of the text; `tables` are names known to be tables, in lower case."""
    reader = _Reader(tables)
    reader.take_all(list(lines(text, tables)))
    found = reader.found
    known = {(link.table.lower(), link.column.lower(), link.target_table.lower()) for link in found.links}
    found.links += [
        link
        for link in links.implied(found.definitions, tables)
        if (link.table.lower(), link.column.lower(), link.target_table.lower()) not in known
    ]
    return found


def _is_container(title: str) -> bool:
    """Whether a heading is the title of a list of metrics, not one metric."""
    return bool(
        re.fullmatch(
            r"(?i)(?:key |core |business |derived |calculated )*(?:metrics?|formulas?|formulae|kpis?|indicators?|calculations?)(?: (?:and|&) \w+)*|.*(?:指标|公式|计算)(?:公式|说明|定义|口径|方法)?",
            clean(title),
        )
    )


def _name_and_unit(name: str) -> tuple[str, str]:
    plain = name.strip().strip("*`").strip()
    found = re.fullmatch(r"(.+?)\s*[（(\[]([^（）()\[\]]{1,16})[)）\]]", plain)
    return (found[1], found[2]) if found else (plain, "")


def _column(cell: str) -> str:
    plain = cell.strip().strip("*`").lower()
    return next((name for name, words in _COLUMNS if re.fullmatch(words, plain)), plain)
