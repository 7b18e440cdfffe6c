"""A script of replies and a pace → an OpenAI-compatible endpoint that takes its time as a real one does, over real HTTP.

`python tests/simulated.py serve --first 0.5 --prefill 4000 --decode 60 --limit 8 --cache 64` answers with the recorded replies of the tests;
`python tests/simulated.py run --kind documents …` asks their questions of it and shows the critical path of each run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from endpoint import Endpoint, Samples, Script, Status  # noqa: E402

from tasks.core.llm import tokens  # noqa: E402

RECORDINGS = ROOT / "tests" / "recordings"
_FOLDERS = {"samples": "replies", "documents": "documents"}


@dataclass(frozen=True)
class Pace:
    """How fast the endpoint is, and how much it takes. Rates of 0 take no time."""

    first: float = 0.5
    """Seconds of every request before anything else."""
    prefill: float = 4000.0
    """Tokens of the prompt that it reads in a second."""
    decode: float = 60.0
    """Tokens that it writes in a second."""
    limit: int = 8
    """Requests that it works on at once; 0 = no limit."""
    refuse: bool = False
    """Whether a request past the limit gets a 429, in place of standing in line."""
    cache: int = 0
    """Tokens of a block of its prefix cache: whole blocks of a beginning that it has read are not read again; 0 = no cache."""
    kept: int = 0
    """Prompts that the cache holds, the last ones; 0 = all."""


class Simulated(Endpoint):
    """An endpoint of this pace."""

    def __init__(self, replies: Script, pace: Pace, **more: Any) -> None:
        super().__init__(replies, **more)
        self.pace = pace
        self.refused = 0
        """Requests that got a 429."""
        self._room = threading.Semaphore(pace.limit) if pace.limit else contextlib.nullcontext()
        self._read: dict[str, None] = {}
        """Prompts in the cache, the one that was used last at the end."""
        self._turn = threading.Lock()

    def take(self, body: dict[str, Any], headers: dict[str, str], path: str) -> Any:
        """The reply of the script, after the time that it takes."""
        reply = super().take(body, headers, path)
        if isinstance(reply, Status):
            return reply
        if self.pace.refuse and isinstance(self._room, threading.Semaphore):
            if not self._room.acquire(blocking=False):
                self.refused += 1
                return Status(429, {"error": {"message": "too many requests at once"}}, {"Retry-After": "0.2"})
            self._room.release()
        with self._room:
            self._work(body, reply)
        return reply

    def usage(self, body: dict[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
        """What the request took, in the words of OpenAI."""
        prompt, written = tokens.count(prompt_of(body)), sum(map(_size, choices))
        told = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
        return {**told, "prompt_tokens_details": {"cached_tokens": body.get("_cached", 0)}}

    def _work(self, body: dict[str, Any], reply: Any) -> None:
        prompt = prompt_of(body)
        body["_cached"] = cached = self._known(prompt)
        time.sleep(self.pace.first + _over(tokens.count(prompt) - cached, self.pace.prefill))
        with self._turn:
            self._read.pop(prompt, None)
            self._read[prompt] = None
            while self.pace.kept and len(self._read) > self.pace.kept:
                del self._read[next(iter(self._read))]
        time.sleep(_over(tokens.count(_longest(reply)), self.pace.decode))

    def _known(self, prompt: str) -> int:
        """Tokens at the beginning of a prompt that it has read before."""
        if not self.pace.cache:
            return 0
        with self._turn:
            shared = max((_shared(prompt, known) for known in self._read), default=0)
        return tokens.count(prompt[:shared]) // self.pace.cache * self.pace.cache


def prompt_of(body: dict[str, Any]) -> str:
    """A request's prompt in the order in which endpoints read it: the form of the reply and tools, then the messages."""
    form = [json.dumps(body[name], sort_keys=True) for name in ("response_format", "tools") if body.get(name)]
    turns = [
        f"<{message['role']}>{message.get('content') or ''}{json.dumps(message.get('tool_calls') or '')}"
        for message in body["messages"]
    ]
    return "\n".join([*form, *turns])


