"""Counts of rows where things are asked for that repeat in them, in English and Chinese."""

from __future__ import annotations

import pytest
from truth import Said, Truth, folder_of, said, truths

from tasks.core.files.store import Folder, Store, use

TRUTHS = list(truths("things.toml"))
MONTHS = ("2024-01", "2024-02", "2024-03")
PAID = {"Ann": ("north", 4100), "Bo": ("north", 4500), "Cleo": ("south", 5000), "Dan": ("south", 3000)}
FILES = {
    "pay.csv": "month,employee,team,salary\n"
    + "".join(f"{month},{name},{team},{sum_}\n" for month in MONTHS for name, (team, sum_) in PAID.items()),
    "clocked.csv": "emp_id,hours\n1,8\n1,7\n2,8\n2,8\n3,5\n",
    "wins.csv": "year,prize,winner\n2001,cup,Bo\n2002,cup,Ann\n2003,cup,Ann\n2004,medal,Ann\n",
    "orders.csv": "order_id,customer\n10,x\n11,x\n12,y\n",
    "items.csv": "item_id,order_id,pieces\n1,10,2\n2,10,3\n3,11,1\n4,12,5\n",
    "visits.csv": "visit_id,person_id,place\n1,7,home\n2,7,home\n3,8,home\n",
    "工资表.csv": "月份,员工编号,工资\n一月,E1,4100\n一月,E2,5000\n二月,E1,4200\n二月,E2,5000\n二月,E3,2000\n",
    "获奖.csv": "年份,奖项,得主\n2001,金奖,张伟\n2002,金奖,张伟\n2003,银奖,张伟\n2004,银奖,李娜\n",
    "客户.csv": "姓名,城市\n张伟,上海\n李娜,上海\n王芳,北京\n",
    "订单明细.csv": "明细号,订单号,件数\nM1,D1,2\nM2,D1,1\nM3,D2,4\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Said:
    folder = tmp_path_factory.mktemp("things")
    with use(Store(Folder(folder / "store"), folder / "cache")):
        return said(*folder_of(folder / "task", FILES), TRUTHS)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.sql[:80])
def test_counts_are_said_as_the_truth_table_says(found: Said, truth: Truth) -> None:
    checks = found[truth.question, truth.sql]
    assert [check.outcome for check in checks if check.name == truth.check] == truth.outcomes, checks


def test_a_check_says_how_many_rows_name_how_many(found: Said) -> None:
    checks = found["How many employees earn more than 4000?", "SELECT COUNT(*) FROM pay WHERE salary > 4000"]
    details = [check.detail for check in checks if check.name == "counted records"]
    assert details == ["COUNT(*) counts 9 rows, which name 3 different employee"]
