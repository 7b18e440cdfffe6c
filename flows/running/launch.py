"""A request → the ended run, under Prefect when its server answers, else as plain calls over the same records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flows.running.request import AnswerRequest
from flows.running.session import Ended
from tasks.core import settings
from tasks.core.settings import Settings

Say = Callable[[str], None]


def choose(chosen: Settings, no_prefect: bool, say: Say) -> bool:
    """Whether Prefect runs the stages; says so when it does not though it may."""
    if no_prefect:
        return False
    from flows.running import server

    url = chosen.prefect.api_url
    if not server.healthy(url, chosen.prefect.probe_seconds):
        say(f"no Prefect server at {url}: the same stages run as plain calls (`tablewright serve` starts one)")
        return False
    for name, value in {**server.variables(url), "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"}.items():
        settings.set_default(name, value)
    return True


async def launch(request: AnswerRequest, in_prefect: bool) -> Ended:
    """Run the request to its end."""
    if in_prefect:
        from flows.deployed import answer_flow

        state: Any = await answer_flow(request, return_state=True)
        ended = await state.aresult(raise_on_failure=False)
        if isinstance(ended, Ended):
            return ended
        raise ended
    from flows.answer import answer

    return await answer(request)
