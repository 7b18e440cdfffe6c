"""Texts that the library cannot read → values by a function that the model writes, run in the sandbox and checked.

Of several versions the best is kept by (time-outs, errors, uncovered, disagreements with the library).
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tasks.core.errors import BudgetError, ModelError, SandboxError
from tasks.core.llm import door
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.document import Plain, PlanColumn
from tasks.core.models.run import Usage
from tasks.core.sandbox import tiers
from tasks.core.sandbox.runner import run_program
from tasks.core.sections import NormaliseSettings, SandboxSettings
from tasks.document.normalising.reading import same
from tasks.document.normalising.returned import RETURNS, typed

PROMPT = Path(__file__).parents[1] / "prompts" / "normalise.md"
_FILE = "raws.json"
_BLOCK = re.compile(r"```(?:python|py)?\s*\n(.*?)```", re.DOTALL)
_RAW_CHARS, _SHOWN, _MESSAGE_CHARS = 300, 8, 300
_HARNESS = """
def _read_all():
    import json, signal
    class Late(BaseException):
        pass
    def late(*_):
        raise Late()
    signal.signal(signal.SIGALRM, late)
    answers, hung = [], 0
    for raw in json.load(open("raws.json", encoding="utf-8")):
        if hung == 3:
            answers.append(["late", ""])
            continue
        try:
            signal.setitimer(signal.ITIMER_REAL, VALUE_SECONDS)
            value = transform(raw)
            answers.append(["value", value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)])
        except Late:
            hung += 1
            answers.append(["late", ""])
        except BaseException as error:
            answers.append(["error", f"{type(error).__name__}: {error}"[:200]])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return answers
result = _read_all()
"""
"""One text on which a function hangs does not cost all others; three such end it."""
_VALUE_SHARE, _LEAST_SECONDS = 1 / 12, 0.2
"""Of a column's seconds that one value may take: three such of three versions leave some."""


@dataclass(frozen=True)
class Version:
    """One function of the model and what it gave."""

    program: str
    values: Mapping[str, Plain] = field(default_factory=dict)
    """By raw text, those of the column's type."""
    late: int = 0
    errors: int = 0
    uncovered: int = 0
    disagreements: int = 0
    failures: tuple[str, ...] = ()
    """What to tell the model, one line each."""
    seconds: float = 0.0
    """That it ran."""

    @property
    def score(self) -> tuple[int, int, int, int]:
        """Smaller is better."""
        return (self.late, self.errors, self.uncovered, self.disagreements)


@dataclass(frozen=True)
class Written:
    """The best version, and what asking for it took."""

    best: Version | None = None
    problems: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    unsettled: Literal["", "stopped", "transient"] = ""


@dataclass(frozen=True)
class Job:
    """What a function is wanted for."""

    column: PlanColumn
    unread: tuple[str, ...]
    known: Mapping[str, Plain]
    """What the library read, by raw text; None where the text states that there is no value."""
    rules: str
    options: tuple[str, ...] = ()
    """The values that a text column may hold."""


async def write_transform(job: Job, settings: NormaliseSettings, sandbox: SandboxSettings) -> Written:
    """The best of up to `settings.rounds` versions; none where nothing isolates programs or no model answers."""
    isolation, cage = await tiers.choose()
    if cage is None:
        why = f"no model code is used, as nothing isolates it here ({isolation.detail}); {isolation.hint}"
        return Written(problems=(why,), unsettled="stopped")  # so that the next run looks again
    best: Version | None = None
    usage, feedback, left = Usage(), "", settings.seconds
    for _ in range(settings.rounds):
        try:
            asked = await door.ask_text("normalise", [{"role": "user", "content": _prompt(job, settings, feedback)}])
        except BudgetError as error:
            return Written(best, (error.told,), usage, "stopped")
        except ModelError as error:
            return Written(best, (error.told,), usage, error.unsettled)
        usage += asked.usage
        bounded = sandbox.model_copy(update={"seconds": min(sandbox.seconds, left)})
        version = await _tried(_program(asked.value), job, bounded, settings.seconds * _VALUE_SHARE)
        left -= version.seconds
        if best is None or version.score < best.score:
            best = version
        if not any(version.score):
            break
        if left < _LEAST_SECONDS:
            used_up = f"model code: its {settings.seconds:g} s for this column are used up (normalise.seconds)"
            return Written(best, (*_told(best), used_up), usage)
        feedback = _feedback(version)
    return Written(best, _told(best), usage)