def _shared(one: str, other: str) -> int:
    """Characters with which both begin."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def recorded(folder: Path) -> Callable[[dict[str, Any]], Any]:
    """The recorded replies of a folder to the very same messages, one sample after another."""
    known: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for path in sorted(folder.glob("*/*.json")):
        entry = json.loads(path.read_bytes())
        known[json.dumps(entry["request"]["messages"])].append((entry["sample"], entry["reply"]["text"]))
    given: dict[str, int] = defaultdict(int)
    turn = threading.Lock()

    def reply(body: dict[str, Any]) -> Any:
        key, wanted = json.dumps(body["messages"]), body.get("n") or 1
        texts = [text for _, text in sorted(known.get(key, ()))]
        if not texts:
            return Status(400, "no such prompt was recorded")
        with turn:
            at = given[key]
            given[key] += wanted
        return Samples([texts[(at + number) % len(texts)] for number in range(wanted)])

    return reply


def _longest(reply: Any) -> str:
    """Samples are written at once."""
    return max(map(str, reply.replies), key=len) if isinstance(reply, Samples) else str(reply)


def _size(choice: dict[str, Any]) -> int:
    message = choice["message"]
    return tokens.count(str(message.get("content") or "")) + tokens.count(str(message.get("tool_calls") or ""))


def _over(count: int, rate: float) -> float:
    return count / rate if rate else 0.0


def paced(given: argparse.Namespace) -> Pace:
    """The pace that the arguments name."""
    return Pace(**{each.name: getattr(given, each.name) for each in fields(Pace)})


def add_pace(parser: argparse.ArgumentParser) -> None:
    """An option for each number of a pace."""
    for each in fields(Pace):
        if each.name == "refuse":
            parser.add_argument("--refuse", action="store_true", help="429 past the limit, in place of a line")
        else:
            parser.add_argument(f"--{each.name}", type=type(each.default), default=each.default)


def folders(kind: str, names: list[str], scratch: Path) -> tuple[dict[str, Path], Script]:
    """The folders of a kind by name, and the model that answers their questions. Of `made` a name is documents-ships-rows."""
    import documents
    import harbours
    import samples

    if kind == "made":
        sizes = {name: [int(part) for part in name.split("-")] for name in names or ["4-120-20000"]}
        return {name: harbours.make(scratch / name, *size) for name, size in sizes.items()}, harbours.model
    home, known = (samples.SAMPLES, samples.NAMES) if kind == "samples" else (documents.CASES, documents.NAMES)
    return {name: home / name for name in names or known}, recorded(RECORDINGS / _FOLDERS[kind])


def run(folder: Path, endpoint: Simulated, scratch: Path, settings: list[str]) -> Any:
    """Ask the question of a folder by plain calls over an empty store; its critical path."""
    from samples import AS_OF

    from flows.answer import answer
    from flows.path import path_of
    from flows.running import record
    from flows.running.request import AnswerRequest
    from tasks.core.files.store import Folder, Store

    os.environ |= {"MODEL_API_URL": endpoint.url, "MODEL_NAME": "simulated", "TABLEWRIGHT_STORE": f"{scratch}/store"}
    (profile := scratch / "simulated.toml").write_text(_profile(settings))
    asyncio.run(answer(AnswerRequest(folder=str(folder), profile=str(profile), as_of=AS_OF, out=str(scratch / "out"))))
    store = Store(Folder(scratch / "store"), scratch / "store" / "cache")
    return path_of(store, next(record.all_of(store)))


def _profile(settings: list[str]) -> str:
    """Without validators, as the replies were recorded; each setting is SECTION.NAME=VALUE."""
    given = {"process.model": "false", "verify.model": "false"} | dict(each.split("=", 1) for each in settings)
    return "".join(f"{name} = {value}\n" for name, value in given.items())


def main() -> int:
    """Serve until interrupted, or run questions and show their paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("serve", "run"))
    parser.add_argument("--kind", choices=(*_FOLDERS, "made"), default="samples")
    parser.add_argument("--names", nargs="*", default=[])
    parser.add_argument("--set", nargs="*", default=[], help="settings, as endpoints.main.concurrency=8")
    add_pace(parser)
    given = parser.parse_args()
    pace = paced(given)
    print(f"{pace}")
    with tempfile.TemporaryDirectory() as place:
        chosen, replies = folders(given.kind, given.names, Path(place))
        if given.what == "serve":
            with Simulated(replies, pace) as endpoint, contextlib.suppress(KeyboardInterrupt):
                print(f"MODEL_API_URL={endpoint.url}", flush=True)
                threading.Event().wait()
            return 0
        from flows.cli.path import show

        for name, folder in chosen.items():
            with tempfile.TemporaryDirectory() as scratch, Simulated(replies, pace) as endpoint:
                print(f"\n{name}")
                show(run(folder, endpoint, Path(scratch), given.set))
    return 0


if __name__ == "__main__":
    sys.exit(main())
