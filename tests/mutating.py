"""Seed → files of every kind that intake reads, damaged in one of many ways: truncated, bit-flipped, swapped, filled with NULs …

A case is made from its number and the seed alone. What bombs and other files with an intent are is in `bombs.py`.
"""

from __future__ import annotations

import functools
import io
import json
import random
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bombs
import xlsb

BOOKS = Path(__file__).parent / "cases" / "intake" / "books"
ROWS = [
    (f"{n:06}", f"店铺 {n}", round(n * 1.25, 2), f"2024-0{n % 9 + 1}-1{n % 9}", "Ünï\n" if n % 7 == 0 else "a,b")
    for n in range(1, 41)
]
NAMES = ("code", "name", "price", "opened", "note")
KNOWLEDGE = """# 知识 Knowledge

## shops
| field | type | unit | meaning |
|---|---|---|---|
| code | varchar(6) | - | 店铺代码, six digits |
| price | double | 元 | price paid; e.g. 1.25, 2.50 |

- **rate** (ratio): 占比，单位：%
- shops.code references staff.shop
- Margin = (price - cost) / price
A shop is called old when it opened before 2024.
"""


@dataclass(frozen=True)
class Case:
    """One damaged file: `name` is that in the folder, `how` says what was done to it."""

    number: int
    kind: str
    how: str
    name: str
    make: Callable[[], bytes]


def cases(count: int, seed: int) -> list[Case]:
    """So many cases, every fourth a bomb until each was had once; the same ones for the same seed."""
    good = originals()
    kinds = list(good)
    made: list[Case] = []
    planted = 0
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        if number % 4 == 3 and planted < len(bombs.BOMBS):
            kind, how, name, make = bombs.BOMBS[planted]
            planted += 1
            made.append(Case(number, kind, how, name, functools.partial(make, chance)))
            continue
        turn = number - planted
        kind, how = kinds[turn % len(kinds)], [*WAYS][(turn + turn // len(kinds)) % len(WAYS)]
        name, data = good[kind]
        if how == "another suffix":
            name = "bad" + chance.choice(
                [Path(n).suffix for n, _ in good.values() if Path(n).suffix != Path(name).suffix]
            )
        elif how == "inside the archive" and not data.startswith(b"PK"):
            how = "many bits flipped"
        made.append(Case(number, kind, how, name, functools.partial(WAYS[how], data, chance)))
    return made


# ---- what is damaged ------------------------------------------------------------------------------------------------


def originals() -> dict[str, tuple[str, bytes]]:
    """Kind → name and bytes of a sound file of it."""
    text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [NAMES, *ROWS])
    records = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    prose = "".join(f"## 店铺 {row[0]}\n\n{row[1]} opened on {row[3]}; its price is {row[2]} 元.\n\n" for row in ROWS)
    html = "".join(f"<tr><td>{row[0]}</td><td>{row[1]}</td><td>{row[2]}</td></tr>" for row in ROWS)
    task = {"task_id": "t", "question": "Which shop is dearest? 哪家最贵？", "difficulty": "easy"}
    return {
        "csv": ("bad.csv", text.encode()),
        "tsv": ("bad.tsv", text.replace('","', '"\t"').encode("gb18030", "replace")),
        "json": ("bad.json", json.dumps({"data": records, "page": {"next": 2}}, ensure_ascii=False).encode()),
        "jsonl": ("bad.jsonl", lines.encode()),
        "sqlite": ("bad.db", _sqlite()),
        "xlsx": ("bad.xlsx", _xlsx()),
        "xls": ("bad.xls", (BOOKS / "book.xls").read_bytes()),
        "ods": ("bad.ods", (BOOKS / "book.ods").read_bytes()),
        "xlsb": ("bad.xlsb", _xlsb()),
        "parquet": ("bad.parquet", _columnar("parquet")),
        "arrow": ("bad.arrow", _columnar("arrow")),
        "orc": ("bad.orc", _columnar("orc")),
        "docx": ("bad.docx", _docx()),
        "pdf": ("bad.pdf", _pdf()),
        "html": ("bad.html", f"<html><body><h1>店铺</h1><table>{html}</table><p>x</p></body></html>".encode()),
        "md": ("bad.md", prose.encode()),
        "txt": ("bad.txt", prose.encode("utf-16")),
        "knowledge": ("knowledge.md", KNOWLEDGE.encode()),
        "task": ("task.json", json.dumps(task, ensure_ascii=False).encode()),
        "metadata": (
            "metadata.yaml",
            b"tables:\n  shops:\n    description: shops\n    columns:\n      code: {unit: x}\n",
        ),
    }


def _sqlite() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        base = sqlite3.connect(path)
        base.execute("create table shops (code varchar primary key, name text, price double, opened date, note)")
        base.executemany("insert into shops values (?, ?, ?, ?, ?)", ROWS)
        base.execute("create view dear as select * from shops where price > 20")
        base.execute("create index by_name on shops (name)")
        base.commit()
        base.close()
        return path.read_bytes()


def _xlsx() -> bytes:
    from openpyxl import Workbook

    book, made = Workbook(), io.BytesIO()
    sheet: Any = book.active
    for row in [NAMES, *ROWS]:
        sheet.append(row)
    book.create_sheet("二").append(["a", 1])
    book.save(made)
    return made.getvalue()


def _xlsb() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.xlsb"
        xlsb.write(path, [[*NAMES[:3]], *[[*row[:3]] for row in ROWS]], {(1, 2): "0.00"})
        return path.read_bytes()


def _columnar(form: str) -> bytes:
    import pyarrow
    from pyarrow import feather, orc, parquet

    table, made = pyarrow.table({name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)}), io.BytesIO()
    {
        "parquet": lambda: parquet.write_table(table, made),
        "arrow": lambda: feather.write_feather(table, made, compression="uncompressed"),
        "orc": lambda: orc.write_table(table, made),
    }[form]()
    return made.getvalue()


