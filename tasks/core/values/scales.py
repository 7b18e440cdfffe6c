"""Words and letters of size (万, million, bn) → their factor."""

from __future__ import annotations

SCALES: dict[str, int] = {
    "百": 10**2, "千": 10**3, "仟": 10**3, "万": 10**4, "萬": 10**4, "十万": 10**5, "百万": 10**6, "千万": 10**7, "亿": 10**8, "億": 10**8,
    "十亿": 10**9, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12, "兆": 10**12, "hundred": 10**2, "hundreds": 10**2, "k": 10**3, "thousand": 10**3,
    "thousands": 10**3, "lakh": 10**5, "lakhs": 10**5, "lac": 10**5, "m": 10**6, "mn": 10**6, "mm": 10**6, "mio": 10**6, "mln": 10**6,
    "million": 10**6, "millions": 10**6, "crore": 10**7, "crores": 10**7, "b": 10**9, "bn": 10**9, "bln": 10**9,
    "billion": 10**9, "billions": 10**9, "t": 10**12, "tn": 10**12, "trn": 10**12, "trillion": 10**12,
}  # fmt: skip
"""`m` and `t` are also metre and tonne: a unit of the target's dimension goes first."""
DOUBTFUL = frozenset({"m", "mm", "b", "t", "k"})
"""Letters that mean a size only beside a currency, a count or a stated target."""
BY_LENGTH = sorted(SCALES, key=len, reverse=True)
