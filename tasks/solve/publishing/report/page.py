"""evidence + answer table → one self-contained HTML page that needs no script and asks nothing of the network."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.core.evidence.checks import emptiness, lost_rows
from tasks.core.evidence.outline import pretty
from tasks.core.evidence.rows import text_of
from tasks.core.files.template import environment
from tasks.core.models.answer import AnswerTable, JoinAudit, Step
from tasks.core.models.evidence import Evidence
from tasks.core.models.value import Cell
from tasks.core.wording import counted
from tasks.solve.publishing.report.words import AUDITS, VERDICTS, headline, size

if TYPE_CHECKING:
    import jinja2

_FOLDER = Path(__file__).resolve().parent
_CELL_CHARS = 400
"""Longer text is cut in the page; `answer.csv` has all of it."""
_FOLDED_ROWS = 50
"""Of 3,000 folded tables a reader wants to see those that were used or judged."""
_NUMERIC = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*)")
_TIME = re.compile(r"(DATE|TIME)")


def render(evidence: Evidence, table: AnswerTable | None) -> str:
    """The page."""
    label, meaning = headline(evidence)
    return _template().render(
        e=evidence,
        label=label,
        meaning=meaning,
        empty=emptiness(evidence.checks),
        table=_table(table) if table else None,
        query=pretty(evidence.replay.sql) if evidence.replay else "",
        joins=[_join(audit) for audit in evidence.joins],
        explained=any(column.meaning or column.source for column in evidence.contract.columns),
        expectations=_expectations(evidence),
        steps=[_step(step) for step in evidence.solving.steps],
        others=[c for i, c in enumerate(evidence.solving.candidates) if i != evidence.solving.chosen],
        total=_total(evidence),
        audits=AUDITS,
        verdicts=VERDICTS,
        folded=sorted(evidence.folded, key=lambda table: (not table.used, not table.tally))[:_FOLDED_ROWS],
        style=(_FOLDER / "page.css").read_text("utf-8"),
    )


@functools.cache
def _template() -> jinja2.Template:
    templates = environment(_FOLDER)
    templates.filters.update(size=size, counted=counted, short=lambda digest: digest[:12])
    return templates.get_template("page.html")


def _table(table: AnswerTable) -> dict[str, Any]:
    kinds = [_kind(table, i) for i in range(len(table.columns))]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    return {
        "columns": list(zip(table.columns, kinds, strict=True)),
        "rows": [list(zip(row, kinds, strict=True)) for row in rows],
        "total": table.row_count,
        "shown": len(rows),
        "single": len(table.columns) == 1 and table.row_count == 1,
    }


def _kind(table: AnswerTable, i: int) -> str:
    """`number`, `time` or `text`: how a column is set."""
    if table.types:
        return "number" if _NUMERIC.fullmatch(table.types[i]) else "time" if _TIME.match(table.types[i]) else "text"
    cells = [row[i] for row in table.rows if row[i] is not None]
    numbers = bool(cells) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    return "number" if numbers else "text"


def _cell(cell: Cell) -> str | None:
    text = text_of(cell)
    return text if text is None or len(text) <= _CELL_CHARS else text[:_CELL_CHARS] + " …"


def _join(audit: JoinAudit) -> dict[str, Any]:
    if audit.problem:
        return {"audit": audit, "facts": [f"Rows lost or repeated here were not measured: {audit.problem}."]}
    facts = [f"{fact}." for fact in lost_rows(audit)]
    if not facts and audit.kind not in ("semi", "anti"):
        facts = [f"Every row found a partner ({audit.left_rows} and {audit.right_rows} rows)."]
    if audit.left_multiplied:
        facts.append(
            f"{audit.left_multiplied} of {counted(audit.left_rows, 'row')} of {audit.left} found more than one partner "
            f"in {audit.right} and occur as often."
        )
    facts.append(f"{counted(audit.joined_rows, 'row')} after this step.")
    return {"audit": audit, "facts": facts}


def _expectations(evidence: Evidence) -> list[tuple[str, str]]:
    """Terms of the contract, in words; those that say nothing are left out."""
    contract = evidence.contract
    duplicates = {"keep": "kept", "remove": "each row once", "unknown": ""}[contract.duplicates]
    ties = {"keep_all": "all rows that share the last place are kept", "cut": "cut at the limit", "unknown": ""}[
        contract.ties
    ]
    conditions = "; ".join(f"{f.text} ({f.unit})" if f.unit else f.text for f in contract.filters)
    terms = (
        ("One row is", contract.grain),
        ("Conditions", conditions),
        ("Empty values", contract.nulls),
        ("Duplicates", duplicates),
        ("Order", contract.order),
        ("At most", counted(contract.limit, "row") if contract.limit is not None else ""),
        ("Ties", ties),
    )
    return [(name, text) for name, text in terms if text]


def _step(step: Step) -> dict[str, Any]:
    shown = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in step.arguments.items()
    }
    arguments = "\n".join(f"{name}: {text}" for name, text in shown.items())
    return {"step": step, "arguments": arguments}


def _total(evidence: Evidence) -> dict[str, int]:
    names = ("calls", "tokens_in", "tokens_cached", "tokens_out")
    return {name: sum(getattr(usage, name) for usage in evidence.usage) for name in names}
