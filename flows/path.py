"""timeline of a run → its critical path: what the wall clock waited for, one thing after another, and how near that is to the ideal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from flows.running.record import RunRecord
from tasks.core.errors import InputError
from tasks.core.files.store import Store
from tasks.core.models.timeline import Span, Timeline
from tasks.core.models.value import Value

Kind = Literal["model", "slot", "held", "trouble", "code"]
KINDS: tuple[Kind, ...] = ("model", "slot", "held", "trouble", "code")


class Step(Value):
    """A part of the critical path."""

    kind: Kind
    """`model`: a request that was answered; `slot`: in line at the endpoint; `held`: kept back for another's prefix; `trouble`: pauses
    and tries that failed; `code`: everything else."""
    stage: str
    """Whose it is; of `code` between two stages the later one, or `end`."""
    role: str
    """Whose model was asked; empty for code."""
    began: float
    """Seconds since the run began."""
    seconds: float


class Asked(Value):
    """The requests of one role, on the critical path or not."""

    role: str
    requests: int
    seconds: float
    """Sum of their replies."""
    waited: float
    """Sum of their seconds in line and kept back."""
    tokens_in: int
    tokens_cached: int
    tokens_out: int


class CriticalPath(Value):
    """What determined the wall clock of a run."""

    run: str
    seconds: float
    """Wall clock of its last try."""
    steps: tuple[Step, ...]
    """In order; their seconds add up to the wall clock."""
    parts: dict[Kind, float]
    """Seconds of the steps by kind."""
    ideal: float
    """Seconds of the longest chain of replies that wait for each other: no code, no limit of an endpoint."""
    packed: float
    """Seconds that no order of the requests can go below: the ideal, or all replies of an endpoint over what it takes at once."""
    asked: tuple[Asked, ...]

    @property
    def share(self) -> float:
        """Ideal by wall clock, 0 to 1."""
        return self.ideal / self.seconds if self.seconds else 0.0


def path_of(store: Store, found: RunRecord) -> CriticalPath:
    """The critical path of a run's last try. Raises InputError when that has not ended, or was one of a version without timelines."""
    if found.timeline is None:
        raise InputError(
            f"run {found.run} has no timeline: it is under way, ended with its process, or was one of an earlier version",
            "`tablewright runs` lists others",
        )
    return critical(found.run, Timeline.model_validate_json(store.get(found.timeline)))


def critical(run: str, timeline: Timeline) -> CriticalPath:
    """The critical path of a timeline: back from its end, always to the last of those that were waited for."""
    steps = tuple(_joined(reversed(list(_backwards(timeline)))))
    parts = {kind: round(sum(step.seconds for step in steps if step.kind == kind), 3) for kind in KINDS}
    ideal = _longest(timeline)
    return CriticalPath(
        run=run,
        seconds=round(timeline.moments[-1].at, 3),
        steps=steps,
        parts=parts,
        ideal=round(ideal, 3),
        packed=round(max(ideal, _packed(timeline)), 3),
        asked=tuple(_asked(timeline)),
    )


def _backwards(timeline: Timeline) -> Iterator[Step]:
    """The steps, the last one first."""
    begins: dict[int, int] = {}
    for number, moment in enumerate(timeline.moments):
        if moment.span is not None:
            begins.setdefault(moment.span, number)
    number = len(timeline.moments) - 1
    while number >= 0:
        moment = timeline.moments[number]
        before = max(moment.after, key=lambda each: (timeline.moments[each].at, each), default=-1)
        began = timeline.moments[before].at if before >= 0 else 0.0
        if moment.span is not None and before == begins[moment.span] != number and timeline.spans[moment.span].role:
            yield from _request(timeline.spans[moment.span], began, moment.at)
        else:
            stage = timeline.spans[moment.span].stage if moment.span is not None else "end"
            yield Step(kind="code", stage=stage, role="", began=began, seconds=moment.at - began)
        number = before


def _request(span: Span, began: float, ended: float) -> Iterator[Step]:
    """The steps of one request, the last one first. What it took is known, where within it is not: replies come last."""
    waits: dict[Kind, float] = {"held": span.held, "slot": span.slot, "trouble": span.paused, "model": span.reply}
    rest = max(0.0, ended - began - sum(waits.values()))
    at = ended
    for kind in ("model", "trouble", "slot", "held"):
        seconds = min(waits[kind], at - began)
        at -= seconds
        yield Step(kind=kind, stage=span.stage, role=span.role, began=at, seconds=seconds)
    yield Step(kind="code", stage=span.stage, role="", began=began, seconds=rest)


def _joined(steps: Iterator[Step]) -> Iterator[Step]:
    """Without empty ones; code of one stage that follows on code of it is one step."""
    last: Step | None = None
    for step in steps:
        if step.seconds <= 0:
            continue
        if last and last.kind == step.kind == "code" and last.stage == step.stage:
            last = last.model_copy(update={"seconds": last.seconds + step.seconds})
            continue
        if last:
            yield _rounded(last)
        last = step
    if last:
        yield _rounded(last)


def _rounded(step: Step) -> Step:
    return step.model_copy(update={"began": round(step.began, 3), "seconds": round(step.seconds, 3)})


def _longest(timeline: Timeline) -> float:
    """Seconds of the longest chain of replies."""
    reached: list[float] = []
    begun: set[int] = set()
    for moment in timeline.moments:
        before = max((reached[each] for each in moment.after), default=0.0)
        ends = moment.span in begun
        reached.append(before + (timeline.spans[moment.span].reply if ends and moment.span is not None else 0.0))
        if moment.span is not None:
            begun.add(moment.span)
    return reached[-1]


def _packed(timeline: Timeline) -> float:
    """All replies over the places of the endpoints that could give them; the fullest set of endpoints counts."""
    work: dict[tuple[str, ...], float] = defaultdict(float)
    for span in timeline.spans:
        if span.endpoints and all(name in timeline.slots for name in span.endpoints):
            work[span.endpoints] += span.reply
    return max((seconds / sum(timeline.slots[name] for name in names) for names, seconds in work.items()), default=0.0)


def _asked(timeline: Timeline) -> Iterator[Asked]:
    roles: dict[str, list[Span]] = defaultdict(list)
    for span in timeline.spans:
        if span.role:
            roles[span.role].append(span)
    for role, spans in roles.items():
        yield Asked(
            role=role,
            requests=len(spans),
            seconds=round(sum(span.reply for span in spans), 3),
            waited=round(sum(span.slot + span.held for span in spans), 3),
            tokens_in=sum(span.tokens_in for span in spans),
            tokens_cached=sum(span.tokens_cached for span in spans),
            tokens_out=sum(span.tokens_out for span in spans),
        )
