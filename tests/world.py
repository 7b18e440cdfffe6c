"""A small folder with its question, a scripted model that answers it, and tablewright over both."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from endpoint import Delay, Endpoint
from validators import approved, schema

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "How many orders are there per category? 每个类别有多少订单"
SQL = "SELECT p.category, count(*) AS n FROM orders o JOIN products p ON p.id = o.product_id GROUP BY ALL ORDER BY ALL"
ANSWER = "category,n\ncake,1\n茶,2\n"
CONTRACT = {"columns": [{"name": "category"}, {"name": "n"}], "row": "one row per category"}
STAGES = (
    "take_inventory",
    "read_overrides",
    "read_knowledge",
    "build_catalogue",
    "profile_tables",
    "describe_catalogue",
    "judge_tables",
    "compress",
    "write_contract",
    "solve_question",
    "check_candidate",
    "audit_process",
    "verify_answer",
    "publish",
    "deliver",
)
ASKED = 5
"""Model calls of one run: the contract, a query, the submission, the audits of process and form."""


def make_folder(folder: Path, question: str = QUESTION) -> Path:
    """A task folder: orders as CSV, products in SQLite, what they mean in knowledge.md."""
    context = folder / "context"
    context.mkdir(parents=True)
    (folder / "task.json").write_text(json.dumps({"task_id": folder.name, "question": question}), "utf-8")
    with (context / "orders.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "product_id"), ("0001", 7), ("0002", 7), ("0003", 8)])
    with sqlite3.connect(context / "shop.db") as db:
        db.execute("CREATE TABLE products (id INTEGER PRIMARY KEY, category TEXT)")
        db.executemany("INSERT INTO products VALUES (?, ?)", [(7, "茶"), (8, "cake")])
    (context / "knowledge.md").write_text("# Shop\n\n- category: kind of product\n", "utf-8")
    return folder


def solver(body: dict[str, Any]) -> str:
    """What the scripted model replies: a contract, then a query, then the same query handed in, which its validators approve."""
    if said := approved(body):
        return said
    if schema(body) == "ContractReply":
        return json.dumps(CONTRACT)
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    tool = "query" if turn == 0 else "submit"
    return json.dumps({"thought": "", "tool": tool, "arguments": {"sql": SQL}})


def slow_after(calls: int, seconds: float) -> Any:
    """The same model, but replies after the first `calls` take this long."""
    seen = 0

    def reply(body: dict[str, Any]) -> Any:
        nonlocal seen
        seen += 1
        return solver(body) if seen <= calls else Delay(seconds, solver(body))

    return reply


def patient(candidate: Path) -> Any:
    """The same model; its validators reply once that file is there."""

    def reply(body: dict[str, Any]) -> Any:
        if approved(body):
            wait_for(candidate.is_file, f"no {candidate}")
        return solver(body)

    return reply


@dataclass
class World:
    """tablewright over a store of its own and an endpoint of its own."""

    root: Path
    endpoint: Endpoint
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.root / "store"

    def variables(self) -> dict[str, str]:
        """The environment that points tablewright here."""
        return {
            "MODEL_API_URL": self.endpoint.url,
            "MODEL_NAME": "scripted",
            "MODEL_API_KEY": "key",
            "TABLEWRIGHT_STORE": str(self.store),
            "PREFECT_API_URL": "http://127.0.0.1:9/api",
            **self.environment,
        }

    def start(self, *arguments: str, script: str = "", **options: Any) -> subprocess.Popen[str]:
        """The command line as a process; `script` runs before its `main()`."""
        code = f"{script}\nfrom flows.cli.main import main\nmain()"
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=ROOT,
            env={**os.environ, **self.variables()},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(self, *arguments: str, script: str = "", seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """The same, to its end."""
        with self.start(*arguments, script=script) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command line in this process."""
        from flows.cli import main

        out, err = io.StringIO(), io.StringIO()
        before = sys.argv, sys.excepthook
        sys.argv = ["tablewright", *arguments]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main.main()
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.argv, sys.excepthook = before
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def answer(self, folder: Path, out: Path, **more: Any) -> Any:
        """Plain calls in this process."""
        from flows.answer import answer
        from flows.running.request import make

        return asyncio.run(answer(make(folder=str(folder), out=str(out), as_of="2026-01-31", **more)))


async def task_runs(flow_run: str, count: int) -> list[Any]:
    """A flow run's task runs as the server knows them, once so many have ended: it hears of them late, through events."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    async with get_client() as client:
        for _ in range(300):
            runs = await client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[flow_run])))
            if len(runs) == count and all(run.state and run.state.is_final() for run in runs):
                break
            await asyncio.sleep(0.1)
    return runs


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def last_run(store: Path) -> dict[str, Any]:
    """The newest run record."""
    newest = max((store / "runs").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    record: dict[str, Any] = json.loads(newest.read_text("utf-8"))
    return record


def wait_for(condition: Callable[[], Any], what: str = "it did not happen in time", seconds: float = 120) -> Any:
    """The condition's value, as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
    return found


def children_of(session: int) -> list[str]:
    """Processes of that session, and workers whose command names that parent."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().split(b"\0")
            at = int((path / "stat").read_text().rsplit(")", 1)[1].split()[3])
        except (OSError, ValueError, IndexError):
            continue
        if at == session or (b"tasks.core.sql.child" in command and str(session).encode() in command):
            found.append(b" ".join(command).decode())
    return found


def free_port() -> int:
    """A TCP port that nobody listened on a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Crash(BaseException):
    """What a run does not survive."""


@contextlib.contextmanager
def crashing(name: str, times: int = 1) -> Iterator[None]:
    """A block that ends with a crash, as soon as that stage has done its work so many times."""
    from tasks import stage

    seen: list[str] = []

    def hear(ended: str, event: str, _seconds: float) -> None:
        if (ended, event) == (name, "done"):
            seen.append(ended)
            if len(seen) == times:
                raise Crash

    token = stage.listener.set(hear)
    try:
        with pytest.raises(Crash):
            yield
    finally:
        stage.listener.reset(token)


@contextlib.contextmanager
def worlds(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], World]]:
    """A model's script → tablewright over it in this process; the endpoints end with the block."""
    with contextlib.ExitStack() as opened:

        def made(script: Any) -> World:
            world = World(root, opened.enter_context(Endpoint(script)))
            for name, value in world.variables().items():
                monkeypatch.setenv(name, value)
            return world

        yield made
