"""The same stages within a Prefect flow: states, retries, and one set of records for both ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from staged import Place, Sum, add, call, cut_short, fresh_count, look, nothing, ran
from world import task_runs

from tasks import stage as stages
from tasks.core.errors import InputError, ModelError
from tasks.core.files.store import GATE, Store
from tasks.core.settings import Settings

__all__ = ("fresh_count",)


def in_flow(work: Callable[[], Awaitable[Any]], store_settings: Any, count: int = 1) -> tuple[Any, list[Any]]:
    """Run in a flow with the store's block; its result or exception, and the task runs as the server knows them."""
    from prefect import flow
    from prefect.context import FlowRunContext

    from flows.running.storage import open_block

    seen: dict[str, Any] = {}

    @flow(name="probe")
    async def probe() -> None:
        context = FlowRunContext.get()
        assert context and context.flow_run
        seen["id"] = context.flow_run.id
        stages.block.set(await open_block(store_settings))
        try:
            seen["result"] = await work()
        except Exception as error:
            seen["result"] = error

    async def main() -> tuple[Any, list[Any]]:
        await probe()
        return seen["result"], await task_runs(seen["id"], count)

    return asyncio.run(main())


def states(runs: list[Any]) -> list[tuple[str, str, int]]:
    return sorted((run.name, run.state_name, run.run_count) for run in runs)


def kept(settings: Settings) -> list[Path]:
    """Files of the store, but for the lock that cleaning waits at."""
    return [path for path in settings.store.folder.rglob("*") if path.is_file() and path.name != GATE]


def test_prefect_and_plain_calls_share_their_records(prefect_api: str, store: Store, settings: Settings) -> None:
    fresh, runs = in_flow(lambda: add(1), settings.store)
    assert states(runs) == [("add", "Completed", 1)]
    assert (call(add(1)), ran.runs) == (fresh, 1)
    cached, runs = in_flow(lambda: add(1), settings.store)
    assert (cached, states(runs), ran.runs) == (fresh, [("add", "Cached", 1)], 1)

    plain = call(add(2))
    crossed, runs = in_flow(lambda: add(2), settings.store)
    assert (crossed, states(runs), ran.runs) == (plain, [("add", "Cached", 1)], 2)
    assert (in_flow(lambda: nothing(1), settings.store)[0], call(nothing(1)), ran.runs) == (None, None, 3)
    records = kept(settings)
    assert {path.parent.parent.name for path in records} == {"records"} and len(records) == 3


def test_prefect_shows_retries_of_transient_trouble_only(prefect_api: str, store: Store, settings: Settings) -> None:
    ran.errors = [ModelError("busy", transient=True)]
    result, runs = in_flow(lambda: add(1), settings.store)
    assert (result.total, states(runs)) == (3, [("add", "Completed", 2)])
    ran.errors = [ModelError("refused")]
    result, runs = in_flow(lambda: add(2), settings.store)
    assert (str(result), states(runs)) == ("refused", [("add", "Failed", 1)])
    ran.errors = [ModelError("busy", transient=True)] * 3
    result, runs = in_flow(lambda: add(3), settings.store)
    assert (str(result), states(runs), ran.runs) == ("busy", [("add", "Failed", 3)], 6)
    assert [path.name for path in settings.store.folder.rglob("*.json")] == [Path(add.record(1)).name]
    assert all(path.parent.name == "add" for path in kept(settings))


def test_prefect_gives_a_result_of_this_run_only_and_records_nothing(
    prefect_api: str, store: Store, settings: Settings
) -> None:
    result, runs = in_flow(lambda: cut_short(1, "stopped"), settings.store)
    assert (result, states(runs)) == (Sum(total=1, unsettled="stopped"), [("cut_short", "Failed", 1)])
    assert ran.runs == 1 and not kept(settings)


def test_prefect_runs_fresh_stages_every_time_and_gathers_others(
    prefect_api: str, store: Store, settings: Settings
) -> None:
    async def work() -> list[Sum]:
        place = await look(Place(root="/a", files=("x",)))
        return await asyncio.gather(*(add(n, place.total) for n in range(4)))

    for second in (False, True):
        sums, runs = in_flow(work, settings.store, count=5)
        assert [s.total for s in sums] == [1, 2, 3, 4]
        assert states(runs) == [("add", "Cached" if second else "Completed", 1)] * 4 + [("look", "Completed", 1)]
    assert ran.runs == 6


def test_under_prefect_too_a_store_that_takes_nothing_is_an_error(
    prefect_api: str, store: Store, settings: Settings
) -> None:
    settings.store.folder.mkdir()
    (settings.store.folder / "records").write_text("a file where a folder should be")
    result, _ = in_flow(lambda: add(1), settings.store)
    assert isinstance(result, InputError) and "'add' could not be stored" in str(result)


@pytest.mark.parametrize("other", ["", "null"])
def test_a_torn_record_is_made_anew_under_prefect(
    prefect_api: str, store: Store, settings: Settings, other: str
) -> None:
    call(add(1))
    whole = json.loads(store.read(add.record(1)) or b"")
    torn = json.dumps({**whole, "result": other}) if other else '{"metadata": {"storage_key": "x"}, "resu'
    store.write(add.record(1), torn.encode())
    result, runs = in_flow(lambda: add(1), settings.store)
    assert (result.total, states(runs), ran.runs) == (3, [("add", "Completed", 1)], 2)
    assert call(add(1)) == result and ran.runs == 2
