"""docs/tutorial.md, line by line: every command ends well and shows what the page says, with scripted replies in place of the model's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint
from shelled import Shell
from told import ROOT, told

PAGE = ROOT / "docs" / "tutorial.md"
QUERIES = {
    "each city": "SELECT s.city, sum(v.cups) FROM sales v JOIN shops s ON s.shop = v.shop WHERE v.product = 'green tea' GROUP BY s.city ORDER BY s.city",
    "most cups": "SELECT shop FROM sales WHERE day = '2026-03-02' ORDER BY cups DESC LIMIT 1",
    "fewest points": "SELECT shop FROM inspections ORDER BY points LIMIT 1",
}
RECORDS = {
    "I-01": {"day": "4 March 2026", "shop": "North", "points": "92 points"},
    "I-02": {"day": "5 March 2026", "shop": "South", "points": "71 points"},
    "I-03": {"day": "9 March 2026", "shop": "Harbour", "points": "88 points"},
}


def reply(body: dict[str, Any]) -> str:
    """What a right answer of the small model is: a query, or the values that the lines hold."""
    prompt = str(body["messages"][-1]["content"])
    if "Copy values out of numbered lines" in str(body["messages"][0]["content"]):
        return json.dumps(entries(prompt))
    return next(sql for words, sql in QUERIES.items() if words in prompt.rpartition("Question:")[2])


def entries(prompt: str) -> dict[str, Any]:
    records = []
    for number, text in re.findall(r"^(\d+) (.*I-0\d.*)$", prompt.partition("Lines:")[2], re.MULTILINE):
        record = re.findall(r"I-0\d", text)[0]
        cells = [{"c": column, "v": raw} for column, raw in RECORDS[record].items() if raw in text]
        records.append({"id": record, "line": int(number), "cells": cells})
    return {"records": records, "corrections": []}


@pytest.mark.slow
def test_the_tutorial_goes_as_it_says(tmp_path: Path) -> None:
    with Endpoint(reply) as endpoint:
        shell = Shell(tmp_path / "shell", endpoint.url)
        seen: dict[str, str] = {}
        at = ""
        for one in told(PAGE):
            if one.text.startswith(("make ", "export PATH")):
                continue  # the environment of the tests is set up already
            if one.text == "cd tea":
                at = "cd tea\n"
                continue
            before = endpoint.calls
            found = shell.run("tablewright runs --json") if "RUN" in one.text else None
            text = one.text.replace("RUN", json.loads(found.stdout)[0]["run"]) if found else one.text
            done = shell.run(at + text)
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            seen[one.text] = done.stdout
            if "--out again" in text or "resume" in text:
                assert endpoint.calls == before and "no model was asked" in done.stdout
    first = shell.work / "tea" / "first"
    table = re.search(r"\| city \|.*?\n\n", PAGE.read_text("utf-8"), re.DOTALL)
    assert table
    cells = [tuple(part.strip() for part in row.split("|")[1:-1]) for row in table[0].strip().splitlines()]
    assert "\n".join(",".join(row) for row in cells if row[0] != "---") + "\n" == (first / "answer.csv").read_text()
    assert {"report.html", "evidence.json"} < {path.name for path in first.iterdir()}
    assert "csv        sales.csv → context/csv/sales.csv" in seen[next(text for text in seen if "--question" in text)]
    assert "1.000" in seen["tablewright score first/answer.csv gold.csv"]
    assert "1 definitions, 1 metrics" in seen["tablewright inspect task"]
    assert "inspections.points of I-01: 92  (verified)" in seen["tablewright trace inspections I-01 points --out drawn"]
    assert (shell.work / "tea" / "third" / "answer.csv").read_text() == "shop\nSouth\n"
