"""Converted documents → the same, where files that make up one table are one document.

A resemblance of names or texts is no reason: the knowledge says so, or the names differ by a part number that counts.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, count
from pathlib import PurePosixPath
from typing import NamedTuple

from tasks.core.files import store as stores
from tasks.core.files.paths import file_name
from tasks.core.models.document import Converted, ConvertStatus
from tasks.core.models.semantics import Knowledge
from tasks.stage import stage

_PART = re.compile(
    r"(?i)(?P<base>.*?[^\W_])"
    r"(?:[\s_.-]*(?:[(（]\s*)?(?:part|pt|vol|volume|第)[\s_.-]*(?P<worded>\d{1,3}|[一二三四五六七八九十])\s*(?:部分|部|册|卷|篇|份)?"
    r"|[\s_.-]+(?P<number>\d{1,2})|[\s_.-]*[(（](?P<inside>\d{1,2})"
    r"|[\s_.-]*(?:[(（]\s*)?(?P<half>[上中下])\s*(?:部分|部|册|卷|篇)?)\s*[)）]?$"
)
_NUMERALS = "一二三四五六七八九十"
_TOGETHER = re.compile(
    r"(?i)\b(?:one|single|same) table\b|\btogether (?:make|form|hold)|\bmakes? up\b|\bcontinued? in\b"
    r"|\b(?:split|spread|divided) (?:over|across|into|between)\b"
    r"|同一张?表|同一个表|一张表|一个表|[合并]+[为成]一|[分拆]+[为成于].{0,12}(?:文件|文档|部分|两|三|多|份)|续于|续篇|共同[构组]成"
)
_DENIED = re.compile(
    r"(?i)\b(?:not|never|no|neither|nor|different)\b|n't\b|不是|并非|不属于|不能|不可|不得|勿|非同一|没有"
)


class _Group(NamedTuple):
    stem: str
    members: tuple[Converted, ...]
    why: str


@stage()
async def join_documents(documents: tuple[Converted, ...], knowledge: Knowledge) -> tuple[Converted, ...]:
    """Documents in their order; joined ones stand where their first file stood, with places in the right files."""
    groups = _stated(documents, knowledge)
    taken = {id(member) for group in groups for member in group.members}
    groups += _numbered(tuple(document for document in documents if id(document) not in taken), documents)
    first = {id(group.members[0]): group for group in groups}
    others = {id(member) for group in groups for member in group.members[1:]}
    return _distinct(
        _joined(first[id(document)]) if id(document) in first else document
        for document in documents
        if id(document) not in others
    )


def _distinct(documents: Iterable[Converted]) -> tuple[Converted, ...]:
    """Each with a name and so a database of its own; one whose name is taken is called after its folder or kind too."""
    taken: set[str] = set()
    found = []
    for document in documents:
        path = PurePosixPath(document.paths[0])
        ends = filter(None, (path.parent.name, path.suffix[1:].lower()))
        ways = (document.stem, *(f"{document.stem}_{end}" for end in ends))
        more = (f"{document.stem}_{number}" for number in count(2))
        stem = next(way for way in chain(ways, more) if file_name(way, ".sqlite").casefold() not in taken)
        taken.add(file_name(stem, ".sqlite").casefold())
        found.append(document.model_copy(update={"stem": stem}))
    return tuple(found)


def _stated(documents: tuple[Converted, ...], knowledge: Knowledge) -> list[_Group]:
    """What one line of the knowledge calls one table."""
    groups: list[_Group] = []
    taken: set[int] = set()
    for number, line in enumerate(knowledge.text.splitlines(), 1):
        if not _TOGETHER.search(line) or _DENIED.search(line):
            continue
        named = [(at, d) for d in documents if id(d) not in taken and (at := _named(d, line)) >= 0]
        named.sort(key=lambda pair: pair[0])
        members = tuple(document for _, document in named)
        if len(members) > 1:
            taken |= {id(member) for member in members}
            stem = _table_name(line, members)
            groups.append(_Group(stem, members, f"the knowledge says so in line {number}"))
    return groups


def _named(document: Converted, line: str) -> int:
    """Where the line names the document, by file name or stem as a whole word; -1 when it does not."""
    found = re.search(rf"(?i)(?<![0-9A-Za-z_]){re.escape(document.stem)}(?![0-9A-Za-z_])", line)
    return found.start() if found else -1


def _table_name(line: str, members: tuple[Converted, ...]) -> str:
    """The name in code marks that is none of the files, else what the stems begin with, else the first stem."""
    stems = {member.stem.casefold() for member in members}
    for name in re.findall(r"`([^`/\\]+)`", line):
        if PurePosixPath(name).stem.casefold() not in stems and re.fullmatch(r"[\w ]+", name):
            return str(name)
    start = members[0].stem
    while start and not all(member.stem.casefold().startswith(start.casefold()) for member in members):
        start = start[:-1]
    start = start.rstrip(" _-.（(第")
    return start if len(start) >= 3 else members[0].stem


def _numbered(free: tuple[Converted, ...], documents: tuple[Converted, ...]) -> list[_Group]:
    """Files of one folder whose names differ by a part number only: 1, 2, 3 or 上, 中, 下, none missing or twice."""
    sets: dict[tuple[str, str, bool], list[tuple[int, str, Converted]]] = defaultdict(list)
    for document in free:
        found = _PART.fullmatch(document.stem)
        if found:
            folder = PurePosixPath(document.paths[0]).parent.as_posix()
            half = bool(found["half"])
            sets[folder, found["base"].casefold(), half].append((_number(found), found["base"], document))
    stems = {document.stem.casefold() for document in documents}
    groups = []
    for (_, base, half), parts in sets.items():
        parts.sort(key=lambda part: part[0])
        numbers = [number for number, _, _ in parts]
        wanted = ([1, 3], [1, 2, 3]) if half else ([*range(1, len(parts) + 1)],)
        if len(parts) > 1 and numbers in wanted and base not in stems:
            members = tuple(document for _, _, document in parts)
            groups.append(_Group(parts[0][1], members, "their names differ by the number of the part"))
    return groups


def _number(found: re.Match[str]) -> int:
    if found["half"]:
        return "上中下".index(found["half"]) + 1
    text = found["worded"] or found["number"] or found["inside"]
    return _NUMERALS.index(text) + 1 if text in _NUMERALS else int(text)


def _joined(group: _Group) -> Converted:
    store = stores.current()
    texts: list[str] = []
    places: list[dict[str, object]] = []
    notes = [f"{', '.join(m.paths[0] for m in group.members)} are read as one document: {group.why}"]
    reasons = []
    for member in group.members:
        notes += [f"{member.paths[0]}: {note}" for note in member.notes]
        notes += [f"{member.paths[0]} p. {page.page}: {page.status}, {page.reason}" for page in member.pages]
        if member.status not in ("converted", "as_is"):
            reasons.append(f"{member.paths[0]} is {member.status}: {member.reason}")
        if member.text and member.places:
            texts.append(store.get(member.text).decode())
            places += json.loads(store.get(member.places))
    return Converted(
        stem=group.stem,
        paths=tuple(path for member in group.members for path in member.paths),
        status=_status(group.members),
        reason="; ".join(reasons),
        text=store.put("".join(texts).encode(), f"{group.stem}.md") if texts else None,
        places=store.put(json.dumps(places, ensure_ascii=False).encode(), f"{group.stem}.places.json")
        if texts
        else None,
        lines=sum(member.lines for member in group.members if member.text),
        notes=tuple(notes),
        unsettled="stopped" if any(member.unsettled for member in group.members) else "",
    )


def _status(members: tuple[Converted, ...]) -> ConvertStatus:
    statuses = {member.status for member in members}
    if len(statuses) == 1:
        return members[0].status
    return "converted" if statuses <= {"converted", "as_is"} else "partial"
