"""Texts → vectors of the embedding model, each from the journal or from its endpoint, in batches, journaled and counted."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence

from tasks.core.asking import EndpointSettings
from tasks.core.llm import budget, calls, client, endpoints, tokens
from tasks.core.llm.budget import Meter
from tasks.core.llm.journal import Journal
from tasks.core.llm.request import Texts
from tasks.core.llm.retry import Carrier
from tasks.core.models.run import StageSpend
from tasks.core.settings import Settings

_ROLE = "recall"
"""Whose time-out and tries hold."""


class Embedder:
    """Where the vectors of one run come from."""

    def __init__(self, settings: Settings, journal: Journal, meter: Meter) -> None:
        self.settings = settings
        self.journal = journal
        self.meter = meter
        self._carrier = Carrier(settings.retry, meter, client.embed)

    async def vectors(self, texts: Sequence[str]) -> list[array[float]]:
        """One vector for each text. Raises ModelError, BudgetError, InputError; what was paid for is journaled then."""
        model, size = self.settings.recall.embedding, self.settings.recall.batch
        found = {text: self.journal.find_vector(model, text) for text in dict.fromkeys(texts)}
        missing = [text for text, vector in found.items() if vector is None]
        if known := len(found) - len(missing):
            self.meter.add(StageSpend(stage=budget.current_stage(), journaled=known))
        batches = [tuple(missing[at : at + size]) for at in range(0, len(missing), size)]
        for result in await asyncio.gather(*map(self._fetch, batches), return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            found |= result
        return [vector for text in texts if (vector := found[text]) is not None]

    async def _fetch(self, batch: tuple[str, ...]) -> dict[str, array[float]]:
        recall = self.settings.recall
        place = EndpointSettings(url=recall.embedding_url, model=recall.embedding, api_key_env=recall.embedding_key_env)
        tokens_in = sum(tokens.count(text) for text in batch)
        with self.meter.reserve(1, tokens_in), calls.heard("", recall.embedding, ("embedding",)) as call:
            request = Texts(recall.embedding, batch)
            got = await self._carrier.send(
                request, self.settings.role(_ROLE), [endpoints.known("recall.embedding", place)]
            )
            spent = StageSpend(
                stage=budget.current_stage(), calls=1, tokens_in=got.tokens_in, money=got.money, seconds=got.seconds
            )
            call.spent = spent
            self.meter.add(spent)
        found = dict(zip(batch, got.rows, strict=True))
        for text, vector in found.items():
            self.journal.keep_vector(recall.embedding, text, vector)
        return found
