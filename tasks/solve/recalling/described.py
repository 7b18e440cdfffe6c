"""Metadata → the same as the configured metadata store has it, or as it was, with the reason."""

from __future__ import annotations

import hashlib

from tasks.core.files import store as stores
from tasks.core.models.metadata import Metadata
from tasks.core.sections import StoresSettings
from tasks.core.stores.wanted import metadata_store
from tasks.solve.describing.rows import as_json, from_rows


def described(metadata: Metadata, places: StoresSettings) -> tuple[Metadata, str]:
    """Rows that somebody changed on the server are not what this folder's description says: they are not used."""
    if places.metadata == "embedded" or metadata.database is None:
        return metadata, ""
    digest = metadata.database.sha256
    store = metadata_store(stores.current().local(metadata.database), digest, places)
    rows = store.run(lambda opened: opened.rows())
    if store.problem:
        return metadata, store.problem
    try:
        found = from_rows(rows)
    except (KeyError, ValueError):
        found = Metadata()
    if hashlib.sha256(as_json(found)).hexdigest() != digest:
        hint = f"delete the rows of the digest {digest} from all its tables: they are written anew"
        return metadata, f"rows of the metadata store were changed; the embedded one was used; next: {hint}"
    return metadata.model_copy(update={"tables": found.tables, "columns": found.columns, "metrics": found.metrics}), ""
