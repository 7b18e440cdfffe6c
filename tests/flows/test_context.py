"""A folder with too many tables to show: chosen by recall and votes, folded, and still answered; over real HTTP."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from company import ballot, names_in
from searcher import Searcher
from validators import schema
from world import ANSWER, SQL, STAGES, World, last_run, make_folder, solver

CHOSEN = ("write_terms", "index_catalogue", "recall", "judge_tables", "merge_context", "filter_context")
LARGE = "[relevance]\nfrom_tokens = 1\n"


class Model:
    """Replies by what a request asks for; `needed` are the tables that its votes keep."""

    def __init__(self, *needed: str, describes: str = "") -> None:
        self.needed, self.describes = needed, describes

    def __call__(self, body: dict[str, Any]) -> str:
        asked = schema(body)
        if asked == "Ballot":
            return ballot({name: name in self.needed for name in names_in(body)}, "no step reads {}")
        if asked == "TermsReply":
            return json.dumps({"columns": ["category"], "metrics": [], "values": []})
        if asked == "FilterReply":
            return json.dumps({"tables": [{"name": name, "columns": []} for name in self.needed], "metrics": []})
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        if asked == "Action" and self.describes and turns == 0:
            return json.dumps({"thought": "", "tool": "describe", "arguments": {"tables": [self.describes]}})
        if asked == "Action" and self.describes:
            body = {**body, "messages": body["messages"][3:]}
        return solver(body)


def large(folder: Path, number: int = 30) -> Path:
    """The shop, and tables beside it that nobody needs."""
    made = make_folder(folder)
    for at in range(number):
        with (made / "context" / f"aa_{at:03}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("code", "remark"), (at, "x")])
    return made


@pytest.fixture
def profile(tmp_path: Path) -> str:
    path = tmp_path / "large.toml"
    path.write_text(LARGE, "utf-8")
    return str(path)


def opening(world: World) -> str:
    """What the agent reads first."""
    asked = [b for b in world.endpoint.requests if schema(b) == "Action"]  # fmt: skip
    content: str = asked[0]["messages"][1]["content"]
    return content


def test_a12_a_folded_table_that_is_needed_is_still_described_and_queried(
    world: World, tmp_path: Path, profile: str
) -> None:
    world.endpoint.replies = Model("orders", describes="products")
    ended = world.answer(large(tmp_path / "shop"), tmp_path / "out", profile=profile)
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    first = opening(world)
    assert "- products (context/shop.db::products)" in first and "- aa_029 (context/aa_029.csv)" in first
    assert "describe shows one" in first and "category VARCHAR" not in first and "product_id" in first
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    folded = {table["name"]: table for table in evidence["folded"]}
    assert len(folded) == 31 and folded["products"]["used"] and not folded["aa_000"]["used"]
    assert (folded["products"]["tally"], folded["products"]["reason"]) == ("0/3", "no step reads products")
    assert evidence["relevance"]["fold_keys"][-1] == "context/shop.db::products"
    assert {spent["stage"]: spent["calls"] for spent in evidence["usage"]} == {
        "recall": 1, "relevance": 3, "filter": 1, "contract": 1, "agent": 3, "process": 1, "verify": 1
    }  # fmt: skip
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Tables that were folded" in report and "read by the query" in report
    assert ended.answer.status == "approved" and ended.spend.total().calls == 11


def test_the_stages_of_a_large_folder_and_the_tables_that_it_folds(world: World, tmp_path: Path, profile: str) -> None:
    world.endpoint.replies = Model("orders", "products")
    world.answer(large(tmp_path / "shop"), tmp_path / "out", profile=profile)
    stages = [entry["stage"] for entry in last_run(world.store)["stages"]]
    assert sorted(stages) == sorted({*STAGES, *CHOSEN})
    (record,) = (world.store / "records" / "compress").glob("*.json")
    brief = json.loads(json.loads(record.read_text("utf-8"))["result"])
    assert brief["shown"] == ["products", "orders"] or brief["shown"] == ["orders", "products"]
    assert len(brief["folded"]) == 30
    assert "category" in brief["detailed"]["products"]
    assert len([*(world.store / "records" / "judge_tables").glob("*.json")]) == 1


def test_another_question_reuses_what_does_not_depend_on_it(world: World, tmp_path: Path, profile: str) -> None:
    world.endpoint.replies = Model("orders", "products")
    folder = large(tmp_path / "shop")
    world.answer(folder, tmp_path / "one", profile=profile)
    world.answer(folder, tmp_path / "two", profile=profile, question="Which category has most orders?")
    events = {entry["stage"]: entry["event"] for entry in last_run(world.store)["stages"]}
    reused = {name for name, event in events.items() if event == "cached"}
    assert reused == {"read_knowledge", "read_overrides", "build_catalogue", "profile_tables", "describe_catalogue", "index_catalogue"}  # fmt: skip


def test_the_same_question_again_asks_nothing(world: World, tmp_path: Path, profile: str) -> None:
    world.endpoint.replies = Model("orders", "products")
    folder = large(tmp_path / "shop")
    world.answer(folder, tmp_path / "one", profile=profile)
    asked = world.endpoint.calls
    world.answer(folder, tmp_path / "two", profile=profile)
    assert world.endpoint.calls == asked
    assert (tmp_path / "one" / "evidence.json").read_bytes() == (tmp_path / "two" / "evidence.json").read_bytes()


def test_a_small_folder_is_shown_whole_without_a_vote(world: World, tmp_path: Path) -> None:
    world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    assert "fewer than relevance.from_tokens" in evidence["relevance"]["off"] and evidence["folded"] == []
    assert "Tables that were folded" not in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert [spent["stage"] for spent in evidence["usage"]] == ["contract", "agent", "process", "verify"]


def test_what_metadata_yaml_says_stands_in_the_brief_of_a_small_folder(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    (folder / "context" / "metadata.yaml").write_text(
        "tables:\n- name: orders\n  description: one line per parcel\n  columns:\n"
        "  - {name: product_id, description: what was bought, aliases: [货号]}\n",
        "utf-8",
    )
    world.answer(folder, tmp_path / "out")
    assert "one line per parcel" in opening(world) and "what was bought; also called 货号" in opening(world)


def test_words_that_lift_a_small_folder_over_the_bound_hold_no_vote_without_recall(
    world: World, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path / "shop")
    said = "one line per parcel that was sent, 每个包裹一行 " * 20
    (folder / "context" / "metadata.yaml").write_text(f"tables:\n- name: orders\n  description: {said}\n", "utf-8")
    world.answer(folder, tmp_path / "out")
    off = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))["relevance"]["off"]
    bound = int(off.split(" takes ")[1].split()[0]) + 1
    (tmp_path / "near.toml").write_text(f"[relevance]\nfrom_tokens = {bound}\n", "utf-8")
    world.answer(folder, tmp_path / "near", profile=str(tmp_path / "near.toml"))
    evidence = json.loads((tmp_path / "near" / "evidence.json").read_text("utf-8"))
    assert f"fewer than relevance.from_tokens ({bound})" in evidence["relevance"]["off"]
    assert [spent["stage"] for spent in evidence["usage"]] == ["contract", "agent", "process", "verify"]
    assert not {entry["stage"] for entry in last_run(world.store)["stages"]} & {"write_terms", "recall"}


def test_a_video_reaches_votes_terms_contract_and_agent(world: World, tmp_path: Path, profile: str) -> None:
    world.endpoint.replies = Model("orders", "products")
    folder = large(tmp_path / "shop")
    frames = folder / "workdir" / "_video_frames"
    frames.mkdir(parents=True)
    (frames / "timeline.txt").write_text("[00:12] slide: count orders by category, 按类别\n", "utf-8")
    world.answer(folder, tmp_path / "out", profile=profile)
    told = {schema(b): b for b in world.endpoint.requests}
    for name in ("Ballot", "TermsReply", "ContractReply", "Action"):
        assert any("count orders by category" in message["content"] for message in told[name]["messages"]), name


def test_failed_votes_show_everything_and_the_answer_says_so(world: World, tmp_path: Path, profile: str) -> None:
    model = Model("orders", "products")
    world.endpoint.replies = lambda body: "no verdict" if schema(body) == "Ballot" else model(body)
    world.answer(large(tmp_path / "shop", 3), tmp_path / "out", profile=profile)
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    assert any("could not be judged" in doubt for doubt in evidence["doubts"])
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER and SQL


def test_a_store_that_is_away_is_a_doubt_and_the_next_run_uses_it(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.endpoint.replies = Model("orders", "products")
    profile = tmp_path / "servers.toml"
    profile.write_text(f'{LARGE}[stores]\ntext = "opensearch"\n', "utf-8")
    folder = large(tmp_path / "shop", 3)
    monkeypatch.setenv("TEXT_STORE_URL", "http://me:s3cret@127.0.0.1:9")
    world.answer(folder, tmp_path / "one", profile=str(profile))
    with Searcher() as searcher:
        monkeypatch.setenv("TEXT_STORE_URL", searcher.url)
        world.answer(folder, tmp_path / "two", profile=str(profile))
    one, two = ((tmp_path / name / "evidence.json").read_text("utf-8") for name in ("one", "two"))
    doubts = [doubt for doubt in json.loads(one)["doubts"] if "the text index at http://127.0.0.1:9" in doubt]
    assert len(doubts) == 1 and "next: see whether the server runs" in doubts[0] and "s3cret" not in one
    assert "text index" not in two and "POST _search" in searcher.requests
    assert {(tmp_path / name / "answer.csv").read_text("utf-8") for name in ("one", "two")} == {ANSWER}
