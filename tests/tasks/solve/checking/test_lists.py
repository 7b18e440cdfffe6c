"""Spellings of one text, rows that sum up the others, and days in words and text, in English and Chinese."""

from __future__ import annotations

import pytest
from truth import Said, Truth, folder_of, said, truths

from tasks.core.files.store import Folder, Store, use

TRUTHS = list(truths("lists.toml"))
FILES = {
    "tickets.csv": 'ticket,desk,state\n1,North,paid\n2,North,Paid\n3,South,PAID\n4,South,"Paid "\n5,North,open\n6,South,unpaid\n7,South,paid\n',
    "设备.csv": "编号,类别\n1,A类\n2,Ａ类\n3,B类\n4,A类\n",
    "shops.csv": "shop,staff,takings\nHarbour,3,10.5\nMarket,2,20\nStation,4,7.25\nTotal,,37.75\n",
    "towns.csv": "shop,town\nHarbour,Oslo\nMarket,Bergen\nStation,Oslo\n",
    "brands.csv": "brand,country,price\nTotal,France,12\nShell,Britain,14\nStatoil,Norway,13\n",
    "visits.csv": "visit,seen,due,note\n1,01/02/2024,14.02.2024,ward 02/a\n2,03/04/2024,28.02.2024,ward 3\n3,05/06/2024,03.04.2024,none\n",
    "stays.csv": "stay,began\n1,2023-02-03\n2,2024-02-11\n3,2024-12-24\n",
    "costs.csv": "dept,team,cost\nA,x,5\nA,y,6\nSubtotal,-,11\nB,z,7\nB,w,1\nSubtotal,-,8\nTotal,all,19\n",
    "部门.csv": "部门,负责人,人数\n销售,张伟,12\n研发,李娜,30\n合计,,42\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Said:
    folder = tmp_path_factory.mktemp("lists")
    with use(Store(Folder(folder / "store"), folder / "cache")):
        return said(*folder_of(folder / "task", FILES), TRUTHS)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.sql[:80])
def test_spellings_totals_and_days_are_said_as_the_truth_table_says(found: Said, truth: Truth) -> None:
    checks = found[truth.question, truth.sql]
    assert [check.outcome for check in checks if check.name == truth.check] == truth.outcomes, checks
