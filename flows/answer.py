"""folder + question → answer table with its evidence."""

from __future__ import annotations

import asyncio
from datetime import date

from flows.request import AnswerRequest
from flows.session import Ended, session
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge


async def answer(request: AnswerRequest, prefect: str = "", today: date | None = None) -> Ended:
    """Answer the question over the folder and write the files; `prefect` and `today` as in `session`."""
    async with session(request, prefect, today) as run:
        inventory = await take_inventory(request.folder, run.settings.intake)
        knowledge, catalogue = await asyncio.gather(
            read_knowledge(inventory),
            build_catalogue(inventory, run.settings.intake),
        )
        # Here, because they take longer to import than the intake to begin.
        from flows.solve import solve
        from tasks.solve.publish import deliver

        answer = await solve(run.question, catalogue, knowledge, run.settings)
        return run.end(answer, await deliver(answer, str(run.out), request.csv_name))
