"""The model server: started once, shared, watched, replaced when it dies, gone when nobody asks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tasks.core import process
from tasks.core.errors import InputError, ModelError
from tasks.core.files import lock
from tasks.core.files.store import Folder, Store, digest_file
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.llm.local import serve, weights
from tasks.core.settings import Settings, load

STAND_IN = '''
"""xllamacpp as the server module uses it: a load that the model file scripts, then a small HTTP server."""
import json, os, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

class CommonParams:
    def __init__(self):
        self.model = SimpleNamespace(path="")
        self.cpuparams = SimpleNamespace(n_threads=-1)
        self.cpuparams_batch = SimpleNamespace(n_threads=-1)

class Server:
    def __init__(self, params):
        script = json.loads(open(params.model.path).read())
        assert os.environ["GOMP_SPINCOUNT"] == "0", "the barrier spins"
        if "crash" in script:
            raise RuntimeError(script["crash"])
        time.sleep(script.get("load", 0))
        asked = []
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if not self.path.startswith(params.api_prefix + "/"):
                    return self.send_error(404)
                page = {
                    "/metrics": "# HELP\\nllamacpp:tokens_predicted_total %d\\nllamacpp:tokens_predicted_seconds_total %s\\n"
                        "llamacpp:requests_processing %d\\nllamacpp:predicted_tokens_seconds 7\\n"
                        % (script.get("tokens", 0) + len(asked), script.get("seconds", 1), script.get("processing", 0)),
                    "/v1/models": json.dumps({"slots": params.n_parallel, "context": params.n_ctx, "alias": list(params.model_alias),
                        "hosts": params.hostnames, "threads": params.cpuparams.n_threads}),
                    "/work": asked.append(1) if self.path.endswith("/work") else "",
                }[self.path.removeprefix(params.api_prefix)] or ""
                self.send_response(200)
                self.end_headers()
                self.wfile.write(page.encode())
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                with open(params.model.path + ".asked", "a") as file:
                    file.write(f"{os.getpid()}\\n")
                if len(set(open(params.model.path + ".asked").read().split())) <= script.get("deaths", 0):
                    os._exit(9)
                choice = {"index": 0, "message": {"role": "assistant", "content": "好 fine"}, "finish_reason": "stop"}
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode())
            def log_message(self, *_):
                pass
        http = ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        self.listening_address = f"http://127.0.0.1:{http.server_port}"
        threading.Thread(target=http.serve_forever, daemon=True).start()
'''


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Settings whose model file scripts the stand-in server; what was started is killed at the end."""
    library = tmp_path / "library" / "xllamacpp.py"
    library.parent.mkdir()
    library.write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(library.parent))
    monkeypatch.syspath_prepend(str(library.parent))
    made: list[Settings] = []

    def make(**changes: Any) -> Settings:
        script = {name: changes.pop(name) for name in tuple(changes) if name not in load("local").local.model_fields}
        file = tmp_path / "model.gguf"
        file.write_text(json.dumps(script))
        pinned = {"file": str(file), "size": file.stat().st_size, "sha256": digest_file(file)}
        section = {**pinned, "cache": str(tmp_path / "cache"), "start_seconds": 30, "idle_seconds": 60, **changes}
        made.append(load("local", {"local": section}))
        return made[-1]

    yield make
    for settings in made:
        serve.stop(settings)


def quiet(_: str) -> None:
    pass


def start(settings: Settings, said: list[str] | None = None) -> str:
    return asyncio.run(serve.ensure(settings, (said if said is not None else []).append))


def pid_of(settings: Settings) -> int:
    pid = lock.holder(serve._place(settings.local).held)
    assert pid
    return pid


def test_a_run_starts_it_and_later_and_concurrent_runs_share_it(stand_in: Any) -> None:
    settings, said = stand_in(slots=5, context=2048, threads=2), list[str]()

    async def at_once() -> list[str]:
        return await asyncio.gather(*(serve.ensure(settings, said.append) for _ in range(3)))

    urls = asyncio.run(at_once())
    assert len(set(urls)) == 1 and said.count("starting the local model") == 1
    assert start(settings) == urls[0]
    assert httpx.get(f"{urls[0]}/models").json() == {
        "slots": 5,
        "context": 10240,
        "alias": [settings.local.name],
        "hosts": ["127.0.0.1"],
        "threads": 2,
    }


