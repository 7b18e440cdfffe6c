"""Private PostgreSQL and MariaDB servers of a test session, each in a folder of its own, with an own database for each test.

conftest.py offers the fixtures to every test; those that use them are marked `service`. The servers listen on loopback only and run as a user without rights, also when the tests run as root; a test is skipped,
with the reason, where a server's programs or the driver are missing.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from world import free_port

USER, PASSWORD = "tester", "s3cret/of the:tests"
START_SECONDS = 60
"""2 s on a quiet machine."""
_ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@dataclass(frozen=True)
class Server:
    """A server that runs, and one database of it."""

    kind: str
    """`postgresql` or `mysql`: the scheme of its URL."""
    port: int
    socket: Path
    """PostgreSQL: the folder of its socket; MariaDB: the socket."""
    database: str = ""
    user: str = USER
    password: str = PASSWORD
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        """With the password."""
        return (
            f"{self.kind}://{quote(self.user, '')}:{quote(self.password, '')}@{self.host}:{self.port}/{self.database}"
        )

    @property
    def open_url(self) -> str:
        """Without the password."""
        return f"{self.kind}://{quote(self.user, '')}@{self.host}:{self.port}/{self.database}"

    def connect(self) -> Any:
        """A connection of the driver; each statement is committed at once."""
        if self.kind == "postgresql":
            return importlib.import_module("psycopg").connect(
                host=self.host, port=self.port, user=self.user, password=self.password, dbname=self.database or "postgres",
                autocommit=True,
            )  # fmt: skip
        return importlib.import_module("pymysql").connect(
            host=self.host, port=self.port, user=self.user, password=self.password, database=self.database or None,
            autocommit=True, charset="utf8mb4",
        )  # fmt: skip

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements; the rows of the last one."""
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    @contextlib.contextmanager
    def fresh(self, name: str) -> Iterator[Server]:
        """An empty database of this name, dropped in the end."""
        plain = replace(self, database="")
        suffix = " character set utf8mb4" if self.kind == "mysql" else ""
        force = " with (force)" if self.kind == "postgresql" else ""
        plain.run(f"drop database if exists {name}{force}", f"create database {name}{suffix}")
        try:
            yield replace(self, database=name)
        finally:
            plain.run(f"drop database if exists {name}{force}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A private PostgreSQL."""
    with postgresql() as server:
        yield server


@contextlib.contextmanager
def postgresql(connections: int = 20) -> Iterator[Server]:
    """A PostgreSQL for so many connections, as long as the block lasts."""
    _need("psycopg", "postgres")
    initdb, postgres = _program("initdb", "postgresql"), _program("postgres", "postgresql")
    with _folder("tw-pg-") as folder:
        data, port = folder / "data", free_port()
        secret = folder / "secret"
        secret.write_text(PASSWORD + "\n")
        secret.chmod(0o644)
        _run([initdb, "-D", data, "-U", USER, "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-sync"])
        server = Server("postgresql", port, folder)
        command = [postgres, "-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1"]
        with _running([*command, "-c", "fsync=off", "-c", f"max_connections={connections}"], folder, server):
            yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    """A private MariaDB."""
    _need("pymysql", "mysql")
    install, mariadbd = _program("mariadb-install-db", "mariadb"), _program("mariadbd", "mariadb")
    with _folder("tw-my-") as folder:
        data, port = folder / "data", free_port()
        _run(
            [
                install,
                "--no-defaults",
                f"--datadir={data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ]
        )
        init = folder / "init.sql"
        init.write_text(
            f"create user '{USER}'@'%' identified by '{PASSWORD}';\ngrant all on *.* to '{USER}'@'%' with grant option;\n"
        )
        init.chmod(0o644)
        server = Server("mysql", port, folder / "s")
        command = [mariadbd, "--no-defaults", f"--datadir={data}", f"--port={port}", f"--socket={folder / 's'}"]
        command += ["--bind-address=127.0.0.1", "--skip-name-resolve", f"--init-file={init}", f"--tmpdir={folder}"]
        with _running(
            [*command, "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"], folder, server
        ):
            yield server


@pytest.fixture
def database_of(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Server]]:
    """`database_of("postgres")` or `database_of("mariadb")`: an empty database for this test alone."""
    with contextlib.ExitStack() as stack:
        numbers = iter(range(100))

        def make(which: str) -> Server:
            server: Server = request.getfixturevalue(which)
            return stack.enter_context(server.fresh(f"test_{os.getpid()}_{next(numbers)}"))

        yield make


def _need(driver: str, extra: str) -> None:
    pytest.importorskip(driver, reason=f"{driver} is not installed: pip install 'tablewright[{extra}]'")


def _program(name: str, package: str) -> str:
    """Debian keeps PostgreSQL's programs off the path."""
    places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/sbin"), Path("/usr/bin")]
    found = next((str(place / name) for place in places if (place / name).exists()), None) or shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed: apt-get install {package}{'-server' if package == 'mariadb' else ''}")
    return found


def _person() -> dict[str, Any]:
    """The user that servers run as, for subprocess: both refuse root."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@contextlib.contextmanager
def _folder(prefix: str) -> Iterator[Path]:
    """A short path, because a socket's may have 107 characters only."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    if person := _person():
        os.chown(folder, person["user"], person["group"])
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[Any]) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        cwd="/",
        env=_ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        **_person(),
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@contextlib.contextmanager
def _running(command: list[Any], folder: Path, server: Server) -> Iterator[None]:
    log = (folder / "log").open("wb")
    with log, subprocess.Popen(
        [str(part) for part in command], cwd="/", env=_ENVIRONMENT, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **_person()
    ) as process:  # fmt: skip
        try:
            _wait(process, folder, server)
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(process: subprocess.Popen[bytes], folder: Path, server: Server) -> None:
    module = importlib.import_module("psycopg" if server.kind == "postgresql" else "pymysql")
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            server.run("select 1")
            return
        except module.Error as error:
            said = (folder / "log").read_text("utf-8", "replace")[-2000:]
            assert process.poll() is None, f"the server ended:\n{said}"
            assert time.monotonic() < deadline, f"no answer after {START_SECONDS} s: {error}\n{said}"
            time.sleep(0.1)
