"""Candidates of a question that runs elsewhere: named in the store, fetched as they come, and once more when it breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from world import ANSWER, World, make_folder, solver

from flows.running import draft
from flows.running.fetched import sent
from flows.running.request import AnswerRequest
from tasks.core.errors import BudgetError, ModelError
from tasks.core.files.store import Folder, Store
from tasks.core.models.answer import AnswerTable
from tasks.core.models.evidence import Checked
from tasks.core.settings import load

NAME = "0" * 31 + "a"
Work = Callable[[list[str]], Coroutine[Any, Any, None]]


def candidate(store: Store, text: str) -> Checked:
    """A candidate whose table is this CSV file."""
    file = store.put(text.encode(), "answer.csv")
    return Checked(table=AnswerTable(columns=("n",), rows=(), row_count=0, file=file))


def given_while(store: Store, work: Work, taken: list[str], seconds: float = 0.01, name: str = NAME) -> None:
    """Into `taken` comes what is given away while `work` runs."""

    async def scene() -> None:
        draft.keeper.set(lambda table: taken.append(table.decode()))
        async with draft.followed(name, store, seconds):
            draft.keeper.set(None)  # the question runs in another process
            await work(taken)

    asyncio.run(asyncio.wait_for(scene(), 60))


async def until(taken: list[str], text: str) -> None:
    """Until that table has been given away."""
    while text not in taken:
        await asyncio.sleep(0.01)


def test_each_candidate_comes_as_it_is_named_and_none_twice(store: Store) -> None:
    async def work(taken: list[str]) -> None:
        with draft.told(NAME):
            for text in ("n\n1\n", "城市\n北京\n"):
                draft.keep(candidate(store, text))
                draft.keep(candidate(store, text))
                await until(taken, text)
        draft.keep(candidate(store, "n\n3\n"))  # of a run that nobody waits for elsewhere
        await asyncio.sleep(0.1)

    given_while(store, work, taken := [])
    assert taken == ["n\n1\n", "城市\n北京\n"]


@pytest.mark.parametrize("error", [ModelError("no model any more"), BudgetError("over"), asyncio.CancelledError()])
def test_what_there_is_when_a_question_breaks_is_fetched_at_last(store: Store, error: BaseException) -> None:
    async def work(_: list[str]) -> None:
        with draft.told(NAME):
            draft.keep(candidate(store, "n\n1\n"))
        raise error

    taken: list[str] = []
    with pytest.raises(type(error)):
        given_while(store, work, taken, seconds=600)
    assert taken == ["n\n1\n"]


def test_a_name_that_is_torn_or_whose_table_is_gone_stops_nothing(store: Store) -> None:
    async def work(taken: list[str]) -> None:
        gone = store.put(b"n\n1\n", "answer.csv").model_copy(update={"sha256": "f" * 64})
        for said in (b"{", b"[]", gone.model_dump_json().encode()):
            store.write(f"{draft.PLACE}/{NAME}.json", said)
            await asyncio.sleep(0.05)
        with draft.told(NAME):
            draft.keep(candidate(store, "n\n2\n"))
        await until(taken, "n\n2\n")

    given_while(store, work, taken := [])
    assert taken == ["n\n2\n"]


def test_a_run_names_its_candidate_before_a_validator_is_asked(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    apart = sent(AnswerRequest(folder=str(folder), out=str(tmp_path / "out")), load())
    assert apart.draft != sent(apart, load()).draft and apart.out == ""
    named: list[bool] = []

    def reply(body: dict[str, Any]) -> Any:
        named.append((world.store / draft.PLACE / f"{apart.draft}.json").is_file())
        return solver(body)

    world.endpoint.replies = reply
    ended = world.answer(folder, tmp_path / "out", draft=apart.draft)
    assert named == [False, False, False, True, True] and ended.answer.status == "approved"
    store = Store(Folder(world.store), tmp_path / "cache")
    given_while(store, lambda taken: until(taken, ANSWER), taken := [], name=apart.draft)
    assert taken == [ANSWER]
