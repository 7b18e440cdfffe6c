"""The page stands alone, escapes what it shows, and says what a reader needs."""

from __future__ import annotations

import re
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tasks.core.models.answer import (
    AnswerTable,
    Candidate,
    Contract,
    ContractColumn,
    JoinAudit,
    Question,
    Step,
    Submission,
)
from tasks.core.models.evidence import (
    Check,
    Evidence,
    Origin,
    Outline,
    Replay,
    Solving,
    StageUsage,
    Statement,
    UsedTable,
)
from tasks.core.models.run import Usage
from tasks.core.models.source import ArtifactRef
from tasks.solve.publishing.report.page import render
from tasks.solve.publishing.report.summary import code, summarise
from tasks.solve.publishing.report.words import size

FILE = ArtifactRef(sha256="0" * 64, name="answer.csv", size=1)
HOSTILE = "<script>alert(1)</script><img src=http://example.org/x onerror=alert(1)>`\x1b[31m ${x} {{ 7*7 }}"


def evidence(**changes: Any) -> Evidence:
    made = Evidence(
        question=Question(text="哪个客户花得最多? Who spent most?", as_of=date(2024, 4, 1)),
        status="not_assessed",
        reason="replayed and equal; not audited by validators",
        contract=Contract(
            columns=(ContractColumn(name="name", meaning="customer's name", source="customers.name"),),
            grain="one row per customer",
            limit=1,
            written_by="model",
        ),
        replay=Replay(sql="select name from customers order by 1", columns=("name",), expected="d", digest="d", rows=1),
        outline=Outline(tables=("customers",), filters=("amount > 5",), order=("total DESC",), limit="1"),
        used=(
            UsedTable(name="customers", path="db/shop.db", inner="客户", sha256="cd" * 32, rows=3, columns=("name",)),
        ),
        joins=(
            JoinAudit(
                left="orders",
                right="customers",
                condition="o.c = c.id",
                kind="inner",
                left_rows=340,
                right_rows=20,
                joined_rows=328,
                left_unmatched=12,
                left_multiplied=2,
            ),
        ),
        statements=(Statement(path="knowledge.md", line=7, text="amount: price paid [EUR]"),),
        checks=(Check(name="duplicates", outcome="passed", detail="no row occurs twice"),),
        doubts=("12 of 340 rows of orders found no partner in customers (left out)",),
        sources=(
            Origin(
                path="db/shop.db", kind="sqlite", size=8192, sha256="cd" * 32, outcome="table", tables=("customers",)
            ),
            Origin(path="torn.csv", kind="csv", size=9, sha256="", outcome="unreadable", reason="not text"),
        ),
        solving=Solving(
            style="json",
            ended="submitted",
            chosen=0,
            samples=1,
            agreement=None,
            candidates=(
                Candidate(submission=Submission(sql="select 1")),
                Candidate(submission=Submission(sql="other query"), error="no"),
            ),
            steps=(
                Step(
                    index=0,
                    kind="tool",
                    name="query",
                    arguments={"sql": "select 1", "rows": 5},
                    result="1",
                    ok=False,
                    truncated=True,
                ),
                Step(index=1, kind="model", name="agent", usage=Usage(tokens_in=5321, tokens_out=98)),
            ),
            problems=(),
        ),
        models={"agent": {"model": "qwen3-32b", "temperature": 0.0}},
        usage=(
            StageUsage(stage="contract", calls=1, tokens_in=10, tokens_out=2),
            StageUsage(stage="agent", calls=2, tokens_in=5321, tokens_out=98),
        ),
        versions={"tablewright": "0.1.0", "duckdb": "2.0.1"},
    )
    return made.model_copy(update=changes)


def table(**changes: Any) -> AnswerTable:
    made = AnswerTable(
        columns=("name", "total"),
        types=("VARCHAR", "DOUBLE"),
        rows=(("李雷", 20.0), ("Ada", None)),
        row_count=2,
        file=FILE,
    )
    return made.model_copy(update=changes)


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} is not nested"

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def read(html: str) -> Page:
    page = Page(html)
    page.text = re.sub(r"\s+", " ", page.text)
    return page


def test_a_reader_finds_answer_computation_doubts_sources_and_spend() -> None:
    text = read(render(evidence(), table())).text

    for part in (
        "哪个客户花得最多? Who spent most?",
        "Replayed, not audited",
        "李雷",
        "2 rows, 2 columns.",
        "12 of 340 rows of orders found no partner in customers (left out).",
        "2 of 340 rows of orders found more than one partner in customers",
        "customers from db/shop.db › 客户 3 rows · cdcdcdcdcdcd",
        "amount > 5",
        "total highest first",
        "1 row, the same as the solver saw",
        "customer's name",
        "One row is one row per customer",
        "amount: price paid [EUR] knowledge.md, line 7",
        "torn.csv unreadable not text",
        "query tool · failed · cut",
        "sql: select 1 rows: 5",
        "other query",
        "agent qwen3-32b",
        "In all 3 5,331 100",
    ):
        assert re.sub(r"\s+", "", part) in re.sub(r"\s+", "", text), part


