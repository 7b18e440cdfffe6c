"""Tables of a company as a real catalogue: two files, a database, one table drawn from a document; any number beside them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
from endpoint import Endpoint

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Question
from tasks.core.models.catalogue import Catalogue, Column, ColumnProfile, Profile, Table, TableProfile
from tasks.core.models.context import Recalled, TableRelevanceResult, Terms
from tasks.core.models.document import DerivedTable
from tasks.core.models.metadata import Metadata
from tasks.core.models.semantics import Knowledge
from tasks.core.models.source import ArtifactRef
from tasks.core.settings import Settings, load
from tasks.solve.relevance import judge_tables, why_not

QUESTION = Question(
    text="Which company had the highest net profit in 2023? 哪家公司净利润最高", as_of=date(2026, 1, 1), task_id="t1"
)
KNOWLEDGE = Knowledge(path="knowledge.md", text="# Rules\n- net_profit: profit after tax, in CNY\n")
Rows = Sequence[tuple[Any, ...]]
TABLES: dict[str, tuple[str, str, Rows]] = {
    "company_financials": (
        "context/csv/company_financials.csv",
        "company_id BIGINT, year BIGINT, net_profit DOUBLE",
        [(1, 2023, 5.5), (2, 2023, 7.25), (3, 2023, -1.0)],
    ),
    "company_profile": (
        "context/json/company_profile.json",
        "company_id BIGINT, name VARCHAR, story VARCHAR",
        [(1, "甲公司", "long " * 60), (2, "Ōtsu ~~~", None)],
    ),
    "employee_attendance": (
        "context/db/hr.db::employee_attendance",
        "employee_id BIGINT, day DATE, company_id BIGINT",
        [(7, "2024-01-02", 1)],
    ),
    "doc_company_rules": ("context/doc/company_rules.md", "rule_id VARCHAR, limit_share DOUBLE", [("R1", 0.2)]),
}
DRAWN = ("doc_company_rules",)


def filler(number: int, columns: int = 4) -> dict[str, tuple[str, str, Rows]]:
    """Tables that no question of ours needs."""
    kinds = ", ".join(f"field_{at} VARCHAR" for at in range(columns))
    return {
        f"aa_other_{at:04}": (f"context/csv/aa_other_{at:04}.csv", kinds, [("x",) * columns]) for at in range(number)
    }


def catalogue(store: Store, folder: Path, tables: Mapping[str, tuple[str, str, Rows]] = TABLES) -> Catalogue:
    """The tables in a DuckDB file of the store."""
    path = folder / "company.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as db:
        for name, (_, columns, rows) in tables.items():
            db.execute(f'CREATE TABLE "{name}" ({columns})')
            if rows:
                db.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(rows[0]))})', rows)
    made = tuple(_table(name, origin, columns, len(rows)) for name, (origin, columns, rows) in tables.items())
    return Catalogue(database=store.put_file(path), tables=made, files=())


def _table(name: str, origin: str, columns: str, rows: int) -> Table:
    path, _, inner = origin.partition("::")
    drawn = None
    if name in DRAWN:
        nowhere = ArtifactRef(sha256="0" * 64, name=f"{name}.sqlite", size=0)
        drawn = DerivedTable(
            stem=name,
            table=name,
            paths=(path,),
            database=nowhere,
            key="rule_id",
            records=rows,
            columns=(),
            perfect=True,
        )
    kinds = tuple(Column(name=part.split()[0], type=part.split()[1]) for part in columns.split(", "))
    return Table(name=name, path=path, inner=inner, columns=kinds, rows=rows, drawn=drawn)


def profile(of: Catalogue) -> Profile:
    """Types and names; nothing is measured."""
    tables = tuple(
        TableProfile(
            name=table.name,
            origin=table.origin,
            rows=table.rows,
            columns=tuple(ColumnProfile(name=c.name, type=c.type, null_share=0, distinct=1) for c in table.columns),
            notes=table.notes,
        )
        for table in of.tables
    )
    return Profile(tables=tables, joins=())


def nothing_recalled() -> Recalled:
    return Recalled(terms=Terms(question=QUESTION.text))


class Judge:
    """The stage over a catalogue, judged by a scripted model over real HTTP."""

    def __init__(self, store: Store, of: Catalogue) -> None:
        self.store, self.catalogue = store, of
        self.requests: list[dict[str, Any]] = []
        self.settings: Settings = load()

    def __call__(
        self,
        script: Any,
        recalled: Recalled | None = None,
        about: Metadata | None = None,
        video: str = "",
        knowledge: Knowledge = KNOWLEDGE,
        **overrides: Any,
    ) -> TableRelevanceResult:
        with Endpoint(script) as server:
            self.settings = load(
                overrides={
                    "endpoints": {"main": {"url": server.url, "model": "scripted", "concurrency": 9}},
                    "retry": {"first_seconds": 0.01, "longest_seconds": 0.02},
                    **overrides,
                    "relevance": {"from_tokens": 1, **overrides.get("relevance", {})},
                }
            )
            with door.use(Door(self.settings, self.store, Meter(self.settings.budget))):
                measured, chosen = profile(self.catalogue), (self.settings.vote, self.settings.relevance)
                work = judge_tables.function(
                    QUESTION,
                    self.catalogue,
                    measured,
                    knowledge,
                    recalled or nothing_recalled(),
                    about or Metadata(),
                    video,
                    why_not(self.catalogue, measured, *chosen),
                    *chosen,
                    self.settings.query,
                )
                result = asyncio.run(work)
            self.requests = server.requests
            return result

    def prompt(self, request: int = 0) -> str:
        """What the model was shown."""
        content: str = self.requests[request]["messages"][0]["content"]
        return content


def names_in(body: dict[str, Any]) -> list[str]:
    """The tables that a request asks about."""
    lines = body["messages"][0]["content"].split("\n")
    return [line.removeprefix("table_name: ") for line in lines if line.startswith("table_name: ")]


def ballot(verdicts: Mapping[str, bool], reason: str = "about {}") -> str:
    """A reply with these verdicts."""
    told = [{"table_name": n, "reason": reason.format(n), "relevant": yes} for n, yes in verdicts.items()]
    return json.dumps({"verdicts": told}, ensure_ascii=False)


def saying(*relevant: str) -> Callable[[dict[str, Any]], str]:
    """A model that calls these tables relevant in every round, and all others not."""
    return lambda body: ballot({name: name in relevant for name in names_in(body)})


def rounds(*ballots: Mapping[str, bool] | Any) -> Iterator[Any]:
    """Replies of rounds: ballots, or whatever an endpoint can reply."""
    return (ballot(one) if isinstance(one, Mapping) else one for one in ballots)
