"""Knowledge files of any layout: what is found, with its line; and that nothing in them breaks the reader."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path
from typing import Any

import pytest
from intake_cases import cases, intake_settings

from tasks.core.models.semantics import Knowledge
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import parse, read_knowledge


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases("knowledge.toml")])
def test_what_a_knowledge_text_says(case: dict[str, Any]) -> None:
    text = case["text"]
    found = parse(text if text.startswith("---") else f"\n{text}")
    assert [
        [d.table, d.field, d.type, d.unit, d.meaning, [*d.examples], d.line] for d in found.definitions
    ] == case.get("definitions", [])
    assert [[m.name, m.formula, m.unit, m.meaning, m.line] for m in found.metrics] == case.get("metrics", [])
    links = [[k.table, k.column, k.target_table, k.target_column, k.line] for k in found.links]
    assert links == case.get("links", [])
    assert [[rule.text, rule.line] for rule in found.rules] == case.get("rules", [])


def test_sections_have_their_line() -> None:
    text = "# A\ntext\n## B\n- x\n### C\ny\n## D\nlast"
    found = [(s.title, s.level, s.first_line) for s in parse(text).sections]
    assert found == [("A", 1, 1), ("B", 2, 3), ("C", 3, 5), ("D", 2, 7)]


def read(folder: Path) -> Knowledge:
    inventory = asyncio.run(take_inventory.function(str(folder), intake_settings()))
    return asyncio.run(read_knowledge.function(inventory))


def test_a_folder_without_knowledge(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert read(tmp_path) == Knowledge()


def test_several_files_are_joined(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "KNOWLEDGE.md").write_text("## Rules\n- second\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "knowledge.md").write_text("## Rules\n- first\n")
    found = read(tmp_path)
    assert found.path == "a/knowledge.md; b/KNOWLEDGE.md"
    lines = found.text.splitlines()
    assert [(rule.text, lines[rule.line - 1]) for rule in found.rules] == [("first", "- first"), ("second", "- second")]
    assert "a/knowledge.md" in lines[0]


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig"])
def test_other_encodings_and_line_ends(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "knowledge.md").write_bytes(
        "## 口径与注意事项\r\n- 比例统一以小数入库\r\n- 日期统一格式\r\n".encode(encoding)
    )
    assert [(rule.text, rule.line) for rule in read(tmp_path).rules] == [("比例统一以小数入库", 2), ("日期统一格式", 3)]


def test_tables_of_the_folder_are_known_in_headings(tmp_path: Path) -> None:
    (tmp_path / "order lines.csv").write_text("a\n1\n")
    (tmp_path / "knowledge.md").write_text("## The order lines table\n- qty: quantity\n")
    assert [(d.table, d.field) for d in read(tmp_path).definitions] == [("order lines", "qty")]


@pytest.mark.parametrize("seed", range(30))
def test_no_text_breaks_the_reader(seed: int) -> None:
    rng = random.Random(seed)
    pieces = ["#", "- ", "**", "`", "|", "---", ":", "：", "(", "（", ")", "）", "[", "]", "=", "a.b", " refers to ", "x", "表",
              "\n", "\n\n", "```", "<!--", "-->", "1. ", "Examples: ", "单位：", "=", "\t", "  ", "\\|", "%", "{", "}"]  # fmt: skip
    text = "".join(rng.choice(pieces) for _ in range(600))
    found = parse(text)
    last = len(text.splitlines())
    statements = (*found.definitions, *found.metrics, *found.links, *found.rules)
    assert all(1 <= statement.line <= last for statement in statements)


def test_a_large_file_is_read_in_good_time() -> None:
    lines = [f"- **field_{i} (int):** meaning of {i}, joins t{i}. Examples: {i}, {i + 1}." for i in range(3000)]
    found = parse("## Fields\n### t\n" + "\n".join(lines))
    assert len(found.definitions) == 3000


def test_one_endless_line_is_read_in_good_time() -> None:
    began = time.process_time()
    for piece in ("a ", "（", "a.b = ", "| ", "**", "a:", "词", "a" * 10):
        parse("## Fields\n- " + piece * 5000)
        parse("## Metrics\n- " + piece * 5000)
        parse("## Links\n- " + piece * 5000)
    assert time.process_time() - began < 20