def test_the_page_is_one_file_without_script_or_request() -> None:
    page = read(render(evidence(), table()))

    assert page.open == []
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "form", "a", "base"}
    assert not {name for _, attributes in page.tags for name in attributes} & {
        "src",
        "href",
        "srcset",
        "style",
        "onload",
    }
    css = (Path(__file__).parents[5] / "tasks/solve/publishing/report/page.css").read_text("utf-8")
    assert "url(" not in css and "@import" not in css


def test_text_from_files_and_models_is_shown_and_never_acts() -> None:
    made = evidence(
        question=Question(text=HOSTILE, as_of=date(2024, 4, 1)),
        status="partial",
        reason=HOSTILE,
        doubts=(HOSTILE,),
        contract=Contract(
            columns=(ContractColumn(name=HOSTILE, meaning=HOSTILE, source=HOSTILE),),
            order=HOSTILE,
            revisions=(HOSTILE,),
        ),
        outline=Outline(filters=(HOSTILE,), groups=(HOSTILE,), order=(HOSTILE,), limit=HOSTILE),
        used=(UsedTable(name=HOSTILE, path=HOSTILE, inner=HOSTILE, rows=1, columns=(HOSTILE,), notes=(HOSTILE,)),),
        statements=(Statement(path=HOSTILE, line=1, text=HOSTILE),),
        sources=(
            Origin(path=HOSTILE, kind="csv", size=1, sha256="", outcome="ignored", reason=HOSTILE, tables=(HOSTILE,)),
        ),
        replay=Replay(sql=HOSTILE, program=HOSTILE, error=HOSTILE),
        solving=evidence().solving.model_copy(
            update={
                "steps": (Step(index=0, kind="tool", name=HOSTILE, arguments={HOSTILE: HOSTILE}, result=HOSTILE),),
                "candidates": (
                    Candidate(submission=Submission(sql="x")),
                    Candidate(submission=Submission(sql=HOSTILE), error=HOSTILE),
                ),
            }
        ),
    )
    html = render(made, table(columns=(HOSTILE, "b"), rows=((HOSTILE, None),)))
    page = read(html)

    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert not {name for _, attributes in page.tags for name in attributes} & {"src", "onerror"}
    assert page.text.count("<script>alert(1)</script>") >= 25
    assert "\x1b" not in html
    assert "{{ 7*7 }}" in page.text


def test_a_single_value_is_shown_large() -> None:
    html = render(evidence(), table(columns=("总额",), types=("BIGINT",), rows=((42,),), row_count=1))

    assert re.search(r'class="figure"[^>]*>\s*42\s*<span>总额</span>', html)


def test_a_long_table_says_how_much_of_it_is_shown() -> None:
    made = table(rows=tuple((f"r{i}", 1.5) for i in range(50)), row_count=12340)

    text = read(render(evidence(), made)).text

    assert "12,340 rows, 2 columns. The first 50 are shown; answer.csv has all of them." in text


def test_cells_are_set_by_kind_and_written_like_the_file() -> None:
    made = table(
        columns=("n", "d", "t", "x"),
        types=("DECIMAL(9,2)", "DATE", "VARCHAR", "BOOLEAN"),
        rows=((3.5, "2024-03-05", "长" * 1000, None), (1e21, None, "", True)),
    )

    html = render(evidence(), made)

    assert '<td class="number" dir="auto">3.5</td><td class="time" dir="auto">2024-03-05</td>' in html
    assert '<td class="number" dir="auto">1000000000000000000000</td>' in html
    assert "长" * 400 + " …" in html and "长" * 401 not in html
    assert '<i class="null" title="no value">–</i>' in html
    assert '<td class="text" dir="auto">true</td>' in html


@pytest.mark.parametrize(
    ("status", "words"), [("rejected", "The answer is withheld."), ("failed", "There is no answer table.")]
)
def test_a_page_without_a_table_says_why(status: Any, words: str) -> None:
    page = read(render(evidence(status=status, reason="the rows differ", replay=None), None))

    assert words in page.text
    assert "Reason: the rows differ." in page.text


def test_the_summary_keeps_foreign_text_in_code() -> None:
    made = evidence(
        doubts=("# not a heading\n| x | [link](http://example.org) `tick`",), replay=Replay(sql="select 1 -- ```\n# x")
    )

    text = summarise(made)

    assert "- `# not a heading | x | [link](http://example.org) 'tick'`" in text
    assert text.count("```") == 2
    assert "1 table, 1 unreadable" in text


@pytest.mark.parametrize(("number", "text"), [(12, "12 B"), (8192, "8.2 kB"), (1_117_320_768, "1.1 GB")])
def test_sizes_are_short(number: int, text: str) -> None:
    assert size(number) == text


def test_a_code_span_is_one_line_and_bounded() -> None:
    assert code("a\n b") == "`a b`"
    assert len(code("x" * 900)) == 303
