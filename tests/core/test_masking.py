"""Secrets in texts: long ones wherever they stand, short ones as words; passwords in URLs."""

from __future__ import annotations

import pytest

from tasks.core.errors import InputError
from tasks.core.llm.endpoints import without_secrets
from tasks.core.masking import masked, splits_password
from tasks.core.sql.address import parse
from tasks.core.stores.place import Place


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


@pytest.mark.parametrize("sign", "/?#")
@pytest.mark.parametrize(
    "before", ["http://user:1{}of", "http://user:secret{}of", "http://user{}of", "http://a@b:1{}of"]
)
def test_an_at_sign_behind_the_host_may_end_a_password(before: str, sign: str) -> None:
    url = f"{before.format(sign)}@host/v1"
    shown = Place(url=url, key="", prefix="t", seconds=1).shown
    assert splits_password(url) and without_secrets(url) == "it" and shown == "an address that is no URL"


@pytest.mark.parametrize(
    "url", ["http://host/v1", "http://user:pass@host:1/v1?a=b#c", "http://host/%40cf/v1", "me@host"]
)
def test_other_urls_are_shown_without_user_and_password(url: str) -> None:
    assert not splits_password(url) and "pass" not in without_secrets(url) and "host" in without_secrets(url)


@pytest.mark.parametrize("sign", "/?#")
def test_a_database_whose_password_looks_like_a_port_is_refused_unshown(sign: str) -> None:
    with pytest.raises(InputError) as error:
        parse(f"postgresql://user:1{sign}of@host/sales" if sign != "/" else "postgresql://user:1/of@host")
    assert "of@" not in str(error.value) and "%-encode" in error.value.hint
