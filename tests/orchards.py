"""The sample whose numbers stand in prose, and a scripted model that knows what the prose says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from validators import approved

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "samples" / "orchards"
STAGES = (
    "convert_document",
    "join_documents",
    "judge_documents",
    "plan_document",
    "cut_slices",
    "extract_lines",
    "merge_findings",
    "normalise_column",
    "store_table",
    "add_derived",
)
SQL = (
    "SELECT d.district, sum(h.harvest) AS tonnes FROM harvest h JOIN districts d ON d.orchard_id = h.orchard_id "
    "GROUP BY ALL ORDER BY ALL"
)
COLUMNS = {"orchard_id": "text", "grower": "text", "area": "number", "planted": "date", "harvest": "number",
           "export_share": "number"}  # fmt: skip
UNITS = {"area": "ha", "harvest": "t", "export_share": "ratio"}
TRUTH = {
    "OR-101": {"grower": "Lindqvist & Sons", "area": "12.5 hectares", "planted": "3 March 1998", "harvest": "240 tonnes",
               "export_share": "35%"},
    "OR-102": {"grower": "The Petrov family", "area": "8.25 hectares", "planted": "17 October 2004",
               "harvest": "152,500 kilograms", "export_share": "12.5%"},
    "OR-103": {"grower": "Maruka Cooperative", "area": "31 hectares", "planted": "9 May 1987",
               "harvest": "about 0.61 thousand tonnes", "export_share": "48%"},
    "OR-104": {"grower": "Adaeze Obi", "area": "4.6 hectares", "planted": "21 April 2011", "harvest": "71 tonnes",
               "export_share": "Nothing"},
    "OR-105": {"grower": "Teller Fruit Ltd", "area": "18 hectares", "planted": "2 November 1995", "harvest": "318 tonnes",
               "export_share": "40%"},
    "OR-106": {"grower": "Brandt & Co", "area": "9.75 hectares", "planted": "14 March 2008", "harvest": "176 tonnes",
               "export_share": "5%"},
    "OR-107": {"grower": "Hana Sato", "area": "6.4 hectares", "planted": "30 September 2001", "harvest": "58 tonnes"},
    "OR-108": {"grower": "Maruka Cooperative", "area": "22 hectares", "planted": "11 April 1991",
               "harvest": "402 tonnes", "export_share": "52%"},
}  # fmt: skip
CORRECTED = ("OR-105", "harvest", "381 tonnes")


def copy(target: Path) -> Path:
    """The sample where it may be changed."""
    return Path(shutil.copytree(SAMPLE, target))


def model(body: dict[str, Any]) -> str:
    """What the scripted model replies."""
    prompt = body["messages"][-1]["content"]
    first = body["messages"][0]["content"]
    if "records_complete" in first:
        return json.dumps(plan(first))
    if "Copy values out of numbered lines" in first:
        return json.dumps(entries(prompt))
    if "doc_name" in first:
        names = re.findall(r"^doc_name: (\S+)", prompt, re.MULTILINE)
        return json.dumps(
            {"verdicts": [{"doc_name": n, "reason": "It tells the harvest.", "relevant": True} for n in names]}
        )
    if said := approved(body):
        return said
    if "ContractReply" in json.dumps(body.get("response_format", {})):
        return json.dumps({"columns": [{"name": "district"}, {"name": "tonnes"}], "row": "one row per district"})
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    return json.dumps({"thought": "", "tool": "query" if turn == 0 else "submit", "arguments": {"sql": SQL}})


def plan(prompt: str) -> dict[str, Any]:
    """The plan of the document as it stands in the prompt."""
    numbered = re.findall(r"^(\d+)\t(.*)$", prompt, re.MULTILINE)
    lines = {int(number): text for number, text in numbered}

    def span(word: str) -> tuple[int, int]:
        found = [n for n, text in lines.items() if re.search(r"[Oo]rchard OR-\d+", text) and re.search(word, text)]
        return min(found), max(found)

    land, harvest = span(r"hectares"), span(r"tonnes|kilograms")
    sections = [("s1", land, ["grower", "area", "planted"]), ("s2", harvest, ["harvest", "export_share"])]
    return {
        "key": "orchard_id",
        "columns": [
            {"name": name, "doc_meaning": name, "task_meaning": f"{name} {UNITS.get(name, '')}".strip(), "type": kind,
             "unit": UNITS.get(name, ""), "role": "key" if name == "orchard_id" else "data"}
            for name, kind in COLUMNS.items()
        ],
        "sections": [
            {"id": i, "title": i, "start_line": first, "end_line": last, "columns": ["orchard_id", *columns]}
            for i, (first, last), columns in sections
        ],
        "anchors": [r"[Oo]rchard (OR-\d+)"],
        "records": sorted({record for text in lines.values() for record in re.findall(r"[Oo]rchard (OR-\d+)", text)}),
        "records_complete": True,
    }  # fmt: skip


def entries(prompt: str) -> dict[str, Any]:
    """What the lines of the prompt say about its records."""
    lines = re.findall(r"^(\d+) (.*OR-.*)$", prompt, re.MULTILINE)
    columns = [name for name in COLUMNS if re.search(rf"^\W*{name}\b", prompt, re.MULTILINE)]
    wanted = re.findall(r"OR-\d+", prompt.split("Lines:")[0])
    records, corrections = [], []
    for record in dict.fromkeys(wanted):
        cells_of = [
            (int(number), [{"c": c, "v": v} for c, v in TRUTH[record].items() if c in columns and v in text])
            for number, text in lines
            if record in text and not text.startswith("Correction")
        ]
        records += [{"id": record, "line": n, "cells": cells} for n, cells in cells_of if cells] or [
            {"id": record, "line": 0, "cells": []}
        ]
        for number, text in lines:
            if text.startswith("Correction") and record == CORRECTED[0] in text and CORRECTED[1] in columns:
                corrections.append(
                    {"id": record, "line": int(number), "cells": [{"c": CORRECTED[1], "v": CORRECTED[2]}]}
                )
    return {"records": records, "corrections": corrections}
