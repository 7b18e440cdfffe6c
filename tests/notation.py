"""An exact number → its text in a notation; the writing side of the property tests."""

from __future__ import annotations

from fractions import Fraction

_PLAIN, _FORMAL = "零一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖"
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
WIDE = str.maketrans("0123456789.,-%", "０１２３４５６７８９．，－％")


def decimal(number: Fraction) -> str:
    """Digits without grouping; the number must end."""
    sign, number = ("-", -number) if number < 0 else ("", number)
    whole, part = divmod(number, 1)
    digits = ""
    while part:
        digit, part = divmod(part * 10, 1)
        digits += str(digit)
    return f"{sign}{whole}{'.' + digits if digits else ''}"


def grouped(number: Fraction, mark: str = ",", point: str = ".") -> str:
    """Digits in groups of three."""
    text = decimal(number)
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, part = text.partition(".")
    body = f"{int(whole):,}".replace(",", mark)
    return f"{sign}{body}{point + part if part else ''}"


def _four(number: int, digits: str, units: str) -> str:
    out, zero = "", False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if digit:
            out += ("零" if zero and out else "") + digits[digit] + (units[place - 1] if place else "")
            zero = False
        else:
            zero = True
    return out


def han(number: int, formal: bool = False) -> str:
    """A whole number below 10^16 in Chinese characters; `formal` for 壹贰叁."""
    digits, units, large = (
        (_FORMAL, "拾佰仟", ("", "萬", "億", "萬億")) if formal else (_PLAIN, "十百千", ("", "万", "亿", "万亿"))
    )
    if number == 0:
        return "零"
    if number >= 10**8:
        head, rest = divmod(number, 10**8)
        tail = ("零" if 0 < rest < 10**7 else "") + han(rest, formal) if rest else ""
        return han(head, formal) + large[2] + tail
    head, rest = divmod(number, 10**4)
    out = _four(head, digits, units) + large[1] if head else ""
    if rest:
        out += ("零" if head and rest < 1000 else "") + _four(rest, digits, units)
    return out if formal or not out.startswith("一十") else out[1:]


def han_decimal(number: Fraction) -> str:
    """三点一四."""
    whole, _, part = decimal(number).partition(".")
    return han(int(whole)) + ("点" + "".join(_PLAIN[int(digit)] for digit in part) if part else "")


def mixed(number: int) -> str:
    """3亿2000万5 is never written: the rest has at least two digits or none."""
    out = ""
    for size, letter in ((10**8, "亿"), (10**4, "万")):
        head, number = divmod(number, size)
        out += f"{head}{letter}" if head else ""
    return out + (str(number) if number or not out else "")


def words(number: int) -> str:
    """A whole number below 10^15 in English words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")
    if number < 1000:
        return f"{_ONES[number // 100]} hundred" + (f" and {words(number % 100)}" if number % 100 else "")
    for size, name in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (10**3, "thousand")):
        if number >= size:
            rest = number % size
            return f"{words(number // size)} {name}" + ((" and " if rest < 100 else " ") + words(rest) if rest else "")
    raise AssertionError(number)
