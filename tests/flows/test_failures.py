"""The automation that tells of failures, as its file has it: the server posts what failed and why, once for each run of ours."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import yaml
from world import ROOT, wait_for

FILE = ROOT / "deployments" / "failures.yaml"


class Pager(ThreadingHTTPServer):
    """Keeps what is posted to it."""

    def __init__(self) -> None:
        self.posted: list[Any] = []
        super().__init__(("127.0.0.1", 0), Posted)


class Posted(BaseHTTPRequestHandler):
    server: Pager

    def do_POST(self) -> None:
        self.server.posted.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def pager() -> Iterator[Pager]:
    with Pager() as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


@pytest.mark.service
def test_a_run_that_fails_is_told_once_with_its_reason(prefect_api: str, pager: Pager) -> None:
    from prefect.blocks.webhook import Webhook
    from prefect.client.orchestration import get_client
    from prefect.events.schemas.automations import AutomationCore
    from prefect.states import Completed, Crashed, Failed, Running

    from flows.deployed import answer_flow

    (said,) = yaml.safe_load(FILE.read_text("utf-8"))["automations"]
    webhook: Any = Webhook(url=f"http://127.0.0.1:{pager.server_port}/hook")

    async def ended(client: Any, name: str, tags: list[str], state: Any) -> None:
        run = await client.create_flow_run(answer_flow, name=name, tags=tags, state=Running())
        await client.set_flow_run_state(run.id, state, force=True)

    async def main() -> None:
        block = await webhook.asave(f"failures-{uuid.uuid4()}")
        (action,) = said["actions"]
        action["block_document_id"] = str(block)
        async with get_client() as client:
            automation = await client.create_automation(AutomationCore.model_validate(said))
            try:
                await ended(client, "shop: fine", ["tablewright"], Completed())
                await ended(client, "of others", ["else"], Failed(message="not ours"))
                await ended(client, "店: 多少?", ["tablewright"], Failed(message='no "folder"\n没有'))
                await ended(client, "shop: how many?", ["tablewright"], Crashed(message="killed"))
                await asyncio.to_thread(wait_for, lambda: len(pager.posted) >= 2, "nobody is told")
            finally:
                await client.delete_automation(automation)

    asyncio.run(main())
    assert sorted(post["text"] for post in pager.posted) == [
        "answer Crashed: shop: how many?: killed",
        'answer Failed: 店: 多少?: no "folder"\n没有',
    ]
