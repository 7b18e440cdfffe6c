"""A number → a document of so many transfers with its plan and truth, and a model that copies from the lines it is given.

Three sections: by number, by number, and mostly by the company's name alone; corrections stand behind them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.core.files.store import current
from tasks.core.models.document import Converted, Plan, PlanColumn, PlanSection
from tasks.document.records import anchors

ANCHOR = r"(?:transfer|编号)\s?(T[0-9]{5})"
COLUMNS = {
    "price": "unit price",
    "shares": "number of shares",
    "seller_before": "出让方转让前持股",
    "buyer_before": "受让方转让前持股",
    "grade": "rating",
}
_FIRST = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黄宇宙洪荒日月盈昃"
_LAST = "东西南北春夏秋冬江河湖海山川林泉风云雷电金木水火土石田禾竹兰梅菊"
Truth = dict[str, dict[str, str]]


@dataclass
class Ledger:
    """Lines of the document, and for each record and column the value as the text writes it."""

    lines: list[str]
    truth: Truth
    corrected: dict[tuple[str, str], str]

    def converted(self) -> Converted:
        """The document in the store that is in use."""
        text = "\n".join(self.lines)
        kept = current().put(text.encode(), "ledger.md")
        return Converted(stem="ledger", paths=("ledger.md",), status="as_is", text=kept, lines=len(self.lines))

    def plan(self) -> Plan:
        """What a planner would say."""
        mentions, _ = anchors.mentions(self.lines, [ANCHOR])
        heads = [number for number, line in enumerate(self.lines, start=1) if line.startswith("#")]
        parts = [("price", "shares"), ("seller_before", "buyer_before"), ("grade",)]
        return Plan(
            stem="ledger",
            key="record_id",
            columns=tuple(PlanColumn(name=n, doc_meaning=m, task_meaning=m) for n, m in
                          {"record_id": "number", **COLUMNS}.items()),
            sections=tuple(
                PlanSection(id=f"s{at}", title=f"part {at}", start_line=heads[at] + 1, end_line=heads[at + 1] - 1,
                            columns=("record_id", *names))
                for at, names in enumerate(parts)
            ),
            anchors=(ANCHOR,),
            universe=tuple(self.truth),
            mentions=mentions,
        )  # fmt: skip


def company(number: int) -> str:
    """A name that no other of some 32,000 numbers has."""
    return f"{_FIRST[number % 32]}{_LAST[number // 32 % 32]}{_FIRST[(number // 1024 + 7) % 32]}{_LAST[(number * 7 + 3) % 32]}公司"


def make(records: int) -> Ledger:
    """The document; every fifth value of shares is not disclosed, two records stand in every seventh line."""
    first, second, third = ["# Sizes"], ["# 持股"], ["# Ratings"]
    truth: Truth = {}
    for number in range(1, records + 1):
        record, name = f"T{number:05}", company(number)
        cells = {
            "price": f"{number % 90 + 10}.{number % 7} euros",
            "shares": "" if number % 5 == 0 else f"{number * 13:,} shares",
            "seller_before": f"{number * 3:,}股",
            "buyer_before": "未持有" if number % 4 == 0 else f"{number * 3 + 1:,}股",
            "grade": f"grade {'ABC'[number % 3]}{number}",
        }
        truth[record] = {column: value for column, value in cells.items() if value}
        shares = cells["shares"] or "a number of shares that was not disclosed"
        text = f"In transfer {record}, of {name}, {shares} changed hands at {cells['price']}."
        if number % 7 == 0:
            first[-1] += f" {text}"
        else:
            first += [text]
        second += [f"编号{record}转让前，出让方持股{cells['seller_before']}，受让方持股{cells['buyer_before']}。"]
        third += [f"{name}: {cells['grade']}." if number % 3 else f"The panel gave transfer {record} {cells['grade']}."]
        if number % 10 == 0:
            third += ["The market as a whole was calm."]
    first[0] = "# Sizes"
    last = f"T{records:05}"
    corrections = [
        "# Corrections",
        f"Correction: the price of transfer T00001 should read 7.77 euros, not {truth['T00001']['price']}.",
        f"更正：{company(2)}出让方转让前持股更正为8,888股。",
    ]
    corrected = {("T00001", "price"): "7.77 euros", ("T00002", "seller_before"): "8,888股"}
    assert last in truth
    return Ledger([*first, *second, *third, *corrections], truth, corrected)


def parts(body: Mapping[str, Any]) -> tuple[list[str], dict[int, str]]:
    """Record ids and numbered lines of a request."""
    blocks = re.findall(r"(?ms)^(~{3,})\n(.*?)\n\1$", str(body["messages"][0]["content"]))
    _, records, lines = (text for _, text in blocks[:3])
    numbered = (re.match(r"(\d+) (.*)", line) for line in lines.split("\n"))
    return [record.split(" (")[0] for record in records.split(", ")], {
        int(found[1]): found[2] for found in numbered if found
    }


class Truthful:
    """Copies each value of each asked record from a line that names the record and holds it."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.seen: list[tuple[str, ...]] = []
        """Records of each request."""

    def __call__(self, body: dict[str, Any]) -> Any:
        return json.dumps(self.reply(body), ensure_ascii=False)

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply as data."""
        records, lines = parts(body)
        self.seen.append(tuple(records))
        schema = json.dumps(body["response_format"])
        columns = [column for column in COLUMNS if f'"{column}"' in schema]
        entries = [entry for record in records for entry in self._entries(record, columns, lines)]
        fixes = [
            {"id": record, "line": number, "cells": [{"c": column, "v": value}]}
            for (record, column), value in self.ledger.corrected.items()
            if record in records and column in columns
            for number, line in lines.items()
            if value in line
        ]
        return {"records": entries, "corrections": fixes}

    def _entries(self, record: str, columns: list[str], lines: dict[int, str]) -> list[dict[str, Any]]:
        names, found = (record, company(int(record[1:]))), []
        cells = {column: self.ledger.truth[record][column] for column in columns if column in self.ledger.truth[record]}
        for number, line in lines.items():
            if any(name in line for name in names) and not line.startswith(("Correction", "更正")):
                here = [{"c": column, "v": value} for column, value in cells.items() if value in line]
                found += [{"id": record, "line": number, "cells": here}] if here else []
        return found or [{"id": record, "line": 0, "cells": []}]
