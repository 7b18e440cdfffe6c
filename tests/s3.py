"""A private S3 server of a test session: moto's, as a process of its own on loopback, with an empty bucket for each test that asks."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from world import free_port

START_SECONDS = 120
"""3 s on a quiet machine."""


@dataclass(frozen=True)
class Bucket:
    """An empty bucket of a server that runs."""

    address: str
    name: str

    @property
    def url(self) -> str:
        """Of a store in it, as `store.block` takes it."""
        return f"s3://{self.name}/tablewright"

    def variables(self) -> dict[str, str]:
        """The environment in which it is found."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def keys(self, prefix: str = "") -> list[str]:
        """Of all objects below the store."""
        pages = (
            self._client().get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=f"tablewright/{prefix}")
        )
        return [item["Key"].removeprefix("tablewright/") for page in pages for item in page.get("Contents", [])]

    def make(self) -> None:
        """Make the bucket."""
        self._client().create_bucket(Bucket=self.name)

    def _client(self) -> Any:
        import boto3

        names = self.variables()
        return boto3.client(
            "s3",
            endpoint_url=self.address,
            aws_access_key_id=names["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=names["AWS_SECRET_ACCESS_KEY"],
            region_name=names["AWS_DEFAULT_REGION"],
        )


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The address of an S3 server, as long as the block lasts. Skips the test where a package is not installed."""
    for package, lock in (("moto.server", "s3server"), ("flask", "s3server"), ("s3fs", "machines")):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install -r requirements-{lock}.txt")
    port = free_port()
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=log,
            stderr=log,
            env={**os.environ, "MOTO_S3_CUSTOM_ENDPOINTS": ""},
        ) as server,
    ):
        try:
            _wait(server, f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def _wait(server: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"{address}/moto-api/data.json", timeout=5):
                return
        except OSError:
            assert server.poll() is None, "the S3 server ended"
            assert time.monotonic() < deadline, f"no answer after {START_SECONDS} s"
            time.sleep(0.1)


@pytest.fixture(scope="session")
def s3_address() -> Iterator[str]:
    """Of one S3 server for the whole session; it starts with the first test that asks."""
    with serving() as address:
        yield address


@pytest.fixture
def bucket(s3_address: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bucket:
    """An empty bucket, found by this process and its children."""
    made = Bucket(s3_address, f"bucket-{abs(hash(request.node.nodeid)) % 10**10}")
    for name, value in made.variables().items():
        monkeypatch.setenv(name, value)
    made.make()
    return made
