"""Whose value a place of a line is, by the clause that it stands in."""

from __future__ import annotations

import re

import pytest

from tasks.document.extracting.owner import Name, naming
from tasks.document.extracting.quote import find
from tasks.document.records.names import id_places

LINES = [
    ("Alpha sold 12 units; Beta sold 30 units.", {"12": "Alpha", "30": "Beta"}),
    ("Alpha sold 12 units and Beta sold 30 units.", {"12": "Alpha", "30": "Beta"}),
    ("12 units went to Alpha and 30 to Beta.", {"12": "Alpha", "30": "Beta"}),
    ("12 units went to Alpha, 30 to Beta.", {"12": "Alpha", "30": "Beta"}),
    ("Alpha and Beta sold 12 and 30 units.", {"12": "Alpha", "30": "Beta"}),
    ("Alpha and Beta sold 12 units and 30 tables respectively.", {"12": "Alpha", "30": "Beta"}),
    ("Alpha and Beta each sold 12 units.", {"12": "Alpha Beta"}),
    ("Alpha, Beta and Gamma sold 12, 30 and 45 units.", {"12": "Alpha", "30": "Beta", "45": "Gamma"}),
    ("Compared with Alpha (12), Beta sold 30.", {"12": "Alpha", "30": "Beta"}),
    ("Beta, which is larger than Alpha, sold 30; Alpha 9.", {"30": "Beta", "9": "Alpha"}),
    ("Unlike Alpha, Beta sold 30, at 9 euros.", {"30": "Beta", "9": "Beta"}),
    ("Alpha is in Rome. It sold 12. Beta is in Oslo. It sold 30.", {"12": "Alpha", "30": "Beta"}),
    ("Alpha opened late. In May, 12 were sold, and Beta closed.", {"12": "Alpha Beta"}),
    ("Alpha: price 5, cost 7; stock 9; Beta: price 6, cost 8.", dict(zip("57968", ["Alpha"] * 3 + ["Beta"] * 2, strict=True))),
    ("Alpha sold 5 to Beta, price 9.", {"5": "Alpha", "9": "Alpha"}),
    ("Alpha 12 Beta 30", {"12": "Alpha", "30": "Beta"}),
    ("| Alpha | 12 | 13 | Beta | 30 |", {"12": "Alpha", "13": "Alpha", "30": "Beta"}),
    ("The price of Alpha is 1,200 euros, for Beta it is 3,000.", {"1,200": "Alpha", "3,000": "Beta"}),
    ("Nobody sold 5.", {"5": ""}),
    ("甲店卖出12台，乙店卖出30台；丙店卖出9台。", {"12": "甲店", "30": "乙店", "9": "丙店"}),
    ("甲店和乙店分别卖出12台、30台。", {"12": "甲店", "30": "乙店"}),
    ("甲店、乙店均为12台。", {"12": "甲店 乙店"}),
    ("甲店（12）乙店（30）", {"12": "甲店", "30": "乙店"}),
    ("甲店比乙店多卖，达到12台。", {"12": "甲店"}),
    ("Alpha opened. At 31 km it is twice as long as Beta, and holds 9. It earned 7.", {"31": "Alpha", "9": "Alpha", "7": "Alpha"}),
    ("Alpha (shop T1) and Beta (shop T2), at 2 km, hold 12 and 30.", {"2": "Alpha Beta", "12": "Alpha", "30": "Beta"}),
    ("Alpha cost 5, Beta 6. They hold 12 and 30; that of Alpha weighs 7.", {"12": "Alpha Beta", "7": "Alpha"}),
    ("Alpha sold 5, a third of what Beta sold. It earned 7.", {"5": "Alpha", "7": "Alpha"}),
    ("甲店号与乙店号均为圆形，高12米。", {"12": "甲店 乙店"}),
    ("甲店、乙店共11万元，其中甲店为6元，乙店为5元；指数依次为81、79。", {"6": "甲店", "5": "乙店", "81": "甲店", "79": "乙店"}),
]  # fmt: skip
RECORDS = ("Alpha", "Beta", "Gamma", "甲店", "乙店", "丙店")


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_a_value_belongs_to_the_record_of_its_clause(line: str, expected: dict[str, str]) -> None:
    named = naming(line, [Name(record, *span) for record in RECORDS for span in id_places(line, record)])
    for value, owners in expected.items():
        at = re.search(rf"(?<![0-9]){value}(?![0-9])", line)
        assert at and " ".join(named.owners(*at.span()).records) == owners, value


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_the_owner_is_believed_and_others_are_not(line: str, expected: dict[str, str]) -> None:
    named = naming(line, [Name(record, *span) for record in RECORDS for span in id_places(line, record)])
    for value, owners in expected.items():
        for record in filter(named.names_record, RECORDS):
            place = find(value, named, record, "number")
            assert place and bool(place.doubt) == (bool(owners) and record not in owners.split()), (value, record)


