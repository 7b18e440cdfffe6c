"""Catalogue → facts of its columns, as profile_tables measures them: for tables that are there long before all others are."""

from __future__ import annotations

import time

from tasks.core.models.catalogue import Catalogue
from tasks.core.sections import ProfilingSettings, QuerySettings
from tasks.core.sql.columns import Measured, measure_columns
from tasks.core.sql.engine import Engine
from tasks.solve.profiling.wanted import COLUMNS_SHARE, wanted
from tasks.stage import stage


@stage()
async def measure_tables(catalogue: Catalogue, settings: ProfilingSettings, limits: QuerySettings) -> Measured:
    """Facts of every column that could be measured within its share of `settings.seconds`."""
    deadline = time.monotonic() + settings.seconds * COLUMNS_SHARE
    columns = wanted(catalogue)
    async with Engine.over(catalogue, limits) as engine:
        facts = await measure_columns(engine, columns, settings.examples, deadline)
    found = zip(columns, facts, strict=True)
    return Measured(columns=tuple((one.table, one.column, fact) for one, fact in found if not fact.problem))
