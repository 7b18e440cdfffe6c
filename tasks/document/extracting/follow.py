"""A slice → the entries of all its records: what a reply left out is asked again, what was cut off goes on.

Only the records that are still missing are asked for, with their lines alone; what is good stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import door
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.document import PlanColumn, Slice
from tasks.core.models.run import Usage
from tasks.core.sections import ExtractSettings
from tasks.document.extracting import entries
from tasks.document.extracting.entries import Entry
from tasks.document.records.anchors import plain

PROMPT = Path(__file__).parents[1] / "prompts" / "extract.md"
_AGAIN = "Your last reply to this listed no record of the list above. Its ids stand there as they must be written; list each."
"""Said when the same is asked again: to the same request the journal has the same reply."""


@dataclass
class Follow:
    """The talk about one slice."""

    piece: Slice
    settings: ExtractSettings
    said: list[tuple[Entry, bool]] = field(default_factory=list)
    """Of expected records; the second tells whether it corrects."""
    listed: dict[str, None] = field(default_factory=dict)
    surplus: dict[str, None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    unsettled: str = ""
    asked: set[str] = field(default_factory=set)
    """Prompts so far."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Expected records that no reply listed so far."""
        return tuple(record for record in self.piece.expected if record not in self.listed)

    async def run(self) -> None:
        """Ask until every record is listed or the turns are used up; what stopped it is noted, never raised.

        A reply that was cut off before anything new was whole is followed by a question for half of the records.
        """
        retries, continuations = self.settings.retries, self.settings.continuations
        asked = self.missing
        while asked:
            try:
                cut = await self._ask(part(self.piece, asked))
            except BudgetError as error:
                self.problems.append(error.told)
                self.unsettled = "stopped"
                return
            except ModelError as error:
                self.problems.append(error.told)
                self.unsettled = error.unsettled
                return
            if cut:
                continuations -= 1
            elif set(asked) & set(self.missing):
                retries -= 1
            if min(retries, continuations) < 0:
                return
            stuck = cut and self.missing[: len(asked)] == asked
            asked = self.missing[: len(asked) // 2] if stuck else self.missing

    async def _ask(self, piece: Slice) -> bool:
        """Whether the reply was cut off."""
        text = prompt(piece)
        messages = [{"role": "user", "content": f"{text}\n\n{_AGAIN}" if text in self.asked else text}]
        self.asked.add(text)
        asked = await door.current().ask_read("extract", messages, entries.schema(piece), entries.read, samples=1)
        self.usage += asked.usage
        found = asked.value
        self.problems += (*asked.problems, *found.problems)
        names = {plain(_named(*pair)): pair[0] for pair in self.piece.called}
        names |= {plain(record): record for record in self.piece.expected}
        last = plain(found.records[-1].id) if found.cut and found.records else ""
        open_one = last if not found.corrections else ""
        for entry, corrects in [(e, False) for e in found.records] + [(e, True) for e in found.corrections]:
            record = names.get(plain(entry.id))
            if record is None:
                self.surplus.setdefault(entry.id[:80])
                continue
            self.said.append((replace(entry, id=record), corrects))
            if plain(entry.id) != open_one:
                self.listed.setdefault(record)
        if found.cut:
            self.problems.append(f"a reply was cut off after {len(found.records)} entries")
        return found.cut


def prompt(piece: Slice) -> str:
    """The text that asks for a slice."""
    wanted = [column for column in piece.columns if column.name != piece.key]
    columns = "\n".join(_described(column) for column in wanted)
    if piece.rules:
        columns += f"\n\n{piece.rules}"
    called = dict(piece.called)
    return fill(
        PROMPT,
        columns=fence(columns),
        key=_key(piece),
        count=str(len(piece.expected)),
        records=fence(", ".join(_named(record, called.get(record, "")) for record in piece.expected)),
        lines=fence("\n".join(f"{number} {text}" for number, text in piece.lines)),
    )


def part(piece: Slice, records: tuple[str, ...]) -> Slice:
    """The slice for some of its records, with their lines only."""
    if records == piece.expected:
        return piece
    chosen = {number for record, numbers in piece.belongs if record in records for number in numbers}
    lines = tuple(line for line in piece.lines if line[0] in chosen) if piece.belongs else piece.lines
    belongs = tuple(item for item in piece.belongs if item[0] in records)
    return piece.model_copy(
        update={"expected": records, "lines": lines or piece.lines, "belongs": belongs, "places": ()}
    )


def _described(column: PlanColumn) -> str:
    meanings = "; ".join(dict.fromkeys(filter(None, (column.doc_meaning.strip(), column.task_meaning.strip()))))
    return f"{column.name}: {' '.join(meanings.split())}"


def _named(record: str, name: str) -> str:
    return f"{record} ({name})" if name else record


def _key(piece: Slice) -> str:
    """What the ids are called; a name that could end a line of the prompt is not taken."""
    return piece.key if piece.key.replace("_", "").isalnum() else "id"
