"""Short ids, one a paragraph, found without a model: shapes, both languages, and codes that are no records."""

from __future__ import annotations

import pytest

from tasks.core.models.document import Plan
from tasks.document.planning import rules, standing
from tasks.intake.knowledge import parse

PROSE = (
    "{} Anna Berg joined the Mitte branch in 2017 and earns 54,000 EUR a year.",
    "{} Jonas Kern has run the harbour branch since 2019; he earns 61,500 EUR.",
    "{} Mia Wolf came in 2020 and earns 58,000 EUR. She reports to {other}.",
    "{} Ole Brandt earns 49,900 EUR at the station.",
    "{} Ida Falk was hired in 2022 for 52,000 EUR.",
)
HAN = (
    "{}张伟于2017年入职，年薪54,000元。",
    "{}李娜自2019年起负责码头分店，年薪61,500元。",
    "{}王芳2020年入职，年薪58,000元，向{other}汇报。",
    "{}赵强在车站分店工作，年薪49,900元。",
)


def made(lines: list[str], meaning: str) -> Plan:
    known = parse(f"# K\n\n## leiter\n\n- **manager_id:** {meaning}\n- **salary (decimal):** pay\n", "", TABLES)
    return rules.plan("leiter", ["# Report", "", *(each for line in lines for each in (line, ""))], known)


TABLES = frozenset({"leiter"})


@pytest.mark.parametrize("prose", [PROSE, HAN], ids=["en", "zh"])
@pytest.mark.parametrize(
    ("shape", "head"),
    [
        ("M-0{}", "{}"), ("M-0{}", "Manager {}:"), ("M-0{}", "**{}**"), ("M-0{}", "- {}:"), ("A{}", "{}"),
        ("A{}", "({})"), ("K/{}", "{}"), ("Fil_{}", "{}"), ("k{}", "{}"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "meaning", ["id of the manager", "id, like {}", "编号，如{}", "id of the manager. Examples: {}"]
)
def test_ids_that_stand_one_a_paragraph_are_the_records(
    prose: tuple[str, ...], shape: str, head: str, meaning: str
) -> None:
    ids = [shape.format(number) for number in range(1, len(prose) + 1)]
    other = shape.format(9)
    lines = [text.format(head.format(name), other=other) for text, name in zip(prose, ids, strict=True)]
    plan = made(lines, meaning.format(ids[0]))
    assert not plan.failed and list(plan.universe) == ids, "nor is the one that is only reported to"


def test_ids_of_several_hundred_records_are_all_found() -> None:
    ids = [f"M-{number}" for number in range(10, 99)] + [f"M-{number}" for number in range(100, 400)]
    lines = [f"{name} earns {50 + at % 9},000 EUR." for at, name in enumerate(ids)]
    assert standing.anchors(lines, "id", ("M-10",)) and list(made(lines, "id like M-10").universe) == ids


def test_numbers_behind_a_label_are_ids_too() -> None:
    lines = [text.format(f"No. {number}", other="No. 9") for number, text in enumerate(PROSE, 3)]
    assert set(made(lines, "number of the manager").universe) >= {"3", "4", "5", "6", "7"}


@pytest.mark.parametrize(
    "lines",
    [
        ["Q1 was good.", "Q2 was better.", "Q3 was best.", "Q4 was poor."],
        ["EUR 500 were paid.", "EUR500 were sent.", "EUR 700 were lost.", "EUR800 came back."],
        ["Paper in A4 was bought.", "Paper in A4 was sold.", "Paper in A4 was lost."],
        ["The board thanked M-01.", "Later it blamed M-02 for it.", "Nobody asked M-03 why."],
        ["The year went well, and in the end of it all came to the point that everybody thanked M-01."] * 3,
    ],
)
def test_codes_in_running_text_are_no_records(lines: list[str]) -> None:
    plan = made(lines, "id of the manager")
    assert plan.failed and "next: give an example of an id" in plan.problems[0]


def test_another_code_of_each_record_is_not_taken_where_the_example_says_otherwise() -> None:
    lines = [f"S{n} stands at the harbour and is led by M-0{n}." for n in range(1, 6)]
    assert list(made(lines, "id like S1").universe) == ["S1", "S2", "S3", "S4", "S5"]
    assert list(made(lines, "id, such as M-01").universe) == [f"M-0{n}" for n in range(1, 6)]


def test_without_a_field_list_the_next_step_is_an_example_of_one() -> None:
    plan = rules.plan("leiter", ["M-01 earns 5."], parse("# K\n"))
    said = plan.problems[0]
    assert "lists no fields" in said and "next: list its fields in knowledge.md" in said
    example = "\n".join(line.strip() for line in said.splitlines() if line.startswith("  "))
    known = parse(example, "", TABLES)
    assert [(d.table, d.field, d.type, d.unit) for d in known.definitions] == [
        ("leiter", "id", "", ""),
        ("leiter", "name", "text", ""),
        ("leiter", "amount", "decimal", "EUR"),
    ]
