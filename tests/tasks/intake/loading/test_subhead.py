"""A second row of names or units below a header, in a delimited file: told, and kept as data."""

from __future__ import annotations

import pytest

from tasks.intake.loading.dialect import sniff
from tasks.intake.loading.problems import kind_of

TOLD = [
    ("item,weight,price\n,kg,EUR\nx,1,2\ny,3,4\n", 2, "'kg', 'EUR'", "weight, price"),
    ("Report,,\nitem,weight,price\n,kg,EUR\nx,1,2\ny,3,4\n", 3, "'kg', 'EUR'", "weight, price"),
    (
        "品名;重量;日期\n名称;（千克）;年月日\n甲;1,5;2020-01-02\n乙;2,5;2020-01-03\n",
        2,
        "'（千克）', '年月日'",
        "重量, 日期",
    ),
    ("name,height\ntext,cm\nAda,170\nBo,180\n", 2, "'cm'", "height"),
    ("sep=;\na;b\n;kg\nx;1\ny;2\n", 3, "'kg'", "b"),
    ("a,b,c,d\nu,v,w,x\n1,2,3,4\n5,6,7,8\n", 2, "'u', 'v', 'w' and 1 more", "a, b, c and 1 more"),
]
SILENT = [
    "name,age\nAda,thirty\nBo,40\nCy,50\n",
    "name,age\nAda,n/a\nBo,40\nCy,50\n",
    "name,age\n,NA\nBo,40\nCy,50\n",
    "item,weight\nx,1\ny,3\nz,4\n",
    "item,weight,price\nx,kg,1\ny,3,4\nz,5,6\n",
    "item,kind\nx,a\ny,b\nz,c\n",
    "item,weight\n,kg\nx,1\n",
    "item,weight\n,kg\nx,1\ny,many\n",
    "a,b\n",
]


@pytest.mark.parametrize(("text", "row", "words", "names"), TOLD)
def test_a_second_header_is_told_with_its_row_its_words_and_what_became_of_it(
    text: str, row: int, words: str, names: str
) -> None:
    (said,) = [note for note in sniff(text, ".csv").notes if kind_of(note).code == "T217"]
    assert said == (
        f"row {row} looks like a second row of names or units ({words}); "
        f"it was kept as a row of data, so that these columns are text: {names}"
    )


@pytest.mark.parametrize("text", SILENT)
def test_a_row_of_data_is_none(text: str) -> None:
    assert not any("second row" in note for note in sniff(text, ".csv").notes)