def _program(reply: str) -> str:
    """The code of a reply; empty when it has no function `transform`."""
    blocks = [block for block in _BLOCK.findall(reply) if "def transform" in block]
    code = blocks[-1] if blocks else reply if reply.lstrip().startswith(("def transform", "import ", "from ")) else ""
    return str(code).strip() if "def transform" in code else ""


async def _tried(program: str, job: Job, sandbox: SandboxSettings, value_seconds: float) -> Version:
    raws = (*job.known, *job.unread)
    if not program:
        return Version("", errors=len(raws), failures=("the reply has no function `transform`",))
    with tempfile.TemporaryDirectory(prefix="tablewright-transform-") as folder:
        path = Path(folder) / _FILE
        path.write_text(json.dumps(raws), "utf-8")
        try:
            done = await run_program(f"{program}\nVALUE_SECONDS = {value_seconds}\n{_HARNESS}", {_FILE: path}, sandbox)
        except SandboxError as error:
            late = "was stopped after" in error.message or "processor time" in error.message
            failures = (error.message[:_MESSAGE_CHARS],)
            took = sandbox.seconds if late else 0.0
            return Version(
                program, late=len(raws) * late, errors=len(raws) * (not late), failures=failures, seconds=took
            )
    answers: Any = done.value
    if not isinstance(answers, list) or len(answers) != len(raws) or not all(map(_is_answer, answers)):
        return Version(program, errors=len(raws), failures=("the function's results are not usable",))
    return replace(_judged(program, dict(zip(raws, answers, strict=True)), job), seconds=done.seconds)


def _is_answer(answer: Any) -> bool:
    return isinstance(answer, list) and len(answer) == 2 and answer[0] in ("value", "late", "error")


def _judged(program: str, answers: Mapping[str, list[Any]], job: Job) -> Version:
    """What each answer is worth: of the column's type, and equal to the library's where it has read the text."""
    values: dict[str, Plain] = {}
    wrong: dict[str, list[str]] = {"late": [], "error": [], "uncovered": [], "disagreement": []}
    for raw, (kind, value) in answers.items():
        shown = json.dumps(raw[:_RAW_CHARS], ensure_ascii=False)
        if kind == "late":
            wrong["late"].append(f"{shown} -> does not end")
            continue
        if kind == "error":
            wrong["error"].append(f"{shown} -> {str(value)[:_MESSAGE_CHARS]}")
            continue
        try:
            values[raw] = made = typed(value, job.column.type, job.options)
        except ValueError as error:
            wrong["error"].append(f"{shown} -> {error}")
            continue
        if raw in job.known and not same(made, job.known[raw]):
            wrong["disagreement"].append(f"{shown} -> {made!r}, where {job.known[raw]!r} is right")
        elif raw not in job.known and made is None:
            wrong["uncovered"].append(f"{shown} -> None")
    counts = {name: len(lines) for name, lines in wrong.items()}
    lines = tuple(line for of in wrong.values() for line in of[:_SHOWN])
    return Version(
        program,
        values,
        late=counts["late"],
        errors=counts["error"],
        uncovered=counts["uncovered"],
        disagreements=counts["disagreement"],
        failures=lines,
    )


def _prompt(job: Job, settings: NormaliseSettings, feedback: str) -> str:
    column = job.column
    about = {
        "name": column.name,
        "in the document": column.doc_meaning,
        "in the table": column.task_meaning,
        "type": column.type,
        "unit": column.unit,
        "one of": " | ".join(job.options),
    }
    unread = [raw[:_RAW_CHARS] for raw in job.unread[: settings.examples]]
    known = [f"{_json(raw[:_RAW_CHARS])} -> {_json(v)}" for raw, v in list(job.known.items())[: settings.examples]]
    return fill(
        PROMPT,
        column=fence("\n".join(f"{name}: {text}" for name, text in about.items() if text)),
        rules=fence(job.rules or "nothing"),
        known=fence("\n".join(known) or "none"),
        unread=fence("\n".join(map(_json, unread))),
        count=str(len(job.unread)),
        returns=RETURNS[column.type],
        feedback=feedback,
    )


def _feedback(version: Version) -> str:
    function = fence(version.program or "none")
    failures = fence("\n".join(version.failures))
    return f"\nYour last function was:\n{function}\nIt failed here; write it anew so that it does not:\n{failures}\n"


def _told(best: Version | None) -> tuple[str, ...]:
    if best is None or not any(best.score):
        return ()
    names = ("time-outs", "errors", "values not covered", "disagreements with the library")
    counts = ", ".join(f"{count} {name}" for count, name in zip(best.score, names, strict=True) if count)
    return (f"model code: {counts} (e.g. {'; '.join(best.failures[:2])})"[:500],)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
