"""predictions + gold tables → scores by the DataAgent-Bench rule.

score = max(0, matched gold columns / gold columns - penalty x surplus columns / predicted columns). A column matches when
its cells, as a multiset, are equal: column names, column order and row order do not count. Besides, a first and a last name
match the full name that they make up, either way round.
"""

from __future__ import annotations

import csv
import json
import re
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from tasks.core.errors import InputError
from tasks.core.files.paths import check_folder, is_file, is_folder, natural
from tasks.core.models.score import SuiteScore, TaskScore
from tasks.core.wording import counted

PENALTY = 0.1
_NULL_WORDS = frozenset({"", "null", "none", "nan", "nat", "<na>"})
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_MOMENT = re.compile(r"\d{4}-\d{1,2}-\d{1,2}[T ].+")
_EXACT = Context(prec=400)
"""Wide enough that a long whole number keeps every digit."""
_CELL_BYTES = 1 << 30
_NAMED = 5
"""Gold tasks that a message names."""


class _Column(NamedTuple):
    name: str
    cells: tuple[str, ...]

    @property
    def signature(self) -> tuple[str, ...]:
        return tuple(sorted(self.cells))


def score(prediction: Path, gold: Path, penalty: float = PENALTY) -> SuiteScore:
    """Score a CSV file against a gold CSV file, or a folder's `TASK/prediction.csv` against `TASK/gold.csv`.

    A task's prediction that is missing or unreadable scores 0 and says so. Raises InputError when there is no gold table,
    or nothing at all to hold against it.
    """
    if is_file(gold) != is_file(prediction) and (is_folder(gold) or is_folder(prediction)):
        raise InputError(
            f"{prediction} and {gold}: one is a file, the other a folder", "give two CSV files, or two folders of tasks"
        )
    if is_file(gold):
        if not is_file(prediction):
            raise InputError(
                f"there is no prediction {str(prediction)!r}", "give the CSV file with the predicted table"
            )
        return SuiteScore(tasks=(score_pair(prediction, gold, penalty, task=gold.stem),), penalty=penalty)
    if not is_folder(gold):
        raise InputError(f"there is no file or folder {str(gold)!r}", "give a gold.csv, or a folder with TASK/gold.csv")
    tables = gold_tables(gold)
    _check_predicted(prediction, [table.parent.name for table in tables])
    tasks = [score_pair(prediction / g.parent.name / "prediction.csv", g, penalty, task=g.parent.name) for g in tables]
    return SuiteScore(tasks=tuple(tasks), penalty=penalty)


def gold_tables(folder: Path) -> list[Path]:
    """Every `TASK/gold.csv` of a folder, in natural order. Raises InputError when there is none, or no such folder."""
    check_folder(folder, "a folder with TASK/gold.csv")
    if tables := sorted(folder.glob("*/gold.csv"), key=lambda path: natural(path.parent.name)):
        return tables
    raise InputError(f"no gold tables in {folder}", "give a gold.csv, or a folder with TASK/gold.csv")


def _check_predicted(folder: Path, tasks: list[str]) -> None:
    """Raise InputError when a folder holds results of none of these tasks, nor the summary of a batch that tried one."""
    check_folder(folder, "the OUTPUT of `tablewright batch`")
    if not any(is_folder(folder / task) for task in tasks) and _tried(folder / "summary.json").isdisjoint(tasks):
        names = ", ".join(tasks[:_NAMED]) + ", …" * (len(tasks) > _NAMED)
        raise InputError(
            f"no predictions in {folder}: it has a folder for none of the {len(tasks)} gold tasks ({names})",
            "give the OUTPUT of `tablewright batch`, with TASK/prediction.csv for each task of GOLD",
        )


