"""A run that ended on another machine → its files in the folder of this one that was asked for."""

from __future__ import annotations

import secrets

from flows.running.request import AnswerRequest
from flows.running.session import Ended
from tasks.core.files.caller import write_all
from tasks.core.files.store import Store
from tasks.core.settings import Settings


def sent(request: AnswerRequest, settings: Settings) -> AnswerRequest:
    """The request as another process gets it: its files stay there, it has its share of the endpoints, and a name for its candidates."""
    return request.model_copy(update={"out": "", "shares": settings.machines.shares, "draft": secrets.token_hex(16)})


def fetch(ended: Ended, request: AnswerRequest, store: Store) -> Ended:
    """The ended run with its files in `request.out`, each whole or not at all; they come from the store.

    Raises InputError when they are not there or the folder does not take them.
    """
    files = {name: store.get(ref) for name, ref in ended.kept.items()}
    without = "" if request.csv_name in files else request.csv_name
    folder = write_all(request.out, files, "the answer", without=without)
    return ended.model_copy(update={"out": str(folder), "files": tuple(sorted(files))})
