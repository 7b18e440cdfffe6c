"""The flows that Prefect runs: from a deployment's form, from a schedule, or around the command line's work."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect import Flow, State, get_run_logger
from prefect.context import FlowRunContext
from prefect.runtime import flow_run
from prefect.states import Failed
from prefect.types.entrypoint import EntrypointType

from flows.answer import answer
from flows.request import AnswerRequest
from flows.session import Ended

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment


class RequestFlow(Flow[[AnswerRequest], Coroutine[Any, Any, Ended | State[Ended]]]):
    """A flow of a request."""

    def serialize_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """In place of Prefect's own, which imports FastAPI for it: a third of the time to the first stage."""
        return {name: request.model_dump(mode="json") for name, request in parameters.items()}


def _name() -> str:
    request = AnswerRequest.model_validate(flow_run.parameters["request"])
    return f"{Path(request.folder).name}: {request.question or 'its own question'}"[:120]


def _flow(name: str) -> Callable[[Callable[[AnswerRequest], Coroutine[Any, Any, Ended | State[Ended]]]], RequestFlow]:
    return lambda function: RequestFlow(function, name=name, flow_run_name=_name, persist_result=False)


@_flow("answer")
async def answer_flow(request: AnswerRequest) -> Ended | State[Ended]:
    """Answer a question over a folder of tables: a table in which every value can be traced and replayed."""
    context = FlowRunContext.get()
    assert context and context.flow_run and context.flow_run.created
    # The day it was asked for, not the day it runs: a retry after midnight must not ask another question.
    ended = await answer(request, str(context.flow_run.id), context.flow_run.created.astimezone().date())
    said = f"{ended.answer.status}: {ended.answer.reason}"
    get_run_logger().info(f"{said} Files: {ended.out}")
    return Failed(message=said, data=ended) if ended.answer.status == "failed" else ended


async def deployments() -> list[RunnerDeployment]:
    """What `tablewright serve` offers; `deployments/prefect.yaml` says the same for workers."""
    made = answer_flow.ato_deployment(
        "tables", description=answer_flow.description, tags=["tablewright"], entrypoint_type=EntrypointType.MODULE_PATH
    )
    return [await made]
