"""Tables and columns of a catalogue → what a text that names them means, as ids `table.column`.

A text names a column as it is, in other case, with blanks for underscores, or among Chinese signs without any blank.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tasks.core.models.catalogue import Catalogue, Table
from tasks.core.search.words import plain

_WORDS = 5
"""Words that a name may be written in."""
_SIGNS = 16
"""Chinese signs of a name."""
_TOKEN = re.compile(r"[`\"\[]?(?P<ascii>[A-Za-z_$][\w$]*|\d+)[`\"\]]?|(?P<other>[^\W\d_A-Za-z]+)")
_QUALIFIED = re.compile(r"[`\"\[]?([^\W\d][\w$]*)[`\"\]]?\s*\.\s*[`\"\[]?([^\W\d][\w$]*)[`\"\]]?")
_TEXT = re.compile(r"'[^']*'")


def column_id(table: str, column: str) -> str:
    """The id of a column by canonical names."""
    return f"{table}.{column}"


def table_names(table: Table) -> frozenset[str]:
    """Plain names that a text may use for a table: its own, that inside its file, that of its file."""
    path = PurePosixPath(table.path)
    return frozenset(
        plain(name) for name in ({table.name, table.inner} if table.inner else {table.name, path.stem, path.name})
    )


@dataclass
class Found:
    """Columns that a text names, in its order, and what of it could not be told."""

    ids: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    """Names in the form `table.column` that no table has."""
    unclear: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of several columns, with their ids."""


class Names:
    """Looks names up; `add_alias` teaches further ones."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.tables: dict[str, list[str]] = defaultdict(list)
        """Canonical names by plain name."""
        self.columns: dict[str, list[str]] = defaultdict(list)
        """Ids by plain name of the column, or alias."""
        self.by_id: dict[str, str] = {}
        """Ids by their form in lower case."""
        self._owner: dict[str, str] = {}
        for table in catalogue.tables:
            for name in sorted(table_names(table)):
                self.tables[name].append(table.name)
            for column in table.columns:
                made = column_id(table.name, column.name)
                self.columns[plain(column.name)].append(made)
                self.by_id[made.casefold()] = made
                self._owner[made] = table.name

    def table(self, name: str) -> str:
        """The canonical name of a table; empty when none, or several, have the name."""
        found = self.tables.get(plain(name), [])
        exact = [each for each in found if each.casefold() == name.casefold()]
        return exact[0] if exact else found[0] if len(found) == 1 else ""

    def column(self, table: str, column: str) -> str:
        """The id of a column of a canonical table; empty when it has none of that name."""
        if found := self.by_id.get(column_id(table, column).casefold()):
            return found
        wanted = [each for each in self.columns.get(plain(column), []) if self._owner[each] == table]
        return wanted[0] if len(wanted) == 1 else ""

    def resolve(self, name: str) -> str:
        """The id that `table.column` means; empty when it means none."""
        if found := self.by_id.get(name.casefold()):
            return found
        places = [at for at, sign in enumerate(name) if sign == "."]
        return next(
            (
                found
                for at in places
                if (table := self.table(name[:at])) and (found := self.column(table, name[at + 1 :]))
            ),
            "",
        )

    def owner(self, made: str) -> str:
        """The table of an id."""
        return self._owner[made]

    def near(self, name: str, among: Iterable[str]) -> str:
        """`, did you mean 'x'?`, or nothing."""
        found = difflib.get_close_matches(name, list(among), n=1, cutoff=0.7)
        return f", did you mean {found[0]!r}?" if found else ""

    def add_alias(self, alias: str, made: str) -> None:
        """Let a text name this column so too."""
        known = self.columns[plain(alias)]
        if plain(alias) and made not in known:
            known.append(made)

    def search(self, text: str) -> Found:
        """Every column that a text names; texts in single quotes are values, not names."""
        found = Found()
        text = _TEXT.sub(lambda value: " " * len(value[0]), text)
        rest = list(text)
        for match in _QUALIFIED.finditer(text):
            if made := self._qualified(match[1], match[2]):
                found.ids[made] = None
            elif self.table(match[1]) or "_" in match[0] or "`" in match[0]:
                found.unknown[f"{match[1]}.{match[2]}"] = None
            rest[match.start() : match.end()] = [";"] * (match.end() - match.start())
        for name in self._bare("".join(rest)):
            ids = self.columns[plain(name)]
            if len(ids) == 1:
                found.ids[ids[0]] = None
            else:
                found.unclear[name] = tuple(ids)
        self._settle(found)
        return found

    def _qualified(self, table: str, column: str) -> str:
        """The id that both mean; Chinese prose goes on without a blank before and after a name."""
        if (made := self.resolve(f"{table}.{column}")) or (table.isascii() and column.isascii()):
            return made
        tables = [table] if table.isascii() else [table[at:] for at in range(len(table))]
        columns = [column] if column.isascii() else [column[:end] for end in range(len(column), 0, -1)]
        pairs = (f"{one}.{other}" for one in tables for other in columns)
        return next((made for pair in pairs if (made := self.resolve(pair))), "")

    def _settle(self, found: Found) -> None:
        """A name of several columns is that of a table which is named otherwise, where that is one."""
        tables = {self._owner[made] for made in found.ids}
        for name, ids in list(found.unclear.items()):
            own = [made for made in ids if self._owner[made] in tables]
            if len(own) == 1 or set(ids) & set(found.ids):
                found.ids |= dict.fromkeys(own[:1])
                del found.unclear[name]

    def _bare(self, text: str) -> Iterator[str]:
        """Names without a table, the longest first where they overlap; a word before a bracket is a function."""
        tokens = list(_TOKEN.finditer(text))
        at = 0
        while at < len(tokens):
            if tokens[at]["other"]:
                yield from self._among_signs(tokens[at]["other"])
                at += 1
                continue
            taken = 1
            for size in range(min(_WORDS, len(tokens) - at), 0, -1):
                first, last = tokens[at], tokens[at + size - 1]
                between = text[first.start() : last.end()]
                if re.search(r"[^\w\s`\"\[\]$-]", between) or any(token["other"] for token in tokens[at : at + size]):
                    continue
                if re.match(r"\s*\(", text[last.end() :]) and size == 1:
                    continue
                if plain(between) in self.columns and not between.isdigit():
                    yield between.strip('`"[]')
                    taken = size
                    break
            at += taken

    def _among_signs(self, text: str) -> Iterator[str]:
        at = 0
        while at < len(text):
            sizes = range(min(_SIGNS, len(text) - at), 1, -1)
            found = next((text[at : at + size] for size in sizes if plain(text[at : at + size]) in self.columns), "")
            if found:
                yield found
            at += len(found) or 1
