"""The unit that a question asks for, in English and Chinese, and columns in others."""

from __future__ import annotations

import pytest
from truth import Said, Truth, folder_of, said, truths

from tasks.core.files.store import Folder, Store, use

TRUTHS = list(truths("units.toml"))
FILES = {
    "roads.csv": "road,length,width,cost\nA1,12000,7,900000\nB2,800,5,120000\nC3,45500,9,7000000\n",
    "parks.csv": "park,area_ha\nNorth,12.5\nSouth,300\n",
    "预算表.csv": "部门,年份,预算,用地（公顷）\n财务,2024,120000,1.5\n研发,2024,3500000,20\n研发,2025,4100000,22\n",
    "knowledge.md": "# Roads\n\n- **length (integer, unit: m):** Length of the road.\n- **width (integer, unit: m):** Its width.\n"
    "- **cost (integer, unit: EUR):** What it cost.\n- **预算 (integer, unit: 元):** 部门的年度预算\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Said:
    folder = tmp_path_factory.mktemp("units")
    with use(Store(Folder(folder / "store"), folder / "cache")):
        return said(*folder_of(folder / "task", FILES), TRUTHS)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.sql[:80])
def test_units_are_said_as_the_truth_table_says(found: Said, truth: Truth) -> None:
    checks = found[truth.question, truth.sql]
    assert [check.outcome for check in checks if check.name == truth.check] == truth.outcomes, checks


def test_the_detail_names_column_units_and_factor(found: Said) -> None:
    (check,) = [
        c for c in found["各部门的预算合计，以万元计", TRUTHS_OF["各部门的预算合计，以万元计"]] if c.name == "unit"
    ]
    assert check.detail == "the question asks for 万元, and 预算 is in 元: its values have to be divided by 10000"


TRUTHS_OF = {truth.question: truth.sql for truth in TRUTHS if truth.outcome == "failed"}
