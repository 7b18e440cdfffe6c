"""What a run does → OpenTelemetry spans (OTLP over HTTP, as JSON): the run, its stages, its model calls; no text of them.

Names follow the semantic conventions for generative AI. The protocol is small enough to be written here: the SDK would
bring a dozen packages for it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
import urllib.request
from contextvars import ContextVar
from http.client import HTTPException
from typing import Any

from tasks.core import settings
from tasks.core.llm.calls import Call
from tasks.core.sections import TracesSettings

_INTERNAL, _CLIENT = 1, 3
_OK, _ERROR = 1, 2
_stage_span: ContextVar[tuple[str, float]] = ContextVar("stage_span", default=("", 0.0))
"""Id of the stage's span and when it began, in seconds since the epoch."""


class Traces:
    """Spans of one run; all tries of a run are one trace. They are sent at its end, whether it is well or not."""

    def __init__(self, how: TracesSettings, facts: dict[str, Any]) -> None:
        self.how, self.facts = how, facts
        self.trace = hashlib.sha256(str(facts["run"]).encode()).hexdigest()[:32]
        self.root, self.began = secrets.token_hex(8), time.time()
        self.spans: list[dict[str, Any]] = []

    def stage(self, name: str, event: str, seconds: float) -> None:
        """A stage's span is known by its id from its start, so that its calls can name it."""
        if event == "start":
            _stage_span.set((secrets.token_hex(8), time.time()))
        elif event != "retry":
            span, began = _stage_span.get()
            told = {"tablewright.stage": name, "tablewright.outcome": event}
            self._add(name, (began, time.time()), told, span=span, failed="failed" * (event == "failed"))

    def call(self, call: Call) -> None:
        """A model call; replies of the journal are none."""
        spent = call.spent
        if spent.journaled:
            return
        told = {
            "gen_ai.operation.name": "chat" if call.role else "embeddings",
            "gen_ai.request.model": call.model,
            "gen_ai.usage.input_tokens": spent.tokens_in,
            "gen_ai.usage.output_tokens": spent.tokens_out,
            "tablewright.stage": spent.stage,
            "tablewright.role": call.role,
            "tablewright.endpoints": ", ".join(call.endpoints),
            "tablewright.replies": spent.calls,
            "tablewright.money": spent.money,
        }
        span = (call.began, call.began + spent.seconds)
        self._add(f"chat {call.model}", span, told, parent=_stage_span.get()[0], kind=_CLIENT, failed=call.error)

    def message(self, level: str, name: str, text: str) -> None:
        """Messages go to the log."""

    def end(self, facts: dict[str, Any]) -> str:
        """Send everything; why it could not be sent, if it could not."""
        told = {f"tablewright.{name}": value for name, value in facts.items()}
        failed = "" if facts["status"] in ("approved", "not_assessed", "done") else str(facts["reason"])
        self._add(f"run {self.facts['flow']}", (self.began, time.time()), told, span=self.root, failed=failed)
        url = f"{self.how.url.rstrip('/')}/v1/traces"
        try:
            self._send(url)
        except (OSError, HTTPException, ValueError) as error:
            return f"the trace could not be sent to {url}: {error}"
        return ""

    def _add(
        self, name: str, moments: tuple[float, float], told: dict[str, Any], *, failed: str = "", **place: Any
    ) -> None:
        is_root = place.get("span") == self.root
        self.spans.append(
            {
                "traceId": self.trace,
                "spanId": place.get("span") or secrets.token_hex(8),
                "parentSpanId": "" if is_root else place.get("parent") or self.root,
                "name": name,
                "kind": place.get("kind", _INTERNAL),
                "startTimeUnixNano": str(int(moments[0] * 1e9)),
                "endTimeUnixNano": str(int(moments[1] * 1e9)),
                "attributes": _attributes({**{f"tablewright.{n}": v for n, v in self.facts.items()}, **told}),
                "status": {"code": _ERROR, "message": failed} if failed else {"code": _OK},
            }
        )

    def _send(self, url: str) -> None:
        resource = {"attributes": _attributes({"service.name": "tablewright"})}
        scope = {"scope": {"name": "tablewright"}, "spans": self.spans}
        body = json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}).encode()
        headers = {
            "Content-Type": "application/json",
            **_headers(settings.secret(self.how.headers_env).get_secret_value()),
        }
        request = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(request, timeout=self.how.seconds) as reply:
            reply.read()


def _headers(text: str) -> dict[str, str]:
    """`name=value,name=value`, as OpenTelemetry writes them."""
    pairs = (part.partition("=") for part in text.split(",") if "=" in part)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _typed(value)} for name, value in values.items()]


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}
