"""Questions that wait for a work pool: a machine that is lost, a process that crashes, a question that fails, no such deployment."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from world import ANSWER, ASKED, World, make_folder, patient

from flows.running import draft
from flows.running import pool as pool_module
from flows.running.pool import Awaited, Pool, opened
from flows.running.record import RunRecord
from flows.running.request import AnswerRequest
from tasks.core.errors import InputError, TablewrightError
from tasks.core.files.store import Store
from tasks.core.models.answer import Question
from tasks.core.settings import load

NAME = "answer/questions-of-tests"


@contextlib.asynccontextmanager
async def pool(again: int = 1) -> AsyncIterator[Pool]:
    """A pool without workers: what they do is done by the test."""
    from flows.deployed import answer_flow

    await (await answer_flow.ato_deployment(NAME.split("/")[1], enforce_parameter_schema=False)).aapply()
    limits = {"deployment": NAME, "beat_seconds": 0.2, "lost_seconds": 600, "again": again}
    async with opened(load(overrides={"machines": limits})) as made:
        yield made


def patience(made: Pool, seconds: float) -> None:
    """How long a machine may be silent from now on."""
    made.limits = made.limits.model_copy(update={"lost_seconds": seconds})


async def state_of(made: Pool) -> tuple[Any, Any]:
    """The one flow run that is waited for, and its state's name."""
    (run,) = [await made.client.read_flow_run(one) for one in list(made._awaited)]
    return run, run.state.name


async def until(made: Pool, *names: str) -> Any:
    """The flow run, as soon as its state has one of these names."""
    for _ in range(1200):
        if made._awaited:
            run, name = await state_of(made)
            if name in names:
                return run
        await asyncio.sleep(0.1)
    raise AssertionError(f"never {names}")


async def work(run: Any) -> None:
    """What a worker's process does."""
    from prefect.flow_engine import run_flow

    from flows.deployed import answer_flow

    await run_flow(answer_flow, flow_run=run, parameters=run.parameters, return_type="state")  # type: ignore[misc]


def question(folder: Path, out: Path) -> AnswerRequest:
    return AnswerRequest(folder=str(folder), out=str(out), csv_name="prediction.csv")


@pytest.mark.service
def test_a_lost_machines_question_starts_again_and_its_files_come_here(
    prefect_api: str, world: World, tmp_path: Path
) -> None:
    from prefect.states import Running

    async def scene() -> Any:
        async with pool() as made:
            asked = asyncio.create_task(made.ask(question(make_folder(tmp_path / "shop"), tmp_path / "out")))
            run = await until(made, "Scheduled")
            await made.client.set_flow_run_state(run.id, Running(), force=True)  # a worker that is never heard of again
            patience(made, 0.5)
            run = await until(made, "AwaitingRetry")
            patience(made, 600)
            await work(run)
            return await asyncio.wait_for(asked, 600), await made.client.read_flow_run(run.id)

    ended, run = asyncio.run(scene())
    assert ended.prefect == str(run.id) and run.state.name == "Completed" and world.endpoint.calls == ASKED
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(ended.files)
    assert (tmp_path / "out" / "prediction.csv").read_text("utf-8") == ANSWER and ended.answer.status == "approved"


@pytest.mark.service
def test_a_candidate_comes_here_while_a_worker_still_asks_its_validators(
    prefect_api: str, world: World, tmp_path: Path
) -> None:
    found: list[bytes] = []
    world.endpoint.replies = patient(tmp_path / "candidate.csv")

    async def scene() -> Any:
        draft.keeper.set(lambda table: found.append((tmp_path / "candidate.csv").write_bytes(table) and table))
        async with pool() as made:
            asked = asyncio.create_task(made.ask(question(make_folder(tmp_path / "shop"), tmp_path / "out")))
            run = await until(made, "Scheduled")
            draft.keeper.set(None)  # a worker knows of nobody who waits
            await work(run)
            return await asyncio.wait_for(asked, 600)

    assert asyncio.run(scene()).answer.status == "approved" and found == [ANSWER.encode()]


@pytest.mark.service
def test_what_crashes_again_and_again_and_what_fails_are_told(prefect_api: str, world: World, tmp_path: Path) -> None:
    from prefect.states import Crashed

    async def scene() -> None:
        async with pool(again=0) as made:
            asked = asyncio.create_task(made.ask(question(make_folder(tmp_path / "shop"), tmp_path / "out")))
            run = await until(made, "Scheduled")
            await made.client.set_flow_run_state(run.id, Crashed(message="exit code -9"), force=True)
            with pytest.raises(TablewrightError, match="exit code -9") as told:
                await asyncio.wait_for(asked, 600)
            assert str(run.id) in told.value.hint
            (tmp_path / "empty").mkdir()
            asked = asyncio.create_task(made.ask(question(tmp_path / "empty", tmp_path / "out")))
            await work(await until(made, "Scheduled"))
            with pytest.raises(TablewrightError, match="no question is asked"):
                await asyncio.wait_for(asked, 600)

    asyncio.run(scene())


def test_a_run_lives_as_long_as_its_record_moves(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(pool_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    settings = load(overrides={"machines": {"beat_seconds": 10, "lost_seconds": 30}})
    made, run = Pool(settings, None, uuid4(), store), uuid4()  # type: ignore[arg-type]

    async def scene() -> list[bool]:
        awaited, lost = Awaited(run, asyncio.get_running_loop().create_future(), moved=now[0]), []
        for look in range(8):  # each 11 s; the record comes at the third look, and stands still after the fifth
            if 2 <= look <= 4:
                store.write(f"runs/20260131-000000-{str(run)[-8:]}.json", said(run, float(look)))
            lost.append(await made._is_lost(awaited))
            now[0] += 11
        return lost

    assert asyncio.run(scene()) == [False] * 7 + [True]


def said(run: UUID, seconds: float) -> bytes:
    """A record of that flow run."""
    question = Question(text="多少?", as_of=date(2026, 1, 31))
    made = RunRecord(
        run="r", status="running", request={}, question=question, out="", prefect=str(run), seconds=seconds
    )
    return made.model_dump_json().encode()


@pytest.mark.service
def test_a_deployment_that_is_not_there_is_named(prefect_api: str, world: World) -> None:
    async def scene() -> None:
        async with opened(load(overrides={"machines": {"deployment": "answer/nowhere"}})):
            pass

    with pytest.raises(InputError, match="no deployment 'answer/nowhere'") as told:
        asyncio.run(scene())
    assert "prefect deploy" in told.value.hint
