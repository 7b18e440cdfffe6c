"""Ids found without a model, in several layouts, wordings and both languages."""

from __future__ import annotations

import random

import pytest

from tasks.document.planning import discover, rules
from tasks.document.planning.blocks import blocks
from tasks.document.records import anchors
from tasks.intake.knowledge import parse


def found(lines: list[str], label: str) -> set[str]:
    mentions, problems = anchors.mentions(lines, discover.anchors(lines, label))
    assert not problems
    return {mention.record_id for mention in mentions}


def small_numbers(rng: random.Random) -> tuple[list[str], set[str]]:
    ids = [str(number) for number in sorted(rng.sample(range(2, 400), 40))]
    first = [
        rng.choice(["编号{}的合同由甲方签订，金额{}元。", "第{}号合同的金额为{}元。", "{}号合同，金额{}元。"]).format(
            i, rng.randrange(10000, 99999)
        )
        for i in ids
    ]
    second = [
        rng.choice(["编号{}的合同于2021年3月{}号到期。", "{}号合同签于2020年12月{}号。"]).format(
            i, rng.randrange(1, 29)
        )
        for i in ids
    ]
    return [*first, "以下说明期限。", *second, "合计40份合同。"], set(ids)


def codes_with_zeros(rng: random.Random) -> tuple[list[str], set[str]]:
    ids = [f"{number:06d}" for number in rng.sample(range(1000, 99999), 60)]
    patients = [f"{number:07d}" for number in rng.sample(range(1000, 99999), 25)]
    wording = [
        "Sample {} was drawn from patient number {}.",
        "Patient {1}: sample {0} is registered.",
        "The lab logged {} (patient {}).",
    ]
    first = [rng.choice(wording).format(i, rng.choice(patients)) for i in ids]
    second = [
        rng.choice(["Sample {} weighed {} mg.", "{}: {} mg.", "For sample no. {} we read {} mg."]).format(
            i, rng.randrange(100, 900)
        )
        for i in ids
    ]
    return [*first, *second], set(ids)


def alphanumerics(rng: random.Random) -> tuple[list[str], set[str]]:
    ids = [f"R{number:05d}" for number in rng.sample(range(100, 9999), 15)]
    makers = ["M10001", "M10002", "M10003", "M10004"]
    lines = [
        f"Recall {i} concerns a kettle of maker {rng.choice(makers)}, {rng.randrange(1000, 9999)} units." for i in ids
    ]
    return [*lines, *(f"Notice {i} names the hazard." for i in ids)], set(ids)


def one_paragraph_each(rng: random.Random) -> tuple[list[str], set[str]]:
    ids = [f"{number:06d}" for number in rng.sample(range(1000, 999999), 50)]
    wording = [
        "Fund {} trades as Alpha {}.",
        "Alpha {1} (code {0}) is a bond fund.",
        "The register uses {} for Alpha {}.",
    ]
    return [
        rng.choice(wording).format(i, n) + f" It holds {rng.randrange(10, 99)}.5 million." for n, i in enumerate(ids)
    ], set(ids)


@pytest.mark.parametrize(
    ("make", "label"),
    [(small_numbers, "contract_no 合同编号，主键"), (codes_with_zeros, "sample_id Sample number, primary key"),
     (alphanumerics, "recall_no Recall number"), (one_paragraph_each, "fund_code Six-character fund code")],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_ids_are_found(make: object, label: str, seed: int) -> None:
    lines, ids = make(random.Random(seed))  # type: ignore[operator]
    assert found(lines, label) == ids


@pytest.mark.parametrize("lines", [[], ["Nothing is numbered."], ["In 2020 and 2021 it cost 300 EUR."] * 5])
def test_text_without_ids_gives_no_anchor(lines: list[str]) -> None:
    assert discover.anchors(lines, "order number") == ()


@pytest.mark.parametrize("headings", [True, False])
@pytest.mark.parametrize("shuffled", [True, False])
def test_blocks_are_parted_by_headings_or_where_the_records_come_up_again(headings: bool, shuffled: bool) -> None:
    rng = random.Random(4)
    ids = [f"{number:05d}" for number in range(30)]
    lines: list[str] = ["About the stations"]
    starts, ends = [], []
    for part in range(3):
        lines.append(f"## Part {part}" if headings else f"Now part {part}.")
        order = rng.sample(ids, len(ids)) if shuffled else ids
        starts.append(len(lines) + 1)
        lines += [f"Station {i} has value {part}." for i in order]
        ends.append(len(lines))
    lines += ["Correction: station 00003 was wrong.", "In all 30 stations."]
    mentions, _ = anchors.mentions(lines, [r"[Ss]tation (\d{5})"])
    made = blocks(lines, mentions)
    assert [block.records for block in made] == [30, 30, 30]
    assert [block.end for block in made][:2] == ends[:2]
    assert [block.start for block in made][1:] == [start - headings for start in starts[1:]]


def test_parts_that_tell_of_other_records_are_one_block() -> None:
    lines = ["## North", "Site 001 is wet.", "Site 002 is dry.", "## South", "Site 003 is wet.", "Site 004 is dry."]
    mentions, _ = anchors.mentions(lines, [r"Site (\d+)"])
    assert [(block.start, block.end, block.records) for block in blocks(lines, mentions)] == [(1, 6, 4)]


def test_ten_thousand_records_are_counted_in_one_go() -> None:
    """Three blocks of 10,000 lines each; the time of the whole suite shows a way that is not linear."""
    lines = [f"Player {n:06d} {word} {n % 90 + 10}." for word in ("weighs", "scored", "earns") for n in range(10_000)]
    knowledge = parse(
        "## players\n- player_id: Player id, primary key\n- weight: weight\n- wage: he earns\n",
        "",
        frozenset({"players"}),
    )
    made = rules.plan("players", lines, knowledge)
    assert len(made.universe) == 10_000 and len(made.mentions) == 30_000
