"""folder (+ question) → a table for each document that matters, every cell with its source."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Literal, NamedTuple

from flows.foresee import foresee
from flows.patterns import extract
from flows.running.drawn import sheets
from flows.running.request import DocumentRequest
from flows.running.session import session
from flows.running.share import PLANNED, Share, gauge_of
from flows.running.spent import Costs
from flows.video import read_videos
from tasks.artifacts import show
from tasks.core import timeline
from tasks.core.errors import InputError, TablewrightError
from tasks.core.llm import door
from tasks.core.llm.forecast import Forecast
from tasks.core.models.answer import Question
from tasks.core.models.document import (
    ColumnReadings,
    Converted,
    Derivation,
    DerivedTable,
    Plan,
    SliceResult,
    Verdicts,
)
from tasks.core.models.run import Spend
from tasks.core.models.semantics import Knowledge
from tasks.core.models.source import Inventory, SourceFile
from tasks.core.models.value import Value
from tasks.core.models.video import VideoText
from tasks.core.search.passages import passages
from tasks.core.settings import Settings
from tasks.document.convert import convert_document
from tasks.document.converting.choose import choose_files, for_this_machine
from tasks.document.deliver import deliver_tables
from tasks.document.join import join_documents
from tasks.document.merge import merge_findings, raws_of
from tasks.document.normalise import normalise_column
from tasks.document.normalising.guidance import told
from tasks.document.plan import plan_document
from tasks.document.relevance import judge_documents
from tasks.document.slices import cut_slices
from tasks.document.store import store_table
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge

_TOLD = 3
"""Reasons that the record of a run repeats; all of them are printed at its end."""


class Drawn(Value):
    """A run of the document workflow that came to its end."""

    run: str
    derivation: Derivation
    out: str
    """Folder that holds `derived/`, absolute."""
    stopped: Literal["", "model", "budget"]
    """What ended some of the work before it was done; `derivation.stopped` has its words."""
    others: tuple[tuple[str, str], ...]
    """(path, what became of it), for each file of the folder that was taken for no document."""
    files: tuple[str, ...]
    spend: Spend
    seconds: float
    prefect: str = ""

    @property
    def outcome(self) -> tuple[Literal["done", "partial", "failed"], str]:
        """What it ended with, and why: `failed` where there was something to read and no table came of it, `partial` where model or
        budget ended some of the work.
        """
        found = self.derivation
        if not found.tables:
            each = [f"{name}: {said}" for name, said in (*found.outcomes, *found.left_out)]
            why = list(dict.fromkeys((*found.stopped, *found.problems, *each)))
            told = "; ".join((*why[:_TOLD], *(["…"] if len(why) > _TOLD else [])))
            return ("failed", told) if found.documents or why else ("done", "")
        return ("partial", found.stopped[0]) if found.stopped else ("done", "")


class _Outcome(NamedTuple):
    """What became of one document: its table, or why there is none."""

    table: DerivedTable | None
    reason: str = ""
    stopped: tuple[str, ...] = ()


async def document(request: DocumentRequest, prefect: str = "", today: date | None = None) -> Drawn:
    """Draw tables from the documents of a folder and write them; `prefect` and `today` as in `session`."""
    async with session(request, prefect, today) as run:
        inventory = request.chosen(await take_inventory(request.folder, run.settings.intake))
        knowledge = await read_knowledge(inventory)
        question = run.question if run.question.text else None
        video = await read_videos(inventory, run.settings.video) if question else VideoText()
        derivation = await derive(question, inventory, knowledge, run.settings, video.text)
        derivation = derivation.model_copy(update={"left_out": (*_unreadable(inventory), *derivation.left_out)})
        files = await deliver_tables(derivation.tables, str(run.out))
        drawn = Drawn(
            run=run.id,
            derivation=derivation,
            out=str(run.out),
            stopped=("budget" if run.meter.over else "model") if derivation.stopped else "",
            others=_others(inventory),
            files=files,
            spend=run.meter.spend(),
            seconds=run.seconds,
            prefect=prefect,
        )
        run.outcome = drawn.outcome
        return drawn


def _unreadable(inventory: Inventory) -> tuple[tuple[str, str], ...]:
    """Documents by their name that the inventory took for none, and why: a text called .pdf, a damaged .docx."""
    found = (file for file in inventory.of("unreadable") if file.kind == "document")
    return tuple((file.path, f"not read: {file.reason}") for file in found)


def _others(inventory: Inventory) -> tuple[tuple[str, str], ...]:
    """Every other file of the folder."""
    said = {"table": "a table, no document", "knowledge": "read as knowledge"}
    found = (
        f for f in inventory.files if f.outcome != "document" and (f.outcome, f.kind) != ("unreadable", "document")
    )
    return tuple((f.path, "; ".join(filter(None, (said.get(f.outcome, f.outcome), f.reason)))) for f in found)


async def derive(
    question: Question | None, inventory: Inventory, knowledge: Knowledge, settings: Settings, video_text: str = ""
) -> Derivation:
    """Tables of the documents that the question needs, of all without one. A document that fails costs itself only."""
    files, left_out = choose_files(inventory.of("document"))
    if not settings.document.enabled:
        return Derivation(problems=("no table is drawn from any document: document.enabled is false",) * bool(files))
    if not files:
        return Derivation(left_out=left_out)
    converted = await _convert(inventory.root, files, settings)
    documents = await join_documents(converted, knowledge)
    given = Derivation(converted=converted, documents=documents, left_out=left_out)
    return await draw_for(question, given, knowledge, settings, video_text)


async def draw_for(
    question: Question | None, given: Derivation, knowledge: Knowledge, settings: Settings, video_text: str = ""
) -> Derivation:
    """Tables of those of its documents that the question needs, of all without one, whatever was drawn from them before."""
    documents = given.documents
    costs = Costs()
    seen = passages(question.text, video_text, settings.relevance.video_chars) if question else ""
    written = tuple(
        document for document in documents if document.text is not None
    )  # of others there is nothing to judge
    verdicts = (
        await judge_documents(question, written, knowledge, settings.vote, seen) if question and written else None
    )
    if verdicts:
        costs.add("", "relevance", verdicts.usage)
    skipped = set(verdicts.skipped) if verdicts else set()
    needed = [document for document in documents if document.stem not in skipped]
    gauge = gauge_of(len(needed))
    outcomes = await asyncio.gather(
        *(_attempt(document, knowledge, settings, costs, Share(gauge)) for document in needed)
    )
    reasons = dict(zip((document.stem for document in needed), outcomes, strict=True))
    found = Derivation(
        converted=given.converted,
        documents=documents,
        relevance=verdicts,
        tables=tuple(outcome.table for outcome in outcomes if outcome.table),
        problems=_unjudged(verdicts),
        left_out=given.left_out,
        outcomes=tuple(
            (d.stem, reasons[d.stem].reason if d.stem in reasons else _judged(verdicts, d.stem))
            for d in documents
            if d.stem not in reasons or reasons[d.stem].reason
        ),
        stopped=tuple(dict.fromkeys((*_stopped(verdicts), *(s for outcome in outcomes for s in outcome.stopped)))),
        spent=costs.stages(),
    )
    await show("the documents", sheets(found))
    return found


async def derive_asked(path: str, derivation: Derivation, knowledge: Knowledge, settings: Settings) -> Derivation:
    """The derivation with the table of a document that it skipped, or with why there is none; drawn once, if at all."""
    document = next((document for document in derivation.skipped if path in document.paths), None)
    if document is None:
        return derivation
    costs = Costs()
    outcome = await _attempt(document, knowledge, settings, costs, Share(None))
    others = tuple((stem, why) for stem, why in derivation.outcomes if stem != document.stem)
    found = derivation.model_copy(
        update={
            "asked": (*derivation.asked, document.stem),
            "tables": (*derivation.tables, *((outcome.table,) if outcome.table else ())),
            "outcomes": (*others, *(((document.stem, outcome.reason),) if outcome.reason else ())),
            "stopped": tuple(dict.fromkeys((*derivation.stopped, *outcome.stopped))),
            "spent": tuple(sorted((*derivation.spent, *costs.stages()), key=lambda spent: spent.stage)),
        }
    )
    await show("the documents", sheets(found))
    return found


def _stopped(*results: Verdicts | Plan | SliceResult | ColumnReadings | None) -> tuple[str, ...]:
    """What ended these before their work was done."""
    return tuple(_why(result) for result in results if result and result.unsettled)


def _why(result: Verdicts | Plan | SliceResult | ColumnReadings) -> str:
    if isinstance(result, Verdicts):
        return result.error or "the vote on documents ended early"
    return result.problems[0 if isinstance(result, ColumnReadings) else -1]


def _unjudged(verdicts: Verdicts | None) -> tuple[str, ...]:
    """Why documents could not be judged."""
    return (f"all documents are read: {verdicts.error}",) if verdicts and verdicts.error else ()


def _judged(verdicts: Verdicts | None, stem: str) -> str:
    """Why a document was left out."""
    if verdicts is None:
        return ""
    tally, reason = verdicts.vote_tally.get(stem, "0/0"), verdicts.reasons.get(stem, "")
    return f"judged not to matter for the question ({tally} votes for it){': ' * bool(reason)}{reason}"


async def _convert(root: str, files: tuple[SourceFile, ...], settings: Settings) -> tuple[Converted, ...]:
    """Each in a child of its own, a few at once."""
    gate = asyncio.Semaphore(settings.document.concurrency)
    here = for_this_machine(settings.convert)

    async def one(file: SourceFile) -> Converted:
        async with gate:
            return await convert_document(root, file, here)

    return tuple(await asyncio.gather(*(timeline.branch(one(file)) for file in files)))


async def _attempt(
    document: Converted, knowledge: Knowledge, settings: Settings, costs: Costs, share: Share
) -> _Outcome:
    if document.text is None:
        await share.add(1)
        return _Outcome(None, f"no table: it has no text ({document.reason or document.status})")
    try:
        outcome = await _draw(document, knowledge, settings, costs, share)
    except InputError:
        raise  # a key or a disk: no other document would fare better
    except TablewrightError as error:
        outcome = _Outcome(None, f"no table: {error.told}")
    await share.add(1)
    return outcome


async def _draw(document: Converted, knowledge: Knowledge, settings: Settings, costs: Costs, share: Share) -> _Outcome:
    """The way of one document."""
    plan = await share.after(plan_document(document, knowledge, settings.plan), PLANNED)
    costs.add(document.stem, "plan", plan.usage)
    if plan.failed:
        return _Outcome(None, f"no table: {'; '.join(plan.problems) or 'no plan was found'}", _stopped(plan))
    slices = await cut_slices(document, plan, knowledge, settings.extract)
    reading = foresee if isinstance(door.current().meter, Forecast) else extract
    extracted = await reading(plan, slices, settings, share)
    results = extracted.results
    costs.add(document.stem, "patterns", extracted.patterns)
    costs.add(document.stem, "extract", *(result.usage for result in results))
    merged = await merge_findings(plan, results)
    readings = await asyncio.gather(
        *(
            normalise_column(c, raws_of(merged, c.name), told(knowledge, c, plan), settings.normalise, settings.sandbox)
            for c in plan.columns
            if c.role == "data"
        )
    )
    costs.add(document.stem, "normalise", *(reading.usage for reading in readings))
    table = await store_table(document, plan, merged, tuple(readings), settings.document.good_share)
    return _Outcome(table, stopped=_stopped(*results, *readings))
