"""Records that bear the right key but were made by a hostile program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tasks.core.errors import SandboxError
from tasks.core.sandbox.record import clean, read
from tasks.core.sandbox.watch import Ending, Stop
from tasks.core.settings import load

LIMITS = load().sandbox


def ending(record: bytes = b"", stopped: Stop = "", code: int = 0, output: bytes = b"") -> Ending:
    return Ending(record=record, output=output, seconds=0.1, stopped=stopped, code=code)


def test_valid_record_gives_the_value_and_what_was_printed() -> None:
    result = read(
        ending('{"value": {"城市": [1, 2.5, null]}}\n'.encode(), output="行\r\n\x1b[1m".encode()), "", LIMITS, "t"
    )
    assert result.value == {"城市": [1, 2.5, None]}
    assert result.output == "行\n[1m"
    assert result.tier == "t"


@pytest.mark.parametrize(
    "record",
    [
        b'{"value": NaN}',
        b'{"value": -Infinity}',
        b'{"value": [1e999]}',
        b'{"value": "\\ud800"}',
        b'{"value": "\xff"}',
        b'{"value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"value": ' + b"9" * 5000 + b"}",
        b'{"value": 1, "more": 2}',
        b'{"values": 1}',
        b"[1]",
        b"null",
        b"{",
        b"",
        b'{"error": "text"}',
        b'{"error": null}',
    ],
)
def test_malformed_record_is_refused(record: bytes) -> None:
    with pytest.raises(SandboxError):
        read(ending(record), "x = 1", LIMITS, "t")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ('{"type": "ValueError", "message": "bad", "line": 2}', "ValueError: bad (line 2: y = 2)"),
        ('{"type": "ValueError", "message": "bad", "line": 99}', "ValueError: bad"),
        ('{"type": "ValueError", "message": "bad", "line": "2"}', "ValueError: bad"),
        ('{"type": "MemoryError", "message": "", "line": 1}', "MemoryError (line 1: x = 1)"),
        ('{"type": "E\\u001b[2J", "message": "a\\u0007b", "line": null}', "E[2J: ab"),
        ('{"type": {}, "message": [1], "line": true}', "{}: [1]"),
    ],
)
def test_error_of_the_program_is_short_and_clean(error: str, message: str) -> None:
    with pytest.raises(SandboxError) as caught:
        read(ending(f'{{"error": {error}}}'.encode()), "x = 1\ny = 2", LIMITS, "t")
    assert caught.value.message == message


def test_long_error_is_cut() -> None:
    record = json.dumps({"error": {"type": "T" * 9999, "message": "m" * 99999, "line": 1}})
    with pytest.raises(SandboxError) as caught:
        read(ending(record.encode()), "x" * 9999, LIMITS, "t")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("stopped", "code", "words"),
    [
        ("time", -9, "stopped after"),
        ("output", -9, "printed more than"),
        ("result", -9, "larger than"),
        ("disk", -9, "files are larger"),
        ("files", -9, "too many files"),
        ("threads", -9, "threads"),
        ("start", 1, "did not start: no room"),
        ("", 0, "exit code 0"),
        ("", 3, "exit code 3"),
        ("", -11, "SIGSEGV"),
        ("", 139, "SIGSEGV"),
        ("", 152, "processor time"),
        ("", -24, "processor time"),
        ("", None, "exit code None"),
    ],
)
def test_every_ending_without_a_record_says_why(stopped: Stop, code: Any, words: str) -> None:
    with pytest.raises(SandboxError, match=words):
        read(ending(b'{"value": 1}' if stopped else b"", stopped, code, b"no room\n"), "", LIMITS, "t")


def test_clean_keeps_text_of_any_script() -> None:
    text = "表格\u3000— Ünïcode\tdone\n"
    assert clean(text) == text
    assert clean("a\x00b\x1b[31m\x7f\u202e\u2028c\rd") == "ab[31mcd"


def test_record_whose_objects_would_fill_the_memory_is_refused_unread() -> None:
    with pytest.raises(SandboxError, match="more than 3000000 values"):
        read(ending(b'{"value": [' + b"[]," * 3_000_000 + b"1]}"), "", LIMITS, "t")
