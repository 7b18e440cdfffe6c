"""A simulated reader that knows the truth: it answers requests for slices out of it, and errs at stated rates.

It is no model and says nothing about one. Each value is given as its line writes it. Of the values a stated share is left
out, another share is taken from another column of the record, and some records are not listed; which ones follows from
the request, so that a run is repeated exactly and a second request errs elsewhere. Requests for patterns are none of its
business: they are answered by a recording, or by whoever is asked at another address.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from endpoint import Body, Status
from registers import Told

from tasks.core.llm.tokens import count
from tasks.core.models.document import ColumnType
from tasks.core.values.door import read_value

OMITTED, SWAPPED, UNLISTED = 0.01, 0.01, 0.002
"""Shares of values left out, of values taken from another column, of records that are not listed."""
_MARK = "Write regular expressions that read values"
_WAIT = 1800
_WORDS = 7
_NUMBER = re.compile(
    r"\b(?:zero|no|nought|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|free|half|none|nothing|failed)\b",
    re.I,
)


@dataclass
class Known:
    """A document with its truth."""

    stem: str
    key: str
    columns: dict[str, tuple[str, str]]
    """Type and unit by name."""
    lines: list[str]
    knowledge: str
    truth: dict[str, dict[str, Any]]
    told: dict[tuple[str, str], list[Told]]
    at: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self.lines, start=1):
            found[text].append(number)
        self.at = dict(found)


def written(line: str, value: Any, kind: str, unit: str) -> str | None:
    """How a line writes a value; None where that is not found."""
    if kind == "text":
        at = line.casefold().find(str(value).casefold())
        return line[at : at + len(str(value))] if at >= 0 else None
    best = None
    for raw in sorted(set(_candidates(line)), key=lambda raw: (-_alike(raw, value), len(raw))):
        if _value(raw, kind, unit) == value or _close(_value(raw, kind, unit), value):
            best = raw if best is None or (len(raw) > len(best) and best in raw) else best
            if len(raw) > len(best) + 8:
                break
    return best


def _candidates(line: str) -> Iterator[str]:
    """Runs of words that begin at a number; of Chinese those of signs that numbers are written with."""
    yield from re.findall(
        r"(?:百分之|千分之|约|近)?[0-9０-９一二三四五六七八九十百千万亿零〇点.,．，:/年月日-]+\s?(?:[%％‰]|[万亿千百]*\s?(?:元|股|米|人|名|立方米|厘米|公里)?(?:/股|每股)?)",
        line,
    )
    words = list(re.finditer(r"\S+", line))
    for first, word in enumerate(words):
        if not (
            re.search(r"\d", word[0]) or _NUMBER.search(word[0]) or re.match(r"(?:EUR|USD|the|[A-Z][a-z]{2})", word[0])
        ):
            continue
        for last in range(first, min(first + _WORDS, len(words))):
            yield line[word.start() : words[last].end()].strip(" .,;:()")


def _alike(raw: str, value: Any) -> int:
    """Whether the digits of both may be the same ones: such texts are read first."""
    return int(_digits(str(value)) in _digits(raw) or _digits(raw) in _digits(str(value)))


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text.removesuffix(".0")).strip("0")


@functools.lru_cache(maxsize=500_000)
def _value(raw: str, kind: ColumnType, unit: str) -> Any:
    return read_value(raw, kind, unit).value


def _close(a: Any, b: Any) -> bool:
    number = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (a, b))
    return number and abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-9)


class Knower:
    """Answers requests over real HTTP, as `endpoint.Endpoint` asks it to."""

    def __init__(self, known: Known, recordings: Path, forward: str = "") -> None:
        self.known, self.recordings, self.forward = known, recordings, forward
        self.spent: dict[str, list[int]] = {"extract": [0, 0, 0], "patterns": [0, 0, 0]}
        """Calls, prompt tokens, reply tokens by role, counted as `tasks.core.llm.tokens` does."""

    def __call__(self, body: dict[str, Any]) -> Any:
        prompt = body["messages"][-1]["content"]
        role = "patterns" if prompt.startswith(_MARK) else "extract"
        text = self._patterns(body) if role == "patterns" else self._extract(prompt)
        if isinstance(text, Status):
            return text
        taken = (1, sum(count(m["content"]) for m in body["messages"]), count(text))
        self.spent[role] = [a + b for a, b in zip(self.spent[role], taken, strict=True)]
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": taken[1], "completion_tokens": taken[2], "total_tokens": taken[1] + taken[2]}
        data = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "knower", "choices": [choice]}
        return Body(json.dumps({**data, "usage": usage}).encode())

    def _patterns(self, body: dict[str, Any]) -> Any:
        """A recorded reply, or one that is asked for and recorded."""
        prompt = body["messages"][-1]["content"]
        path = self.recordings / f"{hashlib.sha256(prompt.encode()).hexdigest()[:20]}.json"
        if path.exists():
            return json.loads(path.read_text("utf-8"))["reply"]
        if not self.forward:
            return Status(400, f"no recording of this request ({path.name}); give an address with --patterns-url")
        sent = json.dumps({"model": "patterns", "messages": body["messages"]}).encode()
        request = urllib.request.Request(f"{self.forward}/chat/completions", sent, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=_WAIT) as answer:
            text = json.load(answer)["choices"][0]["message"]["content"]
        self.recordings.mkdir(parents=True, exist_ok=True)
        kept = {
            "recorded": "a reply written from this request by one who knew the program",
            "request": prompt,
            "reply": text,
        }
        path.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", "utf-8")
        return text

    def _extract(self, prompt: str) -> str:
        """The reply for a slice."""
        names = [line.split(":", 1)[0] for line in _fenced(prompt, "Columns:").split("\n")]
        records = [part.split(" (", 1)[0] for part in re.split(r", (?!Jr)", _fenced(prompt, "The "))]
        lines = dict(line.split(" ", 1) for line in _fenced(prompt, "Lines:").split("\n") if " " in line)
        shown = {number: int(at) for at, text in lines.items() for number in self.known.at.get(text, ())}
        salt = hashlib.sha256(prompt.encode()).hexdigest()
        said: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
        for record in records:
            if _chance(salt, record, "listed") < UNLISTED:
                continue
            cells = dict(self._cells(record, [name for name in names if name in self.known.columns], shown))
            if not cells:
                said[False].append({"id": record, "line": 0, "cells": []})
            for (line, corrects), told in _by_line(cells).items():
                kept = list(_erring(told, salt, record))
                said[corrects].append({"id": record, "line": line, "cells": kept})
        return json.dumps({"records": said[False], "corrections": said[True]}, ensure_ascii=False)

    def _cells(
        self, record: str, names: Iterable[str], shown: dict[int, int]
    ) -> Iterator[tuple[tuple[str, int, bool], str]]:
        for name in names:
            for told in self.known.told.get((record, name), ()):
                if told.line in shown:
                    raw = told.raw or self._found(record, name, told)
                    if raw:
                        yield (name, shown[told.line], told.corrects), raw

    def _found(self, record: str, name: str, told: Told) -> str | None:
        line, value = self.known.lines[told.line - 1], self.known.truth[record][name]
        found = written(line, value, *self.known.columns[name])
        words = [part for part in re.split(r"[.。;；]\s*", line) if _NUMBER.search(part) and not re.search(r"\d", part)]
        return found or (min(words, key=len) if words and value == 0 else None)


def _by_line(cells: dict[tuple[str, int, bool], str]) -> dict[tuple[int, bool], list[tuple[str, str]]]:
    found: dict[tuple[int, bool], list[tuple[str, str]]] = defaultdict(list)
    for (name, line, corrects), raw in cells.items():
        found[line, corrects].append((name, raw))
    return found


def _erring(told: list[tuple[str, str]], salt: str, record: str) -> Iterator[dict[str, str]]:
    for at, (name, raw) in enumerate(told):
        chance = _chance(salt, record, name)
        if chance < OMITTED:
            continue
        other = told[(at + 1) % len(told)][1]
        yield {"c": name, "v": other if chance < OMITTED + SWAPPED else raw}


def _chance(*parts: str) -> float:
    return int(hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12], 16) / 16**12


def _fenced(prompt: str, mark: str) -> str:
    """The data behind the line that begins with the mark."""
    at = prompt.index(f"\n{mark}") + 1
    opened = re.compile(r"^(~{3,})\n", re.M).search(prompt, at)
    assert opened is not None
    return prompt[opened.end() : prompt.index(f"\n{opened[1]}", opened.end())]
