"""A time of day (14:05, 下午3点20分, 3.20 pm, 08:30:00+08:00) → time."""

from __future__ import annotations

import re
from datetime import time

_ISO = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6})?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?", re.I)
_TWELVE = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(?::(\d{2}))?\s*([ap])\.?m\.?", re.I)
_HAN = re.compile(
    r"(上午|下午|晚上|晚|凌晨|中午|早上|傍晚|清晨)?(\d{1,2})(?:[:时点])(?:(\d{1,2})分?|(半)|(整))?(?:(\d{1,2})秒?)?"
)


def time_of(text: str) -> time | None:
    """The time of day that the whole text names; None for another text or no such time."""
    text = text.strip()
    try:
        if found := _ISO.fullmatch(text):
            zone = (found[5] or "").upper()
            zone = "+00:00" if zone in ("Z", "UTC", "GMT") else zone
            return time.fromisoformat(
                f"{int(found[1]):02}:{found[2]}:{found[3] or '00'}{(found[4] or '').ljust(7, '0') if found[4] else ''}{zone}"
            )
        if found := _TWELVE.fullmatch(text):
            hour = int(found[1])
            if not 1 <= hour <= 12:
                return None
            return time(hour % 12 + (12 if found[4].lower() == "p" else 0), int(found[2] or 0), int(found[3] or 0))
        if found := _HAN.fullmatch(text):
            hour = int(found[2])
            late = found[1] in ("下午", "晚上", "晚", "傍晚") or (found[1] == "中午" and hour < 3)
            return time(
                hour + 12 if late and hour < 12 else hour, 30 if found[4] else int(found[3] or 0), int(found[6] or 0)
            )
    except ValueError:
        return None
    return None