def test_its_address_is_known_to_its_user_alone(stand_in: Any) -> None:
    settings = stand_in()
    url = httpx.URL(start(settings))
    assert url.host == "127.0.0.1" and httpx.get(url.copy_with(path="/v1/models")).status_code == 404
    assert serve._place(settings.local).state.stat().st_mode & 0o077 == 0


def test_another_shape_is_another_server(stand_in: Any) -> None:
    one, two = stand_in(slots=1), stand_in(slots=2)
    assert start(one) != start(two) and pid_of(one) != pid_of(two)


def test_it_is_stopped_and_its_state_is_told(stand_in: Any) -> None:
    settings = stand_in(tokens=100, seconds=10)
    before = serve.status(settings)
    assert (before.installed, before.running, before.answers) == (True, False, False)
    assert before.file == settings.local.file and not serve.stop(settings)
    start(settings)
    during = serve.status(settings)
    assert during.running and during.answers and during.pid == pid_of(settings)
    assert during.tokens_per_second == 10
    assert serve.stop(settings)
    assert not serve.status(settings).running and not serve.stop(settings)


def test_a_dead_one_is_replaced(stand_in: Any) -> None:
    settings = stand_in()
    first, pid = start(settings), pid_of(settings)
    os.kill(pid, signal.SIGKILL)
    second = start(settings)
    assert second != first and pid_of(settings) != pid
    assert httpx.get(f"{second}/models").status_code == 200


