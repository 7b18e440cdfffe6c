"""store → its runs with status, score and spend; one that broke → another try of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from flows.running import record
from flows.running.record import ORPHANED, RunRecord
from flows.running.session import check_server, open_store
from tasks.artifacts import in_run
from tasks.benchmark.score import score_pair
from tasks.core.errors import InputError
from tasks.core.files.store import Store
from tasks.core.models.run import StageSpend
from tasks.core.models.value import Value
from tasks.core.settings import Settings, load

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient

_TELL_SECONDS = 10.0
"""Most that telling the server may take, however many runs it has not heard of."""


class Listed(Value):
    """One run, as a list shows it."""

    run: str
    flow: str
    status: str
    reason: str
    began: str
    """UTC, ISO 8601."""
    seconds: float
    tries: int
    folder: str
    question: str
    score: float | None
    """0 to 1, by the gold table of its task; None where there is none."""
    spend: StageSpend
    out: str
    prefect: str
    machine: str
    process: int | None
    """Of a run under way that this machine can see."""


async def store_of(settings: Settings) -> Store:
    """The store of these settings, a Prefect block too, however full its disk. Raises InputError when the block, or the server that knows it, is not there."""
    settings = settings.model_copy(update={"store": settings.store.model_copy(update={"min_free_mb": 0})})
    if not settings.store.block:
        return open_store(settings)
    from flows.running.storage import is_url, open_block

    if not is_url(settings.store.block) and not in_run():
        check_server(settings)
    return open_store(settings, await open_block(settings.store, saved=False))


async def list_runs(
    store: Store, most: int, gold: Path | None = None, statuses: Iterable[str] = (), tell: bool = True
) -> list[Listed]:
    """The newest runs, `most` of them (0: all); those whose process is gone are marked on the way, on the Prefect server too,
    and a server that was away when a run ended is told how.

    `gold` is a folder with TASK/gold.csv; without it, `gold/` beside a run's folder. `tell`: whether a server is there to be told.
    Raises InputError for a store that cannot be listed.
    """
    wanted, rows, untold = set(statuses), [], []
    for found in record.all_of(store):
        settled = record.settle(store, found)
        if settled.untold and (settled.status == ORPHANED or record.left(settled)):
            untold.append(settled)
        if not wanted or settled.status in wanted:
            rows.append(_row(store, settled, gold))
        if most and len(rows) == most:
            break
    if tell and untold:
        await _tell(store, untold)
    return rows


def _row(store: Store, found: RunRecord, gold: Path | None) -> Listed:
    folder = str(found.request.get("folder", ""))
    return Listed(
        **found.model_dump(include={"run", "flow", "status", "reason", "began", "seconds", "tries", "out", "prefect"}),
        machine=found.machine,
        folder=folder,
        question=found.question.text,
        score=_score(store, found, Path(folder), gold),
        spend=found.spend.total,
        process=record.alive(store, found.run),
    )


async def place_of(base: str, profile: str) -> dict[str, str]:
    """Folder, whole id and profile of an earlier run over which another question is asked; the default profile means that run's.

    Raises InputError when there is no such run, or more than one.
    """
    found = record.find(await store_of(load(profile)), base)
    theirs = str(found.request.get("profile", profile))
    return {
        "folder": str(found.request["folder"]),
        "base": found.run,
        "profile": theirs if profile == "default" else profile,
    }


def _score(store: Store, found: RunRecord, folder: Path, gold: Path | None) -> float | None:
    """Of the table in the store: the file in the output folder may be that of a later run. No table: 0."""
    for name in dict.fromkeys((folder.name, found.question.task_id)):
        path = (gold or folder.parent / "gold") / name / "gold.csv"
        if not name or found.flow != "answer" or not path.is_file() or found.status in (record.RUNNING, ORPHANED):
            continue
        if found.table is None:
            return 0.0
        with contextlib.suppress(InputError):  # removed by hand
            return score_pair(store.local(found.table), path).score
    return None


async def _tell(store: Store, untold: list[RunRecord]) -> None:
    """See that the server knows how the runs ended. One that goes away or hangs meanwhile is told the rest another time."""
    import httpx
    from prefect.client.orchestration import get_client
    from prefect.exceptions import PrefectException

    with contextlib.suppress(PrefectException, httpx.HTTPError, OSError, ValueError, RuntimeError):
        async with asyncio.timeout(_TELL_SECONDS), get_client() as client:
            for found in untold:
                await _tell_one(client, found)
                found.model_copy(update={"untold": False}).save(store)


async def _tell_one(client: PrefectClient, found: RunRecord) -> None:
    from prefect.exceptions import ObjectNotFound
    from prefect.states import Completed, Crashed, Failed

    kind = {"failed": Failed, "interrupted": Crashed, "broken": Crashed, ORPHANED: Crashed}.get(found.status, Completed)
    with contextlib.suppress(ObjectNotFound):
        flow_run = await client.read_flow_run(UUID(found.prefect))
        if flow_run.state and not flow_run.state.is_final():
            await client.set_flow_run_state(flow_run.id, kind(message=found.reason), force=True)
