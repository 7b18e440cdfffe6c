"""Generated program + input files → its `result`, or SandboxError. The only door to running code that a model wrote."""

from __future__ import annotations

from pathlib import Path

from tasks.core.errors import SandboxError
from tasks.core.sandbox import record, tiers, watch
from tasks.core.sandbox.cage import Cage
from tasks.core.sandbox.record import ProgramResult as ProgramResult
from tasks.core.sections import SandboxSettings


async def run_program(program: str, inputs: dict[str, Path], limits: SandboxSettings) -> ProgramResult:
    """Run a Python program isolated; it reads `inputs` by key (`open("rows.csv")`) and assigns `result`.

    pandas, numpy, duckdb and pyarrow are there. Raises SandboxError when the program fails, breaks a limit of `limits`, or
    when this machine cannot isolate it; the message is short enough to go back to the model.
    """
    isolation, cage = await tiers.choose()
    if cage is None:
        raise SandboxError(
            f"generated programs are not run: nothing isolates them here ({isolation.detail})", isolation.hint
        )
    return await run_in(cage, program, inputs, limits)


async def run_in(cage: Cage, program: str, inputs: dict[str, Path], limits: SandboxSettings) -> ProgramResult:
    """Run a program in a given cage, which must have passed `tiers.trouble`."""
    try:
        ending = await watch.drive(cage, program, inputs, limits)
    except (OSError, RuntimeError) as error:
        raise SandboxError(f"the program's process did not start: {error}", "see `tablewright doctor`") from error
    return record.read(ending, program, limits, cage.tier)
