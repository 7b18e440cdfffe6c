"""A request from the Prefect UI → passed, if the folders that it names lie where the operator allows."""

from __future__ import annotations

from pathlib import Path

from flows.running import record
from flows.running.request import AnswerRequest, Request
from tasks.core.errors import InputError
from tasks.core.files.paths import expand
from tasks.core.files.store import Store


def check_roots(request: Request, roots: tuple[str, ...], store: Store) -> None:
    """Raise InputError for a folder, links followed, that lies in none of the roots; without roots all may be named.

    That holds for the output folder and for the folder of the run that is asked again. A profile may then be named, but no
    file: it could send what is read to any endpoint.
    """
    if not roots:
        return
    places = [expand(root).resolve() for root in roots]
    named = {"folder": request.folder}
    if isinstance(request, AnswerRequest) and request.base:
        found = record.find(store, request.base)
        named = {f"folder of run {found.run}": str(found.request.get("folder", ""))}
    if request.out:
        named["output folder"] = request.out
    for what, folder in named.items():
        if not any(_real(folder).is_relative_to(place) for place in places):
            raise InputError(
                f"the {what} {folder!r} lies in none of the folders that may be named here: {', '.join(map(str, places))}",
                "choose one in them, or let the operator add its place to prefect.roots or TABLEWRIGHT_ROOTS",
            )
    if request.profile.endswith(".toml"):
        raise InputError(
            f"the profile {request.profile!r} is a file, and only names of profiles are taken here",
            "choose a name, or let the operator add the file to configs/",
        )


def _real(folder: str) -> Path:
    return expand(folder).resolve()
