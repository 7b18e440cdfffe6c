"""Elasticsearch or OpenSearch + an index file → the text index on that server, one index of its own for each content.

The server finds the entries; their scores are computed here, as SQLite does, for the servers' own BM25 is another one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from tasks.core.search.contents import FIELDS, Entry, entries
from tasks.core.search.index import Kind
from tasks.core.search.lookup import WEIGHTS, telling
from tasks.core.stores.bm25 import Scoring
from tasks.core.stores.place import Place

_WHAT = "the text index"
_AT_ONCE, _MOST = 500, 10_000
_CANDIDATES = 5
"""Times as many as wanted are scored here."""
_RANKING = 200
"""Words, rarest first, that the server ranks by: it takes 1024 clauses, one for each word and field."""
_STORED = {"type": "keyword", "index": False, "doc_values": False}
_INDEX: dict[str, Any] = {
    "settings": {
        "number_of_shards": 1,
        "auto_expand_replicas": "0-1",
        "analysis": {"analyzer": {"cut": {"type": "custom", "tokenizer": "whitespace"}}},
    },
    "mappings": {
        "properties": {
            "kind": {"type": "keyword"},
            "row": {"type": "integer"},
            "ref": {"type": "keyword"},
            "folded": {"type": "keyword"},
            "places": _STORED,
            "words": {"type": "keyword"},
            "size": {"type": "integer"},
            **{field: {"type": "text", "analyzer": "cut"} for field in FIELDS},
        }
    },
}
_HINTS = {
    401: "check user, password or key",
    403: "the user needs rights to create, write and read indexes of this prefix",
    429: "the server is busy or its disk is full: see its log",
}
_AWAY = "see whether the server runs and can be reached from here, or set stores.text to embedded"


class Elastic:
    """The index of one content: of an index file, its digest and the number of its entries."""

    def __init__(self, place: Place, client: Any, content: tuple[Path, str, int]) -> None:
        self._place, self._client = place, client
        self._path, digest, self._known = content
        self._index = f"{place.prefix}-text-{digest[:40]}"
        self._sizes: dict[str, tuple[int, float]] = {}

    def fill(self) -> bool:
        """Entries have fixed ids, so what was begun is completed, and two that write at once write the same."""
        there = self._ask("GET", "_count", absent=True)
        if there and there["count"] == self._known:
            return False
        if not there:
            self._ask("PUT", "", _INDEX, absent=True)
        waiting = iter(entries(self._path))
        while some := [*islice(waiting, _AT_ONCE)]:
            self._send(some)
        self._ask("POST", "_refresh")
        return True

    def search(self, kind: Kind, words: Collection[str], limit: int) -> list[tuple[str, float]]:
        """Ids of columns or metrics with any of the words, best first."""
        return self._search(kind, words, limit)

    def values(self, words: Collection[str], limit: int) -> list[tuple[str, float]]:
        """Values with any of the words, best first."""
        return self._search("value", words, limit)

    def folded(self, texts: Iterable[str]) -> list[str]:
        """Values whose folded text is one of these."""
        wanted = list(dict.fromkeys(texts))
        found: list[str] = []
        for at in range(0, len(wanted), _AT_ONCE):
            asked = _only("value", {"terms": {"folded": wanted[at : at + _AT_ONCE]}})
            body = {"query": asked, "size": _MOST, "sort": [{"row": "asc"}], "_source": ["ref"]}
            found += [hit["_source"]["ref"] for hit in self._hits(body)]
        return found

    def places(self, value: str) -> list[str]:
        """Ids of the columns that hold a value."""
        body = {"query": _only("value", {"term": {"ref": value}}), "size": 1, "_source": ["places"]}
        return [ref for hit in self._hits(body) for ref in hit["_source"]["places"]]

    def spread(self, kind: str, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """How many entries of the kind there are, and how many of them have each word."""
        wanted = sorted(set(words))
        found: dict[str, int] = {}
        for at in range(0, len(wanted), _AT_ONCE):
            some = wanted[at : at + _AT_ONCE]
            counted = {"terms": {"field": "words", "include": some, "size": len(some)}}
            body = {"query": _only(kind, {"terms": {"words": some}}), "size": 0, "aggs": {"spread": counted}}
            buckets = self._ask("POST", "_search", body)["aggregations"]["spread"]["buckets"]
            found |= {bucket["key"]: bucket["doc_count"] for bucket in buckets}
        return self._size(kind)[0], {word: found[word] for word in dict.fromkeys(words) if word in found}

    def _search(self, kind: str, words: Collection[str], limit: int) -> list[tuple[str, float]]:
        rows, spread = self.spread(kind, words)
        wanted = telling(rows, spread)
        if not wanted:
            return []
        asked = _only(kind, {"terms": {"words": wanted}})
        fields = [f"{field}^{weight}" for field, weight in zip(FIELDS, WEIGHTS, strict=True)]
        ranking = " ".join(sorted(wanted, key=lambda word: spread[word])[:_RANKING])
        asked["bool"]["should"] = [{"multi_match": {"query": ranking, "fields": fields, "type": "most_fields"}}]
        size = min(max(limit * _CANDIDATES, _AT_ONCE), _MOST)
        hits = [
            hit["_source"] for hit in self._hits({"query": asked, "size": size, "_source": ["ref", "row", *FIELDS]})
        ]
        weights = dict.fromkeys(FIELDS, 1.0) if kind == "value" else dict(zip(FIELDS, WEIGHTS, strict=True))
        scoring = Scoring({word: spread[word] for word in wanted}, rows, self._size(kind)[1], weights)
        scored = [(scoring.score({field: hit[field].split() for field in FIELDS}), hit) for hit in hits]
        best = sorted(scored, key=lambda pair: (-pair[0], pair[1]["row"]))[:limit]
        return [(hit["ref"], score) for score, hit in best]

    def _size(self, kind: str) -> tuple[int, float]:
        """Entries of a kind, and their words on average."""
        if not self._sizes:
            total = {"size": {"sum": {"field": "size"}}}
            body = {"size": 0, "aggs": {"kinds": {"terms": {"field": "kind"}, "aggs": total}}}
            for bucket in self._ask("POST", "_search", body)["aggregations"]["kinds"]["buckets"]:
                count = bucket["doc_count"]
                self._sizes[bucket["key"]] = (count, bucket["size"]["value"] / count or 1.0)
        return self._sizes.get(kind, (0, 1.0))

    def _send(self, some: list[Entry]) -> None:
        lines = []
        for entry in some:
            lines += [{"index": {"_id": f"{entry.kind}-{entry.row}"}}, _document(entry)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        reply = self._ask("POST", "_bulk", text)
        if reply["errors"]:
            first = next(item["index"]["error"] for item in reply["items"] if "error" in item["index"])
            raise self._place.failed(_WHAT, f"it refused an entry: {first.get('reason')}", "see its log")

    def _hits(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("POST", "_search", body)["hits"]["hits"]
        return found

    def _ask(self, method: str, path: str, body: Any = None, absent: bool = False) -> dict[str, Any]:
        """The reply; empty where there is no such index, or there is one already, and that is `absent`."""
        import httpx

        kind = "application/x-ndjson" if isinstance(body, str) else "application/json"
        content = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        try:
            reply = self._client.request(
                method, f"/{self._index}/{path}".rstrip("/"), content=content, headers={"content-type": kind}
            )
            if absent and (reply.status_code == 404 or "resource_already_exists_exception" in reply.text):
                return {}
            if reply.is_success:
                return dict(reply.json())
        except (httpx.HTTPError, ValueError) as error:
            raise self._place.failed(_WHAT, error, _AWAY) from None
        why = f"it answered {reply.status_code}: {reply.text}"
        raise self._place.failed(_WHAT, why, _HINTS.get(reply.status_code, "see its log"))


@contextmanager
def connect(place: Place, content: tuple[Path, str, int]) -> Iterator[Elastic]:
    """`content` is the index file, its digest and the number of its entries."""
    import httpx

    headers = {"authorization": f"ApiKey {place.key}"} if place.key else {}
    try:
        client = httpx.Client(base_url=place.shown, auth=place.login, headers=headers, timeout=place.seconds)
    except (httpx.InvalidURL, ValueError) as error:
        raise place.failed(_WHAT, error, "check its URL") from None
    with client:
        yield Elastic(place, client, content)


def _only(kind: str, what: dict[str, Any]) -> dict[str, Any]:
    return {"bool": {"filter": [{"term": {"kind": kind}}, what]}}


def _document(entry: Entry) -> dict[str, Any]:
    said = {field: entry.said.get(field, []) for field in FIELDS}
    words = [word for some in said.values() for word in some]
    return {
        "kind": entry.kind,
        "row": entry.row,
        "ref": entry.ref,
        "folded": entry.folded,
        "places": entry.places,
        "words": sorted(set(words)),
        "size": len(words),
        **{field: " ".join(some) for field, some in said.items()},
    }
