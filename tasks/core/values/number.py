"""A clean text → the number in the column's unit, or Unread with the reason."""

from __future__ import annotations

import re
from fractions import Fraction

from tasks.core.values.context import ASSUMED, Context, Undecided, Unread
from tasks.core.values.hedges import strip_hedges
from tasks.core.values.nouns import same
from tasks.core.values.quantity import Amount, measure
from tasks.core.values.scales import SCALES
from tasks.core.values.units import RATIO, Unit, target_of, upper_of

_SIMPLE = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_SIZE_WORD = re.compile(r"[万萬亿億]|thousand|million|billion", re.I)
_CODE = re.compile(r"\(?-?0\d{3,}\)?[.,;:]*")
_FAR_LETTER = re.compile(r"\d\s+(?:mm?|t|b|k)\.?$", re.I)
"""`282 m` is as well a length, where `282m` in a column of counts is a size."""
_NUMBER = r"[+-]?[\d.,]+(?:e[+-]?\d+)?|[零〇一二三四五六七八九十百千万亿两点]+"
_RANGE = re.compile(
    rf"(?:between |from |从|介于|在)?(?:[^\d\s]{{0,3}})\s*(?P<a>{_NUMBER})\s*(?P<u>[^\d~]{{0,8}}?)\s*(?:-|~|至|到|\bto\b|\band\b|与|和)\s*(?:[^\d\s.]{{0,3}})(?P<b>{_NUMBER})(?P<t>.*)",
    re.I,
)
_LETTERS_ONLY = re.compile(r"[零〇一二三四五六七八九十百千万亿两点]")
_BESIDE = re.compile(r"([^()]*\d[^()]*|[^()]+?)\s*\(([^()]+)\)")
_SCIENTIFIC = re.compile(r"[\d.,]+e[+-]?\d", re.I)
_ORDINAL = re.compile(r"第(.+?)(?:名|位|期|轮|届|次|号|大|年|季)?|(\d+)(?:st|nd|rd|th)", re.I)
_YEAR = re.compile(r"((?:1[5-9]|20|21)\d\d)年?度?")


def read_number(text: str, unit: str, context: Context) -> tuple[Fraction, tuple[str, ...]]:
    """Exact value in the unit that `unit` names, and notes (`about`, the unit that was assumed)."""
    target = target_of(unit)
    if _CODE.fullmatch(text):
        raise Unread(f"{text[:40]}: begins with 0, a code and no amount")
    if context.decimal == "." and _SIMPLE.fullmatch(text):
        return _bare(Fraction(text), target, context)
    if span := _span(text):
        if not context.span:
            raise Undecided(f"range {span}")
        return _within(text, target, context)
    if not target.dimension or target.dimension == "count:rank":
        if found := _YEAR.fullmatch(text):
            return Fraction(int(found[1])), ("a year",)
        if found := _ORDINAL.fullmatch(text):
            amount = measure(found[1] or found[2], context)
            if amount.unit.text or amount.unit.dimension:
                raise Unread(f"{text}: no ordinal")
            return amount.number, ("ordinal",)
    try:
        return _measured(text, target, context)
    except Unread:
        if found := _BESIDE.fullmatch(text):
            return _beside(found[1].strip(), found[2].strip(), target, context)
        raise


def _within(text: str, target: Unit, context: Context) -> tuple[Fraction, tuple[str, ...]]:
    """The value that a range stands for; a unit written once holds for both ends."""
    found = _RANGE.fullmatch(strip_hedges(text)[0])
    if not found:
        raise Undecided(f"range {text}")
    tail = found["t"]
    size = found["u"] or tail
    low, _ = _measured(found["a"] + size, target, context)
    high, _ = _measured(found["b"] + tail, target, context)
    if low >= high:
        raise Undecided(f"range {text}: the ends do not rise")
    value = {"low": low, "high": high, "middle": (low + high) / 2}[context.span]
    return value, (f"{context.span} of the range {text}",)


def _measured(text: str, target: Unit, context: Context) -> tuple[Fraction, tuple[str, ...]]:
    amount = measure(text, context)
    if target.dimension.startswith("count:") and _FAR_LETTER.search(text):
        raise Undecided(f"{text}: a size or a unit, not decided")
    value, note = _convert(amount, target, context)
    return value, tuple(dict.fromkeys((*amount.notes, *note)))


def _beside(first: str, second: str, target: Unit, context: Context) -> tuple[Fraction, tuple[str, ...]]:
    """`1419万股(5.72%)`: two statements, of which one fits the column or both agree."""
    read: list[tuple[Fraction, tuple[str, ...]]] = []
    for text in (first, second):
        try:
            read.append(_measured(text, target, context))
        except Unread:
            continue
    if len({value for value, _ in read}) != 1:
        raise Unread(f"{first} ({second}): neither or both fit the column")
    return read[0][0], (*read[0][1], f"written as {first} ({second})")


def _span(text: str) -> str:
    """`a–b` for a range with both ends; empty for none."""
    found = _RANGE.fullmatch(text)
    if (
        not found
        or not (_has_numeral(found["a"]) and _has_numeral(found["b"]))
        or text.startswith("-")
        or _SCIENTIFIC.match(text)
    ):
        return ""
    if re.search(r"\d", found["u"]) or re.search(r"[\d]", re.sub(r"10\^\d+|m[23]", "", found["t"])):
        return ""
    if re.search(r"and|和|与", text, re.I) and not re.match(r"between|介于|在", text, re.I):
        return ""
    return f"{found['a']}–{found['b']}{found['t']}"


