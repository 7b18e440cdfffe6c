"""Terms that a knowledge defines and that are no column, in both languages; and fields that are none."""

from __future__ import annotations

import pytest

from tasks.core.search.coined import as_metric, called, coined, computed
from tasks.intake.knowledge import parse

TEXT = """# Guide

## Begriffe

- **Netto-Umsatz** (net sales): the sum of betrag over sales with status 'bezahlt'
- **Stammkunde**: a customer who bought twice
- **客单价**：销售额除以订单数量
- **复购率**：复购客户占全部客户的比例
- **betrag**: the amount
- umsatz: the total of betrag
- colour: what it looks like
- **pay_ratio**: the ratio of pays

## Typed

- **Unknown Field (varchar):** a field of a table that is not here
- **Other Field**: stands among typed fields
"""


def test_terms_are_told_from_columns_and_fields() -> None:
    found = coined(parse(TEXT), ("betrag", "order_id"))
    assert {term.field: computed(term) for term in found} == {
        "Netto-Umsatz": True,
        "Stammkunde": False,
        "客单价": True,
        "复购率": True,
        "umsatz": True,
    }
    assert coined(parse(TEXT), ("netto_umsatz", "Stammkunde", "客单价", "复购率", "umsatz", "betrag")) == ()


def test_a_computed_term_is_a_metric_under_both_names() -> None:
    term = coined(parse(TEXT), ("betrag",))[0]
    assert called(term) == ("Netto-Umsatz", "net sales")
    made = as_metric(term)
    assert (made.name, made.formula) == (
        "Netto-Umsatz (net sales)",
        "the sum of betrag over sales with status 'bezahlt'",
    )


@pytest.mark.parametrize(
    ("meaning", "said"),
    [
        ("average of price over orders", True),
        ("number of customers with two orders", True),
        ("revenue divided by orders", True),
        ("已支付订单金额之和", True),
        ("净利润与营业收入之比", True),
        ("a sum paid once", False),
        ("share certificate", False),
        ("持股比例", False),
        ("客户的类型", False),
    ],
)
def test_what_computes_is_told_from_what_only_names(meaning: str, said: bool) -> None:
    (term,) = coined(parse(f"# G\n\n## Begriffe\n\n- **My Term**: {meaning}\n"), ())
    assert computed(term) is said
