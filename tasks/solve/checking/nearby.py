"""a text that no row has + the values of its column → those that are nearest: in case, accents, blanks, spelling."""

from __future__ import annotations

import json
import re
import unicodedata
from difflib import get_close_matches

from tasks.core.sql.names import quote
from tasks.solve.checking.facts import Place
from tasks.solve.checking.measuring import Measuring

_VALUES, _LONGEST = 5_000, 80
"""Different values that are looked at, and signs of one."""
_SHOWN, _ALIKE, _LEAST = 3, 0.6, 3
"""Values that are named; how alike two must be, 0 to 1; and letters of which one stands in the other, Chinese signs one fewer."""


async def nearest(text: str, place: Place, counts: Measuring) -> str:
    """`; nearest there: 'a', 'b'` of a column of text; empty where nothing is near."""
    column = quote(place[1].name)
    values = f"SELECT {column} AS v, count(*) AS n FROM {quote(place[0].name)} WHERE length({column}) <= {_LONGEST}"
    ordered = f"SELECT v FROM ({values} GROUP BY 1) ORDER BY n DESC, v LIMIT {_VALUES}"
    row = await counts.row(f"SELECT to_json(list(v)) FROM ({ordered})")
    found = near(text, json.loads(str(row[0])) if row and row[0] else [])
    return f"; nearest there: {', '.join(map(repr, found))}" if found else ""


def near(text: str, values: list[str]) -> list[str]:
    """Values that are the text but for case, accents and blanks, then those in which it stands, then those spelled like it."""
    own = _folded(text)
    if not own:
        return []
    by: dict[str, list[str]] = {}
    for value in values:
        by.setdefault(_folded(value), []).append(value)
    keys = [key for key in by if key]
    inside = [key for key in keys if key != own and (own in key or key in own) and _tells(min(own, key, key=len))]
    words = {_folded(word): key for value in values for word in value.split() for key in (_folded(value),)}
    alike = get_close_matches(own, keys, _SHOWN, _ALIKE)
    alike += [words[word] for word in get_close_matches(own, list(words), _SHOWN, _ALIKE)]
    ordered = dict.fromkeys([*([own] if own in by else []), *sorted(inside, key=len)[:_SHOWN], *alike])
    return [value for key in ordered for value in by[key]][:_SHOWN]


def _tells(text: str) -> bool:
    """Whether a text is long enough to stand in another for what it says, and not by chance."""
    return len(text) >= (_LEAST if text.isascii() else _LEAST - 1)


def _folded(text: str) -> str:
    """Without case, width, accents, blanks and signs."""
    bare = unicodedata.normalize("NFKD", text).casefold()
    return re.sub(r"[\W_]+", "", "".join(sign for sign in bare if not unicodedata.combining(sign)))
