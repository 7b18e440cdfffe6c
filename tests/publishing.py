"""A stored catalogue of two small tables, and attempts over it as a solver leaves them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from tasks.core.files.store import Store
from tasks.core.models.answer import (
    Answer,
    Assignment,
    Attempt,
    Brief,
    Candidate,
    Contract,
    ContractColumn,
    Question,
    Submission,
)
from tasks.core.models.catalogue import Catalogue, Column, Profile, Table
from tasks.core.models.evidence import Checked
from tasks.core.models.query import QueryResult
from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.models.source import SourceFile
from tasks.core.sections import SolverSettings
from tasks.core.settings import Settings
from tasks.core.sql.engine import Engine
from tasks.solve.check import check_candidate
from tasks.solve.publish import publish

ROWS = """
create table customers as select * from (values
    ('007', '李雷', '杭州', 10), ('008', 'Ada <b>', 'Turin', null), ('009', 'Zoë', 'Oslo', 3)) t(id, name, 城市, level);
create table orders as select * from (values
    (1, '007', 12.50, date '2024-03-05'), (2, '007', 7.50, date '2024-03-06'),
    (3, '008', 1e21, date '2024-03-07'), (4, '999', 3.0, null)) t(order_id, customer_id, amount, day);
"""
SUM_BY_NAME = "select c.name, sum(o.amount) as total from orders o join customers c on o.customer_id = c.id group by c.name order by 2"


def catalogue(store: Store, folder: Path) -> Catalogue:
    """The two tables as one stored DuckDB file, beside a file that could not be read."""
    path = folder / "catalogue.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(ROWS)
    columns = {
        "customers": (("id", "VARCHAR"), ("name", "VARCHAR"), ("城市", "VARCHAR"), ("level", "INTEGER")),
        "orders": (("order_id", "INTEGER"), ("customer_id", "VARCHAR"), ("amount", "DOUBLE"), ("day", "DATE")),
    }
    places = {"customers": ("context/db/shop.db", "customers"), "orders": ("context/csv/orders.csv", "")}
    tables = tuple(
        Table(
            name=name,
            path=places[name][0],
            inner=places[name][1],
            columns=tuple(Column(name=column, type=kind) for column, kind in columns[name]),
            rows=3 if name == "customers" else 4,
            set_aside=1 if name == "orders" else 0,
        )
        for name in columns
    )
    files = (
        SourceFile(path="context/csv/orders.csv", kind="csv", size=120, sha256="ab" * 32, outcome="table"),
        SourceFile(path="context/db/shop.db", kind="sqlite", size=8192, sha256="cd" * 32, outcome="table"),
        SourceFile(path="context/knowledge.md", kind="knowledge", size=900, sha256="ef" * 32, outcome="knowledge"),
        SourceFile(
            path="context/torn.db", kind="sqlite", size=12, outcome="unreadable", reason="file is not a database"
        ),
    )
    return Catalogue(database=store.put_file(path, "catalogue.duckdb"), tables=tables, files=files)


def assignment(store: Store, folder: Path, **changes: Any) -> Assignment:
    """What the solver was given; `changes` replace fields."""
    knowledge = Knowledge(
        path="context/knowledge.md",
        text="amount: price paid",
        definitions=(
            Definition(table="orders", field="amount", meaning="price paid", unit="EUR", line=7),
            Definition(field="unused", meaning="nothing", line=9),
        ),
    )
    given = Assignment(
        question=Question(text="谁花得最多? Who spent <most>?", as_of=date(2024, 4, 1), task_id="task_3"),
        brief=Brief(text="tables", tokens=1, shown=("orders", "customers")),
        contract=Contract(),
        catalogue=catalogue(store, folder),
        profile=Profile(tables=(), joins=()),
        knowledge=knowledge,
    )
    return given.model_copy(update=changes)


async def seen(store: Store, given: Assignment, settings: Settings, sql: str) -> QueryResult:
    """What a solver sees of a query."""
    async with Engine(store.local(given.catalogue.database), settings.query) as engine:
        return await engine.query(sql)


def candidate(result: QueryResult, sql: str, **changes: Any) -> Candidate:
    """The candidate that a solver makes of a query and its result."""
    made = Candidate(
        submission=Submission(sql=sql),
        digest=result.digest,
        columns=result.columns,
        rows=result.row_count,
        preview=result.rows[:5],
    )
    return made.model_copy(update=changes)


def attempt(*candidates: Candidate, **changes: Any) -> Attempt:
    """An attempt that stands by its first candidate."""
    made = Attempt(
        style="json",
        steps=(),
        candidates=candidates,
        chosen=0 if candidates else None,
        contract=Contract(columns=(ContractColumn(name="name"), ContractColumn(name="total"))),
        ended="submitted",
    )
    return made.model_copy(update=changes)


async def published(given: Assignment, made: Attempt, solver: SolverSettings, settings: Settings) -> Answer:
    """The answer of an attempt, its candidate checked as the flow does it."""
    checked = Checked()
    if made.candidate:
        checked = await check_candidate(given, made.candidate, made.contract, solver, settings.publish)
    return await publish(given, made, checked, settings.agent)
