"""What a user reads on the terminal when the model cannot be asked, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from endpoint import Endpoint, Status
from world import World, free_port, make_folder

QUICK = "[roles.default]\nattempts = 1\n"


def _said(world: World, folder: Path, quick: Path) -> dict[str, str]:
    quick.write_text(QUICK)
    done = world.call("answer", str(folder), "How many?", "--profile", str(quick), "--no-prefect", "--json")
    found: dict[str, str] = {"code": str(done.returncode), **json.loads(done.stdout)}
    return found


def test_an_absent_server_is_told_with_its_address_and_the_next_step(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint([]) as gone:
        monkeypatch.setenv("MODEL_API_URL", gone.url)
    said = _said(world, make_folder(tmp_path / "shop"), tmp_path / "quick.toml")
    place = gone.url.removeprefix("http://").removesuffix("/v1")
    assert (said["code"], said["status"]) == ("3", "failed")
    assert f"nothing listens at {place}" in said["reason"] and "HTTP" not in said["reason"]
    assert "set MODEL_API_URL to where it answers; `tablewright doctor`" in said["reason"]


def test_an_absent_server_is_told_before_what_would_ask_it_is_imported(world: World, tmp_path: Path) -> None:
    """That takes twice as long as all else."""
    world.environment["MODEL_API_URL"] = f"http://127.0.0.1:{free_port()}"
    script = "import atexit, sys\natexit.register(lambda: print('litellm' in sys.modules, file=sys.stderr))"
    done = world.run("answer", str(make_folder(tmp_path / "shop")), "--no-prefect", script=script)
    assert done.returncode == 3 and "(connection refused)" in done.stdout, done.stderr
    assert done.stderr.splitlines()[-1] == "False"
    world.environment.clear()
    done = world.run("answer", str(tmp_path / "shop"), "--no-prefect", script=script)
    assert done.returncode == 0 and done.stderr.splitlines()[-1] == "True"


def test_the_cause_of_the_end_is_printed_once(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Endpoint([]) as gone:
        monkeypatch.setenv("MODEL_API_URL", gone.url)
    (tmp_path / "quick.toml").write_text(QUICK)
    folder = make_folder(tmp_path / "shop")
    done = world.call("answer", str(folder), "How many?", "--profile", str(tmp_path / "quick.toml"), "--no-prefect")
    assert done.returncode == 3 and done.stdout.count("nothing listens") == 1


def test_an_empty_key_is_told_as_empty(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "")
    world.endpoint.replies = lambda _: Status(401, {"error": {"message": "no key was sent (没有密钥)"}})
    said = _said(world, make_folder(tmp_path / "shop"), tmp_path / "quick.toml")
    error = said["error"]
    assert said["code"] == "2" and isinstance(error, dict)
    assert "MODEL_API_KEY is empty: HTTP 401: no key was sent (没有密钥)" in error["message"]
    assert error["next"] == "export MODEL_API_KEY=your-key"


def test_a_document_without_a_model_is_told_with_the_next_step(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint([]) as gone:
        monkeypatch.setenv("MODEL_API_URL", gone.url)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "井.md").write_text("# 井\n\n## A-1\n深度 1200 m。\n\n## A-2\n深度 1300 m。\n", "utf-8")
    (tmp_path / "quick.toml").write_text(QUICK)
    done = world.call("document", str(tmp_path / "papers"), "--profile", str(tmp_path / "quick.toml"))
    said = " ".join(done.stdout.split())
    assert done.returncode == 3 and "no table: endpoint 'main'" in said
    assert "nothing listens at 127.0.0.1:" in said and "next: start the server there, or set MODEL_API_URL" in said
