"""Stored attempts, judged without validators, by code alone, and by code and a model → score, what changed, what it took.

`python tests/judged.py OUT/PROFILE/SUITE … --suites DIR` takes folders of finished batches: their `TASK/evidence.json` has
every step and candidate, and DIR/SUITE/TASK is the folder that was asked about, with its gold in DIR/SUITE/gold. Nothing is
solved again: where validators send an answer back, the next result of the ballot stands in (style `single`), else the answer
stays and is told for what it is.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from assigned import assigned  # noqa: E402
from second_look import FREE  # noqa: E402

from flows.review import check, review  # noqa: E402
from tasks.benchmark.score import score_pair  # noqa: E402
from tasks.core.files import store as stores  # noqa: E402
from tasks.core.files.store import Folder, Store, use  # noqa: E402
from tasks.core.llm import door  # noqa: E402
from tasks.core.llm.budget import Meter  # noqa: E402
from tasks.core.llm.door import Door  # noqa: E402
from tasks.core.models.answer import Assignment, Attempt  # noqa: E402
from tasks.core.models.evidence import Checked, Evidence  # noqa: E402
from tasks.core.models.run import Usage  # noqa: E402
from tasks.core.settings import Settings, load  # noqa: E402
from tasks.solve.publishing.status import judge  # noqa: E402

ON, OFF = {"enabled": True, "model": True}, {"enabled": False}
BY_CODE = {"enabled": True, "model": False}
WAYS = {"off": OFF, "code": BY_CODE, "full": ON}
"""Settings of both validators."""


class Stored(NamedTuple):
    """An attempt of a finished batch."""

    suite: str
    task: str
    given: Assignment
    attempt: Attempt
    gold: Path


class Judged(NamedTuple):
    """What became of it one way."""

    way: str
    suite: str
    task: str
    chosen: int | None
    status: str
    score: float
    usage: Usage
    seconds: float
    said: tuple[str, ...] = ()
    """Why an earlier choice was sent back."""


def main() -> int:
    """Judge, and print the tables."""
    given = _arguments()
    ways = [way for way in WAYS if way != "full" or given.full]
    found: list[Judged] = []
    with tempfile.TemporaryDirectory() as scratch:
        home = given.store or Path(scratch)
        with use(Store(Folder(home / "store"), home / "store" / "cache")):
            for way in ways:
                settings = settings_of(way, given.profile, given.timeout)
                with door.use(Door(settings, stores.current(), Meter(settings.budget))):
                    found += asyncio.run(_all(way, given, settings))
    print(page(found))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("batches", type=Path, nargs="+", help="OUT/PROFILE/SUITE of finished batches")
    parser.add_argument("--suites", type=Path, required=True, help="folder with the suites of these names")
    parser.add_argument("--task", help="only tasks whose name contains this")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="so many tasks of each batch")
    parser.add_argument("--full", action="store_true", help="let a model judge too")
    parser.add_argument("--profile", default="default", help="whose model judges")
    parser.add_argument(
        "--store", type=Path, help="keeps replies and checks: the same command goes on where it stopped"
    )
    parser.add_argument("--at-once", type=int, default=1, help="tasks that the model judges at the same time")
    parser.add_argument("--timeout", type=float, default=0, help="seconds for one reply; 0: as the settings say")
    return parser.parse_args()


def settings_of(way: str, profile: str, seconds: float = 0) -> Settings:
    """The profile's, with the validators of the way."""
    roles = {role: {"timeout_seconds": seconds} for role in ("process", "verify")} if seconds else {}
    return load(profile, {"process": WAYS[way], "verify": WAYS[way], "budget": FREE, "roles": roles})


async def _all(way: str, given: argparse.Namespace, settings: Settings) -> list[Judged]:
    gate = asyncio.Semaphore(given.at_once if way == "full" else 1)

    async def one(folder: Path) -> Judged:
        async with gate:
            stored = await read(folder, given.suites / folder.parent.name, settings)
            found = await judged(way, stored, settings)
            line = f"{way} {found.suite}/{found.task}: {found.status} {found.score:.2f}"
            print(line, *found.said, sep="; ", file=sys.stderr, flush=True)
            return found

    tasks: list[Path] = []
    for batch in given.batches:
        folders = [path.parent for path in sorted(batch.glob("*/evidence.json"))]
        tasks += [folder for folder in folders if (given.task or "") in folder.name][: given.most]
    return list(await asyncio.gather(*map(one, tasks)))


