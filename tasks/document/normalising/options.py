"""What a text column may hold, where its meaning lists it → a value as written becomes the listed one."""

from __future__ import annotations

import re
import unicodedata

from tasks.core.models.document import PlanColumn, Reading

_LIST = re.compile(
    r"(?:枚举(?:值)?|取值(?:为|范围)?|可选值|enum(?:eration)?|one of|either|allowed values?|possible values?|values?)"
    r"\s*(?:is|are|为|是)?\s*[:：]?\s*[\[(（{]?\s*([^。；;\n\])）}]+)",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"\s*[/|、，,]\s*(?:or\s+)?|\s+or\s+|\s*或\s*")
_CHARS = 40
_CJK = re.compile(r"[\u3400-\u9fff]")


def options(column: PlanColumn) -> tuple[str, ...]:
    """The values that the column's task meaning lists, two at least; empty when it lists none."""
    match = _LIST.search(column.task_meaning) if column.type == "text" and column.role != "key" else None
    if not match:
        return ()
    found = [part.strip(" \"'“”‘’`.") for part in _SPLIT.split(match[1])]
    listed = tuple(dict.fromkeys(part for part in found if part))
    return listed if len(listed) > 1 and all(len(part) <= _CHARS for part in listed) else ()


def choose(raw: str, listed: tuple[str, ...]) -> Reading | None:
    """The listed value that the raw text is, or the only one that it names; None when it names none or several."""
    text = _plain(raw)
    if exact := [option for option in listed if _plain(option) == text]:
        return Reading(raw=raw, value=exact[0], status="verified")
    named = [option for option in listed if _names(text, _plain(option))]
    longest = [o for o in named if not any(o != other and _plain(o) in _plain(other) for other in named)]
    if len(longest) != 1 or _DENIED.search(text):
        return None
    return Reading(raw=raw, value=longest[0], status="verified", note=f"one of the listed values, named in {raw!r}")


_DENIED = re.compile(r"不是|并非|非|未|除|不含|无|\b(?:not|no|non|never|except|other than|instead)\b", re.IGNORECASE)


def _names(text: str, option: str) -> bool:
    if _CJK.search(option):
        return option in text
    return bool(re.search(rf"(?<![^\W_]){re.escape(option)}(?![^\W_])", text))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .。\"'“”‘’")
