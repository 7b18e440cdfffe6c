"""The estimate against what cl100k, o200k and DeepSeek's tokenizer gave for the same texts."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from samples import RECORDINGS

from tasks.core.llm import tokens

MEASURED = {
    "prose": (
        "Every file ends in exactly one of these: registered, document, knowledge, unreadable, or ignored with its "
        "reason. Nothing vanishes, and names stay as they are in the source.",
        (38, 38, 38),
    ),
    "Chinese": (
        "本报告期内，公司实现营业收入12.34亿元，同比增长5.6%，其中主营业务收入占比超过九成。"
        "请列出每个城市的订单数量，并按照金额从高到低排序。",
        (66, 45, 41),
    ),
    "SQL": (
        "SELECT c.name AS customer_name, COUNT(DISTINCT o.order_id) AS orders, SUM(o.amount) / NULLIF(COUNT(*), 0) "
        "FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id WHERE o.created_at >= "
        "DATE '2024-01-01' GROUP BY 1 ORDER BY 2 DESC LIMIT 10;",
        (74, 74, 78),
    ),
    "CSV": (
        "order_id,customer_id,amount,currency,created_at\n10023,881,1240.50,EUR,2024-03-17\n"
        "10024,17,99.00,USD,2024-03-17\n10025,2204,15.75,EUR,2024-03-18\n",
        (69, 69, 69),
    ),
    "JSON": (
        '{"columns": [{"name": "iso_country", "type": "VARCHAR", "nulls": 0.12}, '
        '{"name": "elevation_ft", "type": "DOUBLE", "nulls": 0.0}], "rows": 3412}',
        (55, 55, 62),
    ),
    "code": (
        'async def send(endpoint, request, seconds):\n    if request.tools and "tools" in without:\n'
        "        request = tools.plain(request)\n    return await call(parameters, timeout=seconds)\n",
        (38, 38, 41),
    ),
}


@pytest.mark.parametrize(("text", "measured"), MEASURED.values(), ids=MEASURED.keys())
def test_the_estimate_is_near_and_rather_high(text: str, measured: tuple[int, ...]) -> None:
    assert 0.9 * min(measured) <= tokens.count(text) <= 1.5 * max(measured)
    assert tokens.count(text * 10) == pytest.approx(10 * tokens.count(text), rel=0.02)


@pytest.mark.parametrize("folder", ["sales", "replies"])
def test_a_prompt_with_a_brief_takes_no_more_tokens_than_it_was_planned_with(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    litellm = importlib.util.find_spec("litellm")
    assert litellm and litellm.origin
    bundled = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(bundled))
    import tiktoken
    from tokenizers import Tokenizer

    gpt = tiktoken.get_encoding("cl100k_base")
    deepseek = Tokenizer.from_file(str(bundled / "deepseek_tokenizer.json"))
    asked = [json.loads(path.read_text("utf-8")) for path in sorted((RECORDINGS / folder).rglob("*.json"))[::5]]
    prompts = ["\n".join(message["content"] for message in one["request"]["messages"]) for one in asked]
    assert prompts
    for prompt in prompts:
        for real in (len(gpt.encode(prompt, disallowed_special=())), len(deepseek.encode(prompt).ids)):
            assert real <= tokens.count(prompt) <= 1.4 * real


def test_a_conversation_costs_more_than_its_texts() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "query", "arguments": '{"sql": "SELECT 1"}'}}
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert tokens.count("") == 0
    assert tokens.count_messages(messages[:1]) == 5
    assert tokens.count_messages(messages) > 20
