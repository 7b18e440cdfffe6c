"""assignment + tools → steps and candidates: the model acts, sees what came of it, and acts again until it hands in.

Every way to the end is bounded: turns, equal calls, unusable replies, and the run's budget. Before the turns or the
patience are over, or the budget nearly is, one last turn allows only `submit`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import door
from tasks.core.llm.request import ToolCall
from tasks.core.models.answer import Step, Unsettled
from tasks.core.models.run import Usage
from tasks.core.sections import BudgetSettings
from tasks.solve.solving import review, tools
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.demand import Wanted
from tasks.solve.solving.observe import Observation
from tasks.solve.solving.review import Due
from tasks.solve.solving.styles import ROLE, Style, Turn
from tasks.solve.solving.transcript import Transcript

End = Literal["submitted", "turns", "budget", "loop", "model_error", "unreachable", "no_query", "document", "audit"]
_PATIENCE = 3
"""Blocked calls, turns without a call, or unusable replies, before the end is near."""
_WARN_TURNS = 3
_LAST = "This is the last turn: only submit is possible. Hand in your best query now."
_REPEATED = (
    "This call was not run: you made it before, again and again, and its result does not change. "
    "Do something else, or submit your best query."
)
_AGAIN = "You made the same call before. If its rows are the answer, hand the query in with submit."
_SHORT = "the budget of the run was nearly used up, so the last turn came early"
_TURNS_KEPT = 2.5
"""The last turn comes when the tokens left are those of so many turns like the one before …"""
_SECONDS_KEPT = 0.05
"""… or this share of the run's seconds is left, or `budget.reserve_seconds` …"""
_MOST_SECONDS_KEPT = 0.25
"""… but no more than this share."""
_NOT_RUN = Observation("Not run: the answer was accepted.", ok=False)
_HANDED_IN = Observation("Handed in; validators look at it.")
_UNUSABLE = "Your last reply could not be used. Reply in the form that was asked for."


