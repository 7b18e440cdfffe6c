"""region_sales, or a made folder → tokens of the first prompt and answer score of three ways to show its tables.

`python tests/ways.py [--profile P] [--questions NAME …] [--made N [--kinds KIND …]] [--keep DIR]`, or `make ways`: every question goes
through the whole flow three times, with the model of the profile (MODEL_API_URL by default; `--profile local` serves its own). `whole`:
all tables unfolded, nothing judged; where the model cannot read so much, it is not asked and the tokens are told. `voted`: those that a vote keeps, with all their columns and metrics. `merged`: the product's way in a large
folder, with the model's terms, and what was recalled put together and cut. What was replied stays in `--keep`.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import catalogues  # noqa: E402
import sales  # noqa: E402
from recall import evenly  # noqa: E402
from samples import AS_OF, RECORDINGS, SAMPLES  # noqa: E402

from flows.running.request import AnswerRequest  # noqa: E402
from tasks.core.errors import InputError  # noqa: E402
from tasks.core.models.answer import Brief, Question  # noqa: E402
from tasks.core.models.catalogue import Profile  # noqa: E402
from tasks.core.models.context import Context, TableRelevanceResult  # noqa: E402
from tasks.core.models.metadata import Metadata  # noqa: E402
from tasks.core.settings import load  # noqa: E402
from tasks.solve.showing.size import whole_tokens  # noqa: E402

Way = Literal["whole", "voted", "merged"]
WAYS: tuple[Way, ...] = ("whole", "voted", "merged")
QUESTIONS = tuple(asked.name for asked in sales.questions())
NAMES = tuple(f"{question}-{way}" for question in QUESTIONS for way in WAYS)
"""What is recorded."""
_ROOM = 0.75
"""Share of what the model reads at once that all tables together may take, unfolded."""
_JUDGING_TOKENS = 900
"""At least for a reply with a verdict on each table: a small model's own limit is that of a query."""
_AT_ONCE = 6
_HEAD = ("question", "way", "tables shown", "brief tokens", "calls", "tokens in", "score", "status")
_SUMS = ("way", "n", "brief tokens", "calls", "tokens in", "score", "perfect")


class WayRequest(AnswerRequest):
    """A question whose tables are shown one way."""

    way: Way

    def overrides(self) -> dict[str, Any]:
        """What the way changes in the profile."""
        settings = load(self.profile)
        if self.way == "whole":
            tokens = int(settings.role("agent").context_tokens * _ROOM)
            return {
                "relevance": {"from_tokens": 0},
                "brief": {"tables": 0, "tokens": max(tokens, settings.brief.tokens)},
            }
        asks = self.way == "merged"
        judging = {
            role: {"max_tokens": max(settings.role(role).max_tokens, _JUDGING_TOKENS)}
            for role in ("relevance", "filter")
        }
        return {
            "relevance": {"from_tokens": 1},
            "vote": {"enabled": True},
            "recall": {"expand": asks, "filter": asks},
            "brief": {"tables": 0},
            "roles": judging,
        }


@dataclass(frozen=True)
class Case:
    """A question over a folder, with the file of its gold."""

    name: str
    folder: Path
    question: str
    gold: Path


@dataclass(frozen=True)
class Result:
    """What became of a case, one way."""

    case: str
    way: Way
    shown: int
    """Tables of the first prompt with columns."""
    tokens: int
    """Of the brief, the part of the first prompt that differs between ways."""
    calls: int
    tokens_in: int
    """Of all calls of the run, by whoever they were paid."""
    score: float | None
    """None: nobody was asked, for the tables are too many to be shown this way."""
    status: str

    def cells(self) -> list[str]:
        """A row of the table."""
        return [self.case, self.way, str(self.shown), f"{self.tokens:,}", str(self.calls), f"{self.tokens_in:,}",
                "–" if self.score is None else f"{self.score:.2f}", self.status]  # fmt: skip


