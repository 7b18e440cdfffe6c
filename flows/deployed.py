"""The flows that Prefect runs: from a deployment's form, from a schedule, or around the command line's work."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect import Flow, State, flow, get_run_logger
from prefect.context import FlowRunContext
from prefect.runtime import flow_run
from prefect.states import Failed
from prefect.types.entrypoint import EntrypointType

from flows.answer import answer
from flows.running.grid import BenchmarkRequest
from flows.running.link import witnessed
from flows.running.request import AnswerRequest, DocumentRequest, Request, SolveRequest
from flows.running.session import Ended
from tasks.core.errors import TablewrightError
from tasks.core.settings import load
from tasks.core.wording import counted

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment


class RequestFlow(Flow[..., Coroutine[Any, Any, Any]]):
    """A flow of a request."""

    def serialize_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """In place of Prefect's own, which imports FastAPI for it: a third of the time to the first stage."""
        return {name: request.model_dump(mode="json") for name, request in parameters.items()}


def _name() -> str:
    if flow_run.flow_name == "benchmark":
        return _suites(flow_run.parameters["request"])
    given = flow_run.parameters["request"]
    given = given if isinstance(given, dict) else given.model_dump()
    alone = "its documents" if flow_run.flow_name == "document" else "its own question"
    where = given["base"] if flow_run.flow_name == "solve" else Path(given["folder"]).name
    return f"{where}: {given['question'] or alone}"[:120]


def _suites(given: Any) -> str:
    from flows.running.sweep import settled

    with contextlib.suppress(ValueError, TablewrightError):  # which the flow itself will tell
        given = settled(given if isinstance(given, BenchmarkRequest) else BenchmarkRequest(**given))
    asked = given if isinstance(given, dict) else given.model_dump()
    names = ", ".join(Path(suite).stem if suite.endswith(".json") else Path(suite).name for suite in asked["suites"])
    setups = [Path(profile).stem for profile in asked["profiles"]]
    return f"{names}: {', '.join([*setups, *asked['models']])}"[:120]


async def _check(request: Request, context: FlowRunContext) -> None:
    """Of a run that was started from a deployment, by whoever reaches the server; roots are the operator's, whatever profile is named."""
    if context.flow_run and context.flow_run.deployment_id and (roots := load().prefect.roots):
        from flows.running.roots import check_roots
        from flows.runs import store_of

        check_roots(request, roots, await store_of(load(request.profile)))


def _flow(name: str) -> Callable[[Callable[..., Coroutine[Any, Any, Any]]], RequestFlow]:
    return lambda function: RequestFlow(function, name=name, flow_run_name=_name, persist_result=False)


@_flow("answer")
async def answer_flow(request: AnswerRequest) -> Ended | State[Ended]:
    """Answer a question over a folder of tables and documents: a table in which every value can be traced and replayed."""
    return await _answered(request)


@_flow("solve")
async def solve_flow(request: SolveRequest) -> Ended | State[Ended]:
    """Answer another question over a folder as an earlier run found it: neither its tables nor its documents are read again."""
    from flows.runs import place_of  # here, because the answer flow's first stage need not wait for it

    return await _answered(request.model_copy(update=await place_of(request.base, request.profile)))


async def _answered(request: AnswerRequest) -> Ended | State[Ended]:
    context = FlowRunContext.get()
    assert context and context.flow_run and context.flow_run.created
    await _check(request, context)
    # The day it was asked for, not the day it runs: a retry after midnight must not ask another question.
    day = context.flow_run.created.astimezone().date()
    ended = await witnessed(answer(request, str(context.flow_run.id), day))
    said = f"{ended.answer.status}: {ended.answer.reason}"
    get_run_logger().info(f"{said} Files: {ended.out}")
    return Failed(message=said, data=ended) if ended.answer.status == "failed" else ended


@_flow("document")
async def document_flow(request: DocumentRequest) -> Any:
    """Draw tables from the documents of a folder: SQLite files in which every cell has its quote, line and status."""
    context = FlowRunContext.get()
    assert context and context.flow_run and context.flow_run.created
    await _check(request, context)
    from flows.document import document  # here, because the answer flow's first stage need not wait for it

    drawn = await document(request, str(context.flow_run.id), context.flow_run.created.astimezone().date())
    derivation = drawn.derivation
    for problem in (*derivation.problems, *derivation.stopped):
        get_run_logger().warning(problem)
    cut = f"stopped before all was done ({derivation.stopped[0]}), run it again: " if derivation.stopped else ""
    said = f"{cut}{counted(len(derivation.tables), 'table')} from {counted(len(derivation.documents), 'document')}. Files: {drawn.out}"
    get_run_logger().info(said)
    return drawn if drawn.outcome[0] == "done" else Failed(message=said, data=drawn)


@_flow("benchmark")
async def benchmark_flow(request: BenchmarkRequest) -> Any:
    """Measure setups on suites of tasks with gold: scores, σ over repeats, cost, and what moved since the accepted run."""
    context = FlowRunContext.get()
    assert context and context.flow_run and context.flow_run.created
    roots = load().prefect.roots if context.flow_run.deployment_id else ()
    from flows.benchmark import benchmark  # here, because the answer flow's first stage need not wait for it
    from flows.running.roots import check_config, check_suites
    from flows.running.sweep import settled

    check_config(request, roots)
    request = settled(request)
    check_suites(request, roots)

    began = context.flow_run.created.astimezone()
    # Made of the flow run, so that its retry goes on where it broke.
    name = request.run or f"{began:%Y%m%d-%H%M%S}-{str(context.flow_run.id)[:4]}"
    found = await witnessed(benchmark(request, name, began.date(), prefect=str(context.flow_run.id)))
    said = ", ".join(f"{s.suite or 'all'} {s.setup} {s.score:.3f}" for s in found.setups)
    if found.missing:
        get_run_logger().warning(
            f"{counted(found.missing, 'question was', 'questions were')} not asked within {request.deadline:g} s; a retry asks them"
        )
    get_run_logger().info(f"{said}. Files: {found.folder}")
    if found.against and found.against.worse:
        worse = f"worse than {found.against.before}: {found.against.down} tasks fell, {found.against.up} rose"
        return Failed(message=f"{worse} (sign test p = {found.against.p:.3g})", data=found)
    if found.unanswered:
        return Failed(message=found.unanswered, data=found)
    return found


@flow(name="batch", flow_run_name="{folder}", persist_result=False, validate_parameters=False)
async def batch_flow(folder: str) -> None:
    """Questions of a batch, each a task on the task runner that `machines.runner` names; `tablewright batch` begins it."""
    from flows.running.spread import work

    await witnessed(work.get()())


async def deployments() -> list[RunnerDeployment]:
    """What `tablewright serve` offers; `deployments/prefect.yaml` says the same for workers."""
    named = {"tables": answer_flow, "catalogue": solve_flow, "documents": document_flow, "suites": benchmark_flow}
    return [
        await one.ato_deployment(
            name, description=one.description, tags=["tablewright"], entrypoint_type=EntrypointType.MODULE_PATH
        )
        for name, one in named.items()
    ]
