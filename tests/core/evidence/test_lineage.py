"""From a query to the files, tables and definitions behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import publishing
import pytest

from tasks.core.evidence import lineage
from tasks.core.evidence.outline import outline
from tasks.core.models.evidence import UsedTable
from tasks.core.models.semantics import Definition, Knowledge, Metric


def used(store: Any, folder: Path, sql: str) -> tuple[UsedTable, ...]:
    return lineage.used_tables(outline(sql), sql, publishing.catalogue(store, folder))


def test_every_file_is_listed_with_its_outcome_and_tables(store: Any, tmp_path: Path) -> None:
    found = lineage.origins(publishing.catalogue(store, tmp_path))

    assert [(file.path, file.outcome, file.tables) for file in found] == [
        ("context/csv/orders.csv", "table", ("orders",)),
        ("context/db/shop.db", "table", ("customers",)),
        ("context/knowledge.md", "knowledge", ()),
        ("context/torn.db", "unreadable", ()),
    ]
    assert found[3].reason == "file is not a database"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 城市 FROM CUSTOMERS", {"customers": ("城市",)}),
        (publishing.SUM_BY_NAME, {"orders": ("customer_id", "amount"), "customers": ("id", "name")}),
        ("SELECT * FROM orders", {"orders": ("order_id", "customer_id", "amount", "day")}),
        ("SELECT count(*) FROM orders", {"orders": ()}),
        ("WITH orders AS (SELECT name FROM customers) SELECT name FROM orders", {"customers": ("name",)}),
        ("SUMMARIZE orders", {"orders": ("order_id", "customer_id", "amount", "day")}),
        ("SELECT 1", {}),
    ],
)
def test_the_tables_and_columns_that_a_query_reads(
    sql: str, expected: dict[str, tuple[str, ...]], store: Any, tmp_path: Path
) -> None:
    assert {table.name: table.columns for table in used(store, tmp_path, sql)} == expected


def test_a_used_table_names_its_file_and_digest(store: Any, tmp_path: Path) -> None:
    (table,) = used(store, tmp_path, "SELECT name FROM customers")

    assert (table.path, table.inner, table.sha256, table.rows) == ("context/db/shop.db", "customers", "cd" * 32, 3)


def test_definitions_of_used_columns_and_metrics_of_the_question_are_quoted_with_their_lines(
    store: Any, tmp_path: Path
) -> None:
    knowledge = Knowledge(
        path="knowledge.md",
        definitions=(
            Definition(table="Orders", field="AMOUNT", meaning="price paid", unit="EUR", line=9),
            Definition(table="refunds", field="amount", meaning="price given back", line=10),
            Definition(field="customer_id", line=3),
            Definition(table="orders", field="day", meaning="of payment", line=4),
        ),
        metrics=(Metric(name="客单价", formula="sum/count", line=12), Metric(name="churn", line=13)),
    )
    tables = used(store, tmp_path, "SELECT sum(amount) FROM orders GROUP BY customer_id")

    found = lineage.statements(tables, "每个客户的客单价是多少?", knowledge, publishing.catalogue(store, tmp_path))

    assert [(item.line, item.text) for item in found] == [
        (3, "customer_id"),
        (9, "AMOUNT: price paid [EUR]"),
        (12, "客单价: sum/count"),
    ]


def test_a_term_that_is_no_column_is_quoted_where_the_question_uses_it(store: Any, tmp_path: Path) -> None:
    meaning = "net sales. the sum of betrag over sales with status 'bezahlt'"
    knowledge = Knowledge(
        path="knowledge.md",
        definitions=(
            Definition(table="Begriffe", field="Netto-Umsatz", meaning=meaning, line=4),
            Definition(table="Begriffe", field="Stammkunde", meaning="who bought twice", line=5),
        ),
    )
    catalogue = publishing.catalogue(store, tmp_path)
    for question in ("Netto-Umsatz je Filiale?", "What are the net sales?"):
        found = lineage.statements((), question, knowledge, catalogue)
        assert [(item.line, item.text) for item in found] == [
            (4, "Netto-Umsatz (net sales): the sum of betrag over sales with status 'bezahlt'")
        ]