def sample_cases(names: Sequence[str] = QUESTIONS) -> list[Case]:
    """Questions of region_sales. Raises KeyError for one that it has not."""
    asked = {one.name: one.text for one in sales.questions()}
    return [Case(name, SAMPLES / "region_sales", asked[name], sales.GOLD / f"{name}.csv") for name in names]


def made_cases(folder: Path, size: int, most: int, kinds: Sequence[str] = catalogues.KINDS) -> list[Case]:
    """At most so many questions of these kinds over as many made tables, evenly, with gold below `folder`.

    Those whose answer is empty are left out: whether that is a NULL, a 0 or no row is a matter of taste.
    """
    cases = []
    made = [asked for asked in catalogues.make(folder / "made", size) if asked.kind in kinds]
    for number, asked in enumerate(evenly(made, most)):
        gold = catalogues.gold(asked, size)
        if not gold[1:] or any(None in row for row in gold):
            continue
        case = Case(f"{asked.kind} {number}", folder / "made", asked.text, folder / "gold" / f"{number}.csv")
        case.gold.parent.mkdir(exist_ok=True)
        with case.gold.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(gold)
        cases.append(case)
    return cases


_way: ContextVar[Way] = ContextVar("way", default="merged")
_briefs: ContextVar[list[Brief] | None] = ContextVar("briefs", default=None)


@contextmanager
def measuring() -> Iterator[None]:
    """Runs inside know their way, and keep their briefs."""
    from flows import solve

    merge, compress = solve.merge_context, solve.compress

    async def merged(found: Any, metadata: Metadata, relevance: TableRelevanceResult) -> Context:
        return unmerged(metadata, relevance) if _way.get() == "voted" else await merge(found, metadata, relevance)

    async def compressed(question: Question, profile: Profile, *given: Any) -> Brief:
        brief = await compress(question, profile, *given)
        if _way.get() == "whole" and brief.folded:
            raise TooLarge(whole_tokens(profile))
        heard = _briefs.get()
        if heard is not None:
            heard.append(brief)
        return brief

    with patch.object(solve, "merge_context", merged), patch.object(solve, "compress", compressed):
        yield


class TooLarge(InputError):
    """All tables unfolded take more than the model reads at once."""

    def __init__(self, tokens: int) -> None:
        super().__init__(f"all tables unfolded take {tokens:,} tokens", "show fewer of them")
        self.tokens = tokens


def unmerged(metadata: Metadata, relevance: TableRelevanceResult) -> Context:
    """Every column of the tables that a vote kept, and the metrics that they hold; nothing chosen among them."""
    from tasks.solve.merging.gather import Gathering, metric_context

    kept, found = set(relevance.relevant_tables), Gathering(metadata)
    for column in metadata.columns:
        if column.table in kept:
            found.add_column(column.id)
    metrics = [metric for metric in metadata.metrics if {*metric.columns} <= found.columns.keys()]
    return Context(tables=found.contexts(), metrics=tuple(map(metric_context, metrics)))


async def answered(case: Case, way: Way, profile: str, out: Path) -> tuple[Any, Brief | None]:
    """The ended run, and its first brief. Only inside `measuring`."""
    from flows.answer import answer

    briefs: list[Brief] = []
    _way.set(way)
    _briefs.set(briefs)
    request = WayRequest(
        folder=str(case.folder), question=case.question, profile=profile, as_of=AS_OF, out=str(out), way=way
    )
    return await answer(request), briefs[0] if briefs else None


def measured(case: Case, way: Way, profile: str, out: Path) -> Result:
    """A case answered and scored. Only inside `measuring`."""
    from tasks.benchmark.score import score_pair

    try:
        ended, brief = asyncio.run(answered(case, way, profile, out))
    except TooLarge as problem:
        return Result(case.name, way, 0, problem.tokens, 0, 0, None, "too large, not asked")
    usage = json.loads((out / "evidence.json").read_text("utf-8"))["usage"]
    return Result(
        case.name,
        way,
        len(brief.shown) if brief else 0,
        brief.tokens if brief else 0,
        sum(stage["calls"] for stage in usage),
        sum(stage["tokens_in"] for stage in usage),
        score_pair(out / "answer.csv", case.gold, 0.1).score,
        ended.answer.status,
    )


