"""A plan and what slices say about it, by hand: for tests of what comes after extraction."""

from __future__ import annotations

import json
from typing import Any

from tasks.core.files import store as stores
from tasks.core.models.document import (
    Converted,
    Finding,
    Mention,
    Place,
    Plan,
    PlanColumn,
    PlanSection,
    SliceResult,
)

KEY = "record_id"


def column(name: str, type: Any = "text", unit: str = "", **more: Any) -> PlanColumn:
    """A data column whose document and task meaning are its name, unless told."""
    return PlanColumn(**{"name": name, "doc_meaning": name, "task_meaning": name, "type": type, "unit": unit, **more})


def plan(*columns: PlanColumn, records: tuple[str, ...] = ("R1", "R2"), lines: int = 100, **more: Any) -> Plan:
    """A plan of one section over all columns; each record is named in the line of its number."""
    section = PlanSection(id="s1", title="all", start_line=1, end_line=lines, columns=(KEY, *(c.name for c in columns)))
    values = {
        "stem": "trades",
        "key": KEY,
        "columns": (column(KEY, role="key"), *columns),
        "sections": (section,),
        "anchors": (r"\b(R\d+)\b",),
        "universe": records,
        "mentions": tuple(Mention(record_id=record, line=i) for i, record in enumerate(records, 1)),
    }
    return Plan(**{**values, **more})


def said(record: str, name: str, raw: str, line: int, **more: Any) -> Finding:
    """A finding whose quote is its raw text, unless told."""
    return Finding(**{"record_id": record, "column": name, "raw": raw, "quote": raw, "line": line, **more})


def piece(*findings: Finding, section: str = "s1", **more: Any) -> SliceResult:
    """A slice that listed the records of its findings."""
    listed = tuple(dict.fromkeys(finding.record_id for finding in findings))
    return SliceResult(**{"section": section, "findings": findings, "listed": listed, **more})


def converted(lines: int = 100, paths: tuple[str, ...] = ("doc/trades.md",), page_of: int = 10) -> Converted:
    """A document in the store; a page has `page_of` lines, and its file's lines are those of the text plus 100."""
    places = [Place(path=paths[0], line=n + 100, page=1 + (n - 1) // page_of).model_dump() for n in range(1, lines + 1)]
    store = stores.current()
    return Converted(
        stem="trades",
        paths=paths,
        status="converted",
        text=store.put("\n".join(f"line {n}" for n in range(1, lines + 1)).encode(), "trades.md"),
        places=store.put(json.dumps(places).encode(), "places.json"),
        lines=lines,
    )
