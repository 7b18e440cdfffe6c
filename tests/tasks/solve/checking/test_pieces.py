"""Pieces, digits of dates, shares over gaps, and values that are nearest to what is not there; in English and Chinese."""

from __future__ import annotations

import pytest
from truth import Said, Truth, folder_of, said, truths

from tasks.core.files.store import Folder, Store, use

TRUTHS = list(truths("pieces.toml"))
FILES = {
    "sales.csv": "sale_id,shop,qty,day\n1,a,3,2024-03-01\n2,a,1,2024-05-03\n3,b,4,2024-05-20\n4,b,2,2023-03-03\n5,c,1,2003-07-09\n",
    "shops.csv": "shop,city\na,Malmö\nb,Oslo\nc,New York\nd,Oslo\n",
    "order_lines.csv": "line_id,shop,unitsOrdered,unit_price\n1,a,5,2\n2,b,7,3\n",
    "products.csv": "product_id,name,units_in_stock,unit_price\n1,tea 03,10,2\n2,003 cake,20,3\n3,03-03,5,1\n",
    "visits.csv": "visit,seen\n1,03.05.2024\n2,14.03.2024\n3,24.12.2024\n4,30.11.2003\n",
    "compact.csv": "id,stamp\n1,20240315\n2,20240503\n3,20031224\n",
    "reviews.csv": "review,shop,stars,verified\n1,a,5,1\n2,a,4,0\n3,a,2,\n4,a,,1\n5,a,,0\n6,b,3,1\n",
    "销售.csv": "单号,门店,数量,日期\nX1,甲,3,2023年3月5日\nX2,甲,1,2024年5月3日\nX3,乙,2,2024年12月13日\n",
    "评价.csv": "编号,评分\nP1,5\nP2,3\nP3,\nP4,4\n",
    "门店.csv": "名字,城市\n甲,上海市\n乙,北京市\n丙,上海市\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Said:
    folder = tmp_path_factory.mktemp("pieces")
    with use(Store(Folder(folder / "store"), folder / "cache")):
        return said(*folder_of(folder / "task", FILES), TRUTHS)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.sql[:80])
def test_they_are_said_as_the_truth_table_says(found: Said, truth: Truth) -> None:
    checks = found[truth.question, truth.sql]
    assert [check.outcome for check in checks if check.name == truth.check] == truth.outcomes, checks
    assert not [check for check in checks if check.name == "unmade check"], checks


@pytest.mark.parametrize(
    ("name", "question", "sql", "detail"),
    [
        ("pieces", "How many items were sold in May?", "SELECT count(*) FROM sales", "COUNT(*) counts 5 records, whose qty sums up to 11"),
        ("share", "What share of the reviews is verified?", "SELECT avg(verified) FROM reviews", "leaves out 1 of 6 rows that have no value: 0.6, and 0.5 where"),
        ("date digits", "How many sales were there in March?", "SELECT count(*) FROM visits WHERE seen LIKE '%03%'", "as '03.05.2024', '14.03.2024', '30.11.2003' show"),
        ("value", "How many shops are there in Malmo?", "SELECT count(*) FROM shops WHERE city = 'Malmo'", "no city is 'Malmo'; nearest there: 'Malmö'"),
        ("value", "How many shops are there in Malmo?", "SELECT count(*) FROM shops WHERE city LIKE '%Malmo%'", "no city is like '%Malmo%'; nearest there: 'Malmö'"),
        ("value", "How many shops are there in Malmo?", "SELECT count(*) FROM shops WHERE city = 'New  york'", "nearest there: 'New York'"),
        ("value", "上海的门店有几家？", "SELECT count(*) FROM 门店 WHERE 城市 = '上海'", "nearest there: '上海市'"),
    ],
)  # fmt: skip
def test_what_a_check_says_has_the_numbers_and_values(
    found: Said, name: str, question: str, sql: str, detail: str
) -> None:
    (said,) = [check.detail for check in found[question, sql] if check.name == name]
    assert detail in said


def test_nothing_is_near_to_what_is_spelled_like_nothing(found: Said) -> None:
    checks = found["How many shops are there in Malmo?", "SELECT count(*) FROM shops WHERE city = 'Xyzq'"]
    assert [check.detail for check in checks if check.name == "value"] == ["no city is 'Xyzq'"]
