"""Names of tables and columns → words, and the names that may refer to them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from tasks.core.search.words import singular

_WORD = re.compile(r"IDs(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_IDS = frozenset(["id", "ids", "code", "key", "no", "num", "number", "nr", "uid", "guid", "fk", "pk"])
_ENDINGS = (("编号", "id"), ("序号", "id"), ("代码", "code"), ("编码", "code"), ("号码", "no"), ("号", "no"))
_PREFIXES = frozenset(["dim", "fact", "tbl", "table", "stg", "raw"])
PARENTS = frozenset(
    ["parent", "manager", "boss", "supervisor", "reports", "mentor", "superior", "上级", "父", "父级", "经理"]
)


@functools.lru_cache(maxsize=10_000)
def words(name: str) -> tuple[str, ...]:
    """Words in lower case and singular: `CustomerIDs` → `customer`, `id`; `客户编号` → `客户`, `id`."""
    found: list[str] = []
    for word in _WORD.findall(name):
        ending = next(((cut, to) for cut, to in _ENDINGS if word.endswith(cut)), None)
        if ending:
            found += [part for part in (word[: -len(ending[0])], ending[1]) if part]
        else:
            folded = word.casefold()
            found.append("id" if folded == "ids" else singular(folded))
    return tuple(found)


def is_bare(found: tuple[str, ...]) -> bool:
    """Whether the words say only that the column identifies rows (`id`, `code`), not of what."""
    return bool(found) and all(word in _IDS for word in found)


def names_id(found: tuple[str, ...]) -> bool:
    """Whether the words end like an identifier's."""
    return bool(found) and found[-1] in _IDS


def subject(table: str) -> tuple[str, ...]:
    """What a table's rows are, from its name: `dim_customers` → `customer`."""
    found = words(table)
    return found[1:] if len(found) > 1 and found[0] in _PREFIXES else found


def target_keys(table: str, column: str) -> tuple[str, ...]:
    """Names that a column elsewhere may have when it refers to this one."""
    rows_are, found = subject(table), words(column)
    own = "".join(rows_are + found if is_bare(found) else found)
    speaks_of_rows = is_bare(found) or (names_id(found) and found[:-1] == rows_are)
    return (own, "".join(rows_are)) if speaks_of_rows else (own,)


def source_keys(column: str) -> Iterator[str]:
    """Names that a column may refer to, its own first: `home_team_id` → `hometeamid`, `teamid`."""
    found = words(column)
    yield "".join(found)
    if names_id(found):
        for start in range(1, len(found) - 1):
            yield "".join(found[start:])
