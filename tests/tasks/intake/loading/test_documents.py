from pathlib import Path

from tasks.core.files.store import Store
from tasks.core.models.source import Inventory, SourceFile
from tasks.intake.loading.documents import keep_documents


def test_texts_are_kept_line_by_line_whatever_their_encoding(tmp_path: Path, store: Store) -> None:
    contents = {
        "doc/a.md": "# 标题\r\nfirst\r\n".encode("utf-8-sig"),
        "doc/b.TXT": "某公司公告：销售总额增长，区域包括华北、华东。\n".encode("gb18030") * 20,
        "doc/c.markdown": b"no line end",
        "doc/d.pdf": b"%PDF-1.7",
    }
    files = []
    for path, data in contents.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
        files.append(SourceFile(path=path, kind="document", size=len(data), outcome="document"))
    files.append(SourceFile(path="doc/gone.md", kind="document", size=1, outcome="document"))
    kept = keep_documents(Inventory(root=str(tmp_path), files=tuple(files)))
    texts = [(document.path, document.lines, store.get(document.text).decode()) for document in kept]
    assert texts == [
        ("doc/a.md", 2, "# 标题\nfirst\n"),
        ("doc/b.TXT", 20, "某公司公告：销售总额增长，区域包括华北、华东。\n" * 20),
        ("doc/c.markdown", 1, "no line end"),
    ]
