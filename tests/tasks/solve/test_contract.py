"""Contracts by a scripted model over real HTTP, and by rules."""

import asyncio
import json
from typing import Any

import pytest
from endpoint import Endpoint, Status
from shop import KNOWLEDGE, PROFILE, question

from tasks.core.errors import InputError
from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Contract, ContractColumn, Filter
from tasks.core.sections import ContractSettings
from tasks.core.settings import load
from tasks.solve.compress import compress
from tasks.solve.contract import write_contract
from tasks.solve.showing.contract import contract_text

REPLY = {
    "columns": [{"name": "product", "meaning": "best seller", "source": "orders.product"}],
    "row": "one row per product",
    "filters": [{"text": "customers of 华北", "source": "customers.region", "unit": ""}],
    "nulls": "",
    "duplicates": "remove",
    "order": "",
    "limit": None,
    "ties": "keep_all",
}


def write(store: Store, script: Any, enabled: bool = True, **changes: Any) -> tuple[Contract, list[dict[str, Any]]]:
    with Endpoint(script) as endpoint:
        settings = load(
            overrides={
                "endpoints": {"main": {"url": endpoint.url, "model": "scripted"}},
                "retry": {"first_seconds": 0.01, "longest_seconds": 0.02},
                **changes,
            }
        )
        asked = question("Which product sells best in 华北?")
        brief = asyncio.run(compress.function(asked, PROFILE, KNOWLEDGE, settings.brief))
        with door.use(Door(settings, store, Meter(settings.budget))):
            return asyncio.run(
                write_contract.function(asked, brief, PROFILE, ContractSettings(enabled=enabled))
            ), endpoint.requests


def test_a_model_writes_what_the_answer_must_be(store: Store) -> None:
    contract, requests = write(store, [json.dumps(REPLY, ensure_ascii=False)])
    assert contract.columns == (ContractColumn(name="product", meaning="best seller", source="orders.product"),)
    assert contract.filters == (Filter(text="customers of 华北", source="customers.region"),)
    assert (contract.grain, contract.duplicates, contract.limit, contract.ties) == (
        "one row per product",
        "remove",
        None,
        "keep_all",
    )
    assert (contract.written_by, contract.problems, contract.usage.calls) == ("model", (), 1)
    prompt = requests[0]["messages"][0]["content"]
    assert "Which product sells best in 华北?" in prompt and "orders.customer_id -> customers.customer_id" in prompt


def test_a_source_that_does_not_exist_is_dropped_and_noted(store: Store) -> None:
    columns = [
        {"name": "a", "source": "orders.price * orders.amount"},
        {"name": "b", "source": 'sum("Orders"."AMOUNT")'},
        {"name": "c", "source": "the amount"},
    ]
    contract, _ = write(store, [json.dumps({"columns": columns})])
    assert [column.source for column in contract.columns] == ["", 'sum("Orders"."AMOUNT")', "the amount"]
    assert contract.problems == ("no such column: orders.price",)


def test_rules_invent_nothing_and_ask_nobody(store: Store) -> None:
    contract, requests = write(store, [], enabled=False)
    assert contract == Contract(written_by="rules") and not requests


@pytest.mark.parametrize(
    ("script", "changes", "problem", "unsettled"),
    [
        (["no idea", '{"columns": []}'], {}, "columns", "stopped"),
        ([Status(503)] * 9, {}, "503", "transient"),
        ([json.dumps(REPLY)], {"budget": {"tokens": 10}}, "budget of tokens", "stopped"),
    ],
    ids=["no contract", "endpoint away", "budget"],
)
def test_without_a_reply_rules_write_it_and_say_why(
    store: Store, script: list[Any], changes: dict[str, Any], problem: str, unsettled: str
) -> None:
    contract, _ = write(store, script, **changes)
    assert (contract.written_by, contract.columns, contract.unsettled) == ("rules", (), unsettled)
    assert len(contract.problems) == 1 and problem in contract.problems[0]


def test_a_refused_key_is_for_the_user_to_mend(store: Store) -> None:
    with pytest.raises(InputError, match="got no key, as MODEL_API_KEY is empty"):
        write(store, [Status(401)] * 9)


def test_the_text_of_a_contract_leaves_out_what_is_open() -> None:
    contract = Contract(
        columns=(ContractColumn(name="region", source="customers.region"), ContractColumn(name="n", meaning="orders")),
        filters=(Filter(text="amount over 100", source="orders.amount", unit="CNY"),),
        limit=3,
        ties="cut",
    )
    assert contract_text(contract).splitlines() == [
        "columns (2): region, n (orders)",
        "sources: region from customers.region",
        "filters: amount over 100 [CNY] on orders.amount",
        "limit: 3",
        "ties: cut",
    ]
    assert contract_text(Contract()) == ""
