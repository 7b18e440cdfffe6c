"""folder → what is in it: outcome of every file, tables, columns and joins as measured. No model is asked."""

from __future__ import annotations

from flows.session import open_store
from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue, Profile
from tasks.core.models.semantics import Knowledge
from tasks.core.models.value import Value
from tasks.core.settings import Settings
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.solve.profile import profile_tables


class Findings(Value):
    """Everything that a question over the folder would start from."""

    catalogue: Catalogue
    knowledge: Knowledge
    profile: Profile

    @property
    def problems(self) -> tuple[str, ...]:
        """What a reader should know before trusting an answer."""
        unread = [
            f"{file.path}: unreadable: {file.reason}" for file in self.catalogue.files if file.outcome == "unreadable"
        ]
        partly = [
            f"{file.path}: {file.reason}" for file in self.catalogue.files if file.outcome == "table" and file.reason
        ]
        aside = [
            f"{table.name}: {table.set_aside} rows could not be parsed; they are kept in {table.name}__set_aside"
            for table in self.catalogue.tables
            if table.set_aside
        ]
        return (*unread, *partly, *aside)


async def inspect(folder: str, settings: Settings) -> Findings:
    """Read and measure a folder, over the same records that its questions use."""
    with stores.use(open_store(settings)):
        inventory = await take_inventory(folder, settings.intake)
        knowledge = await read_knowledge(inventory)
        catalogue = await build_catalogue(inventory, settings.intake)
        profile = await profile_tables(catalogue, knowledge, settings.profiling, settings.query)
        return Findings(catalogue=catalogue, knowledge=knowledge, profile=profile)
