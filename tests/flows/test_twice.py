"""Two runs over one store at once: no reply is paid for twice, and a killed run holds up nobody."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import orchards
import pytest
from endpoint import Delay, Endpoint
from world import World, files, wait_for, worlds

PROFILE = "[normalise]\nmodel_code = false\n[extract]\nrecords = 2\n"


def asked(endpoint: Endpoint) -> Counter[str]:
    return Counter(json.dumps(body["messages"], ensure_ascii=False) for body in endpoint.requests)


def slow(body: dict[str, Any]) -> Delay:
    """Long enough for the other run to come to the same request."""
    return Delay(0.7, orchards.model(body))


def command(folder: Path, name: str) -> tuple[str, ...]:
    (folder / "profile.toml").write_text(PROFILE)
    options = ("--profile", str(folder / "profile.toml"), "--as-of", "2026-01-31", "--no-prefect")
    return ("answer", str(orchards.SAMPLE), *options, "--out", str(folder / name))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """What one run asks."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as monkeypatch, worlds(folder, monkeypatch) as made:
        world = made(orchards.model)
        done = world.call(*command(folder, "out"))
        assert done.returncode == 0, done.stderr
        return asked(world.endpoint)


def test_two_runs_at_once_pay_once(whole: Counter[str], tmp_path: Path) -> None:
    with Endpoint(slow) as endpoint:
        world = World(tmp_path, endpoint)
        runs = [world.start(*command(tmp_path, name)) for name in ("one", "two")]
        for run in runs:
            _, err = run.communicate(timeout=240)
            assert run.returncode == 0, err
    assert asked(endpoint) == whole
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert not [*(world.store / "cache" / "locks").iterdir()]


def test_a_run_that_is_killed_while_another_waits_for_its_reply_holds_it_up_no_longer(
    whole: Counter[str], tmp_path: Path
) -> None:
    def model(body: dict[str, Any]) -> Any:
        """The first plan is never written."""
        planning = "records_complete" in body["messages"][0]["content"]
        first = planning and sum("records_complete" in b["messages"][0]["content"] for b in endpoint.requests) == 1
        return Delay(600, "") if first else orchards.model(body)

    with Endpoint(model) as endpoint:
        world = World(tmp_path, endpoint)
        one = world.start(*command(tmp_path, "one"))
        wait_for(lambda: any("records_complete" in text for text in asked(endpoint)))
        two = world.start(*command(tmp_path, "two"))
        locks = world.store / "cache" / "locks"
        wait_for(lambda: len(world.endpoint.requests) and (tmp_path / "two").exists() and [*locks.iterdir()])
        one.send_signal(signal.SIGKILL)
        one.communicate()
        _, err = two.communicate(timeout=240)
        assert two.returncode == 0, err
    again = asked(endpoint) - whole
    assert again.total() == 1 and "records_complete" in next(iter(again)) and whole - asked(endpoint) == Counter()