@dataclass
class Dialogue:
    """One attempt under way."""

    bench: Bench
    style: Style
    transcript: Transcript
    steps: list[Step] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unsettled: Unsettled = ""
    wanted: str = ""
    """Path of the document whose table it waits for."""
    due: Literal["", "checkpoint", "candidate"] = ""
    """What it waits for validators to look at."""
    _calls: list[str] = field(default_factory=list)
    _blocked: int = 0
    _idle: int = 0
    _unusable: int = 0
    _turns: int = 0
    """Since validators looked."""
    _heard: int = 0

    async def run(self) -> End:
        """Turn after turn until a submission is accepted or something ends the attempt."""
        offered = tools.offered(self.bench)
        only_submit = tuple(tool for tool in offered if tool.name == tools.SUBMIT)
        turns = self.bench.limits.agent.turns
        for number in range(1, turns + 1):
            early = self._early_end()
            last = number == turns or early is not None
            try:
                turn = await self.style.ask(self.transcript, only_submit if last else offered)
            except BudgetError as error:
                return self._stopped("budget", error.told, "stopped")
            except ModelError as error:
                if error.transient or last or self._unusable + 1 >= _PATIENCE:
                    return self._stopped("unreachable" if error.away else "model_error", error.told, error.unsettled)
                self._unusable += 1
                self.problems.append(error.message)
                self.transcript.say({"role": "user", "content": _UNUSABLE})
                continue
            self._unusable = 0
            self.bench.last_turn = last
            try:
                if await self._act(turn, only_submit if last else offered, turns - number):
                    return "submitted"
                if not last:
                    self._hear()
            except Wanted as wish:
                self.wanted = wish.path
                return "document"
            except Due as due:
                self.due = due.kind
                return "audit"
            if last:
                return self._stopped("budget", _SHORT, "stopped") if early == "budget" else early or "turns"
        return "turns"

    def _hear(self) -> None:
        """What validators say on the way, where it is time. Raises Due."""
        self._turns = 0 if self.bench.heard > self._heard else self._turns + 1
        told = review.on_the_way(self.bench, len(self.steps), self._turns)
        if told:
            self.transcript.say({"role": "user", "content": told})
        if told is not None:
            self._turns = 0
        self._heard = self.bench.heard

    async def _act(self, turn: Turn, offered: tuple[tools.Tool, ...], left: int) -> bool:
        """Run the calls of a turn; whether a submission was accepted."""
        said = Observation(turn.text[: self.bench.chars], truncated=len(turn.text) > self.bench.chars)
        self._step("model", ROLE, {"calls": [call.name for call in turn.calls]}, said, turn.usage)
        self.problems += turn.problems
        self._idle = 0 if turn.calls else self._idle + 1
        results: list[Observation] = []
        for call in turn.calls:
            accepted = bool(results) and results[-1].final
            try:
                result = _NOT_RUN if accepted else await self._call(call, offered)
            except Due:  # the attempt may end here, and every step is kept
                self._step("tool", call.name, call.arguments, _HANDED_IN, Usage())
                raise
            results.append(result)
            self._step("tool", call.name, call.arguments, result, Usage())
        self.style.answer(self.transcript, turn, results, self._note(left))
        return any(result.final for result in results)

    async def _call(self, call: ToolCall, offered: tuple[tools.Tool, ...]) -> Observation:
        key = json.dumps([call.name, call.arguments], sort_keys=True, ensure_ascii=False)
        self._calls.append(key)
        if call.name != tools.SUBMIT and _is_loop(self._calls, self.bench.limits.agent.same_call_limit):
            self._blocked += 1
            return Observation("", _REPEATED, ok=False)
        result = await tools.call(self.bench, offered, call.name, call.arguments)
        again = call.name != tools.SUBMIT and self._calls[-2:-1] == [key]
        return replace(result, advice=_AGAIN) if again and result.ok else result

    def _early_end(self) -> End | None:
        """Why the last turn has come early, if it has."""
        if self._blocked >= _PATIENCE:
            return "loop"
        if self._idle >= _PATIENCE:
            return "no_query"
        return "budget" if self.steps and self._is_short() else None

    def _is_short(self) -> bool:
        """Whether the run's budget has room for about one more turn."""
        if self.bench.behind:
            return False
        meter = door.current().meter
        limits, spent, seconds = meter.limits, meter.spend().total(), meter.seconds_left()
        turn = next(step.usage for step in reversed(self.steps) if step.kind == "model")
        tokens_left = limits.tokens - spent.tokens_in - spent.tokens_out
        return (
            (limits.calls > 0 and limits.calls - spent.calls <= 1)
            or (limits.tokens > 0 and tokens_left <= _TURNS_KEPT * (turn.tokens_in + turn.tokens_out))
            or (seconds is not None and seconds <= _kept(limits))
        )

    def _note(self, left: int) -> str:
        """What the model should know about the turns that are left."""
        if left == 1 or self._early_end():
            return _LAST
        return f"{left} turns are left: submit soon." if left <= _WARN_TURNS else ""

    def _step(
        self, kind: Literal["model", "tool"], name: str, arguments: dict[str, Any], seen: Observation, usage: Usage
    ) -> None:
        step = Step(
            index=len(self.steps),
            kind=kind,
            name=name,
            arguments=arguments,
            result=seen.plain,
            ok=seen.ok,
            truncated=seen.truncated,
            usage=usage,
        )
        self.steps.append(step)

    def _stopped(self, end: End, problem: str, unsettled: Unsettled) -> End:
        self.problems.append(problem)
        self.unsettled = unsettled
        return end


def _kept(limits: BudgetSettings) -> float:
    """Seconds before the end at which the last turn comes, so that validators are asked of what it hands in."""
    if not limits.seconds:
        return limits.reserve_seconds
    return max(limits.seconds * _SECONDS_KEPT, min(limits.reserve_seconds, limits.seconds * _MOST_SECONDS_KEPT))


def _is_loop(calls: list[str], limit: int) -> bool:
    """Whether the last calls are `limit` equal ones, or `limit` rounds of the same two by turns."""
    if len(calls) >= limit and len(set(calls[-limit:])) == 1:
        return True
    tail = calls[-2 * limit :]
    return len(tail) == 2 * limit and all(call == tail[i % 2] for i, call in enumerate(tail))
