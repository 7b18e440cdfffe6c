"""Number of tables + seed → a folder of as many tables of many trades, and questions whose tables and columns are known.

One SQLite database holds most of them and CSV files the rest. A table is called in English, in Chinese, by a code that
metadata.yaml explains, or by an abbreviation that knowledge.md explains. The tables asked for are spread over the order by
name, the first and the last among them. Their texts are made, so that nothing is tuned to anybody's data.
"""

from __future__ import annotations

import csv
import random
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

ROWS = 12
_CSV = 12
"""Tables that are files of their own: each is read by a child."""
_CASES = Path(__file__).resolve().parent / "cases"
WORDS = "words.txt"
_STYLES = ("en", "zh", "code", "short", "en", "zh", "en")
KINDS = ("name", "chinese", "alias", "meaning", "value", "join", "metric", "synonym")


class Word(NamedTuple):
    """A word in English and Chinese, and an English one that shares no letters' run with it."""

    en: str
    zh: str
    other: str


_NAME = Word("name", "名称", "label")
Key = tuple[Word, Word, Word]
Words = dict[str, list[Word]]


class Column(NamedTuple):
    """A column: its name as in the table, and what it is in words."""

    name: str
    word: Word
    kind: str
    """key, link, name, date, measure or text."""


@dataclass(frozen=True)
class Table:
    """A table of a trade: `key` are its trade, thing and form."""

    name: str
    key: Key
    style: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...] = field(repr=False)
    link: str = ""
    """`table.column` that its link refers to."""

    def of(self, kind: str) -> list[Column]:
        """Its columns of a kind."""
        return [column for column in self.columns if column.kind == kind]

    def said(self, at: int = 0) -> str:
        """What it is about: in English, Chinese, or other English words."""
        return ("" if at == 1 else " ").join(word[at] for word in self.key)


class Asked(NamedTuple):
    """A question and what its answer needs. Ids of columns are `table.column`."""

    kind: str
    text: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    """What a model might add to the question's words; given, not asked of any."""
    sql: str = ""
    """How its answer is computed over the tables."""


def make(folder: Path, count: int, seed: int = 1, each: int = 5, said: str = WORDS) -> tuple[Asked, ...]:
    """Lay `count` tables below `folder`, the same ones for the same seed; `each` questions of every kind.

    `said` is the file of words: `words_other.txt` was written to see whether a change serves other words too.
    """
    tables = _tables(count, random.Random(seed), said)
    metrics = _metrics(tables, each)
    _lay(folder, tables, metrics)
    return tuple(_questions(tables, metrics, each))


