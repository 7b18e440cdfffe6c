"""A slice of three records, the replies of a scripted model to it, and the extraction of both over real HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from endpoint import Endpoint

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.document import PlanColumn, Slice, SliceResult
from tasks.core.sections import ExtractSettings
from tasks.core.settings import Settings, load
from tasks.document.extract import extract_slice

COLUMNS = (
    PlanColumn(name="id", doc_meaning="number", task_meaning="number"),
    PlanColumn(name="price", doc_meaning="unit price", task_meaning="price in euros"),
    PlanColumn(name="before", doc_meaning="出让方转让前持股", task_meaning="shares"),
)
LINES = (
    (1, "Record A1 was sold at 1.20 euros; 转让前持股２，５００股。"),
    (2, "Record A2 was sold at 3 million euros. Record A3: 4 euros, and 5% of it before."),
    (3, "It held 77股 before. Rumour has 99 euros."),
    (4, "Correction: the price of A1 should read 1.30 euros."),
)
PIECE = Slice(
    section="s1",
    columns=COLUMNS,
    key="id",
    lines=LINES,
    expected=("A1", "A2", "A3"),
    belongs=(("A1", (1, 4)), ("A2", (2, 3)), ("A3", (2, 3))),
    places=(11, 25, 26, 99),
)


def entry(record: str, line: int, **cells: str) -> dict[str, Any]:
    return {"id": record, "line": line, "cells": [{"c": name, "v": value} for name, value in cells.items()]}


def reply(*entries: dict[str, Any], corrections: tuple[dict[str, Any], ...] = ()) -> str:
    return json.dumps({"records": list(entries), "corrections": list(corrections)}, ensure_ascii=False)


A1, A2, A3 = (
    entry("A1", 1, price="1.20 euros"),
    entry("A2", 2, price="3 million euros"),
    entry("A3", 2, price="4 euros"),
)


def extract(
    store: Store, script: Any, piece: Slice = PIECE, **changes: Any
) -> tuple[SliceResult, list[dict[str, Any]]]:
    settings = load(overrides={"roles": {"extract": {"max_tokens": 3000}}, **changes.pop("settings", {})})
    chosen = settings.extract.model_copy(update=changes)
    with Endpoint(script) as endpoint:
        return asyncio.run(run(store, endpoint, settings, piece, chosen)), endpoint.requests


async def run(
    store: Store, endpoint: Endpoint, settings: Settings, piece: Slice, chosen: ExtractSettings
) -> SliceResult:
    main = {"url": endpoint.url, "model": "scripted"}
    retry = {"first_seconds": 0.01, "longest_seconds": 0.02}
    known = settings.model_dump(include={"budget", "roles"})
    loaded = load(overrides={**known, "endpoints": {"main": main}, "retry": retry})
    with door.use(Door(loaded, store, Meter(loaded.budget))):
        return await extract_slice(piece, chosen)


def values(result: SliceResult) -> dict[tuple[str, str], tuple[str, int]]:
    return {(f.record_id, f.column): (f.raw, f.line) for f in result.findings if f.found and not f.corrects}
