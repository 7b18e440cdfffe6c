"""text and a secret → the text without it; a secret of few letters only where it stands as a word of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

SHORT = 4
"""Letters; with fewer, a secret occurs in other words by chance, and masking it there garbles the text and tells the secret."""


def masked(text: str, secrets: Iterable[str]) -> str:
    """The text with `***` in place of each secret that is not empty, the longest first."""
    for secret in sorted(filter(None, set(secrets)), key=lambda each: (-len(each), each)):
        if len(secret) >= SHORT:
            text = text.replace(secret, "***")
            continue
        # Chinese is written without blanks: beside it a Latin secret still is a word
        flags = re.ASCII if secret.isascii() else 0
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", text, flags=flags)
    return text


def splits_password(url: str) -> bool:
    """Whether what looks like the host of a URL may be the beginning of a password with `/`, `?` or `#` in it.

    So it is where an `@` stands behind the host; one that belongs there is written `%40`. Of what cannot be read as a URL it is not said.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.netloc) and any("@" in part for part in (parts.path, parts.query, parts.fragment))
