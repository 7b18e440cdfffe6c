"""Metrics of the knowledge and of metadata.yaml → their formula, filters, unit, grain, and the columns they need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tasks.core.models.metadata import MetricInfo
from tasks.core.models.semantics import Knowledge, Metric
from tasks.core.search.words import plain
from tasks.solve.describing.aliases import also_called
from tasks.solve.describing.names import Found, Names

_FILTER = re.compile(
    r"(?i)^(?:\w+ )?(?:where|only|excluding|excludes?|without|except|over|for which|if|not counting|including only|filter(?:ed by)?)\b"
    r"|^(?:仅|只|不含|不包括|不包含|不计|不算|排除|剔除|限|过滤|筛选|其中|满足)"
)
_OVER = re.compile(r"(?i)\s+((?:over|where|for)\s+(?!the\b|each\b|every\b|all\b)[^()]+)$")
_UNIT = re.compile(
    r"(?i)^(?:in|unit(?:s)?\s*(?:is|:|=)?|单位\s*[:：为是]?)\s*((?:[A-Za-z]{1,12}|[%‰$€£¥￥]|[万亿千百]*[元人次件吨%]|.{1,6}元)(?: [A-Za-z]{1,8})?)$"
)
_GRAIN = re.compile(r"(?i)^(?:grain\s*[:：]?|per|by|for each|粒度\s*[:：为]?|按|每)\s*(.{1,40})$")
_MARKS = " `*“”\"'"
_CJK = re.compile(r"[\u3400-\u9fff]")
_LETTERS = re.compile(r"[\s*`]+")
_REFERENCE = 3
"""Levels of metrics that name metrics."""


Values = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Examples by table, then by id of the column."""


class _Parts(NamedTuple):
    """A metric's text, taken apart."""

    formula: str
    filters: tuple[str, ...]
    unit: str
    grain: str
    rest: str


def metric_infos(
    knowledge: Knowledge, noted: Sequence[MetricInfo], names: Names, values: Values
) -> tuple[tuple[MetricInfo, ...], list[str]]:
    """All metrics by name, those of metadata.yaml over those of the knowledge, and what could not be resolved.

    `values` are examples of text columns: a filter that names one needs that column.
    """
    made: dict[str, MetricInfo] = {}
    lines = knowledge.text.splitlines()
    for metric in knowledge.metrics:
        info = _of_knowledge(metric, lines)
        if plain(info.name):
            made.setdefault(plain(info.name), info)
    for note in noted:
        made[plain(note.name)] = _over(note, made.get(plain(note.name)))
    problems: list[str] = []
    found = {key: _search(info, names, values, knowledge.path, problems) for key, info in made.items()}
    return tuple(_complete(made, key, found, (knowledge.path, problems)) for key in made), problems


def _of_knowledge(metric: Metric, lines: Sequence[str]) -> MetricInfo:
    raw = lines[metric.line - 1] if 0 < metric.line <= len(lines) else ""
    name, aliases = _called(metric)
    parts = _apart(_as_written(metric.formula, raw))
    more = _apart(metric.meaning) if metric.meaning else _Parts("", (), "", "", "")
    description = " ".join(part for part in (metric.meaning, parts.rest) if part)
    return MetricInfo(
        id=f"metric:{name}",
        name=name,
        description=description,
        formula=parts.formula,
        filters=(*parts.filters, *more.filters),
        unit=("" if metric.unit in aliases else metric.unit) or parts.unit or more.unit,
        grain=parts.grain or more.grain,
        aliases=(*aliases, *also_called(description)),
        line=metric.line,
    )


def _called(metric: Metric) -> tuple[str, tuple[str, ...]]:
    """`GMV / 成交总额` and `GMV (gross value)` have an alias; `cost / revenue` has none."""
    parts = [part.strip(_MARKS) for part in re.split(r"\s*[/|｜、]\s*|[（(]|[)）]", metric.name)]
    parts = [part for part in parts if part]
    scripts = {bool(_CJK.search(part)) for part in parts}
    split = len(parts) > 1 and (len(scripts) > 1 or "(" in metric.name or "（" in metric.name)
    name, aliases = (parts[0], parts[1:]) if split else (metric.name.strip(_MARKS), [])
    if _is_name(metric.unit):
        aliases.append(metric.unit)
    return name, tuple(aliases)


def _is_name(unit: str) -> bool:
    """Whether what stands in brackets behind a metric's name is another name of it."""
    return len(_CJK.findall(unit)) > 2 and not re.search(r"[元人次件吨天户个家股台辆%]$|单位", unit)