def ask(name: str, profile: str, out: Path) -> Any:
    """Answer one question one way, `QUESTION-WAY`, under a profile of the recordings folder; the ended run.

    Only inside `measuring`.
    """
    question, _, way = name.rpartition("-")
    (case,) = sample_cases([question])
    return asyncio.run(answered(case, way, str(RECORDINGS / f"{profile}.toml"), out))[0]  # type: ignore[arg-type]


def score(name: str, out: Path) -> float:
    """Score of the answer in `out` against the question's gold."""
    from tasks.benchmark.score import score_pair

    return score_pair(out / "answer.csv", sales.GOLD / f"{name.rpartition('-')[0]}.csv", 0.1).score


def summary(results: Sequence[Result]) -> list[list[str]]:
    """Means by way, each question weighing the same; no row for a way in which nobody was asked."""
    rows = []
    for way in WAYS:
        those = [one for one in results if one.way == way and one.score is not None]
        if not those:
            continue
        parts = [[one.tokens for one in those], [one.calls for one in those], [one.tokens_in for one in those]]
        means = [f"{statistics.mean(part):,.1f}" for part in parts]
        perfect = sum(one.score == 1 for one in those)
        rows.append([way, str(len(those)), *means, f"{statistics.mean(scores(those)):.3f}", str(perfect)])
    return rows


def scores(results: Sequence[Result]) -> list[float]:
    """Of those that were asked."""
    return [one.score for one in results if one.score is not None]


def kept(results: Sequence[Result]) -> bool:
    """Whether folding cost no answer: each way scores no less than `whole` over the questions that it could be asked."""
    told = {(one.case, one.way): one.score for one in results}
    asked = [case for (case, way), score in told.items() if way == "whole" and score is not None]
    sums = {way: sum(told[case, way] or 0.0 for case in asked) for way in WAYS}
    return all(total >= sums["whole"] for total in sums.values())


def main() -> int:
    """Print the tables that the command line asks for; the exit code is 1 when folding cost an answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="default", help="settings, with the model's endpoint")
    parser.add_argument(
        "--questions", nargs="+", default=list(QUESTIONS), help="of region_sales; all of them by default"
    )
    parser.add_argument("--made", type=int, default=0, help="so many made tables in place of region_sales")
    parser.add_argument("--most", type=int, default=8, help="made questions that are asked, evenly over their kinds")
    parser.add_argument("--keep", type=Path, help="folder in which replies and answers stay")
    parser.add_argument("--kinds", nargs="+", default=list(catalogues.KINDS), help="of made questions")
    given = parser.parse_args()
    if given.profile == "default" and not os.environ.get("MODEL_API_URL"):
        parser.error("set MODEL_API_URL, or name a profile with an endpoint")
    print(f"{date.today()}, profile {given.profile}, model {load(given.profile).endpoints['main'].model}\n")
    with tempfile.TemporaryDirectory() as scratch:
        home = (given.keep or Path(scratch)).absolute()
        os.environ["TABLEWRIGHT_STORE"] = str(home / "store")
        made = (given.made, given.most, given.kinds)
        cases = made_cases(Path(scratch), *made) if given.made else sample_cases(given.questions)
        jobs = [(case, way, given.profile, home / "ways" / case.name / way) for case in cases for way in WAYS]
        with measuring(), ThreadPoolExecutor(_AT_ONCE) as pool:
            first = measured(*jobs[0])  # alone: what it reads and measures serves the others
            results = [first, *pool.map(lambda job: measured(*job), jobs[1:])]
    print_table(_HEAD, [one.cells() for one in results])
    print()
    print_table(_SUMS, summary(results))
    return 0 if kept(results) else 1


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table."""
    print("\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
