"""folder + question → what a run would send to which endpoint, and what it may cost; nothing is sent."""

from __future__ import annotations

import os
import statistics
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Any

from flows.answer import answered
from flows.running import record
from flows.running.record import RunRecord
from flows.running.request import AnswerRequest, check_store, question_of
from flows.running.session import Run, check_model
from flows.runs import store_of
from tasks.core.asking import EndpointSettings
from tasks.core.files import store as stores
from tasks.core.files.store import Store
from tasks.core.llm import client, door
from tasks.core.llm.endpoints import base_url, without_secrets
from tasks.core.llm.forecast import Forecast, Foreseen, Prompt
from tasks.core.models.value import Value
from tasks.core.settings import Settings, load

_RECORDS = 200
"""Newest runs that are looked at for what runs have taken."""


class Planned(Value):
    """The requests of one stage that are known before any reply."""

    stage: str
    role: str
    model: str
    places: tuple[str, ...]
    """Where they would go: URLs without secrets, a provider's name, or this machine."""
    calls: int
    tokens_in: int
    tokens_out: int
    """At most, or estimated."""
    money: float | None
    """US dollars for these, by litellm's price map; None for a model that it does not know."""
    prompts: tuple[dict[str, Any], ...]
    """The messages as they would be sent, as far as no reply decides them."""
    estimated: bool = False
    """Calls and tokens are an estimate for learned patterns; the others are exact, and at most."""


class Earlier(Value):
    """What ended runs of the same kind under the same settings have taken, whoever paid: medians."""

    runs: int
    calls: float
    tokens: float


class Outlook(Value):
    """What is known of a run beforehand."""

    question: str
    planned: tuple[Planned, ...]
    """Empty: no model would be asked, all is in the store."""
    patterns: tuple[Foreseen, ...]
    """Sections that learned patterns would read; their requests are the estimated ones of `planned`."""
    later: str
    """What follows once there are replies, and its bounds."""
    limits: dict[str, float]
    """Of the budget; 0: none."""
    earlier: Earlier | None

    def total(self) -> dict[str, Any]:
        """Of what is planned; `money` is None when a model's price is not known."""
        prices = [part.money for part in self.planned]
        return {
            "calls": sum(part.calls for part in self.planned),
            "tokens_in": sum(part.tokens_in for part in self.planned),
            "tokens_out": sum(part.tokens_out for part in self.planned),
            "money": None if None in prices else sum(price or 0.0 for price in prices),
        }


async def look(request: AnswerRequest, today: date | None = None) -> Outlook:
    """Read the folder, go the run's way as far as it goes without a new reply, and note what would be asked.

    Replies of earlier runs are used as a run would use them. Raises InputError as a run would.
    """
    question = question_of(request, today or date.today())
    settings = load(request.profile, request.overrides())
    check_model(settings, request.ROLE)
    check_store(request.folder, settings.store.folder)
    store, meter = await store_of(settings), Forecast(settings.budget)
    run = Run(f"dry-{os.getpid()}", request, question, settings, store, meter, Path())
    with stores.use(store), door.use(door.Door(settings, store, meter)), record.living(store, run.id):
        await answered(run, request)
    kinds: dict[tuple[str, str, bool], list[Prompt]] = defaultdict(list)
    for prompt in meter.prompts:
        kinds[prompt.stage, prompt.role, prompt.estimated].append(prompt)
    return Outlook(
        question=question.text,
        planned=tuple(_planned(prompts, settings) for prompts in kinds.values()),
        patterns=tuple(meter.foreseen),
        later=_later(meter.prompts, settings),
        limits=settings.budget.model_dump(),
        earlier=_earlier(store, request, settings),
    )


def _planned(prompts: list[Prompt], settings: Settings) -> Planned:
    """Of one stage and role, all exact or all estimated."""
    first = prompts[0]
    chosen = [settings.endpoints[name] for name in settings.role(first.role).endpoints] if first.role else []
    calls = sum(prompt.calls for prompt in prompts)
    tokens_in = sum(prompt.sent for prompt in prompts)
    tokens_out = sum(prompt.back for prompt in prompts)
    return Planned(
        stage=first.stage,
        role=first.role,
        model=" | ".join(dict.fromkeys(each.model for each in chosen)) or settings.recall.embedding,
        places=tuple(map(_place, chosen)) or (without_secrets(settings.recall.embedding_url),),
        calls=calls,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        money=_money(chosen, tokens_in, tokens_out),
        prompts=tuple(message for prompt in prompts for message in prompt.messages),
        estimated=first.estimated,
    )


def _is_here(endpoint: EndpointSettings) -> bool:
    return endpoint.serve and not endpoint.url


def _place(endpoint: EndpointSettings) -> str:
    if _is_here(endpoint):
        return "this machine"
    return without_secrets(base_url(endpoint)) if endpoint.url else endpoint.provider or endpoint.model.split("/")[0]


def _money(chosen: list[EndpointSettings], tokens_in: int, tokens_out: int) -> float | None:
    """By the dearest endpoint; None when the price of one is not known."""
    prices = [0.0 if _is_here(each) else client.price(each, each.model, tokens_in, tokens_out) for each in chosen]
    known = [price for price in prices if price is not None]
    return max(known) if known and len(known) == len(prices) else None


def _later(prompts: list[Prompt], settings: Settings) -> str:
    """What can follow on these; a reply decides it."""
    if not prompts:
        return ""
    agent, role = settings.agent, settings.role("agent")
    said = []
    if agent.style in ("tools", "json"):
        bound = agent.turns * (role.context_tokens + role.max_tokens)
        said.append(f"the solver takes up to {agent.turns} turns, at most {bound:,} tokens")
    else:
        more = f"{role.samples} further samples, with " if agent.style == "single" else ""
        said.append(f"the solver may ask for {more}up to {role.repairs} repairs of each sample")
    if validators := [each for each in (settings.process, settings.verify) if each.enabled and each.model]:
        rejections = sum(each.review_budget for each in validators)
        said.append(
            f"{len(validators)} validators look at its answer, and again after each of up to {rejections} rejections"
        )
    if any(prompt.stage == "plan_document" for prompt in prompts):
        said.append(
            "each document with a plan is then sent once more, in slices (or in part, where many records are told alike), and its columns are read"
        )
    if any(prompt.role == "relevance" for prompt in prompts):
        said.append(f"a vote that is not clear asks for up to {settings.vote.extra_batches} further batches")
    return "; ".join(said)


def _earlier(store: Store, request: AnswerRequest, settings: Settings) -> Earlier | None:
    """None when no run under these settings has ended with an answer."""
    found = (record.read(store, name) for name in record.names(store)[:_RECORDS])
    whole = [run.spend.total for run in found if run and run.spend.total.calls and _is_like(run, request, settings)]
    if not whole:
        return None
    return Earlier(
        runs=len(whole),
        calls=statistics.median(spend.calls + spend.journaled for spend in whole),
        tokens=statistics.median(spend.tokens_in + spend.tokens_out for spend in whole),
    )


def _is_like(run: RunRecord, request: AnswerRequest, settings: Settings) -> bool:
    """Whether it went the whole way that this run would go."""
    ended = run.status in ("approved", "not_assessed", "rejected", "partial")
    return ended and run.flow == request.FLOW and run.settings == record.shaping(settings)