def _as_written(formula: str, raw: str) -> str:
    """The formula with the signs that a reader of Markdown takes away: `a * b`."""
    wanted = _LETTERS.sub("", formula)
    kept = [(at, sign) for at, sign in enumerate(raw) if not _LETTERS.match(sign)]
    start = "".join(sign for _, sign in kept).find(wanted) if wanted else -1
    if start < 0:
        return formula
    text = raw[kept[start][0] : kept[start + len(wanted) - 1][0] + 1]
    return re.sub(r"`|\*\*(?=\S)|(?<=\S)\*\*", "", text).strip()


def _apart(text: str) -> _Parts:
    """Formula first, then clauses: filters, unit, grain, and what is none of them."""
    clauses = [clause.strip(" .。") for clause in _clauses(text)]
    if not clauses:
        return _Parts("", (), "", "", "")
    formula, filters, rest = clauses[0], [], []
    unit = grain = ""
    if over := _OVER.search(formula):
        formula, filters = formula[: over.start()], [over[1]]
    for clause in clauses[1:]:
        if found := _UNIT.match(clause):
            unit = unit or found[1]
        elif _FILTER.match(clause):
            filters.append(clause)
        elif found := _GRAIN.match(clause):
            grain = grain or found[1]
        elif clause:
            rest.append(clause)
    return _Parts(formula, tuple(filters), unit, grain, "; ".join(rest))


def _clauses(text: str) -> Iterator[str]:
    """Parts between commas, semicolons and full stops that stand outside of brackets."""
    depth, start = 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "([（") - (sign in ")]）")
        stop = sign in ",;，；。" or (sign == "." and text[at + 1 : at + 2] in ("", " "))
        if stop and depth <= 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _over(note: MetricInfo, below: MetricInfo | None) -> MetricInfo:
    """What metadata.yaml says, and below it what the knowledge does."""
    if below is None:
        return note
    said = {key: value for key, value in note.model_dump().items() if value}
    said["aliases"] = tuple(dict.fromkeys((*note.aliases, *below.aliases)))
    return MetricInfo.model_validate({**below.model_dump(), **said, "name": note.name, "id": note.id})


def _search(info: MetricInfo, names: Names, values: Values, path: str, problems: list[str]) -> Found:
    """The columns that a metric states or names."""
    where = f"line {info.line} of {'metadata.yaml' if info.basis == 'metadata' else path}: metric {info.name!r}"
    if info.columns:
        found = Found()
        for name in info.columns:
            if made := names.resolve(name):
                found.ids[made] = None
            else:
                problems.append(f"{where} needs {name!r}, which no table has{names.near(name, names.by_id.values())}")
        return found
    found = names.search(" ; ".join((info.formula or info.description, *info.filters)))
    for name in found.unknown:
        problems.append(f"{where} names {name!r}, which no table has")
    for name, ids in found.unclear.items():
        if not any(made in found.ids for made in ids):
            few = ", ".join(sorted(ids)[:4]) + (" …" if len(ids) > 4 else "")
            problems.append(f"{where} names {name!r}, which is one of {len(ids)} columns: {few}")
    said = " ".join(info.filters)
    for table in dict.fromkeys(names.owner(made) for made in found.ids):
        for made, examples in values.get(table, {}).items():
            if any(len(value) > 1 and value in said for value in examples):
                found.ids[made] = None
    return found


def _complete(
    made: Mapping[str, MetricInfo], key: str, found: Mapping[str, Found], told: tuple[str, list[str]]
) -> MetricInfo:
    """With the columns of the metrics that its formula names."""
    info, (path, problems) = made[key], told
    ids = dict.fromkeys(found[key].ids)
    waiting, seen = [key], {key}
    for _ in range(_REFERENCE):
        waiting = [
            other for one in waiting if not made[one].columns for other in _named(made[one], made) if other not in seen
        ]
        seen |= set(waiting)
        for other in waiting:
            ids |= found[other].ids
    if not ids and not info.columns:
        where = "metadata.yaml" if info.basis == "metadata" else path
        problems.append(f"line {info.line} of {where}: metric {info.name!r} names no column that a table has")
    return info.model_copy(update={"columns": tuple(ids)})


def _named(info: MetricInfo, made: Mapping[str, MetricInfo]) -> list[str]:
    """Keys of metrics that a formula names."""
    return [
        key
        for key, other in made.items()
        if other is not info and any(_names(info.formula, name) for name in (other.name, *other.aliases))
    ]


def _names(formula: str, name: str) -> bool:
    if name.isascii():
        return re.search(rf"(?i)(?<!\w){re.escape(name)}(?!\w)", formula) is not None
    return name in formula
