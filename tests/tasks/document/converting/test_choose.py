from __future__ import annotations

from tasks.core.models.source import SourceFile
from tasks.document.converting.choose import choose_files


def test_b3_a_text_of_the_same_name_stands_for_a_pdf() -> None:
    paths = ("doc/a.md", "doc/a.PDF", "doc/b.pdf", "other/a.pdf", "doc/c.txt", "doc/c.docx")
    chosen = choose_files(tuple(SourceFile(path=p, kind="document", size=1, outcome="document") for p in paths))
    assert [file.path for file in chosen.files] == ["doc/a.md", "doc/b.pdf", "other/a.pdf", "doc/c.txt"]
    assert chosen.left_out == (
        ("doc/a.PDF", "not converted: doc/a.md of the same name is taken as its text"),
        ("doc/c.docx", "not converted: doc/c.txt of the same name is taken as its text"),
    )
