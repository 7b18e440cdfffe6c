"""Another question over the folder as an earlier run found it: changed or gone since, with its documents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from world import ANSWER, ASKED, World, make_folder

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
