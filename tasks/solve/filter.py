"""question + context → the context cut to what a model selects; code cuts, then completes keys and metric inputs again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import door
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.answer import Question
from tasks.core.models.context import Context, TableContext
from tasks.core.models.metadata import ColumnInfo, Metadata, MetricContext
from tasks.core.sections import RecallSettings
from tasks.solve.merging.gather import Gathering
from tasks.solve.showing import about
from tasks.stage import stage

PROMPT = Path(__file__).parent / "prompts" / "filter.md"
_EXAMPLES, _EXAMPLE_CHARS, _TEXT_CHARS = 5, 40, 160


class TableChoice(BaseModel):
    """A table that the answer needs."""

    name: str = Field(description="exactly as listed")
    columns: list[str] = Field(default=[], description="its columns that are needed, exactly as listed")


class FilterReply(BaseModel):
    """What the answer needs of what is listed."""

    tables: list[TableChoice]
    metrics: list[str] = Field(default=[], description="names of the metrics that are needed, exactly as listed")


@stage(roles=("filter",), prompts=("filter.md",))
async def filter_context(question: Question, context: Context, metadata: Metadata, settings: RecallSettings) -> Context:
    """The cut context; as it was, with a `problem`, when no usable selection came back."""
    if not settings.filter or not context.tables:
        return context
    messages = [{"role": "user", "content": prompt(question, context)}]
    try:
        asked = await door.ask("filter", messages, FilterReply, samples=1)
    except BudgetError as error:
        return context.model_copy(update={"problem": f"not filtered: {error.told}", "unsettled": "stopped"})
    except ModelError as error:
        return context.model_copy(update={"problem": f"not filtered: {error.told}", "unsettled": error.unsettled})
    return cut(context, asked.value, metadata).model_copy(update={"usage": asked.usage})


def prompt(question: Question, context: Context) -> str:
    """The request for a selection, with everything listed as data."""
    tables = "\n\n".join(_table(table) for table in context.tables)
    metrics = "\n".join(_metric(metric) for metric in context.metrics) or "(none)"
    return fill(PROMPT, question=fence(question.text), tables=fence(tables), metrics=fence(metrics))


def cut(context: Context, reply: FilterReply, metadata: Metadata) -> Context:
    """The selected tables, columns and metrics, completed; names that are not listed do not count."""
    listed = {table.name: table for table in context.tables}
    chosen = [(listed[choice.name], choice.columns) for choice in reply.tables if choice.name in listed]
    if not chosen:
        return context.model_copy(update={"problem": "not filtered: the model selected none of the tables"})
    metrics = tuple(metric for metric in context.metrics if metric.name in reply.metrics)
    found = Gathering(metadata)
    for table, names in chosen:
        found.add_table(table.name)
        for column in _selected(table, names, context):
            _add(found, column)
    had = {column.id: column for table in context.tables for column in table.columns}
    for id in dict.fromkeys(id for metric in metrics for id in metric.columns):
        _add(found, had[id]) if id in had else found.add_column(id)
    found.complete()
    unknown = tuple(dict.fromkeys((*context.unknown, *found.unknown)))
    return Context(tables=found.contexts(), metrics=metrics, unknown=unknown, keys=found.keys, filtered=True)


def _selected(table: TableContext, names: Sequence[str], context: Context) -> list[ColumnInfo]:
    """Columns that are named; where none is, those that were found: the table itself was meant."""
    wanted = {name.rpartition(".")[2] if name.startswith(f"{table.name}.") else name for name in names}
    named = [column for column in table.columns if column.name in wanted]
    return named or [column for column in table.columns if column.id not in context.keys]


def _add(found: Gathering, column: ColumnInfo) -> None:
    """The column with the values that were found in it."""
    found.add_column(column.id)
    if column.id in found.columns:
        found.columns[column.id] = column


def _table(table: TableContext) -> str:
    lines = [
        " ".join(part for part in (f"{table.name} ({table.role})", _told(table.description, table.aliases)) if part)
    ]
    for column in table.columns:
        role = column.role + (f" to {column.refers_to}" if column.refers_to else "")
        examples = ", ".join(example[:_EXAMPLE_CHARS] for example in _ends(column.examples))
        parts = [f"- {column.name} {column.type} {role}", _told(column.description, column.aliases), examples]
        lines.append("; ".join(part for part in parts if part))
    return "\n".join(lines)


def _ends(examples: Sequence[str]) -> Sequence[str]:
    """The last ones: values of the question stand there."""
    return examples[-_EXAMPLES:]


def _metric(metric: MetricContext) -> str:
    parts = [metric.formula, _told(metric.description, metric.aliases), ", ".join(metric.columns)]
    return "; ".join([f"- {metric.name}", *(part for part in parts if part)])


def _told(description: str, aliases: Sequence[str]) -> str:
    return " ".join(about.description(description, tuple(aliases)).split())[:_TEXT_CHARS]
