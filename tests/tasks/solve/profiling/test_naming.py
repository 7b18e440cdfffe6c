"""Names → words, and which names may refer to which."""

import pytest

from tasks.core.search.words import plain
from tasks.solve.profiling.naming import is_bare, names_id, source_keys, subject, target_keys, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("customer_id", ("customer", "id")),
        ("CustomerIDs", ("customer", "id")),
        ("orderItems", ("order", "item")),
        ("HTTPStatus", ("http", "status")),
        ("Categories", ("category",)),
        ("boxes", ("box",)),
        ("bus", ("bus",)),
        ("客户编号", ("客户", "id")),
        ("编号", ("id",)),
        ("股票代码", ("股票", "code")),
        ("订单号", ("订单", "no")),
        ("2019 sales", ("2019", "sale")),
        ("--", ()),
    ],
)
def test_names_fall_into_words(name: str, expected: tuple[str, ...]) -> None:
    assert words(name) == expected


@pytest.mark.parametrize(
    ("column", "table", "key"),
    [
        ("customer_id", "customers", "id"),
        ("CustomerId", "customer", "customer_id"),
        ("customer", "dim_customers", "ID"),
        ("home_team_id", "teams", "team_id"),
        ("home_team_id", "team", "id"),
        ("ship_to_address_code", "addresses", "code"),
        ("客户编号", "客户", "编号"),
        ("country", "countries", "country_id"),
        ("isbn", "books", "ISBN"),
    ],
)
def test_a_column_may_refer_to_a_key(column: str, table: str, key: str) -> None:
    assert set(source_keys(column)) & set(target_keys(table, key))


@pytest.mark.parametrize(
    ("column", "table", "key"),
    [("id", "customers", "id"), ("name", "customers", "id"), ("customer_id", "orders", "id"), ("team", "team", "name")],
)
def test_other_columns_do_not(column: str, table: str, key: str) -> None:
    assert not set(source_keys(column)) & set(target_keys(table, key))


def test_identifiers_are_told_by_their_last_word() -> None:
    assert names_id(words("order_no")) and not names_id(words("number_of_orders"))
    assert is_bare(words("ID")) and not is_bare(words("order_id")) and not is_bare(())
    assert subject("fact_order_items") == ("order", "item")
    assert plain("Order-Items (2019)") == "orderitems2019"
