"""Codes: one meaning each, written down in docs/problems.md; each word of intake has the code that fits it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.intake.loading.problems import GROUPS, UNKNOWN, kind_of, page

PAGE = Path(__file__).resolve().parents[4] / "docs" / "problems.md"
KINDS = [kind for _, group in GROUPS for kind in group]


def test_codes_are_stable_and_different() -> None:
    assert len({kind.code for kind in KINDS}) == len(KINDS)
    assert all(
        kind.code != UNKNOWN and kind.meaning.endswith(".") and kind.advice.endswith((".", "`.")) for kind in KINDS
    )


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python tests/bad_input.py --page"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("lines above the header are kept in t__set_aside", "T211"),
        ("2 lines are not in it; they are kept in t__set_aside", "T226"),
        ("1 line is not in it; it is kept in t__set_aside", "T226"),
        ("1 row has fewer fields than the header; NULL in the missing ones", "T221"),
        ("1 row has more fields than the header (2); what is beyond it stands in added columns", "T222"),
        ("1 blank line skipped", "T223"),
        ("1 quoted field runs over more than 20 lines: is a quote left open?", "T225"),
        ("1 column without a name, numbered by position", "T232"),
        ("1 formula without a stored value read as NULL", "T304"),
        ("1 value begins or ends with a blank", "T341"),
        ("the file is empty", "T101"),
        ("sheet 'x' is empty", "T101"),
        ("a PDF, no CSV", "T102"),
        ("no SQLite database, or an encrypted one", "T102"),
        ("it is encrypted: save it without a password", "T103"),
        ("not valid JSON: ',' expected in line 2, found '}'", "T104"),
        ("cannot be read: Permission denied", "T105"),
        ("reading it stopped after 300 s", "T106"),
        ("reading it needs more than 4096 MB", "T106"),
        ("it changed while it was read: run again", "T107"),
        ("a SQLite database, whatever its suffix says", "T110"),
        ("view 'v': no such table: t", "T111"),
        ("a link that leaves the folder", "T121"),
        ("hidden file", "T122"),
        ("a working file of a video's preparation", "T123"),
        ("its text has 3 lines: 3 of slide", "T126"),
        ("not watched: video.enabled is false", "T127"),
        ("a ZIP archive or Excel file: unpack it", "T125"),
        ("read as gb18030", "T201"),
        ("2 lines are not in it; they are kept in t__set_aside", "T226"),
        ("3 marks such as 'NA' read as NULL", "T301"),
        ("3 marks such as 'NA' kept as text", "T302"),
        ("numbers with leading zeros; text, so that the zeros stay", "T311"),
        ("2 of 2 values are percentages; text: CAST(rtrim(x, '%') AS DOUBLE) is in percent", "T315"),
        (
            "3 of 3 values are numbers with the unit 'kg'; text: CAST(regexp_replace(x, '\\s*(kg)\\s*$', '') AS DOUBLE)",
            "T325",
        ),
        ("3 of 3 values are numbers with thousands separators, with the unit 't'; text: CAST(x AS DOUBLE)", "T325"),
        (
            "2 of 2 values are numbers, some below zero in brackets or with a minus behind; text: CAST(x AS DOUBLE)",
            "T327",
        ),
        ("numbers in several units ('kg', 'g'); text, and a query has to bring them to one unit", "T326"),
        ("values of several types (1 integer, 1 text); all as text", "T323"),
        ("dates, day first as 1 of 2 values show; text: strptime(x, '%d/%m/%Y') or alike", "T336"),
        ("list<item: int64>, as JSON text", "T351"),
        ("ZeroDivisionError: division by zero", UNKNOWN),
    ],
)
def test_words_have_their_code(said: str, code: str) -> None:
    assert kind_of(said).code == code
