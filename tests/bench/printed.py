"""Kind of page + number → a PDF of such pages, half of them Chinese, and what is printed on it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bench.quality import Row
from papers import Paper

KINDS = ("text", "tables", "columns")
_EN = (
    "The harbour office counted {n} boats in spring and {m} in autumn, most of them built before the war and rented out since.",
    "Of the grain that came in, {m} tons went to the mills; the rest was sold at {n} a ton to whoever asked first at the gate.",
    "Nobody knows why the keeper wrote {n} twice; his successor, a careful man, struck it out and put {m} in its place.",
)
_ZH = (
    "港务处春季登记船只{n}艘，秋季登记{m}艘，其中多数为战前建造，此后一直对外出租，租金按季度结算。",
    "入库粮食中有{m}吨运往磨坊加工，其余部分以每吨{n}元的价格在门口出售，先到先得，售完为止。",
    "无人知晓管理员为何两次写下{n}；继任者为人谨慎，将其划去，并改为{m}，同时注明日期和理由。",
)
_WIDTH = {True: 88, False: 44}
"""Signs of a line over the whole page, Latin or Chinese; a column has half of them."""


class Printed(NamedTuple):
    """A PDF and the truth about it."""

    path: Path
    text: str
    """In the order of reading, a paragraph a line; cells apart."""
    rows: tuple[Row, ...]


def print_pages(folder: Path, kind: str, count: int) -> Printed:
    """Print them."""
    paper, texts, rows = Paper(), [], []
    for page in range(count):
        paper.new()
        latin = page % 2 == 0
        if kind == "columns":
            texts += _set(paper, latin, page, [(50, _WIDTH[latin] // 2 - 2), (310, _WIDTH[latin] // 2 - 2)])
        else:
            texts += _set(paper, latin, page, [(50, _WIDTH[latin])], 6 if kind == "tables" else 20)
        if kind == "tables":
            table = _table(page, latin)
            paper.grid(50, 430, [list(row) for row in table], wide=98, tall=22)
            rows += table
            texts += [" ".join(row) for row in table]
    return Printed(paper.save(folder / f"{kind}_{count}.pdf"), "\n".join(texts), tuple(rows))


def _set(paper: Paper, latin: bool, page: int, columns: list[tuple[int, int]], most: int = 20) -> list[str]:
    """Set paragraphs column by column; what was set."""
    said, number = [], 0
    for x, width in columns:
        y = 80.0
        for _ in range(most):
            text = (_EN if latin else _ZH)[number % 3].format(
                n=page * 100 + number + 3, m=(page * 37 + number) % 900 + 11
            )
            lines = _broken(text, width, latin)
            if y + len(lines) * 15 > 780:
                break
            y = paper.lines(x, y, lines, size=10, step=1.4) + 8
            said.append(text)
            number += 1
    return said


def _broken(text: str, width: int, latin: bool) -> list[str]:
    if not latin:
        return [text[at : at + width] for at in range(0, len(text), width)]
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _table(page: int, latin: bool) -> list[Row]:
    head = ("berth", "owner", "tons", "rent", "since") if latin else ("泊位", "业主", "吨数", "租金", "起始日期")
    owners = ("Miller", "Sato & Co.", "Okafor") if latin else ("王芳", "李建国", "陈氏商行")
    body = [
        (
            f"P{page:02}-{n:02}",
            owners[n % 3],
            f"{n * 137 + page:,}",
            f"{n * 12.5 + page:.2f}",
            f"20{n:02}-0{n % 9 + 1}-1{n % 9}",
        )
        for n in range(1, 14)
    ]
    return [head, *body]
