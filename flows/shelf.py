"""Catalogue of the sources + tables drawn from documents → what the solver queries, and what it asks for on the way."""

from __future__ import annotations

from dataclasses import dataclass

from flows.running.session import Run
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.document import Derivation
from tasks.core.models.semantics import Knowledge


@dataclass
class Shelf:
    """The documents of one run: more of them may become tables while the question is solved."""

    run: Run
    sources: Catalogue
    derivation: Derivation
    knowledge: Knowledge

    async def catalogue(self) -> Catalogue:
        """Everything to query by now, and what became of each document."""
        if not self.derivation.documents:
            return self.sources
        from tasks.intake.derived import add_derived, describe_documents

        both = await add_derived(self.sources, self.derivation.tables, self.run.settings.intake)
        return describe_documents(both, self.derivation)

    async def draw(self, path: str) -> Catalogue:
        """The same with the table of a skipped document, where one can be drawn."""
        from flows.document import derive_asked

        self.derivation = await derive_asked(path, self.derivation, self.knowledge, self.run.settings)
        return await self.catalogue()