def _docx() -> bytes:
    import docx

    document, made = docx.Document(), io.BytesIO()
    document.add_heading("店铺 Shops", 1)
    table = document.add_table(0, 3)
    for row in ROWS[:12]:
        for cell, value in zip(table.add_row().cells, row, strict=False):
            cell.text = str(value)
    for row in ROWS:
        document.add_paragraph(f"{row[1]} opened on {row[3]}.")
    document.save(made)
    return made.getvalue()


def _pdf() -> bytes:
    import pymupdf

    document: Any = pymupdf.open()
    for start in (0, 20):
        page = document.new_page()
        for at, row in enumerate(ROWS[start : start + 20]):
            page.insert_text((50, 60 + 20 * at), f"{row[0]} {row[1]} {row[2]}", fontname="china-s")
        page.draw_rect((40, 600, 200, 700))
    return bytes(document.tobytes())


# ---- ways of damaging -----------------------------------------------------------------------------------------------

Way = Callable[[bytes, random.Random], bytes]


def _truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(1, len(data))]


def _beheaded(data: bytes, chance: random.Random) -> bytes:
    return data[chance.randrange(1, len(data)) :]


def _short_of_its_end(data: bytes, chance: random.Random) -> bytes:
    return data[: -chance.randrange(1, min(64, len(data)))]


def _flipped(bits: int) -> Way:
    def flip(data: bytes, chance: random.Random) -> bytes:
        made = bytearray(data)
        for _ in range(bits):
            made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
        return bytes(made)

    return flip


def _swapped(data: bytes, chance: random.Random) -> bytes:
    size = max(1, len(data) // 8)
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    one, other = chance.sample(range(len(blocks)), 2)
    blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"".join(blocks)


def _repeated(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    piece = data[start : start + chance.randrange(1, 512)]
    return data[:start] + piece * chance.randrange(2, 200) + data[start:]


def _filled(value: Callable[[random.Random, int], bytes]) -> Way:
    def fill(data: bytes, chance: random.Random) -> bytes:
        start, size = chance.randrange(len(data)), chance.randrange(1, max(2, len(data) // 4))
        return data[:start] + value(chance, size) + data[start + size :]

    return fill


def _sprinkled(data: bytes, chance: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(chance.randrange(1, 30)):
        made.insert(chance.randrange(len(made)), 0)
    return bytes(made)


def _recoded(data: bytes, chance: random.Random) -> bytes:
    name = chance.choice(["utf-16-le", "utf-16-be", "utf-32", "gb18030", "big5", "cp932", "utf-7", "cp037"])
    return data.decode("utf-8", "replace").encode(name, "replace")


def _half_recoded(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at:].decode("utf-8", "replace").encode(chance.choice(["gb18030", "utf-16"]), "replace")


def _appended(data: bytes, chance: random.Random) -> bytes:
    return data + chance.choice([chance.randbytes(3000), b"\0" * 5000, data, b"\x1a", b"<html><body>502 Bad Gateway"])


def _inside(data: bytes, chance: random.Random) -> bytes:
    """Damage one part of an archive and pack it again, so that no checksum tells."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        parts = [item for item in source.infolist() if item.file_size > 1]
        hit = chance.choice(parts).filename
        way = chance.choice([_truncated, _flipped(1), _flipped(40), _swapped, _repeated, _sprinkled])
        for item in parts:
            content = source.read(item)
            target.writestr(item.filename, way(content, chance) if item.filename == hit else content)
    return made.getvalue()


WAYS: dict[str, Way] = {
    "truncated": _truncated,
    "a bit flipped": _flipped(1),
    "inside the archive": _inside,
    "many bits flipped": _flipped(60),
    "blocks swapped": _swapped,
    "NULs over it": _filled(lambda _, size: bytes(size)),
    "another suffix": lambda data, _: data,
    "bits flipped": _flipped(8),
    "random bytes over it": _filled(lambda chance, size: chance.randbytes(size)),
    "recoded": _recoded,
    "short of its end": _short_of_its_end,
    "a piece repeated": _repeated,
    "NULs in it": _sprinkled,
    "half recoded": _half_recoded,
    "beheaded": _beheaded,
    "more after it": _appended,
    "a hole in it": _filled(lambda *_: b""),
    "truncated again": _truncated,
    "inside the archive again": lambda data, chance: (_inside if data.startswith(b"PK") else _flipped(20))(
        data, chance
    ),
}
