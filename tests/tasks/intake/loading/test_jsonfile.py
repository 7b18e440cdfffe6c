"""JSON that is large, deep or late: streamed in bounded memory, types by all records."""

from __future__ import annotations

import io
import json
import resource
from pathlib import Path
from typing import Any

import pytest
from intake_cases import NULL, build, notes

from tasks.core.errors import InputError
from tasks.intake.loading import stream
from tasks.intake.loading.flat import dump
from tasks.intake.loading.stream import Stream


def one(tmp_path: Path, text: str, name: str = "t.json", **limits: Any) -> Any:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_text(text, "utf-8")
    built = build(folder, tmp_path / "store", **limits)
    assert built.file(name).outcome == "table", built.file(name).reason
    return built


@pytest.mark.parametrize(
    ("late", "kind", "shown"),
    [
        ("1.5", "DOUBLE", 1.5),
        ("true", "VARCHAR", "true"),
        ('"x"', "VARCHAR", "x"),
        ("18446744073709551616", "HUGEINT", 18446744073709551616),
        ("null", "BIGINT", NULL),
    ],
)
def test_what_comes_after_25_000_records_counts(tmp_path: Path, late: str, kind: str, shown: Any) -> None:
    records = ['{"v": 7}'] * 25_000 + [f'{{"v": {late}, "new": 1}}']
    built = one(tmp_path, f'{{"table": "t", "records": [{", ".join(records)}]}}')
    (table,) = built.catalogue.tables
    assert [(column.name, column.type) for column in table.columns] == [("v", kind), ("new", "BIGINT")]
    rows = built.rows("t")
    assert (len(rows), rows[-1]) == (25_001, [shown, 1])


def test_500_different_keys(tmp_path: Path) -> None:
    built = one(tmp_path, json.dumps([{f"k{i}": i} for i in range(500)]))
    rows = built.rows("t")
    assert len(rows) == 500 and len(rows[0]) == 500
    assert all(row[i] == i and row.count(NULL) == 499 for i, row in enumerate(rows))


def test_100_000_brackets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[" * 100_000 + "]" * 100_000)
    built = build(tmp_path, tmp_path.parent / f"{tmp_path.name}-store")
    assert (built.file("a.json").outcome, "nested too deeply" in built.file("a.json").reason) == ("unreadable", True)


def test_a_map_of_many_keys_stays_one_column(tmp_path: Path) -> None:
    built = one(tmp_path, json.dumps([{"id": 1, "by_day": {f"2020-{i:03}": i for i in range(150)}}] * 2))
    (table,) = built.catalogue.tables
    assert [column.name for column in table.columns] == ["id", "by_day"]
    assert json.loads(built.rows("t")[0][1])["2020-149"] == 149


def test_records_are_streamed() -> None:
    """An array of 30 MB is walked with a few MB at hand."""

    class Endless(io.TextIOBase):
        left = 30

        def read(self, size: int | None = -1) -> str:
            if self.left == 0:
                return ""
            self.left -= 1
            head = "[" if self.left == 29 else ""
            tail = "{}]" if self.left == 0 else ""
            return head + '{"a": 1, "b": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},' * 20_000 + tail

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = Stream(Endless())  # type: ignore[arg-type]
    count = 0
    for _ in found.items():
        found.value()
        count += 1
    assert count == 30 * 20_000 + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_chunks_may_end_anywhere(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(stream, "_CHUNK", size)
    text = '[{"a": 12345, "b": "x\\"y, 名😀", "c": [1.50, -2e+3, true, null]}, 678, "z" , {}]'
    found = Stream(io.StringIO(text))
    values = []
    for _ in found.items():
        values.append(found.value())
    assert not found.peek()
    assert "[" + ", ".join(dump(value) for value in values) + "]" == text.replace('"z" ,', '"z",')


@pytest.mark.parametrize(
    ("text", "line"),
    [("[1,\n2,\n oops]", 3), ("[1\n2]", 2), ("[1,\n", 2), ('[{"a": "x\n', 1), ('[\n\n{"a" 1}]', 3)],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_errors_name_their_line(monkeypatch: pytest.MonkeyPatch, text: str, line: int, size: int) -> None:
    monkeypatch.setattr(stream, "_CHUNK", size)
    found = Stream(io.StringIO(text))
    with pytest.raises(InputError, match=f"line {line}\\b"):
        for _ in found.items():
            found.value()


@pytest.mark.slow
def test_many_lines_in_bounded_memory(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with (folder / "t.jsonl").open("w") as file:
        for i in range(150_000):
            file.write(f'{{"i": {i}, "s": "n{i}", "f": {i / 4}}}\n')
    built = build(folder, tmp_path / "store", child=True, memory_mb=1400)
    (table,) = built.catalogue.tables
    assert table.rows == 150_000
    assert built.rows("t")[-1] == [149_999, "n149999", 149_999 / 4]
    assert notes(table) == ""
