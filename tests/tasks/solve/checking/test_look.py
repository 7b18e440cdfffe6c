from __future__ import annotations

import asyncio
import tomllib
from datetime import date
from pathlib import Path

import pytest

from tasks.core.files.store import Folder, Store, use
from tasks.core.models.answer import Assignment, Brief, Contract, Question
from tasks.core.models.evidence import Check
from tasks.core.settings import load
from tasks.core.sql import joins
from tasks.core.sql.engine import Engine
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.solve.checking.look import audit_answer
from tasks.solve.profile import profile_tables

CASES = tomllib.loads((Path(__file__).parents[3] / "cases" / "checking" / "answers.toml").read_text("utf-8"))
SAID = [
    pytest.param(name, case["question"], sql, said, id=f"{name}: {sql[:70]}")
    for name, cases in CASES.items()
    for case in cases
    for said in ("right", "passed", "failed", "noted")
    for sql in case.get(said, [])
]
FILES = {
    "customers": "customer_id,name,city,birth_date,phone\n1,Ann,Oslo,1980-02-03,555-1\n2,Bo,Bergen,1991-05-06,555-2\n"
    "3,Cleo,Oslo,1999-12-30,\n4,Ann,Turku,1985-07-08,555-4\n",
    "suppliers": "supplier_id,name,city,phone\n71,Norr,Oslo,555-1\n72,Syd,Malmo,555-9\n",
    "vips": "customer_id,joined\n1,2020-01-01\n3,2021-01-01\n",
    "orders": "order_id,customer_id,ordered_on,amount,discount,status\n10,1,2023-11-05,100,0.1,ok\n11,1,2024-01-15,200,0.2,ok\n"
    "12,1,2024-02-20,350,0.05,ok\n13,2,2024-03-01,200,0.25,late\n14,4,2024-04-09,45,0.4,ok\n",
    "items": "item_id,order_id,quantity\n901,10,2\n902,10,1\n903,11,2\n904,12,1\n905,13,1\n906,14,2\n",
    "payments": "payment_id,order_id,paid\n501,10,60\n502,10,40\n503,11,200\n504,12,350\n505,13,200\n506,14,45\n",
    "员工": "工号,姓名,部门,工资,绩效,籍贯\nE01,张伟,销售,200,12.5,上海\nE02,李娜,销售,350,40,\nE03,王芳,研发,200,3,北京\n"
    "E04,赵敏,研发,500,88,上海\n",
    "项目": "项目号,工号,名称\nP1,E01,甲\nP2,E01,乙\nP3,E02,丙\nP4,E03,丁\n",
}
KNOWLEDGE = """# Shop

## Metrics
- **Takings:** sum of payments.paid over all payments.
- **净工资:** sum(工资 - 绩效)。
"""


Looks = dict[tuple[str, str, str], tuple[Check, ...]]
EXTRA = [
    ("the largest", "SELECT item_id FROM items ORDER BY quantity DESC LIMIT 1", ties)
    for ties in ("keep_all", "cut", "unknown")
]
BROKEN = ("", "SELEC ((", "unknown")


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Looks:
    """What is said of every case, by question, query and the contract's ties; one engine answers them all."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "context" / "csv").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / "context" / "csv" / f"{name}.csv").write_text(text, "utf-8")
    (folder / "context" / "knowledge.md").write_text(KNOWLEDGE, "utf-8")
    with use(Store(Folder(folder / "store"), folder / "cache")):
        return asyncio.run(_looks(folder))


async def _looks(folder: Path) -> Looks:
    given = await _read(folder)
    keys = [(str(case.values[1]), str(case.values[2]), "unknown") for case in SAID]
    found: Looks = {}
    async with Engine.over(given.catalogue, load().query) as engine:
        for question, sql, ties in [*keys, *EXTRA, BROKEN]:
            asked = given.model_copy(update={"question": Question(text=question, as_of=date(2026, 11, 30))})
            measured = () if sql == BROKEN[1] else await joins.audit(engine, sql)
            contract = Contract.model_validate({"ties": ties})
            found[question, sql, ties] = await audit_answer(engine, asked, contract, sql, measured)
    return found


async def _read(folder: Path) -> Assignment:
    settings = load()
    inventory = await take_inventory.function(str(folder), settings.intake)
    knowledge = await read_knowledge.function(inventory)
    catalogue = await build_catalogue.function(inventory, settings.intake)
    profile = await profile_tables.function(catalogue, knowledge, settings.profiling, settings.query)
    return Assignment(
        question=Question(text="", as_of=date(2026, 11, 30)),
        brief=Brief(text="", tokens=0, shown=()),
        contract=Contract(),
        catalogue=catalogue,
        profile=profile,
        knowledge=knowledge,
    )


@pytest.mark.parametrize(("name", "question", "sql", "said"), SAID)
def test_a_check_says_what_its_truth_table_says(looks: Looks, name: str, question: str, sql: str, said: str) -> None:
    found = looks[question, sql, "unknown"]
    outcomes = [check.outcome for check in found if check.name == name]
    assert outcomes == [said] if said != "right" else set(outcomes) <= {"passed"}, found


def test_a_query_that_sqlglot_cannot_read_is_told_to_be_unchecked(looks: Looks) -> None:
    assert [(check.name, check.outcome) for check in looks[BROKEN]] == [("unread query", "noted")]


def test_the_contract_decides_on_ties(looks: Looks) -> None:
    said = {key[2]: [check.outcome for check in looks[key] if check.name == "ties"] for key in EXTRA}
    assert said == {"keep_all": ["failed"], "cut": [], "unknown": ["noted"]}
