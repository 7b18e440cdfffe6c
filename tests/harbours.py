"""Several documents of ships in prose and a table of their owners, as large as wanted, and a scripted model that reads them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from validators import approved

QUESTION = "How many ships are there in each port?"
SQL = "SELECT port, count(*) AS n FROM ships GROUP BY ALL ORDER BY ALL"
PORTS = ("Aarhus", "Brest", "厦门")
_HARBOURS = ("Aalborg", "Bilbao", "Cadiz", "Dover", "Elba", "Faro", "Genoa", "Hull", "Izola", "Jaffa")
_SHIP = re.compile(r"ship (S-\d+) carried (\d+ tonnes) with a crew of (\d+)")
_COLUMNS = {"ship": "text", "cargo": "number", "crew": "number"}


def make(folder: Path, documents: int, ships: int, rows: int) -> Path:
    """A task folder: so many documents, the first of so many ships and each later one of half as many more, and a table of so many rows."""
    context = folder / "context"
    context.mkdir(parents=True)
    (folder / "task.json").write_text(json.dumps({"task_id": folder.name, "question": QUESTION}), "utf-8")
    for document in range(1, documents + 1):
        lines = [
            f"On day {ship}, ship S-{document * 1000 + ship} carried {ship * 7 % 400 + 20} tonnes with a crew of {ship % 9 + 3}."
            for ship in range(1, ships + (document - 1) * ships // 2 + 1)
        ]
        name = _HARBOURS[document % len(_HARBOURS)] * (1 + document // len(_HARBOURS))
        text = "\n\n".join([f"# Log of {name}", "## Arrivals", *lines])
        (context / f"log_of_{name}.md").write_text(text + "\n", "utf-8")
    with (context / "ships.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["ship", "port", "owner", "built", "length_m"])
        writer.writerows(
            [f"S-{1000 + row}", PORTS[row % 3], f"owner {row % 997}", f"{1960 + row % 60}-0{row % 9 + 1}-15", row * 7919 % 4000 / 10]
            for row in range(rows)
        )  # fmt: skip
    return folder


def answer(rows: int) -> str:
    """The right answer.csv."""
    counts = [len(range(port, rows, 3)) for port in range(3)]
    return "port,n\n" + "".join(f"{name},{count}\n" for name, count in zip(PORTS, counts, strict=True))


def model(body: dict[str, Any]) -> str:
    """What the scripted model replies."""
    first = body["messages"][0]["content"]
    if "records_complete" in first:
        return json.dumps(_plan(first))
    if "Copy values out of numbered lines" in first:
        return json.dumps(_entries(first))
    if "doc_name" in first:
        names = re.findall(r"^doc_name: (\S+)", body["messages"][-1]["content"], re.MULTILINE)
        return json.dumps(
            {"verdicts": [{"doc_name": n, "reason": "It tells of ships.", "relevant": True} for n in names]}
        )
    if said := approved(body):
        return said
    if "ContractReply" in json.dumps(body.get("response_format", {})):
        return json.dumps({"columns": [{"name": "port"}, {"name": "n"}], "row": "one row per port"})
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    return json.dumps({"thought": "", "tool": "query" if turn == 0 else "submit", "arguments": {"sql": SQL}})


def _plan(prompt: str) -> dict[str, Any]:
    lines = [int(number) for number, text in re.findall(r"^(\d+)\t(.*)$", prompt, re.MULTILINE) if _SHIP.search(text)]
    columns = [
        {"name": name, "doc_meaning": name, "task_meaning": name, "type": kind, "unit": "t" * (name == "cargo"),
         "role": "key" if name == "ship" else "data"}
        for name, kind in _COLUMNS.items()
    ]  # fmt: skip
    section = {
        "id": "s1",
        "title": "Arrivals",
        "start_line": min(lines),
        "end_line": max(lines),
        "columns": [*_COLUMNS],
    }
    return {
        "key": "ship",
        "columns": columns,
        "sections": [section],
        "anchors": [r"ship (S-\d+)"],
        "records": [ship for ship, *_ in _SHIP.findall(prompt)][:30],
        "records_complete": False,
    }


def _entries(prompt: str) -> dict[str, Any]:
    asked = set(re.findall(r"S-\d+", prompt.split("Lines:")[0]))
    found = [(int(number), _SHIP.search(text)) for number, text in re.findall(r"^(\d+) (.*)$", prompt, re.MULTILINE)]
    records = [
        {"id": said[1], "line": line, "cells": [{"c": "cargo", "v": said[2]}, {"c": "crew", "v": said[3]}]}
        for line, said in found
        if said and said[1] in asked
    ]
    return {"records": records, "corrections": []}
