"""Settings + a content → the store of it that is wanted, with the embedded one behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tasks.core import settings
from tasks.core.errors import InputError
from tasks.core.masking import splits_password
from tasks.core.search.lookup import Lookup
from tasks.core.sections import StoresSettings
from tasks.core.stores import database, elastic, qdrant
from tasks.core.stores.embedded import MetadataFile, VectorFile
from tasks.core.stores.place import Place
from tasks.core.stores.preferred import Preferred
from tasks.core.stores.protocols import MetadataStore, TextIndex, VectorStore

Connect = Callable[[Place, Any], AbstractContextManager[Any]]


def text_index(path: Path, digest: str, entries: int, places: StoresSettings) -> Preferred[TextIndex]:
    """Over an index file with so many entries."""
    told = ("text", places.text, places.text_url_env, places.text_key_env)
    return Preferred(lambda: Lookup(path), _configured(elastic.connect, told, (path, digest, entries), places))


def vector_store(path: Path, digest: str, places: StoresSettings) -> Preferred[VectorStore]:
    """Over a file of vectors."""
    told = ("vectors", places.vectors, places.vectors_url_env, places.vectors_key_env)
    embedded = VectorFile(path)
    return Preferred(lambda: nullcontext(embedded), _configured(qdrant.connect, told, (path, digest), places))


def metadata_store(path: Path, digest: str, places: StoresSettings) -> Preferred[MetadataStore]:
    """Over a description's JSON."""
    told = ("metadata", places.metadata, places.metadata_url_env, "")
    embedded = MetadataFile(path)
    return Preferred(lambda: nullcontext(embedded), _configured(database.connect, told, (path, digest), places))


def _configured(
    connect: Connect, told: tuple[str, str, str, str], content: Any, places: StoresSettings
) -> Callable[[], AbstractContextManager[Any]] | None:
    """How the store is opened that `told` (setting, its value, variables of URL and key) names; None for the embedded one."""
    setting, kind, url_env, key_env = told
    if kind == "embedded":
        return None

    @contextmanager
    def opened() -> Iterator[Any]:
        url, key = (settings.secret(name).get_secret_value().strip() for name in (url_env, key_env))
        if not url:
            hint = f"set {url_env} to its URL, or stores.{setting} to embedded"
            raise InputError(f"{kind} has no address: the environment variable {url_env!r} is not set", hint)
        if splits_password(url):  # its first half would be the host
            hint = f"in a password of {url_env}, %-encode / ? # and @; an @ of the path is written %40"
            raise InputError(f"{kind} has no address that can be read: an @ stands behind its host", hint)
        with connect(Place(url=url, key=key, prefix=places.prefix, seconds=places.seconds), content) as store:
            yield store

    return opened