def gold(asked: Asked, count: int, seed: int = 1) -> list[tuple[Any, ...]]:
    """Names of the columns, then the rows, that answer a question of `make` with this count and seed."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in _tables(count, random.Random(seed)):
            if table.name in asked.tables:
                _fill(connection, table)
        found = connection.execute(asked.sql)
        return [tuple(column[0] for column in found.description), *found.fetchall()]


def _words(said: str) -> Words:
    found: Words = {}
    part = ""
    for line in (_CASES / said).read_text("utf-8").splitlines():
        if line.startswith("# "):
            part = line[2:]
        elif line:
            found.setdefault(part, []).extend(Word(*one.strip().split("/")) for one in line.split(","))
    return found


def _tables(count: int, rng: random.Random, said: str = WORDS) -> list[Table]:
    words = _words(said)
    pairs = list(product(words["trades"], words["things"]))
    rng.shuffle(pairs)
    if count > len(pairs) * len(words["forms"]):
        raise ValueError(f"at most {len(pairs) * len(words['forms']):,} tables")
    made: list[Table] = []
    for number, pair in enumerate(pairs):
        owner: Table | None = None
        for form in words["forms"][: count - len(made)]:
            made.append(_table((*pair, form), _STYLES[number % len(_STYLES)], words, rng, owner))
            owner = owner or made[-1]
    return sorted(made, key=lambda table: table.name)


def _table(key: Key, style: str, words: Words, rng: random.Random, owner: Table | None) -> Table:
    """A table; without an `owner` it is the one that the other forms of its thing refer to."""
    trade, thing, form = key
    named = form if owner else thing
    roles = [("key", Word(f"{named.en} id", f"{named.zh}编号", "key"))]
    roles.append(("link", Word(f"{thing.en} id", f"{thing.zh}编号", "key")) if owner else ("name", _NAME))
    roles.append(("date", rng.choice(words["dates"])))
    roles += [("measure", word) for word in rng.sample(words["measures"], 5)]
    roles += [("text", word) for word in rng.sample(words["texts"], 4)]
    columns = tuple(Column(_spelled(word, style, at), word, kind) for at, (kind, word) in enumerate(roles))
    has_marks = words["trades"].index(trade) % 3
    mark = f"{_short(trade.en)}{_short(thing.en)}".upper() if has_marks else ""
    syllables = [word.zh if style == "zh" else word.en for word in words["syllables"]]
    cells = _Cells(mark, syllables, words["levels"], rng)
    rows = tuple(tuple(cells.cell(c.kind, row) for c in columns) for row in range(1, ROWS + 1))
    link = f"{owner.name}.{owner.columns[0].name}" if owner else ""
    return Table(_named(key, style), key, style, columns, rows, link)


def _named(key: Key, style: str) -> str:
    if style == "en":
        return "_".join(word.en for word in key)
    if style == "zh":
        return "".join(word.zh for word in key)
    return f"t_{_code(key)}" if style == "code" else "_".join(_short(word.en) for word in key)


def _spelled(word: Word, style: str, at: int) -> str:
    if style == "code":
        return f"c{at:02}"
    if style == "short":
        return f"{'_'.join(_short(part) for part in word.en.split())}"
    return word.zh if style == "zh" else word.en.replace(" ", "_")


def _short(text: str) -> str:
    return (text[0] + "".join(c for c in text[1:] if c not in "aeiou "))[:4] if len(text) > 2 else text


def _code(key: tuple[Word, ...]) -> str:
    """Digits that say nothing, the same for the same table."""
    number = 0
    for char in "".join(word.en for word in key):
        number = (number * 131 + ord(char)) % 9_999_991
    return f"{number:07}"


class _Cells:
    """Cells of one table."""

    def __init__(self, mark: str, syllables: list[str], levels: list[Word], rng: random.Random) -> None:
        self._mark, self._syllables, self._levels, self._rng = mark, syllables, levels, rng

    def cell(self, kind: str, row: int) -> Any:
        """A value of a column of this kind."""
        rng = self._rng
        if kind in ("key", "link"):
            number = row if kind == "key" else rng.randint(1, ROWS)
            return f"{self._mark}-{number:03}" if self._mark else number
        if kind == "name":
            return "".join(rng.choice(self._syllables) for _ in range(5)).capitalize()
        if kind == "date":
            return (date(2024, 1, 1) + timedelta(days=rng.randrange(1000))).isoformat()
        return round(rng.uniform(1, 900), 1) if kind == "measure" else rng.choice(self._levels).en


class Metric(NamedTuple):
    """A quotient of two measures that the knowledge names."""

    name: str
    table: Table
    columns: tuple[Column, Column]


def _metrics(tables: list[Table], each: int) -> list[Metric]:
    """Three times as many as are asked for, no two of one name."""
    found: dict[str, Metric] = {}
    for table in _spread([table for table in tables if table.style in ("en", "zh")], 3 * each, 1):
        one, two = table.of("measure")[:2]
        initials = "".join(word.en[:2] for word in table.key).upper()
        found.setdefault(initials, Metric(f"{initials} index", table, (one, two)))
    return list(found.values())


def _spread(tables: list[Table], count: int, offset: int = 0) -> list[Table]:
    """`count` of them from the first to the last, evenly."""
    last = len(tables) - 1
    return [
        tables[(round(n * last / max(count - 1, 1)) + offset) % len(tables)] for n in range(min(count, len(tables)))
    ]


def _questions(tables: list[Table], metrics: list[Metric], each: int) -> Iterator[Asked]:
    named = {style: [t for t in tables if t.style == style] for style in ("en", "zh", "code", "short")}
    for style, kind in (("en", "name"), ("zh", "chinese"), ("code", "alias"), ("short", "meaning")):
        for n, table in enumerate(_spread(named[style], each)):
            yield _plain(table, kind, n)
    firsts = [table for table in tables if table.of("name") and table.style == "en"]
    for n, table in enumerate(_spread(firsts, each)):
        yield _by_value(table, n)
    by_name = {table.name: table for table in tables}
    linked = [table for table in tables if table.link and table.style in ("en", "zh")]
    for n, table in enumerate(_spread(linked, each)):
        yield _joined(table, by_name[table.link.partition(".")[0]], n)
    for metric in metrics[::3]:
        ids = tuple(f"{metric.table.name}.{column.name}" for column in metric.columns)
        one, two = (column.name for column in metric.columns)
        sql = f'SELECT SUM("{one}") / SUM("{two}") AS "index" FROM "{metric.table.name}"'
        yield Asked("metric", f"How high is the {metric.name}?", (metric.table.name,), ids, sql=sql)
    for n, table in enumerate(_spread(named["en"], each, 2)):
        measure = table.of("measure")[n % 5]
        text = f"How much {measure.word.other} do we see for {table.said(2)}?"
        terms = (measure.word.en, *(word.en for word in table.key), "amount", "total")
        sql = f'SELECT SUM("{measure.name}") AS total FROM "{table.name}"'
        yield Asked("synonym", text, (table.name,), (f"{table.name}.{measure.name}",), (), terms, sql)


def _plain(table: Table, kind: str, n: int) -> Asked:
    measure, text = table.of("measure")[n % 5], table.of("text")[n % 4]
    ids = (f"{table.name}.{measure.name}", f"{table.name}.{text.name}")
    if kind == "name" or (kind == "alias" and n % 2):
        said = f"What is the total {measure.word.en} by {text.word.en} in the {table.said()}?"
    else:
        said = f"按{text.word.zh}统计{table.said(1)}的{measure.word.zh}合计"
    sql = f'SELECT "{text.name}", SUM("{measure.name}") AS total FROM "{table.name}" GROUP BY "{text.name}"'
    return Asked(kind, said, (table.name,), ids, sql=sql)


def _by_value(table: Table, n: int) -> Asked:
    name, measure = table.of("name")[0], table.of("measure")[n % 5]
    value = str(table.rows[n % ROWS][table.columns.index(name)])
    said = f"What is the {measure.word.en} of {value}?" if n % 2 else f"{value}的{measure.word.en}是多少？"
    sql = f'SELECT "{measure.name}" FROM "{table.name}" WHERE "{name.name}" = \'{value}\''
    ids = (f"{table.name}.{name.name}", f"{table.name}.{measure.name}")
    return Asked("value", said, (table.name,), ids, (value,), sql=sql)


def _joined(table: Table, owner: Table, n: int) -> Asked:
    name, measure, link = owner.of("name")[0], table.of("measure")[n % 5], table.of("link")[0]
    value = str(owner.rows[n][owner.columns.index(name)])
    at = 1 if table.style == "zh" else 0
    said = (
        f"{value}在{table.said(1)}里的{measure.word.zh}合计"
        if at
        else f"Add up the {measure.word.en} in the {table.said()} of {value}"
    )
    ids = (
        f"{owner.name}.{owner.columns[0].name}",
        f"{owner.name}.{name.name}",
        f"{table.name}.{link.name}",
        f"{table.name}.{measure.name}",
    )
    sql = (
        f'SELECT SUM(t."{measure.name}") AS total FROM "{table.name}" t JOIN "{owner.name}" o '
        f'ON o."{owner.columns[0].name}" = t."{link.name}" WHERE o."{name.name}" = \'{value}\''
    )
    return Asked("join", said, (owner.name, table.name), ids, (value,), sql=sql)


def _lay(folder: Path, tables: list[Table], metrics: list[Metric]) -> None:
    for place in ("csv", "db"):
        (folder / "context" / place).mkdir(parents=True, exist_ok=True)
    files = {table.name for table in tables[7 :: max(len(tables) // _CSV, 1)]}
    path = folder / "context" / "db" / "warehouse.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for table in tables:
            names = [column.name for column in table.columns]
            if table.name in files:
                with (folder / "context" / "csv" / f"{table.name}.csv").open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerows([names, *table.rows])
                continue
            _fill(connection, table)
        connection.commit()
    (folder / "context" / "knowledge.md").write_text("\n".join(_knowledge(tables, metrics)), "utf-8")
    (folder / "context" / "metadata.yaml").write_text("\n".join(_metadata(tables)), "utf-8")
    (folder / "task.json").write_text('{"task_id": "made", "question": "?"}', "utf-8")


def _fill(connection: sqlite3.Connection, table: Table) -> None:
    quoted = ", ".join(f'"{column.name}"' for column in table.columns)
    connection.execute(f'CREATE TABLE "{table.name}" ({quoted})')
    connection.executemany(f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(table.columns))})', table.rows)


def _knowledge(tables: list[Table], metrics: list[Metric]) -> Iterator[str]:
    yield "# Warehouse\n\n## Tables"
    for table in tables:
        if table.style == "short":
            yield f"\n### {table.name}\n{table.said(1)}"
            yield from (f"- **{column.name}**：{table.said(1)}的{column.word.zh}" for column in table.columns)
    yield "\n## Metrics"
    for metric in metrics:
        one, two = (f"{metric.table.name}.{column.name}" for column in metric.columns)
        yield f"- **{metric.name}** = SUM({one}) / SUM({two})"


def _metadata(tables: list[Table]) -> Iterator[str]:
    yield "tables:"
    for table in tables:
        if table.style == "code":
            yield f"  {table.name}:\n    aliases: [{table.said()}, {table.said(1)}]\n    columns:"
            for column in table.columns:
                yield f"      {column.name}:\n        aliases: [{column.word.en}, {column.word.zh}]"


if __name__ == "__main__":
    for asked in make(Path(sys.argv[1]), int(sys.argv[2])):
        print(*asked, sep=" | ")
