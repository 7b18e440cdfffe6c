"""How a child ended → the program's value, or a SandboxError that says what the program must do differently.

Everything here came out of the cage and is hostile: sizes are bounded, control characters go, numbers are finite.
"""

from __future__ import annotations

import json
import math
import signal
from typing import Any, NoReturn

from pydantic import JsonValue

from tasks.core.errors import SandboxError
from tasks.core.models.value import Value
from tasks.core.sandbox.watch import Ending
from tasks.core.sections import SandboxSettings

_MESSAGE_CHARS, _LINE_CHARS, _TAIL_CHARS = 600, 160, 300
_MOST_VALUES = 3_000_000
"""Values of a result, as its commas and brackets show: three bytes of JSON (`[],`) become some 70 of ours."""


class ProgramResult(Value):
    """What a generated program gave back."""

    value: JsonValue
    """Its `result`; a table is `{"columns": […], "data": [[…], …]}`."""
    output: str
    """What it printed, standard output and error together."""
    seconds: float
    """Wall clock from the moment it was confined and ready."""
    tier: str


def read(ending: Ending, program: str, limits: SandboxSettings, tier: str) -> ProgramResult:
    """The program's result. Raises SandboxError for every ending but one with a valid record."""
    output = clean(ending.output.decode("utf-8", "replace"))
    if ending.stopped or not ending.record:
        _explain(ending, output, limits)
    record = _parse(ending.record)
    if "error" in record:
        raise _program_error(record["error"], program)
    if set(record) != {"value"}:
        raise SandboxError("the program's result record is malformed")
    return ProgramResult.model_construct(value=record["value"], output=output, seconds=ending.seconds, tier=tier)


def clean(text: str) -> str:
    """Text without control characters, which could act on a terminal; line ends and tabs stay."""
    return "".join(c for c in text.replace("\r\n", "\n") if c.isprintable() or c in "\n\t\u3000\xa0")


def _parse(data: bytes) -> dict[str, Any]:
    if sum(map(data.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise SandboxError(
            f"the program's result holds more than {_MOST_VALUES} values", "aggregate, or give fewer columns"
        )
    try:
        text = data.decode("utf-8")
        record = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        if "\\u" in text:
            json.dumps(record, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise SandboxError(f"the program's result is not usable JSON: {type(error).__name__}") from error
    if not isinstance(record, dict):
        raise SandboxError("the program's result record is malformed")
    return record


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(text)
    return number


def _program_error(error: Any, program: str) -> SandboxError:
    if not isinstance(error, dict):
        return SandboxError("the program's result record is malformed")
    kind, message, line = (error.get(key) for key in ("type", "message", "line"))
    text = f"{clean(str(kind))[:80]}: {clean(str(message))[:_MESSAGE_CHARS]}".rstrip(": \n")
    lines = program.split("\n")
    if type(line) is int and 0 < line <= len(lines):
        text += f" (line {line}: {clean(lines[line - 1]).strip()[:_LINE_CHARS]})"
    return SandboxError(text, _HINTS.get(str(kind), ""))


_HINTS = {
    "NameError": "",
    "MemoryError": "read less at once; the memory of a program is limited",
    "ModuleNotFoundError": "use pandas, numpy, duckdb, pyarrow or the standard library",
    "PermissionError": "a program reads its input files by name and writes into its own folder only",
    "SystemExit": "assign `result` and let the program end; do not exit",
}


def _explain(ending: Ending, output: str, limits: SandboxSettings) -> NoReturn:
    reasons = {
        "start": "the program's process did not start",
        "time": f"the program was stopped after {limits.seconds:g} s",
        "output": f"the program was stopped: it printed more than {limits.output_kb} KB",
        "result": f"the program was stopped: its result is larger than {limits.file_mb} MB",
        "disk": f"the program was stopped: its files are larger than {limits.file_mb} MB",
        "files": "the program was stopped: it made too many files",
        "threads": f"the program was stopped: it started more than {limits.processes} threads",
    }
    tail = f": {output.strip()[-_TAIL_CHARS:]}" if output.strip() else ""
    if ending.stopped:
        raise SandboxError(reasons[ending.stopped] + (tail if ending.stopped == "start" else ""))
    cause = _cause(ending.code, limits)
    raise SandboxError(f"the program ended without a result ({cause}){tail}", "assign `result`; do not exit")


def _cause(code: int | None, limits: SandboxSettings) -> str:
    number = -code if code is not None and code < 0 else (code or 0) - 128
    if number == signal.SIGXCPU:
        return f"more than {limits.cpu_seconds} s of processor time"
    if number in (signal.SIGSEGV, signal.SIGABRT):
        return f"{signal.Signals(number).name}; perhaps it needs more than {limits.memory_mb} MB"
    if number in set(signal.Signals):
        return signal.Signals(number).name
    return f"exit code {code}"
