"""`tablewright answer`: what it prints, and what it says to every kind of bad input."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest
from endpoint import Endpoint, Status
from world import ANSWER, ASKED, World, files, make_folder

HASTY = """
[retry]
first_seconds = 0.0
longest_seconds = 0.1

[roles.default]
attempts = 1
timeout_seconds = 20
"""


def test_text_shows_table_status_sources_price_and_files(world: World, tmp_path: Path) -> None:
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    for part in (
        "category",
        "茶",
        "cake",
        "approved",
        "from context/orders.csv (3 rows)",
        "context/shop.db::products",
    ):
        assert part in done.stdout
    assert f"{ASKED} model calls; " in done.stdout and str(tmp_path / "out" / "report.html") in done.stdout
    assert "no Prefect server at" in done.stderr and "plain calls" in done.stderr
    assert done.stderr.count("\n") == 1, "piped: no progress"


def test_an_endpoint_that_nothing_listens_at_is_told_as_that(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint([]) as gone:
        monkeypatch.setenv("MODEL_API_URL", gone.url)
    profile = tmp_path / "quick.toml"
    profile.write_text("[retry]\nabsent_seconds = 0.1\n")
    done = world.call(
        "answer", str(make_folder(tmp_path / "shop")), "--no-prefect", "--profile", str(profile), "--json"
    )
    said = json.loads(done.stdout)
    assert (done.returncode, said["status"]) == (3, "failed")
    assert said["reason"].startswith("the model cannot be reached (endpoint 'main'")
    assert "nothing listens at 127.0.0.1:" in said["reason"] and "start the server there" in said["reason"]


def test_columns_that_do_not_fit_the_terminal_are_counted(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = "SELECT " + ", ".join(f"{997 + number} + count(*) AS c{number}" for number in range(60)) + " FROM orders"
    action = {"thought": "", "tool": "submit", "arguments": {"sql": wide, "confirm": True}}
    world.endpoint.replies = lambda _: json.dumps(action)
    monkeypatch.setenv("COLUMNS", "80")
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--no-prefect")
    assert done.returncode == 0, done.stdout
    assert "c0" in done.stdout and "1009" in done.stdout and "1010" not in done.stdout
    assert "60 columns in all, 10 shown" in done.stdout


def test_an_answer_without_rows_says_first_what_leaves_none(world: World, tmp_path: Path) -> None:
    sql = "SELECT o.id FROM orders o JOIN products p ON p.id = o.product_id WHERE o.id <> '0001' AND p.category = 'pie'"
    action = {"thought": "", "tool": "submit", "arguments": {"sql": sql, "confirm": True}}
    world.endpoint.replies = lambda _: json.dumps(action)
    out = tmp_path / "out"
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--no-prefect", "--out", str(out))
    told = "the answer has no rows: of 2 rows that meet o.id <> '0001' none meets p.category = 'pie'"
    said = " ".join(done.stdout.split())
    assert done.returncode == 0 and said.count(told) == 1
    assert said.index(told) < said.index("not_assessed")
    page = html.unescape((out / "report.html").read_text("utf-8"))
    assert page.index(told[1:]) < page.index("What to doubt") < page.rindex(told[1:])


def test_json_is_one_document_with_the_answer_and_where_it_came_from(world: World, tmp_path: Path) -> None:
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--no-prefect", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert said["preview"] == [["cake", 1], ["茶", 2]] and said["columns"] == ["category", "n"] and said["rows"] == 2
    assert said["sources"] == ["context/orders.csv", "context/shop.db::products"] and said["spend"]["calls"] == ASKED
    assert Path(said["files"][0]).read_text("utf-8") == ANSWER and Path(said["files"][0]).is_relative_to(world.store)


def test_a_question_on_the_command_line_goes_before_that_of_the_folder(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    (folder / "task.json").write_text("no JSON")
    done = world.call(
        "answer", str(folder), "Which categories have how many orders? 哪些类别", "--no-prefect", "--json"
    )
    assert done.returncode == 0 and "哪些类别" in json.dumps(world.endpoint.requests, ensure_ascii=False)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["{tmp}/nowhere"], 2, ["there is no folder", "nowhere", "next: give the path"]),
        (["{tmp}/shop/task.json"], 2, ["task.json' is a file, and the folder", "next: give its folder: {tmp}/shop"]),
        (
            ["{tmp}/shop", "--out", "{tmp}/wrong.toml"],
            2,
            ["wrong.toml is a file", "next: give a folder, as {tmp}/wrong"],
        ),
        (["{tmp}/shop", "--out", "{tmp}/任务"], 2, ["任务 is a file", "next: give a folder, as {tmp}/任务_out"]),
        (["{tmp}/empty", "how many?"], 2, ["empty", "next: put the data files"]),
        (["{tmp}/empty"], 2, ["no question is asked", "next: add it"]),
        (["{tmp}/shop", "--profile", "nope"], 2, ["no profile 'nope'", "next: choose one of", "local"]),
        (["{tmp}/shop", "--profile", "{tmp}/broken.toml"], 2, ["broken.toml", "next: mend"]),
        (
            ["{tmp}/shop", "--profile", "{tmp}/wrong.toml"],
            2,
            ["wrong.toml: agent.turns = '0'", "next: see configs/default.toml"],
        ),
        (
            ["{tmp}/shop", "--out", "{tmp}/shop/answer"],
            2,
            ["lies in the folder", "next: choose an output folder outside"],
        ),
        (["{tmp}/shop", "--out", "{tmp}/shop/task.json/x"], 2, ["lies in the folder"]),
        (["{tmp}/shop", "--out", "{tmp}/broken.toml/x"], 2, ["cannot write to the output folder", "next: choose"]),
        (["{tmp}/shop", "--out", "{tmp}/taken"], 2, ["derived is no folder", "next: move it"]),
        (["{tmp}/" + "x" * 300, "how many?"], 2, ["there is no folder", "next: give the path"]),
        (["~no.such.user/shop", "how many?"], 2, ["names no user", "next:"]),
        (["{tmp}/shop", "--out", "~no.such.user/out"], 2, ["names no user", "next:"]),
        (["{tmp}/shop", "--profile", "x" * 300], 2, ["no profile", "next: choose one of"]),
        (["{tmp}/shop", "--style", "poem"], 2, ["style 'poem'", "'tools', 'json' or 'single'", "next:"]),
        (["{tmp}/shop", "--as-of", "tomorrow"], 2, ["tomorrow"]),
        (["{tmp}/shop", "--nope"], 2, ["--nope"]),
        ([], 2, ["folder"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_bad_input_says_what_where_and_the_next_step(
    world: World, tmp_path: Path, arguments: list[str], code: int, says: list[str]
) -> None:
    make_folder(tmp_path / "shop")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.toml").write_text("[agent")
    (tmp_path / "wrong.toml").write_text("[agent]\nturns = 0\n")
    (tmp_path / "任务").write_text("a file")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "derived").write_text("a file")
    done = world.call("answer", *(argument.format(tmp=tmp_path) for argument in arguments))
    assert done.returncode == code
    text = " ".join(done.stderr.split())
    assert all(part.format(tmp=tmp_path).lower() in text.lower() for part in says), done.stderr
    assert "Traceback" not in done.stderr and world.endpoint.calls == 0


def test_a_folder_without_anything_to_read_costs_no_model_call(world: World, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.db").write_text("no database")
    (tmp_path / "shop" / "b.mp4").write_bytes(b"\0")
    done = world.call("answer", str(tmp_path / "shop"), "How many?", "--no-prefect", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["error"]["kind"], world.endpoint.calls) == (2, "InputError", 0)
    assert "no table and no document can be read" in said["error"]["message"]
    assert "a.db: no SQLite database" in said["error"]["message"] and "tablewright inspect" in said["error"]["next"]


@pytest.mark.parametrize("name", ["answer.csv", "evidence.json", "report.html"])
def test_a_folder_where_a_file_is_to_be_written_is_said_before_any_call(
    world: World, tmp_path: Path, name: str
) -> None:
    (tmp_path / "out" / name).mkdir(parents=True)
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--no-prefect", "--out", str(tmp_path / "out"))
    assert (done.returncode, world.endpoint.calls) == (2, 0)
    assert f"{name} is a folder" in done.stderr and "next: move it" in done.stderr


def test_without_a_model_the_next_step_names_both_ways(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODEL_NAME")
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--no-prefect")
    assert done.returncode == 2
    assert (
        "no model is configured" in done.stderr and "MODEL_API_URL" in done.stderr and "--profile local" in done.stderr
    )


def test_a_store_that_cannot_be_used_is_said(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "file" / "store"))
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--no-prefect")
    assert (
        done.returncode == 2
        and "cannot use the store's folder" in done.stderr
        and "next: set TABLEWRIGHT_STORE or store.path" in done.stderr
    )


def test_the_store_is_never_written_into_the_sources(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "shop")
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(folder / "context" / "store"))
    before = files(folder)
    for command in ("answer", "inspect"):
        done = world.call(command, str(folder))
        assert done.returncode == 2 and "the store" in done.stderr and "next: set TABLEWRIGHT_STORE" in done.stderr
    assert files(folder) == before and not (folder / "context" / "store").exists()


def test_a_store_in_a_block_needs_the_server(world: World, tmp_path: Path) -> None:
    profile = tmp_path / "block.toml"
    profile.write_text('[store]\nblock = "remote-file-system/results"\n')
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--profile", str(profile))
    assert done.returncode == 2 and "remote-file-system/results" in done.stderr and "start the server" in done.stderr


def test_errors_are_json_too_when_that_is_asked(world: World, tmp_path: Path) -> None:
    done = world.call("answer", str(tmp_path / "nowhere"), "--json")
    said = json.loads(done.stdout)
    assert said["exit_code"] == done.returncode == 2
    assert said["error"]["kind"] == "InputError" and "nowhere" in said["error"]["message"] and said["error"]["next"]


def test_debug_shows_the_traceback(world: World, tmp_path: Path) -> None:
    done = world.call("answer", str(tmp_path / "nowhere"), "--debug")
    assert done.returncode == 2 and "Traceback" in done.stderr and "there is no folder" in done.stderr


@pytest.mark.parametrize(
    ("more", "code", "status"),
    [("", 3, "failed"), ("[budget]\ncalls = 1\n", 4, "failed")],
    ids=["no usable model", "budget"],
)
def test_exit_codes_of_runs_without_an_answer(world: World, tmp_path: Path, more: str, code: int, status: str) -> None:
    if not more:
        world.endpoint.replies = lambda _: Status(500, "down")
    (tmp_path / "hasty.toml").write_text(HASTY + more)
    folder = make_folder(tmp_path / "shop")
    arguments = ("answer", str(folder), "--profile", str(tmp_path / "hasty.toml"), "--no-prefect", "--json")
    done = world.call(*arguments)
    said = json.loads(done.stdout)
    assert (done.returncode, said["status"]) == (code, status), said
    assert Path(said["files"][-1]).name == "report.html"


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_question_without_quotes_is_told_how_to_be_asked(
    world: World, tmp_path: Path, as_json: tuple[str, ...]
) -> None:
    folder = make_folder(tmp_path / "shop")
    done = world.call("answer", str(folder), "what", "is", "the", "total", *as_json)
    assert done.returncode == 2 and not world.endpoint.requests
    assert f'put the question in quotes: tablewright answer {folder} "what is the total"' in done.stderr


def test_a_day_that_is_none_is_told_its_form(world: World, tmp_path: Path) -> None:
    done = world.call("answer", str(make_folder(tmp_path / "shop")), "--as-of", "gestern", "--json")
    assert done.returncode == 2 and "'gestern' is no day" in done.stdout and "2024-12-31" in done.stdout


def test_what_is_wrong_with_the_folder_is_said_before_anything_of_prefect(world: World, tmp_path: Path) -> None:
    done = world.call("answer", str(tmp_path / "nowhere"), "how many?")
    assert done.returncode == 2 and "there is no folder" in done.stderr and "Prefect" not in done.stderr


def test_the_question_stands_above_the_answer_and_a_rerun_says_that_nothing_was_asked(
    world: World, tmp_path: Path
) -> None:
    folder = str(make_folder(tmp_path / "shop"))
    done = world.call("answer", folder, "--no-prefect")
    assert done.stdout.startswith("How many orders are there per category?")
    assert "no model was asked: read from an earlier run" in world.call("answer", folder, "--no-prefect").stdout


def test_trace_says_what_a_name_is_that_is_no_table_of_a_document(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    world.call("answer", str(make_folder(tmp_path / "shop")), "--no-prefect", "--out", str(out))
    for name, path in (("orders", "context/orders.csv"), ("products", "context/shop.db")):
        said = world.call("trace", name, "0001", "id", "--out", str(out)).stderr
        assert f"'{name}' is a source table (file {path})" in said and "only tables drawn from documents" in said
    assert "there is no folder" in world.call("trace", "orders", "0001", "id", "--out", "nowhere").stderr
    assert "no table 'other' drawn" in world.call("trace", "other", "0001", "id", "--out", str(out)).stderr