def _tried(summary: Path) -> set[str]:
    """Names of the tasks in the summary of a batch; none where there is no such file."""
    try:
        return {str(row["task"]) for row in json.loads(summary.read_text("utf-8"))["tasks"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def score_pair(prediction: Path, gold: Path, penalty: float = PENALTY, task: str = "") -> TaskScore:
    """Score one CSV file against another. Raises InputError when the gold table cannot be used."""
    try:
        wanted = _read(gold)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"cannot read the gold table {gold}: {error}", "give a UTF-8 CSV file with a header"
        ) from error
    if not wanted:
        raise InputError(f"the gold table {gold} is empty", "give a CSV file with a header")
    names = tuple(column.name for column in wanted)
    try:
        given = _read(prediction)
    except FileNotFoundError:
        return TaskScore(task=task, score=0.0, missing=names, reason=f"no {prediction.name}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return TaskScore(task=task, score=0.0, missing=names, reason=f"{prediction.name} cannot be read: {error}")
    if not given:
        return TaskScore(task=task, score=0.0, missing=names, reason=f"{prediction.name} is empty")
    return _judge(task, wanted, given, penalty)


def normalise(text: str) -> str:
    """A cell in the form in which cells are compared: numbers to 2 places (half up), dates and moments as ISO."""
    text = text.replace("\r", "").replace("\n", "").strip()
    if text.lower() in _NULL_WORDS:
        return ""
    if _NUMBER.fullmatch(text):
        return _number(text)
    try:
        if day := _DAY.fullmatch(text):
            return datetime(int(day[1]), int(day[2]), int(day[3])).strftime("%Y-%m-%d")
        if _MOMENT.fullmatch(text):
            return _moment(datetime.fromisoformat(text.replace("Z", "+00:00")))
    except (ValueError, OverflowError):
        pass
    return text


def _number(text: str) -> str:
    try:
        value = Decimal(text).quantize(Decimal("0.01"), ROUND_HALF_UP, _EXACT)
    except InvalidOperation:
        return text
    return format(abs(value) if value == 0 else value, "f")


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if value.tzinfo else value.isoformat()


def _read(path: Path) -> list[_Column]:
    """Columns of a CSV file; short rows are filled with NULL, an empty line is a row only in a one-column file."""
    before = csv.field_size_limit(_CELL_BYTES)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
    finally:
        csv.field_size_limit(before)
    if not rows:
        return []
    width = len(rows[0])
    body = [row + [""] * (width - len(row)) for row in rows[1:] if row or width == 1]
    return [_Column(rows[0][i], tuple(normalise(row[i]) for row in body)) for i in range(width)]


def _judge(task: str, gold: list[_Column], given: list[_Column], penalty: float) -> TaskScore:
    found, used = _match(gold, given)
    extras = tuple(column.name for i, column in enumerate(given) if i not in used)
    value = max(0.0, len(found) / len(gold) - penalty * len(extras) / len(given))
    reason = f"{len(found)} of {len(gold)} gold columns, {len(extras)} surplus"
    rows, wanted = len(given[0].cells), len(gold[0].cells)
    if rows != wanted:
        reason += f"; {counted(rows, 'row')} where gold has {wanted}"
    return TaskScore(
        task=task,
        score=value,
        matched=tuple(column.name for i, column in enumerate(gold) if i in found),
        missing=tuple(column.name for i, column in enumerate(gold) if i not in found),
        extras=extras,
        reason=reason,
    )


def _match(gold: list[_Column], given: list[_Column]) -> tuple[set[int], set[int]]:
    """Positions of the gold columns that were found and of the given columns that were used."""
    found: set[int] = set()
    used: set[int] = set()
    for i, column in enumerate(gold):
        for j, other in enumerate(given):
            if j not in used and column.signature == other.signature:
                found.add(i)
                used.add(j)
                break
    _match_names(gold, given, found, used)
    _match_names(given, gold, used, found)
    return found, used


def _match_names(parts: list[_Column], wholes: list[_Column], taken_parts: set[int], taken_wholes: set[int]) -> None:
    """Find pairs among `parts` (first and last name) that read like one of `wholes` (full name)."""
    for i, k in permutations(range(len(parts)), 2):
        if i in taken_parts or k in taken_parts or len(parts[i].cells) != len(parts[k].cells):
            continue
        joined = tuple(
            sorted(" ".join(filter(None, pair)) for pair in zip(parts[i].cells, parts[k].cells, strict=True))
        )
        for j, whole in enumerate(wholes):
            if j not in taken_wholes and whole.signature == joined:
                taken_parts.update((i, k))
                taken_wholes.add(j)
                break
