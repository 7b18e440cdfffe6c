"""The yardstick: one prompt with the tables' DDL, its reply run as it is."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

import pytest
from world import SQL, make_folder, worlds


@pytest.mark.parametrize(
    ("reply", "status"), [(f"```sql\n{SQL}\n```", "not_assessed"), ("SELECT nonsense FROM orders", "failed")]
)
def test_one_reply_is_run_as_it_is(reply: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows.answer import answer
    from flows.running.request import AnswerRequest

    profile = tmp_path / "bare.toml"
    profile.write_text('[contract]\nenabled = false\n[agent]\nstyle = "bare"\n', "utf-8")
    folder = make_folder(tmp_path / "shop")
    with worlds(tmp_path, monkeypatch) as made:
        endpoint = made(lambda _body: reply).endpoint
        ended = asyncio.run(answer(AnswerRequest(folder=str(folder), profile=str(profile), out=str(tmp_path / "out"))))
        assert ended.answer.status == status
        assert len(endpoint.requests) == 1
        prompt = endpoint.requests[0]["messages"][0]["content"]
    assert "CREATE TABLE orders (id VARCHAR, product_id BIGINT);" in prompt
    if status == "not_assessed":
        rows = list(csv.reader((tmp_path / "out" / "answer.csv").open(encoding="utf-8")))
        assert rows == [["category", "n"], ["cake", "1"], ["茶", "2"]]
