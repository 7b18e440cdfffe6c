"""Repetitive prose by learned patterns: the same table for fewer tokens, and the model wherever patterns are not sure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import extractors
import knower
import pytest
from knower import Knower, Known

from tasks.core.models.document import DerivedTable

SIZE = 80
SMALL = "[patterns]\nrecords = 40\nshare = 0.9\nsample = 16\nrounds = 2\n"
_NAME, _WEIGHT = r"(?P<value>[A-Z]\w+(?: [A-Z]\w+)+)", r"(?P<value>\d[\d.]* (?:kg|kilograms|tonnes))"
_DAY = r"(?P<value>\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4})"
_SHARE, _NUMBER = r"(?P<value>\d[\d.]*(?:%| per cent| percent))", r"(?P<value>\d+|[a-z]+)"
PATTERNS: dict[str, list[str]] = {
    "keeper": [f"(?:[Kk]eeper|kept by|belongs to|care of) {_NAME}", f"^{_NAME} looks after"],
    "honey": [f"(?:gave|took off|yield was|came to|honey) {_WEIGHT}", f"{_WEIGHT} of honey were drawn"],
    "frames": [f"from {_NUMBER} frames", f"[Ff]rames(?: in use)?:? {_NUMBER}", f"(?:Its|and) {_NUMBER} frames"],
    "inspected": [f"(?:inspect(?:ed on|ion|ion dated)|look inside:|seen on|opened on) {_DAY}"],
    "loss": [f"(?:lost|loss of|loss:?|ran to) {_SHARE}", f"{_SHARE} of the colony"],
    "queen": [
        r"(?P<value>[a-z]+) queen\b",
        r"queen(?: marked| wears|'s mark is)? (?P<value>white|yellow|red|green|blue)\b",
    ],
}
ABSENT = {
    "honey": [r"weight of the honey was not"],
    "frames": ["Nobody counted the frames"],
    "loss": ["No figure for the loss"],
}
OTHER = [r"painted in \d+", "Clover grows nearby", r"drawer \d+", r"keeps \d+ sheep", r"Rain fell on \d+ days"]


def reply(**changed: list[str]) -> str:
    """A reply with the patterns, some columns' changed."""
    found = {**PATTERNS, **changed}
    columns = [{"c": name, "find": texts, "absent": ABSENT.get(name, [])} for name, texts in found.items()]
    return json.dumps({"columns": columns, "other": OTHER})


class Scripted(Knower):
    """The reader that knows the truth, never errs, and gives this reply to each request for patterns."""

    def __init__(self, known: Known, patterns: Any) -> None:
        super().__init__(known, Path())
        self.patterns = patterns
        self.prompts: list[str] = []

    @property
    def asked(self) -> int:
        return len(self.prompts)

    def _patterns(self, body: dict[str, Any]) -> Any:
        self.prompts.append(body["messages"][-1]["content"])
        return self.patterns


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Known:
    for name in ("OMITTED", "SWAPPED", "UNLISTED"):
        monkeypatch.setattr(knower, name, 0.0)
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "store"))
    return next(extractors.made(["hives"], [SIZE]))[1]


def differing(known: Known, derived: DerivedTable, folder: Path) -> tuple[int, int]:
    """Wrong cells and missing ones."""
    return extractors.compared(known, folder / "out" / derived.file, derived.table)[:2]


def test_records_are_read_by_patterns_for_fewer_tokens_and_nothing_is_wrong(known: Known, tmp_path: Path) -> None:
    asked = Scripted(known, reply())
    derived, _ = extractors.draw(known, asked, tmp_path, SMALL)
    assert differing(known, derived, tmp_path) == (0, 0)
    assert extractors.read_by_patterns(derived) >= SIZE // 2 and asked.asked >= 1
    assert any("learned patterns" in note and "by the model" in note for note in derived.notes)
    off = Scripted(known, reply())
    slices, _ = extractors.draw(known, off, tmp_path, SMALL.replace("[patterns]", "[patterns]\nenabled = false"))
    assert off.asked == 0 and differing(known, slices, tmp_path) == (0, 0)
    assert asked.spent["extract"][1] < off.spent["extract"][1] / 2


def test_a_small_document_is_read_by_slices(known: Known, tmp_path: Path) -> None:
    asked = Scripted(known, reply())
    derived, _ = extractors.draw(known, asked, tmp_path, "")
    assert asked.asked == 0 and differing(known, derived, tmp_path) == (0, 0)


def test_patterns_that_are_wrong_or_never_end_cost_nothing_but_tokens(known: Known, tmp_path: Path) -> None:
    wrong = reply(honey=[r"(?P<value>\d{4})-\d\d-\d\d", *PATTERNS["honey"]], queen=[r"(?P<value>(?:\w|\w\w)+)Z!"])
    derived, _ = extractors.draw(known, Scripted(known, wrong), tmp_path, SMALL)
    assert differing(known, derived, tmp_path) == (0, 0)


def test_a_run_that_broke_goes_on_with_the_patterns_that_it_has(known: Known, tmp_path: Path) -> None:
    first = Scripted(known, reply())
    broken, _ = extractors.draw(known, first, tmp_path, f"{SMALL}[budget]\ncalls = 2\n")
    assert first.asked
    second = Scripted(known, reply())
    derived, _ = extractors.draw(known, second, tmp_path, SMALL)
    assert broken.filled < derived.filled and not set(first.prompts) & set(second.prompts)
    assert differing(known, derived, tmp_path) == (0, 0)
    third = Scripted(known, reply())
    extractors.draw(known, third, tmp_path, SMALL)
    assert third.spent == {"extract": [0, 0, 0], "patterns": [0, 0, 0]}
