"""This machine and its settings → what works, what does not, and what to do about it."""

from __future__ import annotations

import json
import os
import platform
import shutil
from http.client import HTTPException, InvalidURL
from typing import Literal
from urllib.request import Request, urlopen

from flows.running import server
from flows.running.session import versions
from tasks.core import settings as env
from tasks.core.asking import EndpointSettings
from tasks.core.errors import InputError
from tasks.core.llm.endpoints import Endpoint, base_url, check_url, nameless, without_secrets
from tasks.core.llm.reach import unreached
from tasks.core.models.value import Value
from tasks.core.sandbox import tiers
from tasks.core.settings import Settings, load

_PROBE_SECONDS = 5.0


class Check(Value):
    """One thing that a run needs."""

    name: str
    state: Literal["ok", "limited", "broken"]
    """`limited`: runs work without it, or it is not known until a run."""
    detail: str
    next: str = ""
    """What to do; empty when nothing is."""


async def examine(profile: str) -> tuple[Check, ...]:
    """All checks; nothing is fetched, started or paid for."""
    settings = load(profile)
    isolation = await tiers.probe()
    return (
        _versions(),
        *_models(settings),
        Check(
            name="isolation of programs",
            state="limited" if isolation.tier == "none" else "ok",
            detail=f"{isolation.tier}: {isolation.detail}",
            next=isolation.hint,
        ),
        _prefect(settings),
        await _store(settings),
    )


def _versions() -> Check:
    found = ", ".join(f"{name} {version}" for name, version in versions().items())
    return Check(name="versions", state="ok", detail=f"{found}; {platform.system()}, {os.cpu_count()} cores")


def _models(settings: Settings) -> list[Check]:
    roles = ["agent", *(["contract"] if settings.contract.enabled else [])]
    names = dict.fromkeys(name for role in roles for name in settings.role(role).endpoints)
    return [_model(name, settings.endpoints[name], settings) for name in names]


def _model(name: str, endpoint: EndpointSettings, settings: Settings) -> Check:
    title = f"model {endpoint.model or '(none)'} at endpoint {name}"
    if endpoint.serve:
        return _local(title, settings)
    if not endpoint.model:
        said = f"profile {settings.profile!r} names no model"
        return Check(name=title, state="limited", detail=said, next=nameless(name))
    if endpoint.provider or not endpoint.url:
        key = "has a value" if env.secret(endpoint.api_key_env).get_secret_value() else "is empty"
        where = endpoint.provider or endpoint.model.split("/")[0]
        return Check(
            name=title, state="limited", detail=f"provider {where} is not asked here; {endpoint.api_key_env} {key}"
        )
    return _remote(title, name, endpoint)


def _remote(title: str, name: str, endpoint: EndpointSettings) -> Check:
    try:
        check_url(Endpoint(name, endpoint))
    except InputError as error:
        return Check(name=title, state="broken", detail=error.message, next=error.hint)
    url, key = base_url(endpoint), env.secret(endpoint.api_key_env).get_secret_value()
    shown, setting = without_secrets(url), Endpoint(name, endpoint).setting("url")
    try:
        request = Request(f"{url}/models", headers={"Authorization": f"Bearer {key}"} if key else {})
    except ValueError:
        return Check(name=title, state="broken", detail=f"{shown} is no URL", next=f"mend {setting}: http://host:port")
    try:
        with urlopen(request, timeout=_PROBE_SECONDS) as reply:
            listed = [str(model.get("id")) for model in json.load(reply).get("data", [])]
    except OSError as error:
        code = getattr(error, "code", 0)
        if code in (401, 403):
            return _refused(title, shown, endpoint)
        if code:
            return Check(name=title, state="limited", detail=f"{shown} answers, but lists no models (HTTP {code})")
        reason = getattr(error, "reason", error)
        why = unreached(error, url)[0] or str(reason)
        return Check(
            name=title, state="broken", detail=f"{shown} does not answer: {why}", next=f"start it, or mend {setting}"
        )
    except InvalidURL as error:
        return Check(name=title, state="broken", detail=f"{shown} is no URL: {error}", next=f"mend {setting}")
    except (ValueError, AttributeError, TypeError, HTTPException):
        return Check(
            name=title,
            state="limited",
            detail=f"{shown} answers, but its list of models cannot be read",
            next=f"see that {setting} is an OpenAI-compatible endpoint: its path, with or without /v1, is in its manual",
        )
    if listed and endpoint.model not in listed:
        said, model = ", ".join(listed[:5]), Endpoint(name, endpoint).setting("model")
        return Check(
            name=title,
            state="limited",
            detail=f"{shown} lists other models: {said}",
            next=f"set {model} to one of them",
        )
    return Check(name=title, state="ok", detail=f"{shown} answers")


