"""Slices of made documents: every line that speaks of a record is with it, and a change stays where it is."""

import asyncio
import dataclasses

import document_world
import pytest
from ledger import Ledger, company, make

from tasks.core.files.store import Store, current
from tasks.core.models.document import Converted, Slice
from tasks.core.models.semantics import Knowledge, Rule
from tasks.core.sections import ExtractSettings
from tasks.core.settings import Settings
from tasks.document.records import anchors
from tasks.document.slices import cut_slices
from tasks.stage import canonical

NOTHING = Knowledge()


def cut(ledger: Ledger, settings: Settings, knowledge: Knowledge = NOTHING, **changes: int) -> tuple[Slice, ...]:
    chosen = ExtractSettings(**{**settings.extract.model_dump(), **changes})
    return asyncio.run(cut_slices.function(ledger.converted(), ledger.plan(), knowledge, chosen))


def lines_of(pieces: tuple[Slice, ...], section: str, record: str) -> list[str]:
    for piece in pieces:
        if piece.section == section and record in piece.expected:
            numbers = dict(piece.belongs)[record]
            return [text for number, text in piece.lines if number in numbers]
    return []


def keys(pieces: tuple[Slice, ...]) -> list[str]:
    """What the stage's cache key sees of each slice."""
    return [str(canonical(piece)) for piece in pieces]


@pytest.mark.parametrize("records", [10, 50, 1000])
def test_b8_each_record_is_expected_once_a_section_with_its_lines(
    store: Store, settings: Settings, records: int
) -> None:
    ledger = make(records)
    pieces = cut(ledger, settings)
    for section in ("s0", "s1", "s2"):
        expected = [record for piece in pieces if piece.section == section for record in piece.expected]
        assert sorted(expected) == sorted(ledger.truth) and len(set(expected)) == records
    by_section = {"s0": ("price", "shares"), "s1": ("seller_before", "buyer_before"), "s2": ("grade",)}
    for section, columns in by_section.items():
        for record, cells in ledger.truth.items():
            held = " ".join(lines_of(pieces, section, record))
            assert all(cells[column] in held for column in columns if column in cells), (section, record)
    for piece in pieces:
        assert len(piece.expected) <= settings.extract.records and [n for n, _ in piece.lines] == list(
            range(1, len(piece.lines) + 1)
        )
        assert [ledger.lines[place - 1] for place in piece.places] == [text for _, text in piece.lines]
    assert len(pieces) <= 3 * (records / 20 + 1)


def test_a_correction_far_away_is_with_its_record_also_when_only_its_name_stands_there(
    store: Store, settings: Settings
) -> None:
    pieces = cut(make(50), settings)
    assert any("7.77 euros" in line for line in lines_of(pieces, "s0", "T00001"))
    assert any("8,888股" in line for line in lines_of(pieces, "s1", "T00002"))
    assert not any("7.77" in line for line in lines_of(pieces, "s0", "T00003"))


def test_a_record_that_lines_call_by_another_name_only_has_that_name_beside_its_id(
    store: Store, settings: Settings
) -> None:
    pieces = cut(make(50), settings)
    called = {record: name for piece in pieces if piece.section == "s2" for record, name in piece.called}
    assert called == {f"T{n:05}": company(n) for n in range(1, 51) if n % 3}
    assert next(piece.called for piece in pieces if piece.called) == (("T00002", company(2)),), (
        "a correction names it so"
    )


def test_lines_that_go_on_without_a_name_are_with_the_record_before_them(store: Store, settings: Settings) -> None:
    ledger = make(10)
    at = next(n for n, line in enumerate(ledger.lines) if "编号T00004" in line)
    ledger.lines.insert(at + 1, "此前三个月内亦未买卖。")
    pieces = cut(ledger, settings)
    assert "此前三个月内亦未买卖。" in lines_of(pieces, "s1", "T00004")
    assert "此前三个月内亦未买卖。" not in lines_of(pieces, "s1", "T00006")


def test_one_changed_paragraph_changes_only_the_slices_that_hold_it(store: Store, settings: Settings) -> None:
    ledger = make(1000)
    before = cut(ledger, settings)
    lines = [
        line.replace("编号T00501转让前，出让方持股1,503股", "编号T00501转让前，出让方持股9股") for line in ledger.lines
    ]
    after = cut(dataclasses.replace(ledger, lines=lines), settings)
    changed = [b for a, b in zip(before, after, strict=True) if keys((a,)) != keys((b,))]
    assert len(changed) == 1 and "T00501" in changed[0].expected and changed[0].section == "s1"


def test_a_line_put_in_above_changes_no_key(store: Store, settings: Settings) -> None:
    ledger = make(200)
    before = cut(ledger, settings)
    after = cut(dataclasses.replace(ledger, lines=["An introduction.", "", *ledger.lines]), settings)
    assert keys(before) == keys(after)
    assert [place + 2 for piece in before for place in piece.places] == [p for piece in after for p in piece.places]


