"""Scripted replies → an OpenAI-compatible server on loopback, over real HTTP.

`with Endpoint(["text", Status(503), ...]) as e:` answers one POST after another from the list; a request past its
end gets a 400. A callable in place of the list, or in it, gets the request's body and returns a reply.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Status:
    """An HTTP error; `body` is text, or a dict sent as JSON."""

    code: int
    body: Any = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Delay:
    """The same reply, so many seconds later."""

    seconds: float
    reply: Any


@dataclass
class Drop:
    """The connection is closed after so many bytes of the reply; 0 = before the status line."""

    after: int = 0
    reply: Any = "never to arrive in full"


@dataclass
class Drip:
    """The same reply, its bytes spread over so many seconds."""

    seconds: float
    reply: Any


@dataclass
class Body:
    """These bytes with status 200."""

    data: bytes


@dataclass
class Cut:
    """A text that the token limit ended."""

    text: str


@dataclass
class Filtered:
    """A content filter ended the reply."""

    text: str = ""


@dataclass
class Call:
    """A native tool call; arguments are a dict, or text sent as it is."""

    name: str
    arguments: Any
    text: str = ""


@dataclass
class Samples:
    """One reply for each of the `n` that were asked for."""

    replies: Sequence[Any]


Script = Sequence[Any] | Callable[[dict[str, Any]], Any]


class Endpoint:
    """A server that says what it is told to.

    Replies: text; a message dict; `Status`, `Delay`, `Drip`, `Drop`, `Body`, `Cut`, `Filtered`, `Call`, `Samples`;
    a callable(request body) that returns one of these. With `n` > 1 one text is given n times.
    `rejects` are request fields that this server answers with a 400 which names them.
    """

    def __init__(self, replies: Script, rejects: Sequence[str] = (), model: str = "scripted") -> None:
        self.replies = replies
        self.rejects = tuple(rejects)
        self.model = model
        self.counts_first_only = False
        """Usage of a request for several samples counts the first alone, as some servers do."""
        self.listing = b""
        """In place of the list of models."""
        self.requests: list[dict[str, Any]] = []
        """Bodies of all requests, in order of arrival, rejected ones too."""
        self.headers: list[dict[str, str]] = []
        """Of each request, names in lower case."""
        self.paths: list[str] = []
        self.most_at_once = 0
        self._at_once = 0
        self._next = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Base URL, with /v1."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def calls(self) -> int:
        """Requests that arrived."""
        return len(self.requests)

    def __enter__(self) -> Endpoint:
        endpoint = self

        class Handler(_Handler):
            owner = endpoint

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, body: dict[str, Any], headers: dict[str, str], path: str) -> Any:
        """Note a request and give the reply that the script has for it."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            self.paths.append(path)
            for name in self.rejects:
                if body.get(name) not in (None, 1):
                    return Status(400, {"error": {"message": f"Unsupported parameter: '{name}'", "param": name}})
            if callable(self.replies):
                reply: Any = self.replies
            elif self._next < len(self.replies):
                reply = self.replies[self._next]
                self._next += 1
            else:
                reply = Status(400, f"the script has {len(self.replies)} replies and this request is past them")
        return reply(body) if callable(reply) else reply

    def usage(self, body: dict[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
        """What a request took: words, in place of tokens."""
        counted = choices[: 1 if self.counts_first_only else None]
        words = sum(len(str(choice["message"].get("content") or "").split()) for choice in counted)
        prompt = sum(len(str(message.get("content") or "").split()) for message in body.get("messages", []))
        return {"prompt_tokens": prompt, "completion_tokens": words, "total_tokens": prompt + words}

    def enter(self) -> None:
        """A request is being answered."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def leave(self) -> None:
        """A request was answered."""
        with self._lock:
            self._at_once -= 1


class _Handler(BaseHTTPRequestHandler):
    owner: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        sent = self.rfile.read(length) or b"{}"
        is_form = self.headers.get("Content-Type", "").startswith("multipart/")
        body = {"form": sent.decode("latin-1")} if is_form else json.loads(sent)
        self.owner.enter()
        try:
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = self.owner.take(body, headers, self.path)
            self._answer(reply, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.owner.leave()

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            data = {"object": "list", "data": [{"id": self.owner.model, "object": "model"}]}
            self._send(200, self.owner.listing or json.dumps(data).encode())
        else:
            self._send(200 if self.path.endswith("/health") else 404, b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self, reply: Any, body: dict[str, Any]) -> None:
        if isinstance(reply, Delay):
            time.sleep(reply.seconds)
            self._answer(reply.reply(body) if callable(reply.reply) else reply.reply, body)
        elif isinstance(reply, Status):
            data = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            self._send(reply.code, data.encode(), reply.headers)
        elif isinstance(reply, Body):
            self._send(200, reply.data)
        elif isinstance(reply, Drop):
            self._drop(_completion(self.owner, reply.reply, body), reply.after)
        elif isinstance(reply, Drip):
            self._drip(_completion(self.owner, reply.reply, body), reply.seconds)
        else:
            self._send(200, _completion(self.owner, reply, body))

    def _drip(self, data: bytes, seconds: float) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for start in range(0, len(data), max(1, len(data) // 20)):
            self.wfile.write(data[start : start + max(1, len(data) // 20)])
            self.wfile.flush()
            time.sleep(seconds / 20)

    def _drop(self, data: bytes, after: int) -> None:
        self.close_connection = True
        if after:
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
            self.wfile.write(head.encode() + data[:after])
            self.wfile.flush()

    def _send(self, code: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _completion(owner: Endpoint, reply: Any, body: dict[str, Any]) -> bytes:
    wanted = body.get("n") or 1
    replies = list(reply.replies) if isinstance(reply, Samples) else [reply] * wanted
    choices = [_choice(index, item) for index, item in enumerate(replies[:wanted])]
    data = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": owner.model,
        "choices": choices,
        "usage": owner.usage(body, choices),
    }
    return json.dumps(data).encode()


def _choice(index: int, item: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": item}
    finish = "stop"
    if isinstance(item, Cut | Filtered):
        message["content"] = item.text
        finish = "length" if isinstance(item, Cut) else "content_filter"
    elif isinstance(item, Call):
        text = item.arguments if isinstance(item.arguments, str) else json.dumps(item.arguments)
        call = {"id": f"call_{index}", "type": "function", "function": {"name": item.name, "arguments": text}}
        message |= {"content": item.text or None, "tool_calls": [call]}
        finish = "tool_calls"
    elif isinstance(item, dict):
        message = {"role": "assistant", **item}
        finish = "tool_calls" if item.get("tool_calls") else "stop"
    return {"index": index, "message": message, "finish_reason": finish}