async def read(out: Path, suite: Path, settings: Settings) -> Stored:
    """The attempt that a batch left in a task's folder, and what it was given."""
    evidence = Evidence.model_validate_json((out / "evidence.json").read_bytes())
    given = await assigned(suite / out.name, evidence.question, settings, out / "derived")
    solving = evidence.solving
    attempt = Attempt(
        **{
            name: getattr(solving, name)
            for name in ("style", "steps", "candidates", "chosen", "samples", "problems", "tier")
        },
        contract=evidence.contract,
        ended="submitted" if solving.ended == "audit" else solving.ended,  # type: ignore[arg-type]
    )
    contract = evidence.contract.model_copy(update={"revisions": ()})
    return Stored(
        suite.name,
        out.name,
        given.model_copy(update={"contract": contract}),
        attempt,
        suite / "gold" / out.name / "gold.csv",
    )


def order(attempt: Attempt) -> list[int]:
    """The chosen candidate, and of a ballot those that come after it, by votes."""
    if attempt.chosen is None:
        return []
    rest = [at for at, one in enumerate(attempt.candidates) if one.digest and at != attempt.chosen]
    return [attempt.chosen, *(rest if attempt.style == "single" else [])]


async def judged(way: str, stored: Stored, settings: Settings) -> Judged:
    """What a run would publish of the attempt with these validators, and what they took."""
    began, given = time.monotonic(), stored.given
    said: list[str] = []
    chosen, checked = stored.attempt, Checked()
    for at in order(stored.attempt):
        attempt = stored.attempt.model_copy(update={"chosen": at, "due": "candidate"})
        looked = await check(given, attempt, settings)
        audits = await review(given, attempt, looked, settings) if way != "off" else ()
        given = given.model_copy(update={"audits": (*given.audits, *audits)})
        rejected = [audit for audit in audits if audit.verdict == "rejected"]
        said += [issue for audit in rejected for issue in audit.issues]
        if not rejected or chosen.due != "candidate":
            chosen, checked = attempt, looked
        if not rejected:
            break
    else:
        first = order(stored.attempt)[:1]
        chosen = stored.attempt.model_copy(update={"chosen": first[0] if first else None})
    status, _ = judge(given, chosen.model_copy(update={"due": ""}), checked, settings.agent.confident_share)
    return Judged(
        way,
        stored.suite,
        stored.task,
        chosen.chosen,
        status,
        _score(checked, stored.gold),
        sum((audit.usage for audit in given.audits), Usage()),
        time.monotonic() - began,
        tuple(said),
    )


def _score(checked: Checked, gold: Path) -> float:
    if checked.table is None or checked.table.file is None:
        return 0.0
    return score_pair(stores.current().local(checked.table.file), gold).score


def page(found: Sequence[Judged]) -> str:
    """Markdown: a line for each suite and way, the statuses and how often they are right, and every answer that changed."""
    lines = [
        "| suite | validators | tasks | score | perfect | calls | tokens | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    ways = list(dict.fromkeys(one.way for one in found))
    suites = list(dict.fromkeys(one.suite for one in found))
    for name in [*suites, *(["**all**"] if len(suites) > 1 else [])]:
        for way in ways:
            lines.append(_line(name, way, [one for one in found if one.way == way and name in (one.suite, "**all**")]))
    lines += ["", "| validators | status | answers | right |", "|---|---|---|---|"]
    for way in ways:
        statuses = Counter(one.status for one in found if one.way == way)
        right = Counter(one.status for one in found if one.way == way and one.score > 0.999)
        lines += [f"| {way} | {status} | {count} | {right[status]} |" for status, count in sorted(statuses.items())]
    return "\n".join([*lines, "", "Answers that changed:", "", *(list(_changes(found)) or ["none"])])


def _line(name: str, way: str, those: Sequence[Judged]) -> str:
    used = sum((one.usage for one in those), Usage())
    mean = sum(one.score for one in those) / max(len(those), 1)
    perfect = sum(one.score > 0.999 for one in those)
    seconds = sum(one.seconds for one in those)
    tokens = used.tokens_in + used.tokens_out
    return f"| {name} | {way} | {len(those)} | {mean:.3f} | {perfect} | {used.calls} | {tokens:,} | {seconds:.0f} |"


def _changes(found: Sequence[Judged]) -> Iterator[str]:
    before = {(one.suite, one.task): one for one in found if one.way == "off"}
    for one in found:
        old = before.get((one.suite, one.task))
        if old is None or one.way == "off" or one.chosen == old.chosen:
            continue
        word = "better" if one.score > old.score else "worse" if one.score < old.score else "no better, no worse"
        why = "; ".join(dict.fromkeys(one.said))[:300]
        yield f"- {one.suite}/{one.task} under {one.way}: {old.score:.2f} → {one.score:.2f}, {word} ({why})"


if __name__ == "__main__":
    sys.exit(main())
