"""Request and the endpoints of its role → what they give, over tries, waits and fields that a server does not take."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Generic, TypeVar

from tasks.core import settings
from tasks.core.asking import EndpointSettings, RetrySettings, RoleSettings
from tasks.core.errors import InputError, ModelError, TablewrightError
from tasks.core.llm import calls, endpoints
from tasks.core.llm.budget import Meter
from tasks.core.llm.endpoints import Endpoint
from tasks.core.llm.request import Heard, Response, Vectors
from tasks.core.llm.trouble import Trouble

Q = TypeVar("Q")
_AGAIN = ("absent", "away", "slow", "busy")
"""Kinds of trouble after which another try may go well."""
A = TypeVar("A", Response, Vectors, Heard)


class Carrier(Generic[Q, A]):
    """Brings requests of one run to endpoints, and what they give back; `call` sends one of them once."""

    _call: Callable[[EndpointSettings, Q, float, frozenset[str]], Awaitable[A]]

    def __init__(
        self,
        retry: RetrySettings,
        meter: Meter,
        call: Callable[[EndpointSettings, Q, float, frozenset[str]], Awaitable[A]],
    ) -> None:
        self.retry = retry
        self.meter = meter
        self._call = call

    async def send(self, request: Q, role: RoleSettings, choices: list[Endpoint]) -> A:
        """What an endpoint gives: at least one reply, maybe fewer than samples; or all vectors.

        Raises ModelError (transient when all tries met an absent or busy endpoint that asks for no longer wait than is
        given), InputError when the endpoint's settings are wrong, BudgetError when the run's time is over.
        """
        for endpoint in choices:
            endpoints.check_url(endpoint)
        alone = choices[0].settings.prefix_seconds if len(choices) == 1 else 0.0
        try:
            async with self.meter.in_time(), choices[0].prefixes.turn(request, alone):
                return await self._tries(request, role, choices)
        except TimeoutError:
            self.meter.check()
            raise

    async def _tries(self, request: Q, role: RoleSettings, choices: list[Endpoint]) -> A:
        first, given_up = 0.0, all(endpoint.given_up for endpoint in choices)
        for attempt in range(1, role.attempts + 1):
            async with self._open(choices, role.first) as endpoint:
                try:
                    response = await self._fitted(endpoint, request, role.timeout_seconds)
                except Trouble as trouble:
                    if trouble.kind not in _AGAIN:
                        raise _error(endpoint, trouble) from None
                    endpoint.trouble(self.retry.cool_seconds, trouble.wait, refuses=trouble.kind == "absent")
                    self._asked_wait(choices)
                    absent = all(endpoint.absent for endpoint in choices)
                    first = first or time.monotonic()
                    enough = given_up or time.monotonic() - first >= self.retry.absent_seconds
                    if attempt == role.attempts or (absent and enough):
                        for each in choices:
                            each.given_up = absent
                        raise _away(endpoint, trouble, attempt, absent) from None
                else:
                    endpoint.well()
                    return response
            if all(endpoint.cool_seconds for endpoint in choices):
                most = self.retry.longest_seconds
                if all(endpoint.absent for endpoint in choices):
                    most = min(most, self.retry.absent_seconds / (role.attempts - 1))
                with calls.waiting("paused"):
                    await asyncio.sleep(self._backoff(attempt, most))
        raise AssertionError("a role has at least one attempt")

    async def _fitted(self, endpoint: Endpoint, request: Q, seconds: float) -> A:
        """Send, and again without each field that the server rejects; what then works is remembered for the endpoint."""
        without = endpoint.without
        while True:
            began = time.monotonic()
            if endpoint.settings.prefix_seconds:
                endpoint.prefixes.sent(request)
            try:
                response = await self._call(endpoint.settings, request, seconds, without)
            except Trouble as trouble:
                calls.took("paused", time.monotonic() - began)
                if trouble.kind != "field" or trouble.field in without:
                    raise
                without |= {trouble.field}
            else:
                calls.took("reply", response.seconds)
                endpoint.without |= without
                notes = tuple(f"{endpoint} takes no {name}" for name in sorted(without - {"n", "max_tokens"}))
                return replace(response, notes=notes)

    @contextlib.asynccontextmanager
    async def _open(self, choices: list[Endpoint], first: bool) -> AsyncIterator[Endpoint]:
        """An endpoint that takes a request now. It may ask to wait while this request stands in line for it."""
        while True:
            with calls.waiting("paused"):
                await asyncio.sleep(self._asked_wait(choices))
            async with endpoints.take(choices, first) as endpoint:
                if not endpoint.closed_seconds:
                    yield endpoint
                    return

    def _asked_wait(self, choices: list[Endpoint]) -> float:
        """Seconds to wait, when every endpoint asks for it. Raises ModelError when that is longer than is given."""
        soonest = min(choices, key=lambda endpoint: endpoint.closed_seconds)
        closed, left = soonest.closed_seconds, self.meter.seconds_left()
        short = left is not None and left < self.retry.asked_seconds
        most = left if left is not None and short else self.retry.asked_seconds
        if closed > most:
            name = "of budget.seconds are left" if short else "are given (retry.asked_seconds)"
            # The next step stands in the message: a stage that goes on without the model keeps nothing else of the error.
            # Not transient: another try of the stage would meet the same closed door.
            raise ModelError(
                f"{soonest} asks to wait {closed:.0f} s, and at most {most:.0f} s {name}: run again later, or raise it"
            )
        return closed

    def _backoff(self, attempt: int, most: float) -> float:
        """Doubled with each try, drawn from the upper half so that clients do not march in step; seconds."""
        full = min(most, self.retry.first_seconds * 2.0 ** (attempt - 1))
        return full * random.uniform(0.5, 1.0)


def _away(endpoint: Endpoint, trouble: Trouble, attempts: int, absent: bool) -> ModelError:
    """Trouble that stayed over all tries; `absent`: nothing answers at any of the endpoints."""
    doctor = "`tablewright doctor` checks it"
    if trouble.kind in ("absent", "away"):
        tries = "1 try" if attempts == 1 else f"{attempts} tries"
        message = f"{endpoint} cannot be reached ({tries}): {trouble}"
        if endpoint.settings.serve:
            hint = "run again, which starts it anew; `tablewright model status` says what became of it"
        elif endpoint.settings.url:
            hint = f"start the server there, or set {endpoint.setting('url')} to where it answers; {doctor}"
        else:
            hint = f"see that this machine reaches the provider, or set {endpoint.setting('url')} to a server that it reaches"
        return ModelError(message, hint, transient=True, away="never there" if absent else "lost")
    hint = f"see what the server does, and run again later; {doctor}"
    if trouble.kind == "slow":
        hint = f"raise roles.*.timeout_seconds, or choose a faster model; {doctor}"
    return ModelError(f"{endpoint} gave no reply in {attempts} tries; the last one: {trouble}", hint, transient=True)


def _error(endpoint: Endpoint, trouble: Trouble) -> TablewrightError:
    """Trouble that another try will not end, for the one who must act."""
    if trouble.kind == "account":
        return _refused(endpoint, trouble)
    if trouble.kind == "place":
        url, model = endpoint.setting("url"), endpoint.setting("model")
        hint = (
            f"set {model} to a name that the server lists, and {url} to its base URL; `tablewright doctor` lists them"
        )
        if not endpoint.settings.url:
            hint = f"write {model} as provider/name, as in anthropic/claude-sonnet-4-5, or set {url} to a server's base URL"
        return InputError(f"{endpoint} does not know the model or the path: {trouble}", hint)
    if trouble.kind == "context":
        return ModelError(
            f"the prompt is too long for {endpoint}: {trouble}",
            "lower brief.tokens, and set roles.*.context_tokens to what the server takes",
        )
    return ModelError(f"{endpoint} rejects the request: {trouble}", "see docs/models.md for what can be switched off")


def _refused(endpoint: Endpoint, trouble: Trouble) -> InputError:
    """The key or the account is not accepted; most often there is no key."""
    variable, refuses = endpoint.settings.api_key_env, f"{endpoint} refuses the key or the account"
    if not variable:
        name = endpoint.setting("api_key_env")
        return InputError(f"{endpoint} got no key, as {name} names no variable: {trouble}", "name one, and export it")
    if settings.secret(variable).get_secret_value():
        return InputError(f"{refuses}: {trouble}", f"set {variable} to a valid key of an account with credit")
    if endpoint.settings.url:
        return InputError(f"{endpoint} got no key, as {variable} is empty: {trouble}", f"export {variable}=your-key")
    return InputError(
        f"{refuses}, and {variable} is empty: {trouble}", f"export {variable}=your-key, or the provider's own variable"
    )
