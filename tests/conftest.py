"""What every test gets: its own store and settings, no network but loopback, and one Prefect server for all that ask."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from s3 import bucket, s3_address  # noqa: F401 (fixtures)
from servers import database_of, mariadb, postgres  # noqa: F401 (fixtures)
from world import free_port

HOME = Path(tempfile.mkdtemp(prefix="tablewright-tests-"))
SERVER_SECONDS = 180
"""Time for the one server of a session to come up; 10 s on a quiet machine."""

os.environ.update(
    DO_NOT_TRACK="1",
    NO_PROXY="127.0.0.1,localhost",
    PREFECT_HOME=str(HOME / "prefect"),
    PREFECT_LOGGING_LEVEL="WARNING",
    PREFECT_LOGGING_TO_API_ENABLED="false",
    PREFECT_SERVER_ANALYTICS_ENABLED="false",
    PREFECT_SERVER_EPHEMERAL_ENABLED="false",
    PREFECT_SERVER_UI_V2_ENABLED="false",
)
for name in ("MODEL_API_URL", "MODEL_NAME", "MODEL_API_KEY", "TABLEWRIGHT_STORE", "PREFECT_API_URL", "PREFECT_PROFILE"):
    os.environ.pop(name, None)

hypothesis.settings.register_profile("patient", deadline=None, derandomize=True)
hypothesis.settings.register_profile("deep", deadline=None, derandomize=True, max_examples=300)
hypothesis.settings.load_profile("patient")
"""A property that is checked on a busy machine is none the worse for it, and the same examples are tried everywhere; three times as
many with `--hypothesis-profile=deep`, as `make test-full` does."""
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""A shell's background job ignores the one, `nohup` the other, and the children that tests interrupt would inherit that."""


def pytest_unconfigure() -> None:
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that reaches for another machine fails, even when the code that did so swallows the error."""
    reached: list[str] = []
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def refuse(host: str) -> OSError:
        reached.append(host)
        return OSError(f"a test may not reach {host}")

    def guarded(original: Any) -> Any:
        def call(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
                raise refuse(str(address[0]))
            return original(self, address)

        return call

    def resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name and name.endswith(".invalid"):  # no machine has such a name, wherever it is asked for
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if name and not _is_here(name):
            raise socket.gaierror(socket.EAI_NONAME, str(refuse(name)))
        return getaddrinfo(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    yield
    assert not reached, f"reached for {reached}"


@pytest.fixture(autouse=True)
def no_endpoint_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that one test's endpoint had may be another's: what this process learned of the first (asked to wait, gone,
    takes no tools) goes with its test."""
    from tasks.core.llm import endpoints

    monkeypatch.setattr(endpoints, "_known", {})


def _is_here(host: str) -> bool:
    if host in ("localhost", socket.gethostname()):
        return True
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_unspecified
    return False


@pytest.fixture
def settings(tmp_path: Path) -> Any:
    """The default settings over an empty store, with no Prefect server to be found."""
    from tasks.core.settings import load

    api = f"http://127.0.0.1:{free_port()}/api"
    return load(overrides={"store": {"path": str(tmp_path / "store")}, "prefect": {"api_url": api}})


@pytest.fixture
def store(settings: Any) -> Iterator[Any]:
    """The store of those settings, in use."""
    from tasks.core.files.store import Folder, Store, use

    with use(Store(Folder(settings.store.folder), settings.store.folder / "cache")) as opened:
        yield opened


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """API address of one real Prefect server for the whole session; it starts with the first test that asks."""
    from flows.running import server

    url = f"http://127.0.0.1:{free_port()}/api"
    with (HOME / "server.log").open("w") as log, server.running(url, log, seconds=SERVER_SECONDS):
        yield url


@pytest.fixture
def prefect_api(server_url: str) -> Iterator[str]:
    """Prefect in this process talks to the session's server."""
    from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with temporary_settings({PREFECT_API_URL: server_url, PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield server_url


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """tablewright with a scripted model and an empty store; also for calls in this process."""
    from world import solver, worlds

    from tasks import stage

    monkeypatch.setattr(stage, "RETRY_SECONDS", (0.0, 0.0))
    with worlds(tmp_path, monkeypatch) as made:
        yield made(solver)
