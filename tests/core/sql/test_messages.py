"""Errors of real DuckDB → what the model reads."""

import duckdb
import pytest

from tasks.core.sql.messages import explain

SCHEMA = {
    "customers": ("id", "name", "city", "signup"),
    "orders": ("order_id", "customer_id", "amount", "订单日期", "total"),
}


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    opened = duckdb.connect()
    opened.execute("create table customers (id int, name varchar, city varchar, signup date)")
    opened.execute(
        'create table orders (order_id int, customer_id int, amount varchar, "订单日期" varchar, total double)'
    )
    opened.execute("insert into orders values (1, 1, '12,5', 'x', 2), (2, 1, '3', 'y', 4)")
    return opened


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("select nam from customers", "did you mean customers.name"),
        ("select amount from customers", "'amount' belongs to orders: join that table"),
        ("select c.amount from customers c", "'amount' belongs to orders"),
        ("select CustomerID from orders", "did you mean orders.customer_id"),
        ("select * from orders where 订单 = 1", "did you mean orders.订单日期"),
        ("select o.nope from orders o", "columns there: orders.order_id, orders.customer_id"),
        ("select * from customers where city = \"London\"", "if 'London' is a text, write it in single quotes"),
        ("select name from customers c join orders using (customer_id)", "'customer_id' is a column of orders"),
        ("select o.amount from customers c", 'Candidate tables: "c"'),
        ("select city, count(*) from customers", "add it to GROUP BY"),
        ("select name from customers where count(*) > 1", "HAVING"),
        ("select name from customers where row_number() over () = 1", "QUALIFY"),
        ("select max(sum(total)) from orders", "aggregate in a subquery first"),
        ("select (select order_id from orders)", "use IN, an aggregate, or ORDER BY"),
        ("select cast(amount as int) from orders", "'12,5' to INT32 when casting from source column amount; look at"),
        ("select sum(amount) from orders", "'sum(VARCHAR)'; cast the text first: TRY_CAST(column AS DOUBLE)"),
        ("select year(amount) from orders", "TRY_CAST(column AS DATE)"),
        ("select strftime(amount, '%Y') from orders", "TRY_CAST(column AS DATE)"),
        ("select * from orders where amount > 10", "cast the text: TRY_CAST(column AS DOUBLE)"),
        ("select date_format(signup, '%Y') from customers", "use strftime(date, '%Y-%m')"),
        ("select substrin(name) from customers", 'Did you mean "substring"'),
        ("select 1 union select 1, 2", "the same number of columns"),
        ("select 9223372036854775807::bigint + 1", "Overflow in addition of INT64"),
    ],
)  # fmt: skip
def test_the_message_says_what_to_do(connection: duckdb.DuckDBPyConnection, sql: str, part: str) -> None:
    with pytest.raises(duckdb.Error) as caught:
        connection.execute(sql).fetchall()
    message = explain(str(caught.value), sql, SCHEMA)
    assert part in message
    assert "\n" not in message
    assert len(message) < 400


def test_wide_tables_are_listed_in_part() -> None:
    wide = {"t": tuple(f"field{number}" for number in range(200))}
    message = explain('Binder Error: Referenced column "zz" not found in FROM clause!', "select zz from t", wide)
    assert message.endswith(" …")
    assert message.count("t.field") == 40
