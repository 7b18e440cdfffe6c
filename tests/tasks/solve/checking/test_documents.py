"""Cells of a document under what an answer computes: values that were corrected, cells that nothing proves."""

from __future__ import annotations

import asyncio

import pytest
from document_world import KEY, column, converted, piece, plan
from document_world import said as told
from truth import Said, Truth, folder_of, said, truths

from tasks.core.evidence.history import Doubtful, TakenBack, doubtful, taken_back
from tasks.core.files.store import Folder, Store, use
from tasks.core.models.catalogue import Table
from tasks.core.models.document import ColumnReadings, DerivedTable, Reading
from tasks.core.settings import load
from tasks.document.merge import merge_findings
from tasks.document.store import store_table
from tasks.intake.derived import add_derived

TRUTHS = list(truths("documents.toml"))
PLAN = plan(
    column("shares", "integer", "股"), column("share", "number", "ratio"), column("place"), records=("R1", "R2", "R3")
)
SAID = piece(
    told("R1", "shares", "2500万", 1),
    told("R1", "shares", "25,390,048", 12, corrects=True, quote="更正为25,390,048股"),
    told("R2", "shares", "5", 2),
    told("R2", "shares", "7", 3),
    told("R1", "share", "1.55%", 1),
    told("R2", "share", "hm", 2),
    told("R1", "place", "Oslo", 1),
    told("R1", "place", "Bergen", 13, corrects=True, quote="the place is Bergen"),
    told("R3", "place", "Bergen", 4),
    told("R3", "place", "Turku", 14, corrects=True, quote="the place is Turku"),
)
READ = {
    "shares": {"2500万": 25000000, "25,390,048": 25390048, "5": 5, "7": 7},
    "share": {"1.55%": 0.0155, "hm": Reading(raw="hm", value=None, status="unverified", note="no number")},
}


def drawn() -> DerivedTable:
    readings = tuple(
        ColumnReadings(
            column=name,
            readings=tuple(
                v if isinstance(v, Reading) else Reading(raw=r, value=v, status="verified") for r, v in values.items()
            ),
            by_library=len(values),
        )
        for name, values in READ.items()
    )
    merged = asyncio.run(merge_findings.function(PLAN, (SAID,)))
    return asyncio.run(store_table.function(converted(), PLAN, merged, readings, 0.95))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, Table, Store]:
    """What is said of all cases, and the table of the document."""
    folder = tmp_path_factory.mktemp("documents")
    store = Store(Folder(folder / "store"), folder / "cache")
    with use(store):
        sources, knowledge = folder_of(folder / "task", {"towns.csv": "city,staff\nBergen,3\nGraz,4\n"})
        catalogue = asyncio.run(add_derived(sources, (drawn(),), load().intake))
        table = catalogue.table("trades")
        assert table
        return said(catalogue, knowledge, TRUTHS), table, store


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.sql[:80])
def test_cells_of_documents_are_said_as_the_truth_table_says(world: tuple[Said, Table, Store], truth: Truth) -> None:
    checks = world[0][truth.question, truth.sql]
    assert [check.outcome for check in checks if check.name == truth.check] == truth.outcomes, checks


def test_a_finding_names_value_record_and_correction(world: tuple[Said, Table, Store]) -> None:
    details = {c.name: c.detail for c in world[0]["How many shares did R1 trade?", "SELECT 25000000 AS shares"]}
    assert "25000000" in details["corrected value"] and "R1" in details["corrected value"]
    assert "25390048" in details["corrected value"]
    assert "share of R2 (unverified)" in str(world[0]["What are the shares?", "SELECT share FROM trades"])


def test_what_a_cell_was_before_and_what_is_doubtful_come_from_the_table_itself(
    world: tuple[Said, Table, Store],
) -> None:
    _, table, store = world
    with use(store):
        assert taken_back(table, ("shares", "place")) == (
            TakenBack("R1", "shares", "25000000", "25390048"),
            TakenBack("R1", "place", "Oslo", "Bergen"),
        )
        assert doubtful(table, ("share", "shares")) == (
            Doubtful("R2", "shares", "conflict"),
            Doubtful("R2", "share", "unverified"),
        )
        assert taken_back(table, (KEY,)) == () == doubtful(table, ())
        assert taken_back(table.model_copy(update={"drawn": None}), ("shares",)) == ()