def _refused(title: str, shown: str, endpoint: EndpointSettings) -> Check:
    variable = endpoint.api_key_env
    if variable and env.secret(variable).get_secret_value():
        return Check(
            name=title, state="broken", detail=f"{shown} refuses the key", next=f"set {variable} to a valid key"
        )
    why = f"{variable} is empty" if variable else "its api_key_env names no variable"
    step = f"export {variable}=your-key" if variable else "name one in the profile, and export it"
    return Check(name=title, state="broken", detail=f"{shown} asks for a key, and {why}", next=step)


def _local(title: str, settings: Settings) -> Check:
    from tasks.core.llm.local import serve

    try:
        status = serve.status(settings)
    except InputError as error:
        return Check(name=title, state="broken", detail=error.message, next=error.hint)
    if not status.installed:
        said = "the library that serves it is not installed"
        return Check(name=title, state="broken", detail=said, next=serve.INSTALL)
    if not status.file:
        size = f"{settings.local.size / 1e9:.1f} GB"
        return Check(
            name=title, state="limited", detail=f"its file is not here yet ({size})", next="tablewright model fetch"
        )
    if status.running and not status.answers:
        hint = f"tablewright model stop; its log is {status.log}"
        return Check(name=title, state="limited", detail=f"process {status.pid} does not answer now", next=hint)
    how = f"runs as process {status.pid}" if status.running else "starts with the first question"
    return Check(name=title, state="ok", detail=f"{status.file}; {how}")


def _prefect(settings: Settings) -> Check:
    url = settings.prefect.api_url
    if server.healthy(url, _PROBE_SECONDS):
        return Check(name="Prefect server", state="ok", detail=f"{url} answers; runs are shown there")
    detail = f"none at {url}: the same stages run as plain calls"
    return Check(name="Prefect server", state="limited", detail=detail, next="tablewright serve")


async def _store(settings: Settings) -> Check:
    from flows.running.session import open_store

    name, folder = "store", settings.store.folder
    try:
        open_store(settings).write("probe", b"")  # copies of a store that is elsewhere lie there too
        (folder / "probe").unlink()
        if settings.store.block:
            await _reach_block(settings)
        free = shutil.disk_usage(folder).free >> 20
    except InputError as error:
        return Check(name=name, state="broken", detail=error.message, next=error.hint)
    where = f"{settings.store.block}, with copies in {folder}" if settings.store.block else str(folder)
    return Check(name=name, state="ok", detail=f"{where}; {free:,} MB free, {settings.store.min_free_mb} MB needed")


async def _reach_block(settings: Settings) -> None:
    """Look for a file in the store that is elsewhere. Raises InputError when it is not reached."""
    from flows.running.storage import is_url
    from flows.runs import store_of

    if not is_url(settings.store.block) and not server.reach(settings.prefect):
        raise InputError(
            f"the store is the Prefect block {settings.store.block!r}, and no server answers", "tablewright serve"
        )
    store = await store_of(settings)
    store.write("probe", b"")
    if store.read("probe") != b"":
        raise InputError(f"the store {settings.store.block} does not give what was written", "look at its own log")
