"""inventory + metadata.yaml → catalogue of the files, and of live databases as they are now."""

from __future__ import annotations

from tasks.core.models.catalogue import Catalogue
from tasks.core.models.metadata import Overrides
from tasks.core.models.source import Inventory
from tasks.core.settings import Settings
from tasks.intake.catalogue import build_catalogue
from tasks.intake.loading.snapshots import dated
from tasks.intake.snapshot import snapshot_databases


async def load_sources(inventory: Inventory, overrides: Overrides, settings: Settings) -> Catalogue:
    """Every table that files and databases hold; what cannot be read says why among the files."""
    snapshots = await snapshot_databases(overrides.databases, settings.databases) if overrides.databases else ()
    catalogue = await build_catalogue(inventory, settings.intake, snapshots)
    return catalogue.model_copy(update={"files": dated(catalogue.files, snapshots)})
