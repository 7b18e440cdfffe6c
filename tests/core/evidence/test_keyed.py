"""Which queries may be followed to records, and which columns of theirs."""

from __future__ import annotations

import pytest

from tasks.core.evidence.keyed import keyed
from tasks.core.models.catalogue import Catalogue, Column, Table
from tasks.core.models.document import DerivedTable
from tasks.core.models.source import ArtifactRef

REF = ArtifactRef(sha256="0" * 64, name="x", size=1)
DRAWN = DerivedTable(
    stem="mines", table="mines", paths=("m.pdf",), database=REF, key="id", records=1, columns=(), perfect=True
)


def made(name: str, *columns: str, drawn: DerivedTable | None = None) -> Table:
    return Table(
        name=name, path="x", columns=tuple(Column(name=c, type="VARCHAR") for c in columns), rows=1, drawn=drawn
    )


MINES = made("mines", "id", "depth", "产量", drawn=DRAWN)
CATALOGUE = Catalogue(database=REF, tables=(MINES, made("towns", "id", "town")), files=())


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT id, depth FROM mines", {0: "id", 1: "depth"}),
        ('SELECT m."产量" AS y, m.depth * 2 FROM mines m', {0: "产量"}),
        ("SELECT t.town, m.DEPTH FROM mines m LEFT JOIN towns t ON t.id = m.id ORDER BY 1 LIMIT 3", {1: "depth"}),
        ("SELECT id, depth FROM mines JOIN towns USING (id)", {1: "depth"}),
        ("SELECT t.id, depth FROM mines JOIN towns t ON true", {1: "depth"}),
    ],
)
def test_columns_that_are_taken_over_are_found(sql: str, columns: dict[int, str]) -> None:
    taken = keyed(sql, MINES, CATALOGUE)
    assert taken and taken.columns == columns and "tablewright_record" in taken.sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT max(depth) FROM mines",
        "SELECT depth, count(*) FROM mines GROUP BY depth",
        "SELECT DISTINCT depth FROM mines",
        "SELECT depth FROM mines UNION ALL SELECT town FROM towns",
        "WITH a AS (SELECT depth FROM mines) SELECT depth FROM a",
        "SELECT a.depth FROM (SELECT depth FROM mines) a",
        "SELECT a.depth FROM mines a JOIN mines b ON a.id = b.id",
        "SELECT town FROM towns WHERE id IN (SELECT id FROM mines)",
        "SELECT depth + 1 FROM mines",
        "SELECT unnest([depth]) FROM mines",
        "SELECT town FROM towns",
        "no query",
    ],
)
def test_what_cannot_be_shown_is_not_claimed(sql: str) -> None:
    assert keyed(sql, MINES, CATALOGUE) is None
