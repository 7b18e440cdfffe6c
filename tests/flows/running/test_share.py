"""Progress of documents: parts of each, shown in the flow run, never backwards and whole at the end."""

from __future__ import annotations

import asyncio

import pytest

from flows.running.share import EXTRACTED, PLANNED, Share, gauge_of
from tasks.artifacts import Gauge


class Heard(Gauge):
    """A gauge that keeps what it would tell."""

    def __init__(self, total: int) -> None:
        super().__init__("documents-progress", total, "documents")
        self.told: list[float] = []

    async def end(self, count: float = 1) -> None:
        self.done += count
        self.told.append(self.done)


async def work(value: str) -> str:
    return value


def test_documents_come_to_their_whole_whatever_way_they_end() -> None:
    gauge = Heard(3)

    async def scene() -> None:
        whole, failed, empty = Share(gauge), Share(gauge), Share(gauge)
        assert await whole.after(work("plan"), PLANNED) == "plan"
        found = await asyncio.gather(*(whole.after(work(f"片{n}"), EXTRACTED / 7) for n in range(7)))
        assert found == [f"片{n}" for n in range(7)]
        await failed.after(work("plan"), PLANNED)
        for share in (whole, failed, empty):
            await share.add(1)
            await share.add(1)  # nothing is counted twice

    asyncio.run(scene())
    assert gauge.told == sorted(gauge.told) and gauge.done == pytest.approx(3) and gauge.told[0] == PLANNED


def test_without_a_flow_run_nothing_is_shown() -> None:
    assert gauge_of(3) is None
    asyncio.run(Share(None).add(1))


def test_ends_at_once_make_one_bar_that_ends_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server takes longer over the first word than over later ones."""
    bars: dict[int, list[float]] = {}

    async def create(*, progress: float, **_: str) -> int:
        await asyncio.sleep(0.05)
        bars[len(bars)] = [progress]
        return len(bars) - 1

    async def update(*, artifact_id: int, progress: float, **_: str) -> None:
        bars[artifact_id].append(progress)

    monkeypatch.setattr("prefect.artifacts.acreate_progress_artifact", create)
    monkeypatch.setattr("prefect.artifacts.aupdate_progress_artifact", update)

    async def scene() -> None:
        gauge = Gauge("documents-progress", 3)
        await asyncio.gather(*(gauge.end() for _ in range(3)))

    asyncio.run(scene())
    assert [told[-1] for told in bars.values()] == [100]
