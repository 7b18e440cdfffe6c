"""A text with a number (about US$249.17m, 百分之五点三, (1,234) 万元, 1米85) → exact amount and the unit it is written in."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from tasks.core.values.chinese import LETTERS, chinese
from tasks.core.values.context import Context, Undecided, Unread
from tasks.core.values.english import part
from tasks.core.values.hedges import strip_hedges
from tasks.core.values.numeral import numeral
from tasks.core.values.scales import SCALES
from tasks.core.values.units import RATIO, Unit, unit_of


class Amount(NamedTuple):
    """A number as written, with its unit."""

    number: Fraction
    unit: Unit
    notes: tuple[str, ...] = ()


_CURRENCY = r"(?:US\$|HK\$|NT\$|CN¥|RMB¥|RMB|CNY|JP¥|A\$|C\$|CA\$|AU\$|S\$|R\$|\$|€|£|¥|₹|₩|₽|USD|EUR|GBP|HKD|JPY|TWD|CHF|CAD|AUD|SGD|INR|人民币|美元|港元|港币|欧元|日元|英镑|新台币)"
_PREFIX = re.compile(rf"({_CURRENCY})\s*", re.I)
CURRENCY_BEFORE = re.compile(rf"({_CURRENCY})\s*$", re.I)
"""A currency at the end of what stands before a number."""
_PER_FRONT = re.compile(r"每(股|人|份|吨|亩|平方米|台|套|户|只|手|公斤|千克|克|升|桶|件|单位|年|月|周|天|日)")
_PRICE = re.compile(r"^(?:转让|成交|发行|交易|平均|股票)?(?:价格|作价|定价|单价|均价|售价|价款|价)(?:为|是)?")
_SIGN = re.compile(r"(?:([+-])|(负|零下|minus\b|negative\b))\s*", re.I)
_PLUS = re.compile(r"(?:正|plus\b|\+)\s*", re.I)
_BRACKET = re.compile(r"\(\s*([^()]+?)\s*\)\s*(.*)")
FALLS = (
    r"下[降跌滑]|降低|减少|缩减|回落|跌|降|亏损"
    r"|\b(?:down|fell|falling|decreased|declined|dropped|lost|(?:an? )?(?:loss|fall|drop|decline|decrease) of)\b"
)
"""Words before a number that say that it is a fall."""
_FALL = re.compile(rf"(?:{FALLS})\s*(?:了|by\b)?\s*", re.I)
_RISE = re.compile(
    r"(?:上升|上涨|增长|增加|提高|涨|升|up|rose|increased|grew|gained|a? ?(?:gain|rise|increase) of)\s*(?:了|by\b)?\s*",
    re.I,
)
_OVER = re.compile(r"(百|千|万)分之")
_FRACTION = re.compile(r"([\d零一二三四五六七八九十百千万两]+)分之([\d零一二三四五六七八九十百千万两点.]+)")
_TENTHS = re.compile(r"([\d.]+|[一二三四五六七八九两十])(成|折)([一二三四五六七八九半]?)")
_DISCOUNT = re.compile(r"([一二三四五六七八九])([一二三四五六七八九])折")
_DIGITS = "零一二三四五六七八九"
_SIZE = re.compile(r"[万萬亿億兆]|thousand|lakh|million|crore|billion|trillion|\b(?:bn|mn|mln)\b", re.I)
_SLASH = re.compile(r"(\d{1,4}) ?/ ?(\d{1,4})")
_OF = re.compile(r"([\w-]+) (?:in|out of)(?: every)? ([\w-]+)")
_WHOLE = re.compile(
    r"^(%|percent|per cent|pct)\s*(?:of (?:the |its |all )?[a-z' ]{1,40}|的[^\d]{1,8}|股份|股权|股本|stake|interest|holding|shareholding)$",
    re.I,
)
"""What the part is of; the number stays the same."""
_HAN_RUN = re.compile(rf"[{LETTERS}]+")
_CHAINED = re.compile(rf"[{LETTERS}]+(?:元|块|角|个?小时|个月|年|天|分钟|分|米)(?=零?[一二三四五六七八九十两])")
_HALF_TAIL = re.compile(r"(个|年|天|小时|倍|成)半$")


def measure(text: str, context: Context) -> Amount:
    """The amount that a clean text states; Unread when it states none, several or an undecided one."""
    text, hedges = strip_hedges(text)
    bound = next((hedge for hedge in hedges if hedge.startswith("bound")), "")
    if bound:
        raise Undecided(f"{bound} {text}: a limit, not a value")
    negative, text, notes = _sign(text, context)
    text, inner = strip_hedges(text)
    amount = _special(text) or _plain(text, context)
    number = -amount.number if negative else amount.number
    return Amount(number, amount.unit, tuple(dict.fromkeys((*hedges, *inner, *notes, *amount.notes))))


def _sign(text: str, context: Context) -> tuple[bool, str, tuple[str, ...]]:
    if found := _SIGN.match(text):
        if text[found.end() : found.end() + 1] in ("-", "+", "("):
            raise Undecided("two signs")
        return found[1] != "+", text[found.end() :], ()
    if found := _PLUS.match(text):
        return False, text[found.end() :], ()
    if found := _BRACKET.fullmatch(_prefix_inside(text)):
        if re.search(r"[a-z]{4}", found[1]) and not found[2]:
            raise Unread("text in brackets")
        return True, (found[1] + found[2]).strip(), ("brackets read as negative",)
    if found := _FALL.match(text):
        if context.fall_is_positive:
            return False, text[found.end() :], ("a fall, kept without a sign",)
        if not context.fall_is_negative:
            raise Undecided(f"{text}: the sign of a fall is not decided")
        return True, text[found.end() :], ("a fall read as negative",)
    if found := _RISE.match(text):
        return False, text[found.end() :], ()
    return False, text, ()


def _prefix_inside(text: str) -> str:
    """`$(1,234)` as `($1,234)`."""
    found = _PREFIX.match(text)
    return f"({found[0]}{text[found.end() + 1 :]}" if found and text[found.end() : found.end() + 1] == "(" else text


def _special(text: str) -> Amount | None:
    """Notations of a part: 百分之, 分之, 成, 折, `three quarters`, `1/3`, `3 in 10`."""
    if found := _OVER.match(text):
        size = {"百": 100, "千": 1000, "万": 10000}[found[1]]
        rest = text[found.end() :]
        if rest == found[1]:  # 百分之百
            return Amount(Fraction(1), Unit(RATIO, Fraction(1), text))
        negative = rest[:1] in ("负", "-")
        value = numeral(rest.lstrip("负-"))
        if value is None or value[1]:
            return None
        return Amount(-value[0] if negative else value[0], Unit(RATIO, Fraction(1, size), text))
    if found := _FRACTION.fullmatch(text):
        under, over = numeral(found[1]), numeral(found[2])
        if under is None or over is None or under[1] or over[1] or not under[0]:
            return None
        return Amount(over[0] / under[0], Unit("fraction", Fraction(1), text))
    if found := _DISCOUNT.fullmatch(text):
        return Amount(
            Fraction(int(f"{_DIGITS.index(found[1])}{_DIGITS.index(found[2])}")), Unit(RATIO, Fraction(1, 100), text)
        )
    if found := _TENTHS.fullmatch(text):
        head = numeral(found[1])
        tail = Fraction(1, 2) if found[3] == "半" else Fraction(_DIGITS.index(found[3]) if found[3] else 0)
        if head is None or head[0] > 10 or (found[2] == "折" and head[0] == 10):
            return None
        scale = Fraction(1) if found[3] == "半" else Fraction(1, 10)
        return Amount(head[0] + tail * scale, Unit(RATIO, Fraction(1, 10), text))
    if text in ("半", "一半", "半数"):
        return Amount(Fraction(1, 2), Unit("fraction", Fraction(1), text))
    if text[:1].isalpha() and text.isascii():
        share = part(text) or _one_in(text)
        return None if share is None else Amount(share, Unit("fraction", Fraction(1), text))
    if (found := _SLASH.fullmatch(text)) and int(found[2]):
        return Amount(Fraction(int(found[1]), int(found[2])), Unit("slash", Fraction(1), text))
    return None


def _one_in(text: str) -> Fraction | None:
    """`three in ten`, `two out of five`."""
    found = _OF.fullmatch(text)
    over, under = (numeral(found[1]), numeral(found[2])) if found else (None, None)
    if over is None or under is None or over[1] or under[1] or not 0 < over[0] < under[0]:
        return None
    return over[0] / under[0]


def _plain(text: str, context: Context) -> Amount:
    """Currency, numeral, unit; further smaller parts of the same dimension are added (2小时30分钟, 5元3角, 1 m 85 cm)."""
    money, per = "", ""
    if _CHAINED.match(text):
        text = _HAN_RUN.sub(
            lambda run: str(value) if (value := chinese(run[0])) is not None and value.denominator == 1 else run[0],
            text,
        )
    if found := _PER_FRONT.match(text):
        per, text = "/" + found[1], text[found.end() :]
        text, _ = strip_hedges(_PRICE.sub("", text))
    if found := _PREFIX.match(text):
        money, text = found[1], text[found.end() :]
    minus = text[:1] == "-" and bool(money)
    head = numeral(text[1:] if minus else text, context.decimal)
    if head is None:
        head, text = _half(text)
    number, rest = head
    if rest[:1].isdigit():
        raise Unread(f"{text}: digits do not end")
    further = re.search(r"\d", re.sub(r"10(\^|\*\*)\d+|(?:m|cm|km|ft)\^?[23]\b", "", rest))
    if further and not money:
        return _sum(number, rest, context)
    used = text[: len(text) - len(rest)]
    tail = _halved(
        rest.strip().removeprefix("an ").removeprefix("a ") if used.lower().strip().endswith("half") else rest
    )
    unit = _unit(money, tail[1] + per, context)
    if not unit.text and not unit.dimension and _SIZE.search(used):
        unit = unit._replace(text="size")
    return Amount(-(number + tail[0]) if minus else number + tail[0], unit, ())


def _half(text: str) -> tuple[tuple[Fraction, str], str]:
    """半年, 半小时, `half an hour`: half of a unit."""
    if text[:1] == "半" and len(text) > 1:
        return (Fraction(1, 2), text[1:].removeprefix("个") if not text[1:].startswith("个月") else text[1:]), text
    raise Unread(f"{text[:40]}: starts with no number")


def _halved(rest: str) -> tuple[Fraction, str]:
    """两年半, 一个半小时: half a unit more."""
    if rest.startswith("个半"):
        return Fraction(1, 2), rest[2:]
    if _HALF_TAIL.fullmatch(rest):
        return Fraction(1, 2), rest[:-1]
    if found := re.fullmatch(r"\s*and a half\s+(.*)", rest):
        return Fraction(1, 2), found[1]
    return Fraction(0), rest


def _unit(money: str, tail: str, context: Context) -> Unit:
    tail = tail.strip().removeprefix("-").removeprefix("of ").strip()
    written = _WHOLE.sub(r"\1", tail.rstrip("."))
    if money:
        written = _with_currency(money, written)
    unit = unit_of(written)
    if unit is None and (bare := re.sub(r"\s*\((?:approx|约|估计|audited|unaudited)[^)]*\)$", "", written)) != written:
        unit = unit_of(bare)
    if unit is None:
        return Unit("?", Fraction(1), written)
    if unit.dimension.split("/")[0] == "money:$":
        return unit._replace(dimension=unit.dimension.replace("money:$", f"money:{context.dollar}"))
    return unit


def _with_currency(money: str, tail: str) -> str:
    """`$` and `249.17m` give `million USD`; a currency told twice (¥ … 元) is told once."""
    first = unit_of(money)
    plain, per = (tail.split("/", 1)[0], "/" + tail.split("/", 1)[1]) if "/" in tail else (tail, "")
    if found := re.search(r"\s*\b(?:per|a|each)\b\s*(\w+)$", plain):
        plain, per = plain[: found.start()], "/" + found[1]
    plain = plain.strip()
    if not plain:
        return money + per
    if plain.lower() in SCALES:
        return f"{plain} {money}{per}" if plain.isascii() else f"{plain}{money}{per}"
    second = unit_of(plain)
    if first and second and second.money and _same_currency(first, second):
        return plain + per
    return f"{money} {tail}"


def _same_currency(first: Unit, second: Unit) -> bool:
    return first.dimension == second.dimension or (
        first.text in ("$", "¥") and second.dimension in ("money:JPY", "money:USD", "money:HKD", "money:CNY")
    )


_STEP = re.compile(r"\s*(?:([^\d\s]+(?:\s[^\d\s]+)?)\s*(?:零|and|,)?\s*)(?=\d)")
_CHAIN = {"米": Fraction(1, 100), "m": Fraction(1, 100), "元": Fraction(1, 10), "块": Fraction(1, 10)}


def _sum(number: Fraction, rest: str, context: Context) -> Amount:
    """Parts with falling units of one dimension; 1米85 and 5块3 leave the last unit out."""
    total, base, smallest = Fraction(0), "", None
    while True:
        found = _STEP.match(rest)
        name = (found[1] if found else rest).strip()
        unit = unit_of(name)
        if (
            unit is None
            or not unit.dimension
            or (base and unit.dimension != base)
            or (smallest and unit.factor >= smallest)
        ):
            raise Unread(f"{name or rest}: further digits")
        total, base, smallest = total + number * unit.factor, unit.dimension, unit.factor
        if not found:
            return Amount(total, Unit(base, Fraction(1), name))
        tail = rest[found.end() :]
        digits = tail.strip()
        if digits.isdigit() and name.lower() in _CHAIN and len(digits) == (2 if name in ("米", "m") else 1):
            return Amount(total + int(digits) * _CHAIN[name.lower()] * unit.factor, Unit(base, Fraction(1), name))
        step = numeral(tail, context.decimal)
        if step is None or not step[1]:
            raise Unread(f"{tail}: further digits without a unit")
        number, rest = step
