"""A file → what is said in it, from the journal or from the transcription model's endpoint, journaled and counted."""

from __future__ import annotations

import json
from pathlib import Path

from tasks.core.asking import EndpointSettings
from tasks.core.llm import budget, calls, client, endpoints
from tasks.core.llm.budget import Meter
from tasks.core.llm.journal import Journal
from tasks.core.llm.request import Reply, Request, Sound
from tasks.core.llm.retry import Carrier
from tasks.core.models.run import StageSpend
from tasks.core.sections import SpeechSettings
from tasks.core.settings import Settings

ROLE = "speech"
Said = tuple[tuple[float | None, str], ...]


class Listener:
    """Where the transcripts of one run come from."""

    def __init__(self, settings: Settings, journal: Journal, meter: Meter) -> None:
        self.settings = settings
        self.journal = journal
        self.meter = meter
        self._carrier = Carrier(settings.retry, meter, client.transcribe)

    async def hear(self, path: Path, sha256: str, how: SpeechSettings) -> Said:
        """Seconds and text of each segment, of a file of this digest. Raises ModelError, BudgetError, InputError."""
        asked = _question(how.model, sha256)
        if found := self.journal.find(asked, 0):
            self.meter.add(StageSpend(stage=budget.current_stage(), journaled=1))
            return tuple((at, text) for at, text in json.loads(found.text))
        place = EndpointSettings(url=how.url, model=how.model, api_key_env=how.key_env, concurrency=1)
        with self.meter.reserve(1, 0), calls.heard(ROLE, how.model, ("video.speech",)) as call:
            sound = Sound(how.model, str(path))
            got = await self._carrier.send(sound, self.settings.role(ROLE), [endpoints.known("video.speech", place)])
            call.spent = StageSpend(stage=budget.current_stage(), calls=1, money=got.money, seconds=got.seconds)
            self.meter.add(call.spent)
        self.journal.keep(asked, 0, 0, Reply(json.dumps(got.said, ensure_ascii=False), model=how.model))
        return got.said


def _question(model: str, sha256: str) -> Request:
    """What is asked, as the journal keys it: the file by its content."""
    messages = ({"role": "user", "content": f"What is said in the file {sha256}?"},)
    return Request(
        role=ROLE, model=model, messages=messages, samples=1, temperature=0.0, top_p=1.0, max_tokens=1, thinking=False
    )