def test_a_record_put_in_changes_only_slices_near_it(store: Store, settings: Settings) -> None:
    ledger = make(1000)
    before = set(keys(cut(ledger, settings)))
    number = next(n for n, line in enumerate(ledger.lines) if "编号T00501转让前" in line)
    lines = [*ledger.lines[:number], "编号T70000转让前，出让方持股5股，受让方持股6股。", *ledger.lines[number:]]
    order = list(ledger.truth)
    truth = {r: ledger.truth.get(r, {}) for r in [*order[:500], "T70000", *order[500:]]}
    after = keys(cut(dataclasses.replace(ledger, lines=lines, truth=truth), settings))
    assert 1 <= len(set(after) - before) <= 4


def test_the_first_records_only(store: Store, settings: Settings) -> None:
    pieces = cut(make(100), settings, max_records=10)
    assert {record for piece in pieces for record in piece.expected} == {f"T{n:05}" for n in range(1, 11)}
    assert [piece.section for piece in pieces] == ["s0", "s1", "s2"]


def test_slices_keep_to_their_tokens_where_lines_can_be_parted(store: Store, settings: Settings) -> None:
    pieces = cut(make(100), settings, tokens=400)
    from tasks.core.llm.tokens import count

    sizes = [sum(count(text) for _, text in piece.lines) for piece in pieces]
    assert max(sizes) <= 400 and len(pieces) < 60


def test_rules_that_name_the_columns_go_along(store: Store, settings: Settings) -> None:
    rules = (Rule(text="price: 单位为欧元", line=3), Rule(text="ignore all others", line=4))
    pieces = cut(make(10), settings, Knowledge(rules=rules))
    assert [piece.rules for piece in pieces] == ["price: 单位为欧元", "", ""]


def test_a_failed_plan_and_an_empty_document_have_no_slices(store: Store, settings: Settings) -> None:
    ledger = make(10)
    failed = ledger.plan().model_copy(update={"failed": True})
    bare = ledger.converted().model_copy(update={"text": None})
    for document, plan in ((ledger.converted(), failed), (bare, ledger.plan())):
        assert asyncio.run(cut_slices.function(document, plan, NOTHING, settings.extract)) == ()


def test_names_of_the_made_document_are_its_own() -> None:
    assert len({company(number) for number in range(10_000)}) == 10_000


def written(lines: list[str], ids: tuple[str, ...], settings: Settings) -> tuple[Slice, ...]:
    """Slices of a document of these lines, whose records are called `store 7`."""
    text = "\n".join(lines)
    found, _ = anchors.mentions(lines, [STORE])
    made = document_world.plan(
        document_world.column("sold", "integer"), records=ids, lines=len(lines), anchors=(STORE,), mentions=found, stem="stores"
    )  # fmt: skip
    document = Converted(
        stem="stores", paths=("a.md",), status="as_is", text=current().put(text.encode(), "a.md"), lines=len(lines)
    )
    return asyncio.run(cut_slices.function(document, made, NOTHING, settings.extract))


STORE = r"(?i)\bstores?\s?([0-9]{1,3})"


def test_where_a_line_names_records_is_known_by_the_anchors_alone(store: Store, settings: Settings) -> None:
    lines = ["Store 1 sold 10 chairs, 3 more than store 10; store 3 sold 1.", "Store 10 sold 3 chairs."]
    (piece,) = written(lines, ("1", "10", "3"), settings)
    assert piece.named == (
        (1, (("1", 6, 7), ("10", 42, 44), ("3", 52, 53))),
        (2, (("10", 6, 8),)),
    )


def test_lines_under_a_heading_of_corrections_are_marked(store: Store, settings: Settings) -> None:
    lines = ["# Sales", "Store 1 sold 10 chairs.", "# Corrections", "Store 1: 12.", "## 其他", "Store 2: 5."]
    (piece,) = written(lines, ("1", "2"), settings)
    assert [text for number, text in piece.lines if number in piece.corrects] == ["Store 1: 12."]


def test_an_id_within_a_longer_one_does_not_hide_a_sentence(store: Store, settings: Settings) -> None:
    first = "Store 1 is Harbour Lane Traders of Westbrook. Harbour Lane Traders sold 7."
    lines = [first, "Store 10 sold 9. Of the 110 chairs Harbour Lane Traders of Westbrook took 8."]
    (piece,) = written(lines, ("1", "10"), settings)
    assert dict(piece.belongs)["1"] == (1,)
    (other,) = written(lines, ("1", "１", "10"), settings)
    assert other.expected == ("1", "10"), "one record in two widths is one"
