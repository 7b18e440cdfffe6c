"""Empty values under what an answer computes, in English and Chinese."""

from __future__ import annotations

import pytest
from truth import Said, Truth, folder_of, said, truths

from tasks.core.files.store import Folder, Store, use

TRUTHS = list(truths("empty.toml"))
FILES = {
    "sales.csv": "sale,region,pieces,price,rebate,score\n1,north,2,10,0.1,5\n2,north,1,20,,4\n3,south,3,5,,\n4,south,1,8,0.2,\n",
    "采购.csv": "单号,地区,数量,单价,运费,税\nA1,华东,2,10,3,1\nA2,华东,1,7,,2\nA3,华北,4,5,,\n",
    "gardens.csv": "garden,keeper,grade,size\na,Ann,5,12\nb,Bo,4,7\nc,,3,big\nd,Ann,,9\n",
    "leave.csv": "emp_id,kind,days\nE1,holiday,10\nE1,sick,2\nE1,holiday,3\nE2,holiday,5\n",
    "请假.csv": "编号,员工,天数\nL1,张伟,3\nL2,张伟,5\nL3,李娜,2\n",
    "knowledge.md": "# Sales\n\n- **rebate (ratio):** Share that is not paid. Empty = no rebate.\n- 运费：每单的运费，空值表示没有运费。\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Said:
    folder = tmp_path_factory.mktemp("holes")
    with use(Store(Folder(folder / "store"), folder / "cache")):
        return said(*folder_of(folder / "task", FILES), TRUTHS)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.sql[:80])
def test_empty_values_are_said_as_the_truth_table_says(found: Said, truth: Truth) -> None:
    checks = found[truth.question, truth.sql]
    assert [check.outcome for check in checks if check.name == truth.check] == truth.outcomes, checks
