"""A unit's text (万元, USD bn, mmol/L, per cent, shares) → dimension and exact factor; None when it is unknown."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tasks.core.values.nouns import noun
from tasks.core.values.scales import BY_LENGTH, DOUBTFUL, SCALES

RATIO = "ratio"


class Unit(NamedTuple):
    """Value in base units of the dimension = number × factor."""

    dimension: str
    """`ratio`, `money:CNY`, `mass`, `count:share`, `""` for a pure number; `a/b` for a quotient."""
    factor: Fraction
    text: str = ""

    @property
    def money(self) -> bool:
        """Whether it is an amount of some currency."""
        return self.dimension.startswith("money:") and "/" not in self.dimension


_RATIOS = {
    Fraction(1): "ratio 比率 比例 小数 小数比例 fraction decimal 倍 times x 小数形式 比值",
    Fraction(1, 10): "成",
    Fraction(1, 100): "% percent pct percentage 百分比 百分数 个百分点 百分点 pp ppt ppts %pts",
    Fraction(1, 1000): "‰ permille permil 千分比 千分点 个千分点",
    Fraction(1, 10000): "bp bps 基点 个基点 bips ‱ 个bp 个bps 万分点",
}
_LONG_RATIOS = {"per cent": 100, "percentage point": 100, "percentage points": 100, "per mille": 1000, "per mil": 1000,
                "per thousand": 1000, "basis point": 10000, "basis points": 10000, "parts per million": 10**6, "ppm": 10**6}  # fmt: skip
_MONEY = {
    "CNY": "元 人民币 元人民币 人民币元 圆 元整 圆整 块 块钱 cny rmb yuan ¥ cn¥ rmb¥ rmb元 renminbi",
    "USD": "美元 美金 usd us$ us$ dollars:us usdollars us-dollars 万美金",
    "HKD": "港元 港币 港幣 hkd hk$ 元港币", "EUR": "欧元 eur € euro euros", "GBP": "英镑 gbp £ sterling",
    "JPY": "日元 日圆 jpy jp¥ yen 円", "TWD": "新台币 台币 新台币元 twd nt$ ntd", "KRW": "韩元 krw ₩", "INR": "卢比 inr ₹ rupees rupee",
    "CHF": "瑞士法郎 chf sfr", "CAD": "加元 cad c$ ca$", "AUD": "澳元 aud a$ au$", "SGD": "新加坡元 新元 sgd s$", "RUB": "卢布 rub ₽",
    "MOP": "澳门元 澳门币 mop mop$", "SEK": "sek", "NOK": "nok", "DKK": "dkk", "BRL": "brl r$", "THB": "泰铢 thb ฿",
    "$": "$ dollar dollars",
}  # fmt: skip
_LONG_MONEY = {"us dollar": "USD", "us dollars": "USD", "u.s. dollars": "USD", "hong kong dollars": "HKD", "hk dollars": "HKD",
               "pounds sterling": "GBP", "japanese yen": "JPY", "swiss francs": "CHF", "australian dollars": "AUD",
               "canadian dollars": "CAD", "chinese yuan": "CNY", "yuan renminbi": "CNY", "rmb yuan": "CNY"}  # fmt: skip
_PHYSICAL: dict[str, dict[str, str]] = {
    "mass": {"kg kgs 千克 公斤 kilogram kilograms kilo kilos": "1", "g 克 gram grams gm": "1/1000", "mg 毫克 milligram milligrams": "1/1000000",
             "μg ug mcg 微克 microgram micrograms": "1/1000000000", "ng 纳克": "1/1000000000000", "t 吨 公吨 tonne tonnes mt 吨整": "1000",
             "斤 市斤": "1/2", "两": "1/20", "lb lbs pound pounds 磅": "45359237/100000000", "oz ounce ounces 盎司": "45359237/1600000000"},
    "length": {"m 米 公尺 metre metres meter meters": "1", "km 公里 千米 kilometre kilometres kilometer kilometers kms": "1000",
               "cm 厘米 公分 centimetre centimetres centimeter centimeters cms": "1/100", "mm 毫米 millimetre millimetres millimeter millimeters": "1/1000",
               "μm um 微米": "1/1000000", "nm 纳米": "1/1000000000", "dm 分米": "1/10", "in inch inches 英寸": "254/10000", "ft foot feet 英尺": "3048/10000",
               "yd yard yards 码": "9144/10000", "mi mile miles 英里": "1609344/1000", "里": "500"},
    "area": {"m2 m^2 sqm 平方米 平米 ㎡": "1", "km2 km^2 平方公里 平方千米": "1000000", "cm2 cm^2 平方厘米": "1/10000", "公顷 ha hectare hectares": "10000",
             "亩": "2000/3", "acre acres 英亩": "40468564224/10000000", "sqft ft2 平方英尺": "9290304/100000000"},
    "volume": {"m3 m^3 立方米 立方 cbm 方": "1", "l 升 litre litres liter liters": "1/1000", "dl 分升": "1/10000", "ml 毫升 millilitre millilitres milliliter milliliters cc": "1/1000000",
               "μl ul 微升": "1/1000000000", "hl": "1/10", "cm3 cm^3 立方厘米": "1/1000000", "bbl 桶 barrel barrels": "158987294928/1000000000000"},
    "substance": {"mol 摩尔": "1", "mmol 毫摩尔 毫摩": "1/1000", "μmol umol 微摩尔 微摩": "1/1000000", "nmol 纳摩尔": "1/1000000000", "pmol": "1/1000000000000"},
    "time": {"s sec secs second seconds 秒 秒钟": "1", "ms 毫秒 millisecond milliseconds": "1/1000", "min mins minute minutes 分钟": "60",
             "h hr hrs hour hours 小时 个小时 钟头": "3600", "d day days 天 日": "86400", "wk week weeks 周 星期 个星期 礼拜": "604800"},
    "months": {"month months 个月 月 mo mos": "1", "year years yr yrs 年 a": "12", "quarter quarters 个季度 季度": "3"},
    "energy": {"kwh 千瓦时 度电": "1", "wh 瓦时": "1/1000", "mwh 兆瓦时": "1000", "gwh 吉瓦时": "1000000"},
    "heat": {"j 焦耳 焦": "1", "kj 千焦": "1000", "mj 兆焦": "1000000", "cal 卡": "4184/1000", "kcal 千卡 大卡": "4184"},
    "power": {"kw 千瓦 kilowatt kilowatts": "1", "w 瓦 watt watts": "1/1000", "MW 兆瓦 megawatt megawatts": "1000", "GW 吉瓦": "1000000"},
    "pressure": {"pa 帕": "1", "kpa 千帕": "1000", "hpa 百帕": "100", "MPa 兆帕": "1000000", "mmhg 毫米汞柱": "133322387415/1000000000"},
    "data": {"kb": "1", "mb": "1000", "gb": "1000000", "tb": "1000000000"},
    "frequency": {"hz 赫兹": "1", "khz 千赫": "1000", "mhz 兆赫": "1000000", "ghz": "1000000000"},
    "voltage": {"v 伏 伏特": "1", "kv 千伏": "1000", "mv 毫伏": "1/1000"},
    "temp:C": {"°c 摄氏度 ℃ celsius 度c": "1"}, "temp:F": {"°f 华氏度 fahrenheit": "1"}, "temp:K": {"kelvin 开尔文": "1"},
    "turbidity": {"ntu ntus 度ntu": "1"}, "enzyme": {"u iu 国际单位": "1"}, "equivalent": {"teu teus 标箱 标准箱": "1"}, "angle": {"°": "1"},
}  # fmt: skip
_LONG_PHYSICAL = {"square metres": "m2", "square meters": "m2", "square metre": "m2", "square kilometres": "km2", "square kilometers": "km2", "sq m": "m2",
                  "square feet": "ft2", "sq ft": "ft2", "cubic metres": "m3", "cubic meters": "m3", "cubic metre": "m3", "cu m": "m3", "metric tons": "t",
                  "metric tonnes": "t", "degrees celsius": "°c", "deg c": "°c", "degrees c": "°c", "degrees fahrenheit": "°f",
                  "kilowatt hours": "kwh", "kilowatt-hours": "kwh", "nautical miles": ""}  # fmt: skip
_SIZED = re.compile(r"10(?:\^|\*\*)(\d{1,2})(.*)")
_PER = re.compile(r"\s*(?:/|\bper\b|\ba\b(?! )|\beach\b|\bevery\b|每)\s*每?")
_NOTE = re.compile(r"[(\[].*$")


@lru_cache(maxsize=1)
def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for factor, words in _RATIOS.items():
        table |= {word: Unit(RATIO, factor, word) for word in words.split()}
    table |= {word: Unit(RATIO, Fraction(1, under), word) for word, under in _LONG_RATIOS.items()}
    for code, words in _MONEY.items():
        table |= {word: Unit(f"money:{code}", Fraction(1), word) for word in words.split()}
    table |= {word: Unit(f"money:{code}", Fraction(1), word) for word, code in _LONG_MONEY.items()}
    for dimension, group in _PHYSICAL.items():
        for words, size in group.items():
            table |= {word: Unit(dimension, Fraction(size), word) for word in words.split()}
    table |= {word: table[short] for word, short in _LONG_PHYSICAL.items() if short}
    table["角"], table["分钱"] = Unit("money:CNY", Fraction(1, 10), "角"), Unit("money:CNY", Fraction(1, 100), "分")
    return table


@lru_cache(maxsize=4096)
def unit_of(text: str) -> Unit | None:
    """Unit that the whole text names, `Unit("", 1)` for an empty text; None when it names none."""
    text = text.strip(" .")
    if not text:
        return Unit("", Fraction(1))
    table, small = _table(), text.lower()
    found = table.get(text) or table.get(small) or _sized(small)
    if found:
        return found._replace(text=text)
    parts = _PER.split(text)
    if len(parts) == 2 and parts[1]:
        over, under = unit_of(parts[0]), unit_of(parts[1])
        if over and under and under.factor:
            return Unit(f"{over.dimension}/{under.dimension}", over.factor / under.factor, text)
        return None
    return _scaled(text, small) or noun_unit(text)


def upper_of(unit: Unit) -> Unit | None:
    """What a quotient is a quotient of (mg of mg/L); None for another unit or a pure number."""
    upper = unit_of(_PER.split(unit.text)[0]) if "/" in unit.dimension else None
    return upper if upper and upper.dimension else None


def noun_unit(text: str) -> Unit | None:
    """A count of things named by a word that the table of nouns knows."""
    name = noun(text)
    return Unit(f"count:{name}", Fraction(1), text) if name else None


def _sized(text: str) -> Unit | None:
    found = _SIZED.fullmatch(text.replace(" ", ""))
    if not found:
        return None
    rest = unit_of(found[2])
    return rest._replace(factor=rest.factor * 10 ** int(found[1])) if rest else None


def _scaled(text: str, small: str) -> Unit | None:
    for word in BY_LENGTH:
        if small == word:
            return Unit("", Fraction(SCALES[word]), text)
        ascii_word = word.isascii()
        if small.startswith(word):
            rest = text[len(word) :]
            if ascii_word and not (rest[:1] in " -" or not rest[0].isascii() or rest[0] in "$€£"):
                continue
            rest = rest.strip(" -").removeprefix("of ")
            inner = unit_of(rest)
            if inner and (word not in DOUBTFUL or inner.money or inner.dimension.startswith("count:")):
                return inner._replace(factor=inner.factor * SCALES[word], text=text)
        if small.endswith(word):
            rest = text[: -len(word)]
            if ascii_word and not (rest[-1] == " " or not rest[-1].isalpha()):
                continue
            inner = unit_of(rest.strip())
            if inner and inner.money:
                return inner._replace(factor=inner.factor * SCALES[word], text=text)
    return None


@lru_cache(maxsize=512)
def target_of(text: str) -> Unit:
    """The unit of a column as a knowledge names it (`ratio（小数比例）`, `USD bn`, `元/股`); an unknown word counts things of that name."""
    import unicodedata

    plain = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text)
    plain = unicodedata.normalize("NFKC", plain).strip()
    for candidate in (plain, _NOTE.sub("", plain).strip()):
        found = unit_of(candidate)
        if found and (candidate or not plain):
            return found._replace(text=candidate)
    plain = _NOTE.sub("", plain).strip() or plain
    return Unit(f"count:{plain.lower()}", Fraction(1), plain)
