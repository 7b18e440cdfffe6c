import pytest

from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, TableProfile
from tasks.solve.showing.layout import Detail, join_equation, join_line, one_line, share, spelled, table_lines

CITY = ColumnProfile(
    name="city",
    type="VARCHAR",
    null_share=0.125,
    distinct=40,
    examples=("Oslo", "it's\nhere", "x" * 99),
    meaning="Where the customer lives",
    notes=("mixed case",),
)
SHARE = ColumnProfile(
    name="Share (%)",
    type="DOUBLE",
    null_share=0,
    distinct=9,
    minimum="0.5",
    maximum="99",
    examples=("3",),
    meaning="Share",
    unit="percent",
)
TABLE = TableProfile(
    name="order", origin="csv/order.csv", rows=8, columns=(CITY, SHARE), notes=("2 lines could not be read",)
)


def test_a_plain_table_has_one_line_a_column() -> None:
    assert table_lines(TABLE, Detail(example_chars=12)) == [
        '"order" (8 rows; csv/order.csv; 2 lines could not be read)',
        "- city VARCHAR: Where the customer lives; e.g. 'Oslo', 'it''s here', 'xxxxxxxxxxx…' (40 distinct); 12.5 % NULL; mixed case",
        '- "Share (%)" DOUBLE: [percent]; 0.5 to 99, e.g. 3',
    ]


def test_ddl_says_the_same_in_sql() -> None:
    assert table_lines(TABLE, Detail("ddl", examples=1)) == [
        'CREATE TABLE "order" ( -- 8 rows; 2 lines could not be read',
        "  city VARCHAR, -- Where the customer lives; e.g. 'Oslo'; 12.5 % NULL",
        '  "Share (%)" DOUBLE, -- [percent]; 0.5 to 99',
        ");",
    ]


def test_ddl_has_one_key_and_spans_in_place_of_examples() -> None:
    number = ColumnProfile(
        name="id", type="BIGINT", null_share=0, distinct=9, minimum="1", maximum="9", examples=("1", "2"), is_key=True
    )
    day = ColumnProfile(
        name="day",
        type="DATE",
        null_share=0,
        distinct=9,
        minimum="2024-01-01",
        maximum="2024-01-09",
        examples=("2024-01-02",),
        is_key=True,
    )
    table = TableProfile(name="t", origin="t.csv", rows=9, columns=(number, day))
    assert table_lines(table, Detail("ddl")) == [
        "CREATE TABLE t ( -- 9 rows",
        "  id BIGINT PRIMARY KEY, -- 1 to 9",
        "  day DATE, -- '2024-01-01' to '2024-01-09'",
        ");",
    ]


def test_hidden_columns_are_counted() -> None:
    assert table_lines(TABLE, Detail(names_only=True), {"city"}) == [
        '"order" (8 rows): city VARCHAR, … and 1 more columns not shown'
    ]


def test_few_values_are_said_to_be_all() -> None:
    column = ColumnProfile(name="sex", type="VARCHAR", null_share=0, distinct=2, examples=("f", "m"))
    table = TableProfile(name="t", origin="t.csv", rows=5, columns=(column,))
    assert table_lines(table, Detail())[1] == "- sex VARCHAR: only 'f', 'm'"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("amount", "amount"),
        ("销售额", "销售额"),
        ("左(右)", '"左(右)"'),
        ("Order", '"Order"'),
        ("a b", '"a b"'),
        ('a"b', '"a""b"'),
        ("1a", '"1a"'),
    ],
)
def test_names_are_quoted_where_a_query_needs_it(name: str, written: str) -> None:
    import duckdb

    assert spelled(name) == written
    with duckdb.connect() as db:
        db.execute(f"CREATE TABLE t ({written} INTEGER)")
        assert db.execute(f"SELECT {written} FROM t").description[0][0] == name


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.987, "98.7 %"), (0.99999, "99.9 %"), (0.00001, "0.1 %"), (0.5, "50 %")],
)
def test_a_share_is_rounded_to_none_or_all_only_when_it_is(value: float, written: str) -> None:
    assert share(value) == written


def test_a_join_says_how_well_it_holds() -> None:
    join = JoinCandidate(
        left_table="a",
        left_column="x",
        right_table="b",
        right_column="y",
        match_rate=0.987,
        left_unique=False,
        right_unique=True,
        stated=True,
    )
    assert join_line(join) == "a.x -> b.y (98.7 % match, right side unique, stated in the knowledge)"
    assert join_equation(join) == "a.x = b.y (98.7 % match)"


def test_control_characters_and_lines_end_in_spaces() -> None:
    assert one_line("a\x00b\r\n\tc\u2028d", 20) == "a b c d"
