"""Secrets in texts: long ones wherever they stand, short ones as words."""

from __future__ import annotations

import pytest

from tasks.core.masking import masked


@pytest.mark.parametrize(
    ("text", "secrets", "shown"),
    [
        ("key=abcd1 in xabcd1x", ("abcd1",), "key=*** in x***x"),
        ("unknown key k: check 'k', k=k", ("k",), "unknown key ***: check '***', ***=***"),
        ("the token is broken", ("k", "o", ""), "the token is broken"),
        ("密钥k错误, token", ("k",), "密钥***错误, token"),
        ("密钥错误: 密", ("密",), "密钥错误: ***"),
        ("a+b and a+ b", ("a+",), "a+b and *** b"),
        ("abcdef and abcd", ("abcd", "abcdef"), "*** and ***"),
        ("nothing", (), "nothing"),
    ],
)
def test_a_secret_is_masked_and_the_text_stays_readable(text: str, secrets: tuple[str, ...], shown: str) -> None:
    assert masked(text, secrets) == shown