def _has_numeral(text: str) -> bool:
    return any(letter.isdigit() for letter in text) or bool(_LETTERS_ONLY.search(text))


def _bare(number: Fraction, target: Unit, context: Context) -> tuple[Fraction, tuple[str, ...]]:
    """A number written without a unit: in the target's unit where that is the one consistent reading."""
    if context.bare_unit:
        source = target_of(context.bare_unit)
        if source.dimension != target.dimension:
            raise Unread(f"bare numbers are {context.bare_unit}, not {target.text}")
        return number * source.factor / target.factor, (f"no unit written: {ASSUMED}{context.bare_unit}",)
    if not target.dimension and target.factor == 1:
        return number, ()
    if target.dimension.startswith("count:") and target.factor == 1:
        return number, ()
    note = (f"no unit written: {ASSUMED}{target.text}",)
    if target.dimension != RATIO:
        if target.factor != 1 and (target.money or target.dimension.startswith("count:") or not target.dimension):
            raise Undecided(f"no unit written: {target.text} or its base unit, not decided")
        return number, note
    if target.factor == 1:
        if number == 0 or abs(number) < 1:
            return number, note
        raise Undecided("no unit written: ratio or percent, not decided")
    if number == 0 or abs(number) > 1:
        return number, note
    raise Undecided(f"no unit written: {target.text} or ratio, not decided")


def _convert(amount: Amount, target: Unit, context: Context) -> tuple[Fraction, tuple[str, ...]]:
    written, number = amount.unit, amount.number
    if written.dimension in ("fraction", "slash"):
        return _fraction(amount, target)
    if written.dimension == "":
        if written.factor == 1 and not written.text:
            return _bare(number, target, context)
        if target.dimension == RATIO:
            raise Unread(f"{written.text}: a size, not a part")
        return _sized(number * written.factor, target)
    if (
        written.dimension == target.dimension
        and written.dimension != "?"
        and not written.dimension.startswith("count:")
    ):
        notes = ("percentage points",) if "百分点" in written.text or "percentage point" in written.text else ()
        return number * written.factor / target.factor, notes
    return _other(amount, target)


def _sized(number: Fraction, target: Unit) -> tuple[Fraction, tuple[str, ...]]:
    """A number with a size and no unit: of money, counts and plain numbers the base unit, else the column's own unit."""
    if target.money or target.dimension.startswith("count:") or not target.dimension:
        return number / target.factor, _assumed(target)
    if _SIZE_WORD.search(target.text):
        raise Undecided(f"no unit written: {target.text} or its base unit, not decided")
    return number, _assumed(target)


def _assumed(target: Unit) -> tuple[str, ...]:
    if not target.dimension or target.dimension.startswith("count:"):
        return ()
    return (f"no unit written: {ASSUMED}{target.text}",)


def _fraction(amount: Amount, target: Unit) -> tuple[Fraction, tuple[str, ...]]:
    if amount.unit.dimension == "slash" and target.dimension != RATIO:
        raise Undecided(f"{amount.unit.text}: a fraction, a date or a score, not decided")
    if target.dimension not in (RATIO, ""):
        raise Unread(f"{amount.unit.text}: a part of something, not an amount in {target.text}")
    return amount.number / target.factor, ()


def _other(amount: Amount, target: Unit) -> tuple[Fraction, tuple[str, ...]]:
    """Counts with their nouns, letters that are a size or a unit, quotients whose lower part the column implies."""
    written, number = amount.unit, amount.number
    if target.dimension.startswith("count:"):
        size, name = _size_and_noun(written)
        if same(name, _noun_of(target)):
            return number * size / target.factor, ()
    if target.dimension == "temp:C" and written.text == "度":
        return number / target.factor, (f"度 {ASSUMED}℃",)
    if letter := _letter(written.text, target):
        return number * letter / target.factor, _assumed(target)
    if (upper := upper_of(target)) and written.dimension == upper.dimension:
        return number * written.factor / upper.factor, (f"{ASSUMED}{target.text}",)
    if not target.dimension and written.dimension.startswith("count:"):
        return number * written.factor / target.factor, (f"counted in {written.text}",)
    if not target.dimension and written.dimension == RATIO and written.factor == 1:
        return number / target.factor, ()
    if not target.dimension and written.dimension != "?":
        raise Unread(
            f"written in {written.text}, the column has no unit; give it in the knowledge, as (unit: {written.text})"
        )
    raise Unread(f"written in {written.text}, not in {target.text or 'a plain number'}")


def _noun_of(target: Unit) -> str:
    return _size_and_noun(target)[1]


def _size_and_noun(unit: Unit) -> tuple[Fraction, str]:
    """`万股` and `million shares` as size and noun."""
    if unit.factor == 1:
        return Fraction(1), unit.text
    for cut in range(len(unit.text) - 1, 0, -1):
        if SCALES.get(unit.text[:cut].lower()) == unit.factor:
            return unit.factor, unit.text[cut:].strip(" -").removeprefix("of ")
    return unit.factor, unit.text


def _letter(text: str, target: Unit) -> Fraction | None:
    """`m`, `mm`, `t` as million and trillion where the column holds money, counts or a stated size."""
    sizes = {"m": 10**6, "mm": 10**6, "t": 10**12, "k": 10**3, "b": 10**9}
    sized = target.money or target.dimension.startswith("count:") or (not target.dimension and target.factor != 1)
    return Fraction(sizes[text.lower()]) if sized and text.lower() in sizes else None
