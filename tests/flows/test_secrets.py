"""Secrets in every place that may have one, and a whole run: no byte that is written or said holds one, in any form."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from endpoint import Endpoint, Status
from world import ANSWER, QUESTION, SQL, World, files, make_folder, solver, wait_for, worlds

KEY = "kf7Q/x+9=vTz_4dLw"
PASSWORD = "Hb6:r/w?P+u2"
HEADER = "Zr8mW-collector-3xq"
URL = f"postgresql://reader:{quote(PASSWORD, safe='')}@127.0.0.1:9/shop"
SECRETS = {"key": KEY, "password": PASSWORD, "header": HEADER}


def forms(secret: str) -> set[bytes]:
    """A secret as it may stand somewhere: as it is, in a URL, in JSON, and in base64 after 0, 1 or 2 other bytes."""
    raw = secret.encode()
    coded = {base64.b64encode(bytes(before) + raw)[before + bool(before) : -4] for before in range(3)}
    return {raw, quote(secret, safe="").encode(), quote(secret).encode(), json.dumps(secret)[1:-1].encode(), *coded}


def found(data: bytes) -> set[str]:
    """Names of the secrets that these bytes hold, what is packed in them unpacked."""
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data += b"".join(archive.read(name) for name in archive.namelist())
    if data.startswith(b"\x1f\x8b"):
        data += gzip.decompress(data)
    return {name for name, secret in SECRETS.items() if any(form in data for form in forms(secret))}


def held(folder: Path) -> dict[str, set[str]]:
    """Files below a folder that hold a secret, in their content or their name, and which."""
    return {name: names for name, data in files(folder).items() if (names := found(data) | found(name.encode()))}


def echo(endpoint: Endpoint) -> Status:
    """A refusal that gives back what it got, in every form."""
    got = endpoint.headers[-1].get("authorization", "")
    token = got.removeprefix("Bearer ")
    basic = base64.b64encode(f"someone:{token}".encode()).decode()
    return Status(
        503, {"error": {"message": f"busy; got {got}, key {token}, ?key={quote(token, safe='')}, Basic {basic}"}}
    )


@pytest.fixture
def collector() -> Iterator[Endpoint]:
    with Endpoint(lambda _: "thank you") as opened:
        yield opened


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collector: Endpoint) -> Iterator[World]:
    """tablewright with secrets in its environment, and a model whose every second reply is a refusal that echoes them."""
    monkeypatch.setattr("tasks.stage.RETRY_SECONDS", (0.0, 0.0))
    with worlds(tmp_path / "kept", monkeypatch) as made:
        world = made([])
        world.endpoint.replies = lambda body: echo(world.endpoint) if world.endpoint.calls % 2 else solver(body)
        secrets = {"MODEL_API_KEY": KEY, "SHOP_URL": URL, "OTEL_EXPORTER_OTLP_HEADERS": f"x-key={HEADER}"}
        world.environment.update(secrets)
        for name, value in secrets.items():
            monkeypatch.setenv(name, value)
        yield world


def profile(folder: Path, collector: Endpoint, **more: str) -> str:
    """All that writes is on: a log, traces, recordings of requests and replies."""
    lines = [
        f'[log]\nfile = "{folder / "kept" / "log.jsonl"}"',
        f'[traces]\nurl = "{collector.url}"',
        '[journal]\nmode = "record"',
        "[retry]\nfirst_seconds = 0.01\nlongest_seconds = 0.02",
        *(f"[{section}]\n{text}" for section, text in more.items()),
    ]
    path = folder / "chosen.toml"
    path.write_text("\n".join(lines), "utf-8")
    return str(path)


def shop(folder: Path) -> Path:
    """The shop, whose metadata names a database that is away."""
    made = make_folder(folder)
    (made / "context" / "metadata.yaml").write_text("databases: {more: {url_env: SHOP_URL}}", "utf-8")
    return made


def test_a_whole_run_leaves_no_secret_anywhere(guarded: World, collector: Endpoint, tmp_path: Path) -> None:
    chosen, out = profile(tmp_path, collector), tmp_path / "kept" / "out"
    done = guarded.call("answer", str(shop(tmp_path / "shop")), "--out", str(out), "--profile", chosen)
    assert (out / "answer.csv").read_text("utf-8") == ANSWER, done.stderr
    assert f"Bearer {KEY}" in {headers.get("authorization") for headers in guarded.endpoint.headers}
    assert collector.headers and collector.headers[-1]["x-key"] == HEADER
    said = [done.stdout, done.stderr]
    for command in (("doctor", "--json"), ("doctor",), ("runs", "list"), ("inspect", str(tmp_path / "shop"))):
        told = guarded.call(*command, *(["--profile", chosen] if command[0] == "doctor" else []))
        said += [told.stdout, told.stderr]
    written = files(tmp_path / "kept")
    assert {"out/evidence.json", "out/report.html", "log.jsonl"} <= {*written} and len(written) > 20
    assert held(tmp_path / "kept") == {} and found("\n".join(said).encode()) == set()
    assert found(json.dumps(guarded.endpoint.requests).encode()) == set()
    assert found(json.dumps(collector.requests).encode()) == set()


@pytest.mark.parametrize("status", [401, *(pytest.param(status, marks=pytest.mark.slow) for status in (400, 503))])
def test_a_refusal_that_echoes_the_key_is_told_without_it(
    guarded: World, collector: Endpoint, tmp_path: Path, status: int
) -> None:
    guarded.endpoint.replies = lambda _: Status(status, echo(guarded.endpoint).body)
    chosen, out = profile(tmp_path, collector), tmp_path / "kept" / "out"
    done = guarded.call("answer", str(shop(tmp_path / "shop")), "--out", str(out), "--profile", chosen)
    said = done.stdout + done.stderr
    written = b"".join(files(tmp_path / "kept").values())
    assert done.returncode and "***" in said + written.decode("utf-8", "replace")
    assert found(said.encode()) == set() and held(tmp_path / "kept") == {}


def test_a_url_with_a_password_is_refused_without_it(guarded: World, collector: Endpoint, tmp_path: Path) -> None:
    url = guarded.endpoint.url.replace("//", f"//me:{quote(PASSWORD, safe='')}@")
    for name, text in (("endpoints.main", f'url = "{url}"'), ("traces", f'url = "{url}"')):
        chosen = tmp_path / "chosen.toml"
        chosen.write_text(f"[{name}]\n{text}\n", "utf-8")
        out = tmp_path / "kept" / name
        done = guarded.call("answer", str(tmp_path / "shop"), QUESTION, "--out", str(out), "--profile", str(chosen))
        told = guarded.call("doctor", "--json", "--profile", str(chosen))
        assert done.returncode
        assert found((done.stdout + done.stderr + told.stdout + told.stderr).encode()) == set(), name
    assert held(tmp_path / "kept") == {}


def test_a_secret_is_found_in_every_form() -> None:
    """The search itself: a test that could find nothing would prove nothing."""
    header = base64.b64encode(f"someone:{KEY}".encode())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", f"x {PASSWORD}")
    assert found(b"x " + header) == found(json.dumps(KEY).encode()) == found(quote(KEY).encode()) == {"key"}
    assert found(packed.getvalue()) == found(URL.encode()) == {"password"} and found(SQL.encode()) == set()


@pytest.mark.service
def test_prefect_is_told_no_secret(guarded: World, collector: Endpoint, server_url: str, tmp_path: Path) -> None:
    """Flow runs, task runs, logs, artifacts and states, as the server's own database holds them."""
    home = Path(os.environ["PREFECT_HOME"])
    guarded.environment["PREFECT_API_URL"] = server_url
    chosen, out = profile(tmp_path, collector), tmp_path / "kept" / "out"
    done = guarded.run("answer", str(shop(tmp_path / "shop")), "--out", str(out), "--profile", chosen)
    assert (out / "answer.csv").read_text("utf-8") == ANSWER, done.stderr
    wait_for(lambda: any(".db" in name and b"build_catalogue" in data for name, data in files(home).items()))
    assert held(home) == {} and held(tmp_path / "kept") == {} and found((done.stdout + done.stderr).encode()) == set()
