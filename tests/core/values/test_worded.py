"""Units that a knowledge names in words, and what only looks like one."""

from __future__ import annotations

import pytest

from tasks.core.models.semantics import Definition, Knowledge
from tasks.core.values.units import target_of
from tasks.core.values.worded import worded
from tasks.document.planning.fields import columns


@pytest.mark.parametrize(
    ("meaning", "unit"),
    [
        ("Yearly salary in EUR.", "EUR"),
        ("Yearly salary in euros", "euros"),
        ("Costs of the site, in thousand euros", "thousand euros"),
        ("Turnover in million USD before tax", "million USD"),
        ("Tax as a percentage of income", "percent"),
        ("Weight in kg", "kg"),
        ("成交金额（万元），含税", "万元"),
        ("以亿元计的市值", "亿元"),
        ("salary in 2020", ""),
        ("salary in Europe", ""),
        ("amount in the year", ""),
        ("listed in EUR countries", ""),
        ("Number of invoices paid in EUR", ""),
        ("in EUR, or in USD for branches abroad", ""),
        ("币种（美元）", ""),
    ],
)
def test_a_unit_in_words_is_read_where_it_is_one(meaning: str, unit: str) -> None:
    assert worded("", meaning) == unit and worded("decimal", meaning) == unit and worded("varchar(20)", meaning) == ""
    assert not unit or not target_of(unit).dimension.startswith("count:")


def test_a_column_of_a_document_has_the_unit_that_its_meaning_names() -> None:
    defined = [("salary", "decimal", "Yearly salary in EUR"), ("since", "integer", "salary in 2020")]
    made = Knowledge(
        definitions=(
            Definition(table="leiter", field="id", meaning="id", line=1),
            *(Definition(table="leiter", field=f, type=t, meaning=m, line=2) for f, t, m in defined),
        )
    )
    assert [(c.name, c.unit) for c in columns("leiter", made)] == [("id", ""), ("salary", "EUR"), ("since", "")]
