"""Sheets → the same without headers, footers, page numbers and stamps, and how many went.

Only what stands in the same place again and again goes, with the same words or with numbers that count the pages.
"""

from __future__ import annotations

import re
from collections import defaultdict

from tasks.document.converting.segment import Segment, Sheet

_ZONE = 0.1
"""Share of the page's height at its top and bottom where furniture stands."""
_SHARE, _RUN = 0.4, 4
"""Furniture stands on this share of the pages, odd and even ones may differ, or on so many pages in a row."""
_LONGEST = 160
_COUNTED = re.compile(
    r"(?i)^\W*(?:page|p\.|第)\s*(\d+)\s*(?:页|頁)?\W*(?:(?:of|/|共|out of)?\W*(\d+)\s*(?:页|頁)?)?\W*$"
)


def remove_furniture(sheets: list[Sheet]) -> tuple[list[Sheet], int]:
    """The sheets without their furniture, and the number of runs of text that were left out."""
    places: dict[tuple[str, int, int], list[tuple[int, Segment]]] = defaultdict(list)
    for index, sheet in enumerate(sheets):
        for segment in sheet.segments:
            if _may_be(segment, sheet):
                pattern = re.sub(r"\d+", "#", re.sub(r"\s+", " ", segment.text.strip()))
                center = 0 if "#" in pattern else round(segment.x0 / 20)
                places[pattern, _height(segment, sheet), center].append((index, segment))
    gone: set[tuple[int, Segment]] = set()
    for group in _merged(places):
        gone |= _repeated(group, sheets)
    for index, sheet in enumerate(sheets):
        gone |= {(index, s) for s in sheet.segments if _may_be(s, sheet) and _counts(s.text, sheet.page, len(sheets))}
    kept = [
        sheet._replace(segments=[s for s in sheet.segments if (index, s) not in gone])
        for index, sheet in enumerate(sheets)
    ]
    return kept, len(gone)


def _may_be(segment: Segment, sheet: Sheet) -> bool:
    middle = segment.base - segment.size / 2
    edge = middle < sheet.height * _ZONE or middle > sheet.height * (1 - _ZONE)
    return len(segment.text) <= _LONGEST and (edge or segment.odd)


def _height(segment: Segment, sheet: Sheet) -> int:
    """From the nearer edge, in steps of 6 points; below the middle it is negative."""
    below = sheet.height - segment.base
    return round(segment.base / 6) if segment.base < below else -1 - round(below / 6)


def _merged(places: dict[tuple[str, int, int], list[tuple[int, Segment]]]) -> list[list[tuple[int, Segment]]]:
    """Groups of one pattern in neighbouring steps belong together: rounding may part them."""
    groups: list[list[tuple[int, Segment]]] = []
    last: tuple[str, int, int] | None = None
    for key in sorted(places, key=lambda k: (k[0], k[2], k[1])):
        if last and last[0] == key[0] and last[2] == key[2] and key[1] - last[1] <= 1:
            groups[-1].extend(places[key])
        else:
            groups.append(list(places[key]))
        last = key
    return groups


def _repeated(group: list[tuple[int, Segment]], sheets: list[Sheet]) -> set[tuple[int, Segment]]:
    """Those of one pattern and place whose numbers stay the same, or run with the pages."""
    by_number: dict[tuple[str, ...], list[tuple[int, Segment]]] = defaultdict(list)
    for index, segment in group:
        for key in _keys(segment.text, sheets[index].page):
            by_number[key].append((index, segment))
    found: set[tuple[int, Segment]] = set()
    for key, members in by_number.items():
        if key == ("only a number",):
            continue
        pages = sorted({index for index, _ in members})
        if len(pages) >= max(2, _SHARE * len(sheets)) or _longest_run(pages) >= _RUN:
            found |= set(members)
    return found


def _keys(text: str, page: int) -> list[tuple[str, ...]]:
    """What must be equal on other pages: all numbers, or all but one that is as far from the page number everywhere."""
    numbers = re.findall(r"\d+", text)
    words = re.sub(r"[\W\d_]+", "", text)
    same = ("same", *numbers) if words or not numbers else ("only a number",)
    if len(numbers) > 6 or any(len(number) > 6 for number in numbers):
        return [same]
    counting = [
        ("counts", str(i), str(int(number) - page), *numbers[:i], *numbers[i + 1 :]) for i, number in enumerate(numbers)
    ]
    return [same, *counting]


def _counts(text: str, page: int, pages: int) -> bool:
    """`Page 2 of 5`, `第2页 共5页`: says itself what it is, and is right."""
    found = _COUNTED.match(text.strip())
    return bool(found and int(found[1]) == page and found[2] and int(found[2]) == pages)


def _longest_run(pages: list[int]) -> int:
    best = run = 0
    for before, page in zip([-9, *pages], pages, strict=False):
        run = run + 1 if page - before <= 2 else 1
        best = max(best, run)
    return best
