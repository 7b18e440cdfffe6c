"""Catalogue of the sources + tables drawn from documents → what the solver queries, and what it asks for on the way."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from flows.running import record
from flows.running.session import Run
from tasks.core.errors import InputError
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import Told
from tasks.core.models.document import Derivation
from tasks.core.models.value import Value
from tasks.core.sql.columns import Measured


class Held(Value):
    """What a run found in its folder: enough to ask again when the folder has changed or is gone."""

    told: Told
    catalogue: Catalogue
    """Of the sources."""
    derivation: Derivation
    """As its own question had it."""
    measured: Measured | None = None
    """Facts of its tables, where they were measured while documents were read."""

    def keep(self, run: Run) -> None:
        """Keep it in the run's store, named by the run's record."""
        run.shelf = run.store.put(self.model_dump_json().encode(), "shelf.json")


async def held(run: Run, base: str) -> Held:
    """What an earlier run found, with the documents that this run's question needs.

    Raises InputError when that run is not there, ended before it had read its folder, or was one of another version.
    """
    found = run.earlier if run.earlier and run.earlier.shelf else record.find(run.store, base)
    if found.shelf is None:
        raise InputError(
            f"run {found.run} has no catalogue to ask again: it ended before its folder was read, or read documents alone",
            "`tablewright runs` lists others; or ask over the folder",
        )
    try:
        old = Held.model_validate_json(run.store.get(found.shelf))
    except ValidationError as error:
        raise InputError(
            f"the catalogue of run {found.run} was kept by another version", "ask over the folder"
        ) from error
    if not old.derivation.documents:
        return old
    from flows.document import draw_for

    told = old.told
    drawn = await draw_for(run.question, old.derivation, told.knowledge, run.settings, told.video_text)
    return old.model_copy(update={"derivation": drawn})


@dataclass
class Shelf:
    """The documents of one run: more of them may become tables while the question is solved."""

    run: Run
    held: Held

    async def catalogue(self) -> Catalogue:
        """Everything to query by now, and what became of each document."""
        sources, derivation = self.held.catalogue, self.held.derivation
        if not derivation.documents:
            return sources
        from tasks.intake.derived import add_derived, describe_documents

        both = await add_derived(sources, derivation.tables, self.run.settings.intake)
        return describe_documents(both, derivation)

    async def draw(self, path: str) -> Catalogue:
        """The same with the table of a skipped document, where one can be drawn."""
        from flows.document import derive_asked

        derivation, knowledge = self.held.derivation, self.held.told.knowledge
        drawn = await derive_asked(path, derivation, knowledge, self.run.settings)
        self.held = self.held.model_copy(update={"derivation": drawn})
        return await self.catalogue()
