"""The tools of the solver: one table of names, arguments and actions, which both styles of dialogue are made from."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

from tasks.core.errors import QueryError, SandboxError
from tasks.core.models.answer import ContractColumn, Submission
from tasks.solve.showing.contract import contract_text
from tasks.solve.showing.layout import one_line
from tasks.solve.solving import demand, reading, submission
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.observe import Observation, of_error, of_rows
from tasks.solve.solving.program import compute

_OUTPUT_CHARS = 500
_DEFAULT_LINES = 80


def _as_list(value: Any) -> Any:
    """One name, or names with commas, in place of a list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_as_list)]


class Arguments(BaseModel):
    """Of one call."""

    model_config = ConfigDict(extra="forbid")


class ListTables(Arguments):
    search: str = Field(default="", description="words in table or column names; empty for all tables")


class Describe(Arguments):
    tables: Names = Field(min_length=1, description="names of tables")
    search: str = Field(default="", description="only columns with these words")


class Query(Arguments):
    sql: str = Field(min_length=1, description="one SELECT in DuckDB SQL")


class Compute(Arguments):
    sql: str = Field(
        min_length=1, description="one SELECT; the program gets all its rows; ORDER BY if their order matters"
    )
    program: str = Field(
        min_length=1, description="Python: `rows` is a list of dicts, one a row; assign a list of dicts to `result`"
    )


class ReadDocument(Arguments):
    path: str = Field(description="path of the document")
    first_line: int = Field(default=1, ge=1)
    lines: int = Field(default=_DEFAULT_LINES, ge=1, description="how many lines")


class ExtractDocument(Arguments):
    path: str = Field(description="path of the document")


class ReviseContract(Arguments):
    reason: str = Field(min_length=1, description="why the contract was wrong")
    columns: Names | None = Field(default=None, description="all column names of the answer, in order")
    grain: str | None = Field(default=None, description="what one row is")
    duplicates: Literal["keep", "remove", "unknown"] | None = None
    order: str | None = None
    limit: int | None = Field(default=None, ge=0, description="0 = no limit")
    ties: Literal["keep_all", "cut", "unknown"] | None = None
    nulls: str | None = None


class Submit(Arguments):
    sql: str = Field(min_length=1, description="the SELECT whose rows are the answer")
    program: str = Field(default="", description="only if SQL cannot do it: Python over `rows` that assigns `result`")
    columns: Names = Field(default=[], description="names for the answer's columns, if others than the query's")
    reason: str = Field(default="", description="one sentence: why this answers the question")
    confirm: bool = Field(default=False, description="true to insist on a result that was returned as odd")


@dataclass(frozen=True)
class Tool:
    """A name, what it does in one sentence, and the action."""

    name: str
    does: str
    arguments: type[Arguments]
    run: Callable[[Bench, Any], Awaitable[Observation]]


async def _list_tables(bench: Bench, call: ListTables) -> Observation:
    return reading.list_tables(bench, call.search)


async def _describe(bench: Bench, call: Describe) -> Observation:
    return reading.describe(bench, call.tables, call.search)


async def _query(bench: Bench, call: Query) -> Observation:
    result = await bench.engine.query(call.sql)
    return of_rows(result.columns, result.rows, result.row_count, bench.chars)


async def _compute(bench: Bench, call: Compute) -> Observation:
    done = await compute(bench.engine, call.sql, call.program, bench.limits.sandbox)
    bench.tier = done.tier
    seen = of_rows(done.frame.columns, done.frame.rows, len(done.frame.rows), bench.chars)
    printed = f"\nprinted: {one_line(done.output, _OUTPUT_CHARS)}" if done.output.strip() else ""
    return Observation(seen.text + printed, truncated=seen.truncated)


async def _read_document(bench: Bench, call: ReadDocument) -> Observation:
    return reading.read_document(bench, call.path, call.first_line, call.lines)


async def _extract_document(bench: Bench, call: ExtractDocument) -> Observation:
    return await demand.extract_document(bench, call.path)


