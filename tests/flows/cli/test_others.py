"""`tablewright score`, `doctor` and `model`: what they print and with which exit code they end."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from endpoint import Endpoint
from world import World


def checks(world: World, *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    done = world.call("doctor", "--json", *arguments)
    return done.returncode, {check["name"].split()[0]: check for check in json.loads(done.stdout)["checks"]}


def test_score_prints_each_task_and_the_mean(world: World, tmp_path: Path) -> None:
    for name, text in (("task_1", "n\n1\n"), ("task_2", "n,m\n2,9\n")):
        for root, file, data in (
            ("gold", "gold.csv", text.replace(",m", "").replace(",9", "")),
            ("out", "prediction.csv", text),
        ):
            (tmp_path / root / name).mkdir(parents=True)
            (tmp_path / root / name / file).write_text(data)
    done = world.call("score", str(tmp_path / "out"), str(tmp_path / "gold"))
    assert (
        done.returncode == 0
        and "task_2" in done.stdout
        and "mean 0.9750 over 2 tasks, 1 of them perfect" in done.stdout
    )
    said = json.loads(
        world.call("score", str(tmp_path / "out"), str(tmp_path / "gold"), "--lam", "0.4", "--json").stdout
    )
    assert said["mean"] == pytest.approx(0.9) and [task["score"] for task in said["tasks"]] == [1.0, pytest.approx(0.8)]
    mixed = world.call("score", str(tmp_path / "out" / "task_1" / "prediction.csv"), str(tmp_path / "gold"))
    assert mixed.returncode == 2 and "one is a file, the other a folder" in mixed.stderr
    for name in ("none", "x" * 300):
        done = world.call("score", str(tmp_path / "out"), str(tmp_path / name))
        assert done.returncode == 2 and "there is no file or folder" in done.stderr


@pytest.mark.parametrize(
    ("pred", "gold", "says", "step"),
    [
        ("nowhere", "gold", "there is no folder", "next: give the path of the OUTPUT of `tablewright batch`"),
        ("empty", "gold", "no predictions in", "TASK/prediction.csv for each task of GOLD"),
        ("others", "gold", "a folder for none of the 2 gold tasks (task_1, 任务_2)", "TASK/prediction.csv"),
        ("batch", "gold", "a folder for none of the 2 gold tasks (task_1, 任务_2)", "TASK/prediction.csv"),
        ("nowhere.csv", "gold/task_1/gold.csv", "there is no prediction", "next: give the CSV file"),
        ("others", "gold/task_1/gold.csv", "one is a file, the other a folder", "next: give two CSV files"),
    ],
)
def test_score_without_a_prediction_is_the_callers_error(
    world: World, tmp_path: Path, pred: str, gold: str, says: str, step: str
) -> None:
    for path in ("gold/task_1/gold.csv", "gold/任务_2/gold.csv", "others/task_9/prediction.csv"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("n\n1\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "batch").mkdir()
    (tmp_path / "batch" / "summary.json").write_text('{"tasks": [{"task": "task_9"}]}')
    done = world.call("score", str(tmp_path / pred), str(tmp_path / gold))
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and says in said and step in said and "mean" not in done.stdout


def test_a_batch_that_answered_nothing_scores_zero(world: World, tmp_path: Path) -> None:
    (tmp_path / "gold" / "task_1").mkdir(parents=True)
    (tmp_path / "gold" / "task_1" / "gold.csv").write_text("n\n1\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.json").write_text('{"tasks": [{"task": "task_1"}]}')
    done = world.call("score", str(tmp_path / "out"), str(tmp_path / "gold"))
    assert done.returncode == 0 and "no prediction.csv" in done.stdout and "mean 0.0000 over 1 tasks" in done.stdout


def test_doctor_says_that_a_listed_model_works(world: World) -> None:
    code, found = checks(world)
    assert (code, found["model"]["state"], found["store"]["state"]) == (0, "ok", "ok")
    assert found["Prefect"]["state"] == "limited" and found["Prefect"]["next"] == "tablewright serve"
    assert "tablewright 0" in found["versions"]["detail"]
    assert found["isolation"]["state"] in ("ok", "limited") and world.endpoint.calls == 0


def test_doctor_names_what_is_broken_and_the_next_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with Endpoint([]) as gone:
        url = gone.url
    for variable, value, state, says in (
        ("MODEL_API_URL", url, "broken", "does not answer: nothing listens at 127.0.0.1:"),
        ("MODEL_API_URL", "http://no-such-host.invalid", "broken", "host name 'no-such-host.invalid'"),
        ("MODEL_API_URL", "not a url", "broken", "no http or https URL: not a url"),
        ("MODEL_API_URL", "http://[", "broken", "it cannot be read"),
        ("MODEL_API_URL", "http://user:1?secret@host", "broken", "holds a user or password"),
        ("MODEL_API_URL", "http://a b", "broken", "is no URL"),
        ("MODEL_API_URL", "http://", "broken", "no http or https URL"),
        ("MODEL_NAME", "another", "limited", "lists other models: scripted"),
        ("MODEL_NAME", "", "limited", "names no model"),
    ):
        with monkeypatch.context() as change:
            change.setenv(variable, value)
            code, found = checks(world)
        assert (found["model"]["state"], code) == (state, 2 if state == "broken" else 0)
        assert says in found["model"]["detail"] and found["model"]["next"]


def test_doctor_at_a_page_that_is_no_endpoint_says_what_to_look_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.endpoint, "listing", b"<html><body>\xe6\xac\xa2\xe8\xbf\x8e</body></html>")
    code, found = checks(world)
    assert (code, found["model"]["state"]) == (0, "limited")
    assert "its list of models cannot be read" in found["model"]["detail"]
    assert "see that MODEL_API_URL is an OpenAI-compatible endpoint" in found["model"]["next"]


def test_doctor_as_text_never_shows_the_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sk-secret-7")
    done = world.call("doctor")
    assert done.returncode == 0 and "sk-secret-7" not in done.stdout + done.stderr
    assert "Prefect server" in done.stdout and "next: tablewright serve" in done.stdout


def test_doctor_on_a_store_that_takes_nothing(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "file" / "store"))
    code, found = checks(world)
    assert (code, found["store"]["state"]) == (2, "broken") and "cannot use the store's folder" in found["store"][
        "detail"
    ]


def test_model_status_starts_and_fetches_nothing(world: World, tmp_path: Path) -> None:
    profile = tmp_path / "elsewhere.toml"
    profile.write_text(f'[local]\ncache = "{tmp_path / "cache"}"\n')
    said = json.loads(world.call("model", "status", "--profile", str(profile), "--json").stdout)
    assert (said["file"], said["running"]) == ("", False)
    assert "it does not run" in world.call("model", "stop", "--profile", str(profile)).stdout
    assert not list((tmp_path / "cache").glob("*.gguf"))
    assert "fetch" in world.call("model").stdout


def test_doctor_knows_the_local_model_is_not_here_yet(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODEL_API_URL")
    profile = tmp_path / "elsewhere.toml"
    profile.write_text(f'[endpoints.main]\nserve = true\n[local]\ncache = "{tmp_path / "cache"}"\n')
    code, found = checks(world, "--profile", str(profile))
    assert code == 0 and found["model"]["next"] == "tablewright model fetch" and "1.1 GB" in found["model"]["detail"]


@pytest.mark.parametrize(
    ("status", "key", "state", "says"),
    [
        (401, "key", "broken", "refuses the key"),
        (403, "", "broken", "asks for a key, and MODEL_API_KEY is empty"),
        (404, "key", "limited", "HTTP 404"),
    ],
)
def test_doctor_reads_refusals(
    world: World, monkeypatch: pytest.MonkeyPatch, status: int, key: str, state: str, says: str
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", key)

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("MODEL_API_URL", f"http://127.0.0.1:{server.server_address[1]}")
        _, found = checks(world)
        server.shutdown()
    assert found["model"]["state"] == state and says in found["model"]["detail"]


def test_the_version_is_told(world: World) -> None:
    done = world.call("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "tablewright") and done.stdout.split()[1][0].isdigit()


def test_fetching_says_that_the_path_is_the_model(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from tasks.core.llm.local import weights

    monkeypatch.setattr(weights, "fetch", lambda *_: Path("/models/small.gguf"))
    assert world.call("model", "fetch").stdout == "model: /models/small.gguf\n"
