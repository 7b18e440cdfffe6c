"""What a run tells of itself: JSON lines and spans with run, task and stage, of no text; trouble with either stops nothing."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from endpoint import Status
from world import ANSWER, ASKED, QUESTION, STAGES, World, make_folder

from tasks import stage

ASKING = (
    ("write_contract", "contract"),
    ("solve_question", "agent"),
    ("solve_question", "agent"),
    ("audit_process", "process"),
    ("verify_answer", "verify"),
)
"""Stage and role of each call of a run."""


class Collector:
    """Takes OTLP over HTTP."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        taken = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                taken.append((self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(data)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def spans(self) -> list[dict[str, Any]]:
        return [span for *_, body in self.requests for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    Thread(target=made.server.serve_forever, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def values(span: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


def test_every_line_names_run_task_and_stage(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "logs" / "runtime.log"
    monkeypatch.setenv("TABLEWRIGHT_LOG", str(log))

    def hear(name: str, event: str, _seconds: float) -> None:
        if (name, event) == ("publish", "start"):
            logging.getLogger("tasks.solve").warning("几乎完成 %s", "nearly")

    token = stage.listener.set(hear)
    try:
        ended = world.answer(make_folder(tmp_path / "店"), tmp_path / "out")
    finally:
        stage.listener.reset(token)
    found = lines(log)
    assert {(line["run"], line["task"], line["flow"]) for line in found} == {(ended.run, "店", "answer")}
    first, last = found[0], found[-1]
    assert (first["event"], first["status"]) == ("run", "running")
    assert (last["event"], last["status"], last["calls"], last["level"]) == ("run", "approved", ASKED, "info")
    stages = Counter((line["stage"], line["status"]) for line in found if line["event"] == "stage")
    assert stages == Counter({(name, how): 1 for name in STAGES for how in ("start", "done")})
    calls = [(line["stage"], line["role"], line["calls"], line["error"]) for line in found if line["event"] == "call"]
    assert calls == [(stage, role, 1, "") for stage, role in ASKING]
    (said,) = [line for line in found if line["event"] == "message"]
    assert (said["level"], said["logger"], said["message"]) == ("warning", "tasks.solve", "几乎完成 nearly")
    assert "category" not in log.read_text("utf-8") and QUESTION not in log.read_text("utf-8")
    second = world.answer(tmp_path / "店", tmp_path / "out")
    assert {line["run"] for line in lines(log)} == {ended.run, second.run}


def test_failed_calls_and_replies_of_the_journal_are_lines_too(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_LOG", str(tmp_path / "log"))
    folder = make_folder(tmp_path / "shop")
    world.answer(folder, tmp_path / "out")
    for path in (world.store / "records").rglob("*.json"):
        path.unlink()
    (tmp_path / "log").unlink()
    world.answer(folder, tmp_path / "out")
    calls = [line for line in lines(tmp_path / "log") if line["event"] == "call"]
    assert [(line["calls"], line["journaled"]) for line in calls] == [(0, 1)] * ASKED
    world.endpoint.replies = lambda _: Status(400, "no such thing")
    ended = world.answer(folder, tmp_path / "out", question="another?")
    failed = [line for line in lines(tmp_path / "log") if line["event"] == "call" and line["error"]]
    assert ended.answer.status == "failed" and failed and {line["level"] for line in failed} == {"warning"}
    assert lines(tmp_path / "log")[-1]["level"] == "warning"


def test_a_trace_has_the_run_its_stages_and_its_calls(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collector: Collector
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server.server_address[1]}/")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key = secret,other=1")
    ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    ((path, headers, body),) = collector.requests
    assert (path, headers["x-key"], headers["content-type"]) == ("/v1/traces", "secret", "application/json")
    spans = {span["spanId"]: span for span in collector.spans}
    assert len(spans) == len(collector.spans) == 1 + len(STAGES) + ASKED
    (root,) = [span for span in spans.values() if not span["parentSpanId"]]
    assert root["name"] == "run answer" and values(root)["tablewright.status"] == "approved"
    assert len({span["traceId"] for span in spans.values()}) == 1 and len(root["traceId"]) == 32
    calls = [span for span in spans.values() if span["kind"] == 3]
    above = [spans[span["parentSpanId"]] for span in calls]
    assert [span["name"] for span in above] == [stage for stage, _ in ASKING]
    assert all(span["parentSpanId"] == root["spanId"] for span in above)
    for span, parent in zip(calls, above, strict=True):
        assert int(parent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        told = values(span)
        assert told["gen_ai.request.model"] == "scripted" and int(told["gen_ai.usage.input_tokens"]) > 0
        assert (told["tablewright.run"], told["tablewright.stage"]) == (ended.run, parent["name"])
    assert "category" not in json.dumps(body) and "secret" not in json.dumps(body)


def test_neither_a_log_nor_a_collector_can_stop_a_run(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TABLEWRIGHT_LOG", str(tmp_path / "file" / "log"))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    assert (
        "no log is written to" in caplog.text
        and "the trace could not be sent to http://127.0.0.1:9/v1/traces" in caplog.text
    )