def test_a_record_that_the_line_never_names_is_doubted_in_the_clause_of_another_alone() -> None:
    line = "Alpha sold 12. The shop at the harbour sold 30."
    named = naming(line, [Name("Alpha", 0, 5)])
    doubts = [(place.doubt != "") for raw in ("12", "30") if (place := find(raw, named, "Beta", "number"))]
    assert doubts == [True, False]


def test_a_full_stop_that_was_copied_ends_the_clause() -> None:
    line = "Alpha sold chairs at 12.5. Beta sold 30."
    named = naming(line, [Name(record, *span) for record in ("Alpha", "Beta") for span in id_places(line, record)])
    assert [bool(find("12.5.", named, record, "number").doubt) for record in ("Alpha", "Beta")] == [False, True]  # type: ignore[union-attr]


def test_a_name_that_begins_within_another_names_nobody() -> None:
    line = "岑信渡口断面为9.7，平均；North Bridge Station sold 12."
    called = (
        ("甲", "信渡口断面"),
        ("乙", "岑信渡口"),
        ("A", "Bridge Station sold"),
        ("B", "North Bridge"),
        ("C", "North"),
    )
    named = naming(line, [Name(record, line.find(name), line.find(name) + len(name)) for record, name in called])
    assert [name.record for name in named.names] == ["乙", "B"]
    assert [bool(find("9.7", named, record, "number").doubt) for record in ("乙", "甲")] == [False, True]  # type: ignore[union-attr]


GOES_ON = [
    ("Alpha closed. Known as the Reserve, its code is Beta. Beta sold 9.", "the Reserve", {"Beta"}),
    ("甲店停业。精密工业，市场上称作精工，其编号为乙店。", "精工", {"乙店"}),
    ("Alpha closed. The mirror, of 12 tonnes, belongs to Beta.", "12", {"Beta"}),
    ("Alpha closed. In May, 12 were sold, and Beta opened.", "12", {"Alpha", "Beta"}),
    ("甲店停业。五月卖出12台；乙店开业。", "12", {"甲店", "乙店"}),
    ("Alpha got a level. Class assigned: Class II. The store Beta sold 9.", "Class II", {"Alpha"}),
    ("Alpha got a level. Class assigned: Class I. The store Beta sold 9.", "Class I", {"Alpha"}),
]


@pytest.mark.parametrize(("line", "raw", "owners"), GOES_ON, ids=[line for line, _, _ in GOES_ON])
def test_a_clause_that_the_name_behind_goes_on_is_of_that_name(line: str, raw: str, owners: set[str]) -> None:
    named = naming(line, [Name(record, *span) for record in RECORDS for span in id_places(line, record)])
    assert {record for record in RECORDS if named.names_record(record) and not doubted(line, raw, record)} == owners


@pytest.mark.parametrize(
    ("line", "raw", "is_doubted"),
    [
        ("Alpha was open; 12 units; cheap.", "12", True),
        ("甲店的情况，卖出12台；退回3台。", "3", True),
        ("卖出12台，系甲店的结果。", "12", True),
        ("Alpha was open. At the harbour 12 units.", "12", False),
        ("卖出12台；甲店停业。", "12", False),
        ("Unlike Alpha, the harbour shop: it sold 12.", "12", False),
    ],
)
def test_a_record_without_a_name_there_is_doubted_in_the_sentence_of_another(
    line: str, raw: str, is_doubted: bool
) -> None:
    assert doubted(line, raw, "Gamma") == is_doubted


def test_a_name_that_several_records_have_is_of_each() -> None:
    line = "Old Mill sold 12 and 30, Beta 9."
    names = [Name("A", 0, 8), Name("B", 0, 8), Name("Beta", 25, 29)]
    named = naming(line, names)
    doubts = {
        (raw, record): bool(find(raw, named, record, "number").doubt)  # type: ignore[union-attr]
        for raw in ("12", "30", "9")
        for record in ("A", "B", "Beta")
    }
    assert {key for key, is_doubted in doubts.items() if not is_doubted} == {
        *(("12", record) for record in "AB"),
        *(("30", record) for record in "AB"),
        ("9", "Beta"),
    }


def doubted(line: str, raw: str, record: str) -> bool:
    named = naming(line, [Name(one, *span) for one in RECORDS for span in id_places(line, one)])
    place = find(raw, named, record)
    assert place
    return bool(place.doubt)
