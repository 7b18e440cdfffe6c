"""Files with an intent → bytes: small ones that unpack to much, nest without end, refer to themselves, or say what is not so.

Each makes its reader work in vain; none is made to be run by anything.
"""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable

Make = Callable[[random.Random], bytes]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
_ENTITIES = f'<!DOCTYPE x [<!ENTITY a0 "ha">{_LAUGHS}]>'
_OUTSIDE = '<!DOCTYPE x [<!ENTITY a9 SYSTEM "file:///etc/hostname">]>'


def _zip(parts: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


# ---- workbooks ------------------------------------------------------------------------------------------------------


def book(rows: str, head: str = "", more: dict[str, str | bytes] | None = None, dimension: str = "A1:B2") -> bytes:
    """An .xlsx with one sheet of these rows (XML)."""
    relation = f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    shared = f'<Relationship Id="rId2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    start = f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    types = '<Default Extension="xml" ContentType="application/xml"/>'
    sheet = f'{head}<worksheet xmlns="{_MAIN}"><dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    links = f'<Relationships xmlns="{_PACKAGE}/relationships">'
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{types}</Types>',
        "_rels/.rels": f"{links}{start}</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"{links}{relation}{shared}</Relationships>",
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}"><si><t>shared</t></si></sst>',
        "xl/worksheets/sheet1.xml": sheet,
    }
    return _zip({**parts, **(more or {})})


def _cells(*texts: str, row: int = 1) -> str:
    inner = "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts)
    return f'<row r="{row}">{inner}</row>'


def _equal_rows(count: int) -> str:
    return _cells("name", "n") + "<row><c><v>1</v></c><c><v>2</v></c></row>" * count


def _nested_zip(depth: int) -> bytes:
    data = bytes(1 << 20)
    for level in range(depth):
        data = _zip({f"{level}.zip": data})
    return data


def _lying_zip(data: bytes, size: int) -> bytes:
    """The archive's list says that each part unpacks to `size` bytes."""
    made, at = bytearray(data), data.find(b"PK\x01\x02")
    while at >= 0:
        made[at + 24 : at + 28] = struct.pack("<I", size)
        at = data.find(b"PK\x01\x02", at + 4)
    return bytes(made)


def _overlapping_zip(count: int) -> bytes:
    """Many names for the same megabytes: its list is longer than what it holds."""
    name = b"xl/worksheets/sheet1.xml"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packer.compress(bytes(8 << 20)) + packer.flush()
    crc, sizes = zlib.crc32(bytes(8 << 20)), (len(body), 8 << 20, len(name), 0)
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, crc, *sizes) + name + body
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, crc, *sizes, 0, 0, 0, 0, 0) + name
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(entry) * count, len(local), 0)
    return local + entry * count + end


# ---- Word documents -------------------------------------------------------------------------------------------------


def word(body: str, head: str = "", more: dict[str, str | bytes] | None = None) -> bytes:
    """A .docx with this body (XML)."""
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    start = f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    types = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{types}'
        f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{start}</Relationships>',
        "word/document.xml": f'{head}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    return _zip({**parts, **(more or {})})


def _said(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def _tables(depth: int) -> str:
    return "<w:tbl><w:tr><w:tc>" * depth + _said("deep") + "</w:tc></w:tr></w:tbl>" * depth


# ---- PDFs -----------------------------------------------------------------------------------------------------------


def pdf(*objects: bytes, root: int = 1, prev: str = "") -> bytes:
    """Objects 1, 2, … with a right cross-reference table."""
    made, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    at = len(made)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    listed = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return made + f"{listed}trailer <</Size {len(objects) + 1}/Root {root} 0 R{prev}>>\nstartxref\n{at}\n%%EOF".encode()


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<%b/Length %d>>stream\n%b\nendstream" % (entries, len(content), content)


def _packed(content: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        content = zlib.compress(content, 9)
    return _stream(content, b"/Filter[" + b"/FlateDecode" * times + b"]")


_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
_WORDS = b"BT /F 12 Tf 40 700 Td (A page with some words on it, 1234.) Tj ET "


def _page(parent: int, content: int, resources: bytes = b"/Font<</F 4 0 R>>") -> bytes:
    form = b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 500 800]/Contents %d 0 R/Resources<<%b>>>>"
    return form % (parent, content, resources)


def _paper(content: bytes, resources: bytes = b"/Font<</F 4 0 R>>", *more: bytes) -> bytes:
    """One page; object 5 is its content, further ones begin with 6."""
    catalogue, pages = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    return pdf(catalogue, pages, _page(2, 5, resources), _FONT, content, *more)


def _counted(count: int, kids: bytes = b"3 0 R") -> bytes:
    pages = b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, count)
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", pages, _page(2, 5), _FONT, _stream(_WORDS))


