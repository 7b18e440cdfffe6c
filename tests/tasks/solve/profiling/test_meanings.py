"""Which definition a column takes: that below the name of its own table, never that of another one."""

from __future__ import annotations

import pytest

from tasks.core.models.catalogue import Catalogue, Column, Table
from tasks.core.models.semantics import Definition
from tasks.core.models.source import ArtifactRef
from tasks.core.search.words import plain
from tasks.intake.knowledge import parse
from tasks.solve.profiling.meanings import meanings

NOTHING = ArtifactRef(sha256="0" * 64, name="none", size=0)
TABLES = {
    "orders": ("order_id", "amount", "status", "name"),
    "refunds": ("refund_id", "amount", "status"),
    "客户": ("编号", "姓名", "状态"),
    "staff": ("编号", "姓名", "状态", "入职日期"),
}


def catalogue() -> Catalogue:
    tables = tuple(
        Table(
            name=name,
            path=f"context/csv/{name}.csv",
            columns=tuple(Column(name=c, type="VARCHAR") for c in its),
            rows=1,
        )
        for name, its in TABLES.items()
    )
    return Catalogue(database=NOTHING, tables=tables, files=())


def taken(text: str) -> dict[str, str]:
    """Meaning by `table.field`."""
    found = meanings(catalogue(), parse(text, tables=frozenset(TABLES)).definitions)
    return {
        f"{table}.{field}": one.meaning
        for table, its in found.items()
        for field, one in its.items()
        if field in {plain(column) for column in TABLES[table]}
    }


def test_a_definition_below_a_table_s_name_goes_to_that_table_alone() -> None:
    found = taken("## Fields\n### orders\n- **amount**: paid by the customer\n### 客户\n- **状态**：是否有效\n")
    assert found == {"orders.amount": "paid by the customer", "客户.状态": "是否有效"}


def test_one_that_names_no_table_goes_to_all_but_not_before_a_table_s_own() -> None:
    found = taken(
        "## Fields\n- **amount**: in EUR\n- **status**: open or closed\n### refunds\n- **amount**: given back\n"
    )
    assert (found["orders.amount"], found["refunds.amount"]) == ("in EUR", "given back")
    assert found["orders.status"] == found["refunds.status"] == "open or closed"


def test_what_is_no_table_here_keeps_its_words_to_itself() -> None:
    text = "## Fields\n### suppliers\n- **supplier_id**: key\n- **name**: of the firm\n- **amount**: owed to it\n"
    assert taken(text) == {}
    told = "## Fields\n### loans\n- **amount**: lent\n- **status**: of the loan\n"
    assert taken(told) == {}


@pytest.mark.parametrize("title", ["Purchases", "采购表"])
def test_another_word_for_a_table_is_known_by_its_fields(title: str) -> None:
    text = f"## Fields\n### {title}\n- **order_id**: key\n- **amount**: paid\n- **status**: of the purchase\n"
    found = taken(text)
    assert {key.partition(".")[0] for key in found} == {"orders"} and found["orders.amount"] == "paid"
    described = f"{text}### orders\n- **name**: buyer\n"
    assert "orders.amount" not in taken(described)


def test_two_tables_that_fit_alike_both_take_it() -> None:
    definitions = [
        Definition(table="people", field=name, meaning=name, line=n) for n, name in enumerate(("编号", "姓名", "状态"))
    ]
    found = meanings(catalogue(), definitions)
    assert [*found["客户"]] == [*found["staff"]] == ["编号", "姓名", "状态"] and not found["orders"]
