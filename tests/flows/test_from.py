"""Another question over the folder as an earlier run found it: changed or gone since, with its documents."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError
from world import ANSWER, ASKED, World, make_folder

from flows.running.request import SolveRequest
from flows.running.session import Ended

AGAIN = "Orders by kind? 每类订单"


def test_a_question_is_asked_again_over_a_folder_that_changed_and_over_one_that_is_gone(
    world: World, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path / "shop")
    first = world.answer(folder, tmp_path / "one")
    with (folder / "context" / "orders.csv").open("a") as file:
        file.write("0004,8\r\n")
    done = world.call(
        "answer", "--from", first.run[:17], AGAIN, "--no-prefect", "--json", "--out", str(tmp_path / "two")
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "two" / "answer.csv").read_text("utf-8") == ANSWER and world.endpoint.calls == 2 * ASKED
    shutil.rmtree(folder)
    shutil.rmtree(world.store / "records")
    third = world.call("answer", "--from", json.loads(done.stdout)["run"], AGAIN + "?", "--no-prefect", "--json")
    said = json.loads(third.stdout)
    assert (said["status"], said["preview"]) == ("approved", [["cake", 1], ["茶", 2]]), third.stderr


def test_what_cannot_be_asked_again_says_why(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    (folder / "context" / "orders.csv").unlink()
    done = world.call("answer", "--from", "2020", AGAIN)
    assert done.returncode == 2 and "there is no run '2020'" in done.stderr
    ended = world.answer(folder, tmp_path / "out")
    for path in (world.store / "runs").glob("*.json"):
        record = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**record, "shelf": None}))
    done = world.call("answer", "--from", ended.run, AGAIN, "--no-prefect")
    assert done.returncode == 2 and "has no catalogue to ask again" in done.stderr
    done = world.call("answer", str(folder), AGAIN, "--from", ended.run)
    assert done.returncode == 2 and "no folder is named" in done.stderr


@pytest.mark.service
def test_e1_the_solve_flow_asks_over_an_earlier_run_as_the_command_does(
    prefect_api: str, world: World, tmp_path: Path
) -> None:
    from prefect.client.orchestration import get_client

    from flows.deployed import solve_flow

    folder = make_folder(tmp_path / "shop")
    first = world.answer(folder, tmp_path / "one")
    shutil.rmtree(folder)

    async def main() -> tuple[Ended, str, str]:
        ended: Ended = await solve_flow(SolveRequest(base=first.run[:17], question=AGAIN, out=str(tmp_path / "two")))
        async with get_client() as client:
            run = await client.read_flow_run(ended.prefect)  # type: ignore[arg-type]
        return ended, run.name, str(run.state_name)

    ended, name, state = asyncio.run(main())
    assert (name, state) == (f"{first.run[:17]}: {AGAIN}", "Completed") and ended.answer.status == "approved"
    assert (tmp_path / "two" / "answer.csv").read_text("utf-8") == ANSWER
    paid = world.endpoint.calls
    done = world.call("answer", "--from", first.run, AGAIN, "--no-prefect", "--out", str(tmp_path / "three"))
    assert done.returncode == 0 and world.endpoint.calls == paid == 2 * ASKED
    assert (tmp_path / "three" / "evidence.json").read_bytes() == (tmp_path / "two" / "evidence.json").read_bytes()


def test_the_form_of_another_question_asks_for_the_run_and_the_question() -> None:
    shown = SolveRequest.model_json_schema()
    assert set(shown["required"]) == {"base", "question"} and "folder" not in shown["properties"]
    assert all(field["title"] and field["description"] for field in shown["properties"].values())
    for left in ("base", "question"):
        with pytest.raises(ValidationError):
            SolveRequest(**{"base": "20260101", "question": "how many?", left: ""})
