"""A Chinese or mixed numeral (三千五, 壹佰贰拾, 3亿2000万, 二〇一八) → its exact value."""

from __future__ import annotations

import re
from fractions import Fraction

_PLAIN = str.maketrans(
    "〇壹贰貳叁參参肆伍陆陸柒捌玖拾佰仟萬億兩俩仨幺點两",
    "零一二二三三三四五六六七八九十百千万亿二二三一点二",
)
DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")}
SMALL = {"十": 10, "百": 100, "千": 1000}
LETTERS = "零〇一二三四五六七八九十百千万亿兆两壹贰貳叁參参肆伍陆陸柒捌玖拾佰仟萬億兩俩仨幺廿卅"
"""Characters of a numeral; 点 stands between digits only."""
_ARABIC = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_DECIMAL = re.compile(r"(.+?)点([零一二三四五六七八九]+)([十百千]*)")
_MULTIPLE = re.compile(r"(\d[\d,]*(?:\.\d+)?)([十百千]+)")


def chinese(text: str) -> Fraction | None:
    """Exact value of a numeral written with Chinese characters, alone or mixed with digits; None when it is none."""
    plain = text.translate(_PLAIN).replace("廿", "二十").replace("卅", "三十")
    if not plain or plain[0] in "万亿兆":
        return None
    if len(plain) > 1 and all(letter in DIGITS for letter in plain):
        if _is_about(plain):
            return None
        return Fraction(int("".join(str(DIGITS[letter]) for letter in plain)))
    return _large(plain, last=True)


def _is_about(digits: str) -> bool:
    """两三, 七八 and 三五 say a few, seven or eight, three to five: no 23, 78 or 35."""
    if len(digits) != 2:
        return False
    first, second = (DIGITS[letter] for letter in digits)
    return (first > 0 and second == first + 1) or digits == "三五"


def _large(text: str, last: bool) -> Fraction | None:
    """Splits at 兆, 亿, 万 from the largest on; `last`: a digit at the end may stand for the next smaller unit."""
    for letter, size in (("兆", 10**12), ("亿", 10**8), ("万", 10**4)):
        if letter not in text:
            continue
        left, right = text.rsplit(letter, 1)
        head = _large(left, last=False)
        if head is None or head < 0:
            return None
        if not right:
            return head * size
        if last and len(right) == 1 and right in DIGITS and right != "零":
            return head * size + DIGITS[right] * size // 10
        if right.isdigit() and len(right) == 1 and right != "0":
            return None  # 3万5 is written for 35000 and for 30005
        tail = _section("零" + right, last) if right[0] == "点" else _large(right, last)
        if tail is None or tail >= size or (head.denominator != 1):
            return None
        return head * size + tail
    return _section(text, last)


def _section(text: str, last: bool) -> Fraction | None:
    if _ARABIC.fullmatch(text):
        return Fraction(text.replace(",", ""))
    if found := _DECIMAL.fullmatch(text):
        whole = _section(found[1], last=False)
        if whole is None or whole.denominator != 1:
            return None
        digits = "".join(str(DIGITS[letter]) for letter in found[2])
        return (whole + Fraction(int(digits), 10 ** len(digits))) * _product(found[3])
    if (found := _MULTIPLE.fullmatch(text)) and _ARABIC.fullmatch(found[1]):
        return Fraction(found[1].replace(",", "")) * _product(found[2])
    return _steps(text, last)


def _product(letters: str) -> int:
    size = 1
    for letter in letters:
        size *= SMALL[letter]
    return size


def _steps(text: str, last: bool) -> Fraction | None:
    """Digit and unit by turns with falling units; 七八十 and 三五百 mean a range and are refused."""
    total, digit, floor, zero, digital = 0, "", 10**4, False, False
    for at, token in enumerate(re.findall(r"\d+|.", text)):
        if token in SMALL:
            size = SMALL[token]
            if size >= floor or (not digit and not (token == "十" and (at == 0 or zero or total))):
                return None
            total += size * (int(digit) if digit else 1)
            digit, floor, zero = "", size, False
        elif token == "零":
            if digit or (zero and len(text) > 1):
                return None
            zero = True
        elif token in DIGITS or token.isdigit():
            if digit:
                return None
            digital = token.isdigit()
            digit = token if digital else str(DIGITS[token])
            if len(digit) > 1 and int(digit) >= floor:
                return None
        else:
            return None
    if not digit:
        return Fraction(total) if total or zero else None
    if floor in (100, 1000) and not zero:
        if digital and len(digit) == 1:
            return None
        if last and not digital:
            return Fraction(total + int(digit) * floor // 10)
        return Fraction(total + int(digit)) if digital else None
    return Fraction(total + int(digit))