def test_one_that_hangs_is_waited_for_told_and_replaced(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_PROBE_SECONDS", 0.3)
    settings, said = stand_in(start_seconds=5), list[str]()
    start(settings)
    pid = pid_of(settings)
    os.kill(pid, signal.SIGSTOP)
    start(settings, said)
    assert pid_of(settings) != pid
    assert said[0] == f"the local model (process {pid}) is busy: waiting for it, at most 5 s"
    assert said[1] == f"the local model (process {pid}) gives no sign: starting it anew"


def test_a_slow_one_is_reported(stand_in: Any) -> None:
    settings, said = stand_in(tokens=10, seconds=10), list[str]()
    start(settings)
    start(settings, said)
    assert said == ["the local model is slow here: 1.0 tokens a second; other programs use the processors"]


def test_one_that_cannot_load_ends_with_the_reason(stand_in: Any) -> None:
    settings = stand_in(crash="no such architecture")
    with pytest.raises(InputError, match=r"did not start:[^$]*no such architecture") as caught:
        start(settings)
    assert str(serve._place(settings.local).log) in caught.value.hint


def test_one_that_loads_too_long_is_ended_and_reported(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_TELL_SECONDS", 0.5)
    settings, said = stand_in(load=60, start_seconds=2), list[str]()
    with pytest.raises(InputError, match="did not answer within 2 s"):
        start(settings, said)
    assert any("still loading" in line for line in said)
    assert lock.holder(serve._place(settings.local).held) is None


def test_a_cancelled_start_leaves_nothing_behind(stand_in: Any) -> None:
    settings = stand_in(load=60)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await serve.ensure(settings, quiet)

    asyncio.run(give_up())
    assert lock.holder(serve._place(settings.local).held) is None


@pytest.mark.parametrize(("script", "stays"), [({}, False), ({"processing": 1}, True)], ids=["idle", "working"])
def test_it_ends_by_itself_when_nobody_asks(stand_in: Any, script: dict[str, Any], stays: bool) -> None:
    settings = stand_in(idle_seconds=1, **script)
    start(settings)
    held = serve._place(settings.local).held
    deadline = time.monotonic() + (1.8 if stays else 20)
    while lock.holder(held) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (lock.holder(held) is not None) == stays
    assert serve._place(settings.local).state.exists() == stays


def test_requests_keep_it_alive(stand_in: Any) -> None:
    settings = stand_in(idle_seconds=1.5)
    url = start(settings)
    pid = pid_of(settings)
    for _ in range(12):
        httpx.get(f"{url.removesuffix('/v1')}/work")
        time.sleep(0.2)
    assert pid_of(settings) == pid


def test_a_missing_library_names_what_to_install(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve.importlib.util, "find_spec", lambda _: None)
    settings = stand_in()
    assert not serve.status(settings).installed
    with pytest.raises(InputError, match="not installed") as caught:
        start(settings)
    assert "make setup" in caught.value.hint


def test_a_server_leaves_when_its_state_is_deleted(stand_in: Any) -> None:
    settings = stand_in(idle_seconds=4)
    start(settings)
    place = serve._place(settings.local)
    place.state.unlink()
    deadline = time.monotonic() + 10
    while lock.holder(place.held) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert lock.holder(place.held) is None


def door_of(settings: Settings, tmp_path: Path) -> Door:
    return Door(settings, Store(Folder(tmp_path / "store"), tmp_path / "kept"), Meter(settings.budget))


async def ask(door: Door, *texts: str) -> list[str]:
    asked = (door.ask_text("agent", [{"role": "user", "content": text}], samples=1) for text in texts)
    return [reply.value for reply in await asyncio.gather(*asked)]


def test_a_run_whose_model_dies_at_a_request_starts_it_anew_and_goes_on(stand_in: Any, tmp_path: Path) -> None:
    settings = stand_in(deaths=1)
    assert asyncio.run(ask(door_of(settings, tmp_path), "多少?", "how many?")) == ["好 fine"] * 2
    served = Path(f"{settings.local.file}.asked").read_text().split()
    assert len(set(served)) == 2 and int(served[-1]) == pid_of(settings)


def test_a_run_whose_model_was_stopped_by_another_starts_it_anew_once(stand_in: Any, tmp_path: Path) -> None:
    settings = stand_in()
    door = door_of(settings, tmp_path)

    async def run() -> None:
        await ask(door, "first")
        first = pid_of(settings)
        serve.stop(settings)
        assert await ask(door, "第二") == ["好 fine"] and pid_of(settings) != first
        serve.stop(settings)
        with pytest.raises(ModelError, match="nothing listens at") as error:
            await ask(door, "third")
        assert error.value.away and "tablewright model status" in error.value.hint

    asyncio.run(run())


def test_a_second_death_is_reported(stand_in: Any, tmp_path: Path) -> None:
    settings = stand_in(deaths=2)
    with pytest.raises(ModelError) as error:
        asyncio.run(ask(door_of(settings, tmp_path), "how many?"))
    assert error.value.transient
    assert len(set(Path(f"{settings.local.file}.asked").read_text().split())) == 2


@pytest.mark.model
def test_the_real_model_answers_in_the_asked_form(tmp_path: Path) -> None:
    file = weights.find(load("local").local)
    if file is None:
        pytest.skip("the model's file is not in the cache")
    settings = load("local", {"local": {"file": str(file), "cache": str(tmp_path), "slots": 2, "context": 1024}})
    schema = {
        "type": "object",
        "properties": {"sql": {"type": "string"}},
        "required": ["sql"],
        "additionalProperties": False,
    }
    question = "CREATE TABLE city (name VARCHAR, people BIGINT);\nWrite one SQL query: the number of cities."
    try:
        url = start(settings)
        body = {
            "messages": [{"role": "user", "content": question}],
            "n": 2,
            "temperature": 0.5,
            "max_tokens": 100,
            "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}},
        }
        reply = httpx.post(f"{url}/chat/completions", json=body, timeout=300).json()
        texts = [choice["message"]["content"] for choice in reply["choices"]]
        assert len(texts) == 2
        assert all("count" in json.loads(text)["sql"].casefold() for text in texts)
        assert serve.status(settings).tokens_per_second > 0
    finally:
        serve.stop(settings)


def test_the_stand_in_is_started_like_any_child(stand_in: Any) -> None:
    settings = stand_in()
    start(settings)
    assert os.getpgid(pid_of(settings)) == pid_of(settings) != os.getpgrp()
    process.kill_group(pid_of(settings))
