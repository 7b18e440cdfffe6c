from __future__ import annotations

import asyncio
import json
from pathlib import PurePosixPath

import pytest

from tasks.core.files.paths import file_name
from tasks.core.files.store import Store
from tasks.core.models.document import Converted
from tasks.core.models.semantics import Knowledge
from tasks.core.models.source import SourceFile
from tasks.document.converting.paragraphs import Line
from tasks.document.converting.written import converted, without_text
from tasks.document.join import join_documents


def document(path: str) -> Converted:
    file = SourceFile(path=path, kind="document", size=1, outcome="document")
    lines = [Line(f"first of {PurePosixPath(path).name}", 1, None), Line("second", 2, (1, 2, 3, 4))]
    return converted(file, lines, "converted")


def join(paths: tuple[str, ...], knowledge: str = "") -> tuple[Converted, ...]:
    return asyncio.run(join_documents(tuple(map(document, paths)), Knowledge(text=knowledge)))


@pytest.mark.parametrize(
    ("paths", "stem"),
    [
        (("doc/log_2.md", "doc/log_1.pdf"), "log"),
        (("log part 1.md", "log part 2.md", "log part 3.md"), "log"),
        (("log-part1.md", "log-part2.md"), "log"),
        (("名册上.pdf", "名册下.pdf"), "名册"),
        (("名册（上）.pdf", "名册（中）.pdf", "名册（下）.pdf"), "名册"),
        (("名册第一部分.pdf", "名册第二部分.pdf"), "名册"),
    ],
)
def test_part_numbers_that_count_join(store: Store, paths: tuple[str, ...], stem: str) -> None:
    (made,) = join(paths)
    assert made.stem == stem and set(made.paths) == set(paths) and made.lines == 2 * len(paths)


@pytest.mark.parametrize(
    "paths",
    [
        ("notice.md", "notice_2020.md"),
        ("notice_2019.md", "notice_2020.md"),
        ("log.md", "log_2.md"),
        ("log_1.md", "log_3.md"),
        ("log.md", "log_1.md", "log_2.md"),
        ("a/log_1.md", "b/log_2.md"),
        ("q1.md", "q2.md"),
        ("fund_report.md", "fund_reports.md"),
        ("上.md", "下.md"),
    ],
)
def test_a_mere_resemblance_does_not_join(store: Store, paths: tuple[str, ...]) -> None:
    assert [made.paths for made in join(paths)] == [(path,) for path in paths]


def test_the_knowledge_joins_and_names_the_table(store: Store) -> None:
    paths = ("doc/north.md", "doc/other.md", "doc/south.pdf")
    made = join(paths, "# Files\n`south.pdf` and `north.md` together make one table, `shipments`.\n")
    assert [(m.stem, m.paths) for m in made] == [
        ("other", ("doc/other.md",)),
        ("shipments", ("doc/south.pdf", "doc/north.md")),
    ]
    assert store.get(made[1].text).decode().splitlines()[2] == "first of north.md"
    places = json.loads(store.get(made[1].places))
    assert [(p["path"], p["line"], p["page"]) for p in places] == [
        ("doc/south.pdf", 1, 1),
        ("doc/south.pdf", 2, 2),
        ("doc/north.md", 1, 1),
        ("doc/north.md", 2, 2),
    ]


@pytest.mark.parametrize(
    "knowledge",
    [
        "`north` and `south` are joined on the code.",
        "`north` and `south` are not one table.",
        "north 与 south 不是同一张表。",
        "`northern` and `southern` make up one table.",
    ],
)
def test_other_remarks_do_not_join(store: Store, knowledge: str) -> None:
    assert len(join(("north.md", "south.md"), knowledge)) == 2


def test_chinese_knowledge_joins(store: Store) -> None:
    assert len(join(("north.md", "south.md"), "文档 north 与 south 合为同一张表。")) == 1


def test_a_part_without_text_is_told(store: Store) -> None:
    scan = without_text(
        SourceFile(path="log_2.pdf", kind="document", size=1, outcome="document"), "image_only", "an image"
    )
    (made,) = asyncio.run(join_documents((document("log_1.pdf"), scan), Knowledge()))
    assert (made.status, made.lines, made.reason) == ("partial", 2, "log_2.pdf is image_only: an image")


def test_documents_of_one_name_keep_names_of_their_own(store: Store) -> None:
    paths = ("a/harvest.md", "b/harvest.md", "b/harvest.docx", "c/Harvest.md", "d/c/harvest.md")
    assert [d.stem for d in join(paths)] == ["harvest", "harvest_b", "harvest_docx", "Harvest_c", "harvest_md"]
    assert [d.stem for d in join(("harvest.docx", "harvest.pdf"))] == ["harvest", "harvest_pdf"]


def test_documents_whose_names_a_file_cannot_tell_apart_keep_databases_of_their_own(store: Store) -> None:
    long = "表" * 70
    stems = [d.stem for d in join(("d/a:b.md", "d/a?b.md", "d/a_b.md", f"d/{long}一.md", f"d/{long}二.md"))]
    assert stems == ["a:b", "a?b_d", "a_b_md", f"{long}一", f"{long}二"]
    assert len({file_name(stem, ".sqlite") for stem in stems}) == 5
