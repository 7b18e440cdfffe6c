"""Vectors of texts: in batches, each text once, counted, journaled, and every trouble named."""

from __future__ import annotations

import asyncio
import json
from array import array
from typing import Any

import pytest
from endpoint import Body, Endpoint, Script, Status

from tasks.core import settings as loading
from tasks.core.errors import BudgetError, InputError, ModelError
from tasks.core.files.store import Folder, Store
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door

TEXTS = ["订单金额", "region name", "订单金额", "café", "x"]


def vector(text: str) -> list[float]:
    return [float(len(text)), float(ord(text[0]) % 7), 1.0]


def answer(body: dict[str, Any]) -> Body:
    """The vectors, in another order than asked."""
    items = [{"object": "embedding", "index": n, "embedding": vector(t)} for n, t in enumerate(body["input"])]
    usage = {"prompt_tokens": 7 * len(items), "total_tokens": 7 * len(items)}
    return Body(json.dumps({"object": "list", "model": "m", "data": items[::-1], "usage": usage}).encode())


def door(tmp_path: Any, url: str, **sections: Any) -> Door:
    loaded = loading.load(
        overrides={
            "recall": {"embedding": "small-vectors", "embedding_url": url, "batch": 2},
            "retry": {"first_seconds": 0.01, "longest_seconds": 0.02},
            **sections,
        }
    )
    return Door(loaded, Store(Folder(tmp_path), tmp_path / "cache"), Meter(loaded.budget))


def embed(made: Door, texts: list[str] = TEXTS) -> list[array[float]]:
    return asyncio.run(made.embed(texts))


def test_every_text_gets_its_vector_and_is_sent_once(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_API_KEY", "vector-key")
    monkeypatch.setenv("MODEL_API_KEY", "another-key")
    with Endpoint(answer) as endpoint:
        made = door(tmp_path, endpoint.url)
        assert [list(found) for found in embed(made)] == [vector(text) for text in TEXTS]
        assert sorted(t for body in endpoint.requests for t in body["input"]) == sorted(set(TEXTS))
        assert [len(body["input"]) for body in endpoint.requests] == [2, 2]
        assert {headers["authorization"] for headers in endpoint.headers} == {"Bearer vector-key"}
        assert all(path.endswith("/embeddings") for path in endpoint.paths)
    spent = made.meter.spend().total()
    assert (spent.calls, spent.tokens_in, spent.journaled) == (2, 28, 0)


def test_a_text_is_paid_for_once_and_replayed_without_an_endpoint(tmp_path: Any) -> None:
    with Endpoint(answer) as endpoint:
        embed(door(tmp_path, endpoint.url), TEXTS[:2])
        again = door(tmp_path, endpoint.url)
        embed(again)
        assert sorted(endpoint.requests[-1]["input"]) == ["café", "x"]
        assert again.meter.spend().total().journaled == 2
    replayed = door(tmp_path, "", journal={"mode": "replay"})
    assert [list(found) for found in embed(replayed)] == [vector(text) for text in TEXTS]
    assert len(replayed.journal.used) == 4
    with pytest.raises(ModelError, match="no recorded vector"):
        embed(replayed, ["never seen"])


def short(body: dict[str, Any]) -> Body:
    return answer({"input": body["input"][1:]})


@pytest.mark.parametrize(
    ("script", "error", "says", "calls"),
    [
        ([Status(503)] * 4, ModelError, "gave no reply in 4 tries", 4),
        ([Status(401, {"error": {"message": "bad key"}})], InputError, "got no key, as EMBEDDING_API_KEY is empty", 1),
        ([Status(404, {"error": {"message": "no such model"}})], InputError, "does not know the model", 1),
        ([short], ModelError, "2 texts brought 1 vectors", 1),
        ([Body(b"<html>")] * 4, ModelError, "next:", 4),
    ],
)
def test_trouble_is_an_error_of_ours(tmp_path: Any, script: Script, error: Any, says: str, calls: int) -> None:
    with Endpoint(script) as endpoint, pytest.raises(error, match=says):
        embed(door(tmp_path, endpoint.url), TEXTS[:2])
    assert len(endpoint.requests) <= calls


def test_a_server_that_takes_no_encoding_format_is_asked_without(tmp_path: Any) -> None:
    with Endpoint(answer, rejects=["encoding_format"]) as endpoint:
        assert [list(found) for found in embed(door(tmp_path, endpoint.url), ["x"])] == [vector("x")]


def test_the_budget_stops_it_and_keeps_what_was_paid(tmp_path: Any) -> None:
    with Endpoint(answer) as endpoint:
        with pytest.raises(BudgetError):
            embed(door(tmp_path, endpoint.url, budget={"calls": 1}))
        assert len(endpoint.requests) == 1
        embed(door(tmp_path, endpoint.url, budget={"calls": 1}))
