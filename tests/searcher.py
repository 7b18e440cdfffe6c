"""A small search server over real HTTP: as much of what Elasticsearch and OpenSearch share as tablewright asks for."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Searcher:
    """Indexes in memory; use as a context manager."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, dict[str, Any]]] = {}
        self.requests: list[str] = []
        """Method and last part of the path."""
        self.headers: list[dict[str, str]] = []
        self.ends_after = 0
        """Requests after which it only says that it is not there; 0 = never."""
        self.most = 0
        """Entries after which further ones are refused; 0 = never."""

    def __enter__(self) -> Searcher:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(size).decode()
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, reply = outer.reply(self.command, self.path, body)
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PUT = do_POST = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.port = self._server.server_address[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reply(self, method: str, path: str, body: str) -> tuple[int, Any]:
        index, _, action = path.strip("/").partition("/")
        self.requests.append(f"{method} {action}")
        if self.ends_after and len(self.requests) > self.ends_after:
            return 503, {"error": "shutting down"}
        if method == "PUT":
            if index in self.indexes:
                return 400, {"error": {"type": "resource_already_exists_exception"}}
            self.indexes[index] = {}
            return 200, {"acknowledged": True}
        if index not in self.indexes:
            return 404, {"error": {"type": "index_not_found_exception"}}
        entries = self.indexes[index]
        if action == "_bulk":
            return 200, self._bulk(entries, [json.loads(line) for line in body.splitlines()])
        if action == "_search":
            return 200, search(list(entries.values()), json.loads(body))
        return 200, {"count": len(entries)}

    def _bulk(self, entries: dict[str, dict[str, Any]], lines: list[dict[str, Any]]) -> dict[str, Any]:
        items: list[dict[str, Any]] = []
        for act, entry in zip(lines[::2], lines[1::2], strict=True):
            if self.most and len(entries) >= self.most:
                items.append({"index": {"error": {"reason": "the disk is full"}}})
                continue
            entries[act["index"]["_id"]] = entry
            items.append({"index": {"status": 201}})
        return {"errors": any("error" in item["index"] for item in items), "items": items}


def search(entries: list[dict[str, Any]], body: dict[str, Any]) -> dict[str, Any]:
    asked = body.get("query", {}).get("bool", {})
    found = [entry for entry in entries if all(meets(entry, what) for what in asked.get("filter", ()))]
    if "sort" in body:
        found.sort(key=lambda entry: entry["row"])
    elif "should" in asked:
        words = asked["should"][0]["multi_match"]["query"].split()
        found.sort(key=lambda entry: -sum(entry["name"].split().count(word) for word in words))
    hits = [{"_source": entry} for entry in found[: body.get("size", 10)]]
    counted = {name: {"buckets": buckets(found, agg)} for name, agg in body.get("aggs", {}).items()}
    return {"hits": {"hits": hits}, "aggregations": counted}


def meets(entry: dict[str, Any], what: dict[str, Any]) -> bool:
    ((how, asked),) = what.items()
    ((field, wanted),) = asked.items()
    own = entry[field] if isinstance(entry[field], list) else [entry[field]]
    return bool(set(own) & set(wanted if how == "terms" else [wanted]))


def buckets(found: list[dict[str, Any]], agg: dict[str, Any]) -> list[dict[str, Any]]:
    field, only = agg["terms"]["field"], agg["terms"].get("include")
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for entry in found:
        for key in entry[field] if isinstance(entry[field], list) else [entry[field]]:
            if only is None or key in only:
                counts[key] += 1
                sizes[key] += entry["size"]
    most = agg["terms"].get("size", 10)
    return [{"key": key, "doc_count": count, "size": {"value": sizes[key]}} for key, count in counts.most_common(most)]
