"""folder + question → answer table with its evidence."""

from __future__ import annotations

import asyncio
import time
from datetime import date

from flows.running.draft import told
from flows.running.request import AnswerRequest
from flows.running.session import Ended, Run, session
from flows.running.watched import Watched
from flows.shelf import Held, Shelf, held
from flows.sources import load_sources
from flows.video import explained, read_videos
from tasks.core import timeline
from tasks.core.errors import InputError
from tasks.core.models.answer import Answer
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import Told
from tasks.core.models.document import Derivation
from tasks.core.models.metadata import Overrides
from tasks.core.models.source import Inventory
from tasks.core.models.video import VideoText
from tasks.core.sql.columns import Measured
from tasks.intake.inventory import take_inventory
from tasks.intake.overrides import read_overrides


async def answer(request: AnswerRequest, prefect: str = "", today: date | None = None) -> Ended:
    """Answer the question over the folder and write the files; `prefect` and `today` as in `session`."""
    async with session(request, prefect, today) as run:
        with told(request.draft):
            answer, shelf = await answered(run, request)
        # Here, because it takes longer to import than the intake to begin.
        from tasks.solve.deliver import deliver

        delivery = await deliver(answer, str(run.out), request.csv_name, shelf.held.derivation.tables)
        if request.workbook:
            from tasks.solve.workbook import add_workbook

            delivery = await add_workbook(answer, delivery, request.workbook_name)
        return run.end(answer, delivery)


async def answered(run: Run, request: AnswerRequest) -> tuple[Answer, Shelf]:
    """The answer, not yet delivered, and what it was read from."""
    watched = None
    if request.base:
        found = await held(run, request.base)
    else:
        began = time.time()
        inventory = await take_inventory(request.folder, run.settings.intake)
        watched = Watched(inventory, began)
        found = await _read(run, inventory)
    found.keep(run)
    from flows.solve import Ground, solve

    shelf = Shelf(run, found)
    ground = Ground(await shelf.catalogue(), found.told, found.measured)
    answer = await solve(run.question, ground, run.settings, shelf.draw)
    run.warnings += watched.changed() if watched else ()
    return answer, shelf


async def _read(run: Run, inventory: Inventory) -> Held:
    """What the folder holds: its tables, and what is said and drawn of the rest."""
    overrides = await read_overrides(inventory)
    (told, video, derivation), (catalogue, measured) = await asyncio.gather(
        timeline.branch(_read_texts(run, inventory, overrides)),
        timeline.branch(_read_tables(run, inventory, overrides)),
    )
    catalogue = catalogue.model_copy(update={"files": explained(catalogue.files, video)})
    _check(run.request.folder, catalogue, derivation)
    return Held(told=told, catalogue=catalogue, derivation=derivation, measured=measured)


def _check(folder: str, catalogue: Catalogue, derivation: Derivation) -> None:
    """Raise InputError when a folder holds nothing that can be read: no model can help then."""
    if catalogue.tables or any(document.text is not None for document in derivation.documents):
        return
    seen = [f"{file.path}: {file.reason}" for file in catalogue.files if file.outcome == "unreadable"]
    seen += [f"{', '.join(each.paths)}: {each.reason or each.status}" for each in derivation.documents]
    seen += [f"{path}: {why}" for path, why in derivation.left_out]
    why = f" ({'; '.join(seen[:3])}{'; …' if len(seen) > 3 else ''})" if seen else ""
    raise InputError(
        f"no table and no document can be read in {folder}{why}",
        f"see `tablewright inspect {folder}` for what each file is, and mend or add the data",
    )


async def _read_tables(run: Run, inventory: Inventory, overrides: Overrides) -> tuple[Catalogue, Measured | None]:
    """The tables of files and databases, measured at once where documents are read meanwhile: then nothing waits for it."""
    catalogue = await load_sources(inventory, overrides, run.settings)
    if not (catalogue.tables and inventory.of("document") and run.settings.document.enabled):
        return catalogue, None
    from tasks.solve.measure import measure_tables

    return catalogue, await measure_tables(catalogue.measurable, run.settings.profiling, run.settings.query)


async def _read_texts(run: Run, inventory: Inventory, overrides: Overrides) -> tuple[Told, VideoText, Derivation]:
    """What people say of the tables, the text of videos, and the tables of documents where there are any."""
    # Here, because its patterns take longer to compile than the intake to begin.
    from tasks.intake.knowledge import read_knowledge

    knowledge, video = await asyncio.gather(read_knowledge(inventory), read_videos(inventory, run.settings.video))
    told = Told(knowledge=knowledge, video_text=video.text, overrides=overrides)
    if not inventory.of("document"):
        return told, video, Derivation()
    from flows.document import derive

    return told, video, await derive(run.question, inventory, knowledge, run.settings, video.text)