def _chained(depth: int) -> bytes:
    """Page trees in page trees."""
    trees = [b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (number + 1) for number in range(2, depth + 2)]
    page = b"<</Type/Page/MediaBox[0 0 500 800]/Contents %d 0 R>>" % (depth + 3)
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", *trees, page, _stream(_WORDS))


def _form(again: bytes) -> bytes:
    return _stream(again, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R/Y 7 0 R>>>>")


# ---- texts ----------------------------------------------------------------------------------------------------------


def _book_of_strings(mega: int) -> bytes:
    text = "A" * (mega << 20)
    return book(_cells("name") + '<row><c t="s"><v>0</v></c></row>' * 3, more={"xl/sharedStrings.xml": text})


def _lines_of(sign: str, count: int = 400_000) -> bytes:
    return f"# 知识\n\n{sign * count}\n\n## shops\n\n- code: 店铺代码\n".encode()


BOMBS: tuple[tuple[str, str, str, Make], ...] = (
    ("xlsx", "bomb: zeros", "bad.xlsx", lambda _: book("", more={"xl/media/a.xml": bytes(100 << 20)})),
    ("pdf", "bomb: two billion pages", "bad.pdf", lambda _: _counted(2_000_000_000)),
    ("docx", "bomb: entities", "bad.docx", lambda _: word(_said("&a9;"), _ENTITIES)),
    ("json", "bomb: nested 100,000 deep", "bad.json", lambda _: b'[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]"),
    ("knowledge", "bomb: a line of blanks", "knowledge.md", lambda _: _lines_of(" ").replace(b"\n\n ", b"\n\n#  x ")),
    ("csv", "bomb: a line without end", "bad.csv", lambda _: b"a,b\n1," + b"x" * (6 << 20)),
    ("xlsx", "bomb: equal rows", "bad.xlsx", lambda _: book(_equal_rows(200_000))),
    ("xlsx", "bomb: entities", "bad.xlsx", lambda _: book(_cells("&a9;", "b"), _ENTITIES)),
    ("xlsx", "bomb: a file outside", "bad.xlsx", lambda _: book(_cells("&a9;", "b"), _OUTSIDE)),
    ("xlsx", "bomb: zip in zip in zip", "bad.xlsx", lambda _: book("", more={"xl/a.zip": _nested_zip(8)})),
    ("xlsx", "bomb: overlapping parts", "bad.xlsx", lambda _: _overlapping_zip(2000)),
    ("xlsx", "bomb: a list that lies", "bad.xlsx", lambda _: _lying_zip(book(_equal_rows(100_000)), 100)),
    ("xlsx", "bomb: sizes that lie", "bad.xlsx", lambda _: _lying_zip(book(_cells("a", "b")), 0xFFFFFFF0)),
    ("xlsx", "bomb: strings", "bad.xlsx", lambda _: _book_of_strings(60)),
    ("xlsx", "bomb: the last cell", "bad.xlsx", lambda _: book('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
    ("xlsx", "bomb: beyond the last cell", "bad.xlsx", lambda _: book('<row r="999999999"><c r="ZZZZZ999999999"><v>1</v></c></row>', dimension="A1:ZZZZZ999999999")),
    ("xlsx", "bomb: wide rows", "bad.xlsx", lambda _: book(("<row>" + "<c><v>1</v></c>" * 16_384 + "</row>") * 30)),
    ("xlsx", "bomb: strings that are not there", "bad.xlsx", lambda _: book('<row><c t="s"><v>99999999999</v></c><c t="s"><v>-1</v></c></row>')),
    ("xlsx", "bomb: nested elements", "bad.xlsx", lambda _: book("<row>" * 50_000 + "</row>" * 50_000)),
    ("xlsx", "bomb: 30,000 parts", "bad.xlsx", lambda _: book(_cells("a"), more={f"xl/worksheets/s{n}.xml": "" for n in range(30_000)})),
    ("ods", "bomb: repeated cells", "bad.ods", lambda _: _repeated_cells()),
    ("docx", "bomb: zeros", "bad.docx", lambda _: word(_said("a"), more={"word/media/a.png": bytes(100 << 20)})),
    ("docx", "bomb: a file outside", "bad.docx", lambda _: word(_said("&a9;"), _OUTSIDE)),
    ("docx", "bomb: tables in tables", "bad.docx", lambda _: word(_tables(3000))),
    ("docx", "bomb: long text", "bad.docx", lambda _: word(_said("word " * (4 << 20)))),
    ("docx", "bomb: a cell over many columns", "bad.docx", lambda _: word(_spanning())),
    ("docx", "bomb: zip in zip in zip", "bad.docx", lambda _: word(_said("a"), more={"a.zip": _nested_zip(8)})),
    ("docx", "bomb: a list that lies", "bad.docx", lambda _: _lying_zip(word(_said("long " * 2_000_000)), 10)),
    ("docx", "bomb: many paragraphs", "bad.docx", lambda _: word(_said("a") * 60_000)),
    ("pdf", "bomb: 300 MB of blanks", "bad.pdf", lambda _: _paper(_packed(b" " * (300 << 20)))),
    ("pdf", "bomb: packed three times", "bad.pdf", lambda _: _paper(_packed(b" " * (200 << 20), 3))),
    ("pdf", "bomb: a page that is its own parent", "bad.pdf", lambda _: _counted(3, b"2 0 R 3 0 R 2 0 R")),
    ("pdf", "bomb: pages that do not exist", "bad.pdf", lambda _: _counted(100_000, b"9 0 R " * 100)),
    ("pdf", "bomb: fewer than no pages", "bad.pdf", lambda _: _counted(-5)),
    ("pdf", "bomb: one page 20,000 times", "bad.pdf", lambda _: _counted(3000, b"3 0 R " * 3000)),
    ("pdf", "bomb: trees in trees", "bad.pdf", lambda _: _chained(20_000)),
    ("pdf", "bomb: nested arrays", "bad.pdf", lambda _: _paper(_stream(_WORDS + b"[" * 200_000), b"/Font<</F 4 0 R>>")),
    ("pdf", "bomb: nested dictionaries", "bad.pdf", lambda _: _paper(_stream(_WORDS), b"/A" + b"<</A" * 50_000 + b" 1" + b">>" * 50_000)),
    ("pdf", "bomb: forms that draw each other", "bad.pdf", lambda _: _paper(_stream(_WORDS + b"/X Do"), b"/XObject<</X 6 0 R>>/Font<</F 4 0 R>>", _form(b"/Y Do /Y Do"), _form(b"/X Do /X Do"))),
    ("pdf", "bomb: a cross-reference to itself", "bad.pdf", lambda _: _looping()),
    ("pdf", "bomb: much text", "bad.pdf", lambda _: _paper(_packed(_WORDS * 60_000))),
    ("pdf", "bomb: many lines drawn", "bad.pdf", lambda _: _paper(_packed(_WORDS + b"0 0 m 9 9 l S " * 400_000))),
    ("pdf", "bomb: a saved state without end", "bad.pdf", lambda _: _paper(_packed(b"q " * 2_000_000 + _WORDS))),
    ("pdf", "bomb: a page of a kilometre", "bad.pdf", lambda _: _counted(1).replace(b"500 800", b"9e9 9e9")),
    ("json", "bomb: objects 5,000 deep", "bad.json", lambda _: b'{"a":' * 5000 + b"1" + b"}" * 5000),
    ("json", "bomb: a number of a million digits", "bad.json", lambda _: b'[{"a": ' + b"9" * 1_000_000 + b'}, {"a": 1}]'),
    ("json", "bomb: numbers beyond all bounds", "bad.json", lambda _: b'[{"a": 1e999999999}, {"a": -1e-999999999}, {"a": 1}]'),
    ("json", "bomb: 20,000 names", "bad.json", lambda _: json.dumps([{f"k{n}": n for n in range(20_000)}]).encode()),
    ("json", "bomb: a name for each record", "bad.json", lambda _: json.dumps([{f"k{n}": n} for n in range(3000)]).encode()),
    ("json", "bomb: half characters", "bad.json", lambda _: rb'[{"\ud800": "\udfff", "a": "\u0000"}, {"a": "\ud83d"}]'),
    ("jsonl", "bomb: a line of 8 MB", "bad.jsonl", lambda _: b'{"a": "' + b"y" * (8 << 20) + b'"}\n{"a": 1}\n'),
    ("jsonl", "bomb: open brackets", "bad.jsonl", lambda _: b'{"a": [1\n' * 50_000),
    ("csv", "bomb: an open quote", "bad.csv", lambda _: b'a,b\n1,"' + b"2,3\n" * 200_000),
    ("csv", "bomb: 5,000 columns", "bad.csv", lambda _: (b",".join(b"c%d" % n for n in range(5000)) + b"\n" + b"1," * 4999 + b"1\n") * 2),
    ("csv", "bomb: each line longer", "bad.csv", lambda _: b"".join(b"1," * n + b"\n" for n in range(1, 900))),
    ("csv", "bomb: quotes", "bad.csv", lambda _: b"a,b\n" + b'"""""",' * 100_000),
    ("csv", "bomb: blank lines", "bad.csv", lambda _: b"a,b\n" + b"\n" * 500_000 + b"1,2\n"),
    ("csv", "bomb: line ends of all kinds", "bad.csv", lambda chance: _ends(chance)),
    ("html", "bomb: 200,000 deep", "bad.html", lambda _: b"<html><body>" + b"<div>" * 200_000 + b"x"),
    ("html", "bomb: wide cells", "bad.html", lambda _: b"<html><table>" + b'<tr><td colspan=9999999 rowspan=999999>x<td>y</tr>' * 2000),
    ("html", "bomb: tables in tables", "bad.html", lambda _: b"<html>" + b"<table><tr><td>" * 5000 + b"x"),
    ("html", "bomb: entities", "bad.html", lambda _: _ENTITIES.encode() + b"<html><body>&a9;&a9;</body></html>"),
    ("html", "bomb: an open comment", "bad.html", lambda _: b"<html><body>x" + b"<!-- " * 200_000),
    ("md", "bomb: a line of 5 MB", "bad.md", lambda _: b"# a\n\n" + b"word 12 " * 600_000),
    ("md", "bomb: open brackets", "bad.md", lambda _: b"# a\n\n" + b"[(*_`" * 200_000),
    ("knowledge", "bomb: a line of hashes", "knowledge.md", lambda _: _lines_of("#")),
    ("knowledge", "bomb: hashes and blanks", "knowledge.md", lambda _: _lines_of("# ", 200_000)),
    ("knowledge", "bomb: a line of names", "knowledge.md", lambda _: _lines_of("a.b ", 100_000)),
    ("knowledge", "bomb: brackets", "knowledge.md", lambda _: _lines_of("(", 200_000)),
    ("knowledge", "bomb: bars", "knowledge.md", lambda _: _lines_of("|", 200_000)),
    ("knowledge", "bomb: signs of equality", "knowledge.md", lambda _: _lines_of("a = ", 100_000)),
    ("knowledge", "bomb: quotes of code", "knowledge.md", lambda _: _lines_of("`a", 100_000)),
    ("knowledge", "bomb: stars", "knowledge.md", lambda _: _lines_of("**a", 100_000)),
    ("knowledge", "bomb: a word without end", "knowledge.md", lambda _: _lines_of("单位", 200_000)),
    ("knowledge", "bomb: references", "knowledge.md", lambda _: _lines_of("a.b references c.d 与 ", 20_000)),
    ("knowledge", "bomb: open comments", "knowledge.md", lambda _: _lines_of("<!-- ", 100_000)),
    ("knowledge", "bomb: 60,000 lines", "knowledge.md", lambda _: b"# k\n" + b"- field (unit: x): says what a.b equals c.d = 5\n" * 60_000),
    ("task", "bomb: nested", "task.json", lambda _: b'{"question": ' + b"[" * 200_000),
    ("task", "bomb: a number of 10,000 digits", "task.json", lambda _: b'{"task_id": ' + b"9" * 10_000 + b', "question": "how many?"}'),
    ("task", "bomb: half a character", "task.json", lambda _: rb'{"task_id": "\udc00", "question": "how \ud800 many?"}'),
    ("metadata", "bomb: aliases", "metadata.yaml", lambda _: _aliases()),
    ("metadata", "bomb: nested", "metadata.yaml", lambda _: b"tables: " + b"[" * 20_000),
    ("metadata", "bomb: a constructor", "metadata.yaml", lambda _: b"tables: !!python/object/apply:os.system ['exit 3']\n"),
    ("sqlite", "bomb: a view without end", "bad.db", lambda _: _base("create view v as with recursive t(n) as (select 1 union all select n + 1 from t) select n from t")),
    ("sqlite", "bomb: a long cell", "bad.db", lambda _: _base("create table t as select zeroblob(60000000) b, 1 n")),
    ("sqlite", "bomb: 300 views on views", "bad.db", lambda _: _base("create view v0 as select 1 n;" + "".join(f"create view v{n} as select a.n from v{n - 1} a, v{n - 1} b;" for n in range(1, 300)))),
    ("sqlite", "bomb: a statement in a name", "bad.db", lambda _: _base('create table "t""; drop table t; --" ("a""; select 1" int); insert into "t""; drop table t; --" values (1)')),
    ("sqlite", "bomb: 900 columns", "bad.db", lambda _: _base(f"create table t ({', '.join(f'c{n} int' for n in range(900))}); insert into t (c1) values (1)")),
    ("parquet", "bomb: equal values", "bad.parquet", lambda _: _equal_values()),
    ("parquet", "bomb: nested lists", "bad.parquet", lambda _: _nested_lists()),
)  # fmt: skip
"""Kind, what it is, its name, and what makes it. The first six show most of it: a slice of the cases has those."""


def _repeated_cells() -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns"
    cell = '<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/>'
    body = f'<table:table table:name="S"><table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    spaces = f'xmlns:office="{space}:office:1.0" xmlns:table="{space}:table:1.0"'
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>{body}</table:table></office:spreadsheet>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zip({"mimetype": kind, "content.xml": f"{content}</office:body></office:document-content>"})


def _spanning() -> str:
    wide = '<w:tc><w:tcPr><w:gridSpan w:val="60000"/></w:tcPr>' + _said("wide") + "</w:tc>"
    return f"<w:tbl>{f'<w:tr>{wide}</w:tr>' * 60}</w:tbl>"


def _looping() -> bytes:
    data = _counted(1)
    return data.replace(b"/Root 1 0 R", b"/Root 1 0 R/Prev %d" % data.rfind(b"xref\n0"))


def _ends(chance: random.Random) -> bytes:
    return b"".join(
        b"%d,%d" % (n, n) + chance.choice([b"\n", b"\r", b"\r\n", b"\x85", b"\x0c\n"]) for n in range(20_000)
    )


def _aliases() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join([*lines, "tables: *a11", ""]).encode()


def _base(script: str) -> bytes:
    import sqlite3

    base = sqlite3.connect(":memory:")
    base.executescript(script)
    return bytes(base.serialize())


def _equal_values() -> bytes:
    import pyarrow
    from pyarrow import parquet

    made = io.BytesIO()
    parquet.write_table(pyarrow.table({"a": pyarrow.repeat("x" * 2000, 200_000)}), made, compression="zstd")
    return made.getvalue()


def _nested_lists() -> bytes:
    import pyarrow
    from pyarrow import parquet

    value, kind = [1], pyarrow.list_(pyarrow.int64())
    for _ in range(60):
        value, kind = [value], pyarrow.list_(kind)  # type: ignore[list-item]
    made = io.BytesIO()
    parquet.write_table(pyarrow.table({"a": pyarrow.array([value], kind)}), made)
    return made.getvalue()