async def _revise_contract(bench: Bench, call: ReviseContract) -> Observation:
    """Only what the call gives is changed; columns keep what is known of them."""
    changes = call.model_dump(exclude_none=True, exclude={"reason", "columns", "limit"})
    if call.columns is not None:
        known = {column.name.casefold(): column for column in bench.contract.columns}
        changes["columns"] = tuple(known.get(name.casefold(), ContractColumn(name=name)) for name in call.columns)
    if call.limit is not None:
        changes["limit"] = call.limit or None
    revisions = (*bench.contract.revisions, call.reason)
    bench.contract = bench.contract.model_copy(update={**changes, "revisions": revisions})
    return Observation(f"The contract is now:\n{contract_text(bench.contract) or 'open'}")


async def _submit(bench: Bench, call: Submit) -> Observation:
    handed_in = Submission(sql=call.sql, program=call.program, columns=tuple(call.columns), reason=call.reason)
    return await submission.submit(bench, handed_in, call.confirm)


SUBMIT, EXTRACT = "submit", "extract_document"
TOOLS = (
    Tool("list_tables", "Names the tables that can be queried.", ListTables, _list_tables),
    Tool("describe", "Shows columns, values and measured joins of tables.", Describe, _describe),
    Tool("query", "Runs one SELECT and shows its first rows and the number of all rows.", Query, _query),
    Tool("compute", "Runs Python over the rows of a SELECT, for what SQL cannot do.", Compute, _compute),
    Tool("read_document", "Shows numbered lines of a document.", ReadDocument, _read_document),
    Tool(
        EXTRACT,
        "Draws a table from a document that has none, so that it can be queried.",
        ExtractDocument,
        _extract_document,
    ),
    Tool("revise_contract", "Changes the expected answer when it proves wrong.", ReviseContract, _revise_contract),
    Tool(SUBMIT, "Hands in the query whose rows are the answer; ends the work when accepted.", Submit, _submit),
)


def offered(bench: Bench) -> tuple[Tool, ...]:
    """The tools for this assignment: documents are offered only where there are some, and tables of them likewise."""
    absent = {"read_document"} if not reading.documents(bench) else set()
    absent |= set() if demand.drawable(bench) else {EXTRACT}
    return tuple(tool for tool in TOOLS if tool.name not in absent)


async def call(bench: Bench, tools: tuple[Tool, ...], name: str, arguments: dict[str, Any]) -> Observation:
    """Run a tool; whatever is wrong with the call, the query or the program comes back as an observation."""
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        return Observation(f"No tool {name!r} now. Use one of: {', '.join(tool.name for tool in tools)}.", ok=False)
    try:
        checked = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()[:3])
        return Observation(f"Wrong arguments ({told}). It is used as {signature(tool)}.", ok=False)
    try:
        return await tool.run(bench, checked)
    except (QueryError, SandboxError) as error:
        return of_error(error)


def signature(tool: Tool) -> str:
    """The call as `name(argument, [optional])`."""
    fields = tool.arguments.model_fields.items()
    return f"{tool.name}({', '.join(name if field.is_required() else f'[{name}]' for name, field in fields)})"


def manual(tools: tuple[Tool, ...]) -> str:
    """The tools as lines for a prompt."""
    lines = []
    for tool in tools:
        lines.append(f"- {signature(tool)}: {tool.does}")
        told = [(name, field.description) for name, field in tool.arguments.model_fields.items() if field.description]
        lines += [f"  - {name}: {description}" for name, description in told]
    return "\n".join(lines)


def native(tools: tuple[Tool, ...]) -> list[dict[str, JsonValue]]:
    """The tools in the form of the chat completions API."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.does, "parameters": _schema(tool.arguments)},
        }
        for tool in tools
    ]


def _schema(arguments: type[Arguments]) -> JsonValue:
    """Without titles and class names, which only cost tokens."""

    def bare(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: bare(value) for key, value in node.items() if key != "title" or isinstance(value, dict)}
        return [bare(item) for item in node] if isinstance(node, list) else node

    schema = bare(arguments.model_json_schema())
    schema.pop("description", None)
    checked: JsonValue = json.loads(json.dumps(schema))
    return checked
