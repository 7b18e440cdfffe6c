"""A question over the shop, solved by a model that says what a script says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from endpoint import Call, Endpoint
from shop import assignment

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Assignment, Attempt, Contract
from tasks.core.settings import Settings, load
from tasks.solve.agent import solve_question

NORTH = "SELECT sum(amount) AS sales FROM orders JOIN customers USING (customer_id) WHERE region = '华北'"
TEA = "SELECT product, sum(amount) AS sales FROM orders GROUP BY product ORDER BY sales DESC LIMIT 1"


class Case:
    """A question over the shop and a model that says what the script says."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.requests: list[dict[str, Any]] = []
        self.solved = 0

    def solve(self, style: str, script: Any, contract: Contract | None = None, **changes: dict[str, Any]) -> Attempt:
        """The attempt; `changes` are sections of settings; validators are off without one. The journal answers no second one."""
        self.solved += 1
        with Endpoint(script) as endpoint:
            settings = self.settings(endpoint.url, style, changes)
            text = "What are the sales of the north (华北)?"
            given = self.given = assignment(self.store, self.folder, text, settings.brief, contract)
            with door.use(Door(settings, self.store, Meter(settings.budget))):
                attempt = asyncio.run(solve_question.function(given, settings.solver))
            self.requests = endpoint.requests
        print(attempt.model_dump_json(indent=1))  # shown where a test fails
        return attempt

    def settings(self, url: str, style: str, changes: dict[str, dict[str, Any]]) -> Settings:
        return load(
            overrides={
                "endpoints": {"main": {"url": url, "model": "scripted"}},
                "journal": {"repeat": self.solved},
                "retry": {"first_seconds": 0.01, "longest_seconds": 0.02},
                **{name: changes.get(name, {}) for name in ("roles", "budget", "query", "brief")},
                **{name: {"enabled": False, **changes.get(name, {})} for name in ("process", "verify")},
                "agent": {"style": style, **changes.get("agent", {})},
            }
        )

    def told(self, request: int = -1) -> str:
        """The last message of a request, as the model got it."""
        content: str = self.requests[request]["messages"][-1]["content"]
        return content


def run(case: Case, given: Assignment, endpoint: Endpoint, **changes: dict[str, Any]) -> Attempt:
    """The stage itself, with its records."""
    settings = case.settings(endpoint.url, "json", changes)
    with door.use(Door(settings, case.store, Meter(settings.budget))):
        return asyncio.run(solve_question(given, settings.solver))


def act(tool: str, thought: str = "", **arguments: Any) -> str:
    return json.dumps({"thought": thought, "tool": tool, "arguments": arguments}, ensure_ascii=False)


def call(tool: str, thought: str = "", **arguments: Any) -> Call:
    return Call(tool, arguments, thought)
