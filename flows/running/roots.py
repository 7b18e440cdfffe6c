"""A request from the Prefect UI → passed, if the folders that it names lie where the operator allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.running import record
from flows.running.grid import BenchmarkRequest, place
from flows.running.request import AnswerRequest, Request
from tasks.benchmark.suite import folder_of
from tasks.core.errors import InputError
from tasks.core.files.paths import expand
from tasks.core.files.store import Store
from tasks.core.sections import PROJECT


def check_roots(request: Request, roots: tuple[str, ...], store: Store) -> None:
    """Raise InputError for a folder, links followed, that lies in none of the roots; without roots all may be named.

    That holds for the output folder and for the folder of the run that is asked again. A profile may then be named, but no
    file: it could send what is read to any endpoint.
    """
    named = {"folder": request.folder}
    if roots and isinstance(request, AnswerRequest) and request.base:
        found = record.find(store, request.base)
        named = {f"folder of run {found.run}": str(found.request.get("folder", ""))}
    if request.out:
        named["output folder"] = request.out
    check_named(named, [request.profile], roots)


def check_suites(request: BenchmarkRequest, roots: tuple[str, ...]) -> None:
    """The same for a benchmark: its suites, also where a manifest puts them, and where it writes. The samples may be named."""
    named: dict[str, str] = {}
    for suite in map(place, request.suites):
        if not suite.resolve().is_relative_to(PROJECT / "data" / "samples"):
            named |= {f"suite {suite.name}": str(suite), f"folder of suite {suite.name}": str(folder_of(suite))}
    named |= {"results folder": str(place(request.results))} if request.results else {}
    named |= {"file to write into": str(place(request.into))} if request.into else {}
    check_named(named, request.profiles, roots)


def check_config(request: BenchmarkRequest, roots: tuple[str, ...]) -> None:
    """Raise InputError where there are roots and the settings file of a benchmark is a path: only names are taken then."""
    if roots and request.config.endswith(".toml"):
        raise InputError(
            f"the settings file {request.config!r} is a path, and only names of configs/ are taken here",
            "choose a name, or let the operator add the file to configs/",
        )


def check_named(named: Mapping[str, str], profiles: Sequence[str], roots: tuple[str, ...]) -> None:
    """Raise InputError for a place, by what it is, that lies in none of the roots, and for a profile that is a file."""
    if not roots:
        return
    places = [expand(root).resolve() for root in roots]
    for what, folder in named.items():
        if not any(_real(folder).is_relative_to(place) for place in places):
            raise InputError(
                f"the {what} {folder!r} lies in none of the folders that may be named here: {', '.join(map(str, places))}",
                "choose one in them, or let the operator add its place to prefect.roots or TABLEWRIGHT_ROOTS",
            )
    for profile in profiles:
        if profile.endswith(".toml"):
            raise InputError(
                f"the profile {profile!r} is a file, and only names of profiles are taken here",
                "choose a name, or let the operator add the file to configs/",
            )


def _real(folder: str) -> Path:
    return expand(folder).resolve()
