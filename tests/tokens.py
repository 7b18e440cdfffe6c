"""A suite's text documents → prompt tokens of two ways to draw their tables: slices, and the whole document a section.

`python tests/tokens.py --suite DIR [DIR …]`: folders of task folders, or task folders. No model is asked. Both ways get
the same plan, by rules. The other way is the one described in the project's sources: the planner reads the whole
numbered document, and so does one worker a section, with the schema and all record ids; five votes. Its instructions
are taken to be as long as ours. Every prompt is counted by `tasks.core.llm.tokens`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]  # before this folder, whose `tasks` are tests

from tasks.core.files.store import Folder, Store, current, use  # noqa: E402
from tasks.core.llm import door  # noqa: E402
from tasks.core.llm.budget import Meter  # noqa: E402
from tasks.core.llm.door import Door  # noqa: E402
from tasks.core.llm.tokens import count  # noqa: E402
from tasks.core.models.answer import Question  # noqa: E402
from tasks.core.models.document import Converted, Plan, Slice  # noqa: E402
from tasks.core.models.semantics import Knowledge  # noqa: E402
from tasks.core.settings import Settings, load  # noqa: E402
from tasks.document import plan as planning  # noqa: E402
from tasks.document import relevance  # noqa: E402
from tasks.document.extracting import follow  # noqa: E402
from tasks.document.planning import prompt, rules  # noqa: E402
from tasks.document.slices import cut_slices  # noqa: E402
from tasks.intake.inventory import take_inventory  # noqa: E402
from tasks.intake.knowledge import read_knowledge  # noqa: E402

SUFFIXES = (".md", ".markdown", ".txt")
_HEAD = ("document", "records", "sections", "text", "slices", "plan", "extract", "both", "whole", "share", "3 votes",
         "5 votes", "share")  # fmt: skip
_VOTES = (3, 5)
"""Rounds that decide when they agree; rounds of the other way."""


@dataclass(frozen=True)
class Row:
    """Prompt tokens for one document."""

    stem: str
    records: int
    sections: int
    text: int
    slices: int
    plan: int
    extract: int
    whole: int
    """The other way's planner and workers."""
    vote: int
    """One round on all of the folder's text documents."""

    @property
    def ours(self) -> int:
        """Plan and slices."""
        return self.plan + self.extract

    def cells(self) -> tuple[str, ...]:
        """As in the table's head."""
        few, many = (votes * self.vote for votes in _VOTES)
        counts = (self.records, self.sections, self.text, self.slices, self.plan, self.extract, self.ours, self.whole)
        return (
            self.stem,
            *(f"{number:,}" for number in counts),
            f"{self.ours / self.whole:.0%}",
            f"{few:,}",
            f"{many:,}",
            f"{(self.ours + few) / (self.whole + many):.0%}",
        )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", nargs="+", type=Path, required=True, help="folders of tasks, or task folders")
    chosen = parser.parse_args()
    rows = sorted((row for folder in _tasks(chosen.suite) for row in measure(folder)), key=lambda row: row.records)
    print(" ".join(f"{name:>{24 if not at else 9}}" for at, name in enumerate(_HEAD)))
    for row in rows:
        print(" ".join(f"{cell[:24]:>{24 if not at else 9}}" for at, cell in enumerate(row.cells())))
    if rows:
        ours, whole = sum(row.ours for row in rows), sum(row.whole for row in rows)
        print(f"{len(rows)} documents: {ours:,} of {whole:,} prompt tokens, {ours / whole:.0%}, votes apart")
    return 0 if rows else 1


def measure(folder: Path) -> list[Row]:
    """A row for the task's text document with the most records, when rules can plan one."""
    with tempfile.TemporaryDirectory() as scratch, _world(Path(scratch)) as settings:
        return asyncio.run(_measured(folder, settings))


@contextlib.contextmanager
def _world(scratch: Path) -> Iterator[Settings]:
    settings = load()
    store = Store(Folder(scratch / "store"), scratch / "cache")
    with use(store), door.use(Door(settings, store, Meter(settings.budget))):
        yield settings


async def _measured(folder: Path, settings: Settings) -> list[Row]:
    inventory = await take_inventory.function(str(folder), settings.intake)
    knowledge = await read_knowledge.function(inventory)
    paths = [Path(file.path) for file in inventory.of("document") if Path(file.path).suffix.lower() in SUFFIXES]
    texts = {path.stem: (folder / path).read_text("utf-8") for path in sorted(paths)}
    documents = {stem: _converted(stem, text) for stem, text in texts.items()}
    plans = {stem: rules.plan(stem, text.split("\n"), knowledge) for stem, text in texts.items()}
    good = [stem for stem, made in plans.items() if not made.failed]
    if not good:
        return []
    stem = max(good, key=lambda name: len(plans[name].universe))
    pieces = await cut_slices.function(documents[stem], plans[stem], knowledge, settings.extract)
    question = Question(text="?", as_of="2026-01-01")
    vote = count(relevance.prompt(question, tuple(documents.values()), knowledge, settings.vote))
    return [_row(texts[stem], plans[stem], pieces, knowledge, settings, vote)]


def _row(text: str, plan: Plan, pieces: tuple[Slice, ...], knowledge: Knowledge, settings: Settings, vote: int) -> Row:
    return Row(
        stem=plan.stem,
        records=len(plan.universe),
        sections=len(plan.sections),
        text=count(text),
        slices=len(pieces),
        plan=count(prompt.prompt(planning.PROMPT, plan.stem, text.split("\n"), knowledge, settings.plan)),
        extract=sum(count(follow.prompt(piece)) for piece in pieces),
        whole=_whole(text, plan, knowledge, settings),
        vote=vote,
    )


def _whole(text: str, plan: Plan, knowledge: Knowledge, settings: Settings) -> int:
    numbered = count("\n".join(f"{number:04}\t{line}" for number, line in enumerate(text.split("\n"), start=1)))
    schema = count("\n".join(f"{column.name}: {column.doc_meaning}" for column in plan.columns))
    ids = count(", ".join(plan.universe))
    known = count(prompt.general(knowledge, settings.plan.global_chars))
    known += count(prompt.local(plan.stem, knowledge, settings.plan.local_chars))
    planner, worker = (count(path.read_text("utf-8")) for path in (planning.PROMPT, follow.PROMPT))
    return numbered + known + planner + len(plan.sections) * (numbered + schema + ids + worker)


def _converted(stem: str, text: str) -> Converted:
    kept = current().put(text.encode(), f"{stem}.md")
    return Converted(stem=stem, paths=(f"{stem}.md",), status="as_is", text=kept, lines=text.count("\n") + 1)


def _tasks(folders: list[Path]) -> list[Path]:
    """Task folders at or below these, gold left out."""
    found = {
        path.parent
        for folder in folders
        for path in folder.rglob("task.json")
        if "gold" not in path.relative_to(folder).parts
    }
    return sorted(found)


if __name__ == "__main__":
    raise SystemExit(main())
