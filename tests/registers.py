"""Registers in prose, made by a seed: every record in one of several wordings, with all true cells and where they stand.

Two domains in two languages. Values come in several notations and units, some are said to be unknown and some left out;
sentences in between tell of something else, of another record, or of what might have been; corrections stand at the end.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MISSING = 0.06
"""Share of the cells that have no value; half of them are said to have none."""


class Told(NamedTuple):
    """A value as a line has it."""

    line: int
    raw: str
    corrects: bool = False


@dataclass
class Register:
    """A document with everything that is true of it."""

    stem: str
    key: str
    columns: dict[str, tuple[str, str]]
    """Type and unit by name, the key left out."""
    knowledge: str
    lines: list[str] = field(default_factory=list)
    truth: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[tuple[str, str], list[Told]] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """Another line; its number."""
        self.lines += [text, ""]
        return len(self.lines) - 1


_KEEPERS = [
    "Ada Brandt",
    "Tom Whitlock",
    "Ines Calder",
    "Otto Rask",
    "Mona Ferris",
    "Piet Ansel",
    "Lucy Harrow",
    "Hugh Dorset",
]
_COLOURS = ["white", "yellow", "red", "green", "blue"]
_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]  # fmt: skip
_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def _kg(rng: random.Random, value: float) -> str:
    forms = [f"{value:g} kg", f"{value:g} kilograms", f"{value / 1000:g} tonnes"]
    return rng.choice(forms[: 3 if round(value / 1000, 4) == value / 1000 else 2])


def _day(rng: random.Random, value: str) -> str:
    year, month, day = value.split("-")
    name = _MONTHS[int(month) - 1]
    return rng.choice(
        [value, f"{int(day)} {name} {year}", f"{name} {int(day)}, {year}", f"{int(day)} {name[:3]} {year}"]
    )


def _frames(rng: random.Random, value: int) -> str:
    return rng.choice([str(value), _WORDS[value]]) if value < len(_WORDS) and value else str(value)


def _share(rng: random.Random, value: float) -> str:
    percent = round(value * 100, 1)
    return rng.choice([f"{percent:g}%", f"{percent:g} per cent", f"{percent:g} percent"])


_HIVES = [
    "Hive {id} is kept by {keeper}; it gave {honey} of honey from {frames} frames, was inspected on {inspected}, lost {loss} of its bees and has a {queen} queen.",
    "The {queen} queen of hive {id} belongs to {keeper}. The harvest came to {honey}. Its {frames} frames were seen on {inspected}, with a loss of {loss}.",
    "At hive {id} the keeper {keeper} took off {honey}, after an inspection dated {inspected}; frames: {frames}; winter loss: {loss}; queen marked {queen}.",
    "{keeper} looks after hive {id}, whose yield was {honey}. Frames in use: {frames}. Last look inside: {inspected}. Losses over winter ran to {loss}. The queen wears {queen}.",
    "Entry for hive {id}: keeper {keeper}, honey {honey}, frames {frames}, inspection {inspected}, queen {queen}, loss {loss}.",
    "From hive {id}, in the care of {keeper}, {honey} of honey were drawn, and {frames} frames stood full when it was opened on {inspected}; {loss} of the colony died, and the queen's mark is {queen}.",
]  # fmt: skip
_HIVE_GAPS = {
    "honey": "The weight of the honey was not recorded.",
    "frames": "Nobody counted the frames.",
    "inspected": "The date of the inspection is unknown.",
    "loss": "No figure for the loss was kept.",
    "queen": "The colour of the queen was not noted.",
    "keeper": "The keeper's name is not on the card.",
}
_HIVE_ASIDES = [
    "The stand was painted in {n}.",
    "Clover grows nearby.",
    "The card is kept in drawer {n}.",
    "A neighbour keeps {n} sheep.",
    "Rain fell on {n} days that month.",
]
_HIVE_TRAPS = [
    "Unlike hive {other}, which gave {n} kg, it was never moved.",
    "With more rain it would have given {n} kg.",
    "A letter claims a harvest of {n} kg, which nobody confirms.",
]
_HIVE_WRONG = "Correction: the honey of hive {id} was {new}, not {old}."

_UNITS = ["临江水务所", "北塘管理站", "丰源水利局", "青石灌区处", "长堤工程队", "南岭供水站"]
_NAMES = "云岭山河石清沙白龙青源泉平安富兴"


def _volume(rng: random.Random, value: float) -> str:
    forms = [f"{value:g}万立方米", f"{value * 10000:,.0f}立方米"]
    return rng.choice([*forms, f"{value / 10000:g}亿立方米"] if value >= 1000 and value % 10 == 0 else forms)


def _date(rng: random.Random, value: str) -> str:
    year, month, day = value.split("-")
    return rng.choice([value, f"{year}年{int(month)}月{int(day)}日", f"{year}/{month}/{day}"])


def _metres(rng: random.Random, value: float) -> str:
    return rng.choice([f"{value:g}米", f"{value:g} 米", f"{value * 100:.0f}厘米"])


def _percent(rng: random.Random, value: float) -> str:
    return rng.choice([f"{value * 100:.1f}%", f"百分之{value * 100:.1f}", f"{value * 1000:.0f}‰"])


def _crew(rng: random.Random, value: int) -> str:
    return rng.choice([f"{value}人", f"{value}名"])


_LAKES = [
    "编号{id}的水库名为{name}水库，由{unit}管理，总库容{volume}，建成于{built}，坝高{height}，现有职工{crew}，蓄水率{level}。",
    "{name}水库登记为{id}号，管理单位是{unit}。坝高{height}；库容{volume}；蓄水率为{level}。建成日期{built}，在编{crew}。",
    "登记簿{id}号为{name}水库：{built}竣工，{unit}负责日常管理，库容合计{volume}，大坝高{height}，值守{crew}，蓄水率达{level}。",
    "{unit}辖下的{name}水库编号{id}，其坝高为{height}，可蓄水{volume}，{built}完工，蓄水率{level}，配员{crew}。",
    "再看{id}号，{name}水库，主管方{unit}。蓄水率记为{level}。大坝{height}高，容量{volume}，{built}投入使用，管理人员{crew}。",
    "{id}号档案记载{name}水库的库容为{volume}，坝体高度{height}，建成时间{built}，人员编制{crew}，蓄水率约定读数{level}，归{unit}管。",
]
_LAKE_GAPS = {
    "volume": "库容未登记。",
    "built": "建成日期不详。",
    "height": "坝高没有记载。",
    "crew": "人员情况未填报。",
    "level": "蓄水率缺测。",
}
_LAKE_ASIDES = ["附近有果园{n}亩。", "道路已硬化。", "档案存于{n}柜。", "周边林地覆盖良好。", "库区设有观测点{n}处。"]
_LAKE_TRAPS = [
    "不同于{other}号，后者库容{n}万立方米。",
    "若来年扩建，库容可能达到{n}万立方米。",
    "有传闻称其坝高{n}米，未经证实。",
]
_LAKE_WRONG = "更正：{id}号水库的库容应为{new}，原文{old}有误。"


def hives(size: int, seed: int = 7) -> Register:
    """A bee-keepers' register, in English."""
    columns = {
        "keeper": ("text", ""),
        "honey": ("number", "kg"),
        "frames": ("integer", ""),
        "inspected": ("date", ""),
        "loss": ("number", "ratio"),
        "queen": ("text", ""),
    }
    fields = "\n".join(
        f"| {name} | {type} | {unit or '-'} | {told} |"
        for (name, (type, unit)), told in zip(
            columns.items(),
            ["Name of the keeper", "Honey harvested", "Number of frames", "Date of the last inspection", "Share of bees lost over winter", "Colour of the queen's mark"],
            strict=True,
        )
    )  # fmt: skip
    knowledge = (
        "# Notes\n\n### hives\nRegister of hives; source: document hives.\n| field | type | unit | description |\n|---|---|---|---|\n"
        f"| hive_id | string | - | Number of the hive, primary key, like HV-00012 |\n{fields}\n"
    )
    made = Register("hives", "hive_id", columns, knowledge)
    rng = random.Random(f"{seed}/{size}")
    made.lines += ["# Register of hives", ""]

    def values() -> dict[str, tuple[Any, str]]:
        honey = rng.choice([rng.randrange(8, 90), rng.randrange(80, 900) / 10])
        loss = rng.randrange(5, 600) / 1000
        frames = rng.randrange(1, 24)
        day = f"{rng.randrange(2015, 2025)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
        keeper, queen = rng.choice(_KEEPERS), rng.choice(_COLOURS)
        return {
            "keeper": (keeper, keeper),
            "honey": (honey, _kg(rng, honey)),
            "frames": (frames, _frames(rng, frames)),
            "inspected": (day, _day(rng, day)),
            "loss": (loss, _share(rng, loss)),
            "queen": (queen, queen),
        }

    _fill(made, rng, (size, "HV-{:05d}", values), (_HIVES, _HIVE_GAPS, _HIVE_ASIDES, _HIVE_TRAPS))
    _mend(made, rng, "honey", (_HIVE_WRONG, "# Corrections", lambda: float(rng.randrange(91, 120)), _kg))
    return made


def lakes(size: int, seed: int = 7) -> Register:
    """A register of reservoirs, in Chinese."""
    columns = {
        "name": ("text", ""),
        "unit": ("text", ""),
        "volume": ("number", "万立方米"),
        "built": ("date", ""),
        "height": ("number", "米"),
        "crew": ("integer", "人"),
        "level": ("number", "ratio"),
    }
    told = ["水库名称", "管理单位", "总库容", "建成日期", "坝高", "职工人数", "蓄水率"]
    types = {"text": "文本", "number": "数值", "date": "日期", "integer": "整数"}
    fields = "\n".join(
        f"| {name} | {types[type]} | {unit or '-'} | {what} |"
        for (name, (type, unit)), what in zip(columns.items(), told, strict=True)
    )
    knowledge = (
        "# 说明\n\n### lakes\n水库登记表，来源文档 lakes（文字材料）。\n| 字段 | 类型 | 单位 | 说明 |\n|---|---|---|---|\n"
        f"| lake_id | 字符串 | - | 水库编号，主键，如 SK-00012 |\n{fields}\n"
    )
    made = Register("lakes", "lake_id", columns, knowledge)
    rng = random.Random(f"{seed}/{size}")
    made.lines += ["# 水库登记", ""]

    def values() -> dict[str, tuple[Any, str]]:
        volume = float(rng.choice([rng.randrange(20, 900), rng.randrange(100, 900) * 10]))
        height, level = rng.randrange(50, 900) / 10, rng.randrange(100, 990) / 1000
        crew = rng.randrange(3, 80)
        day = f"{rng.randrange(1955, 2022)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
        name, unit = "".join(rng.sample(_NAMES, 2)), rng.choice(_UNITS)
        return {
            "name": (f"{name}水库", name),
            "unit": (unit, unit),
            "volume": (volume, _volume(rng, volume)),
            "built": (day, _date(rng, day)),
            "height": (height, _metres(rng, height)),
            "crew": (crew, _crew(rng, crew)),
            "level": (level, _percent(rng, level)),
        }

    _fill(made, rng, (size, "SK-{:05d}", values), (_LAKES, _LAKE_GAPS, _LAKE_ASIDES, _LAKE_TRAPS))
    _mend(made, rng, "volume", (_LAKE_WRONG, "# 更正", lambda: float(rng.randrange(901, 990)), _volume))
    return made


def _fill(
    made: Register,
    rng: random.Random,
    what: tuple[int, str, Callable[[], dict[str, tuple[Any, str]]]],
    words: tuple[list[str], dict[str, str], list[str], list[str]],
) -> None:
    """One line a record. A value that is unknown stands in no line; its part of the wording goes."""
    size, form, values = what
    wordings, gaps, asides, traps = words
    numbers = sorted(rng.sample(range(1, size * 4), size))
    for number in numbers:
        record, cells = form.format(number), values()
        text, extra = rng.choice(wordings), []
        for name in list(cells):
            if name in gaps and rng.random() < MISSING and (shorter := _without(text, name)) is not None:
                text = shorter
                extra += [gaps[name]] if rng.random() < 0.5 else []
                cells[name] = (None, "")
        if rng.random() < 0.2:
            extra.append(rng.choice(asides).format(n=rng.randrange(3, 2000)))
        if rng.random() < 0.015:
            extra.append(rng.choice(traps).format(n=rng.randrange(20, 90), other=form.format(rng.choice(numbers))))
        raws = {name: raw for name, (_, raw) in cells.items()}
        said = text.format(id=record, **raws)
        wide = "。" in said
        line = made.add(("" if wide else " ").join([said[0].upper() + said[1:], *extra]))
        made.truth[record] = {name: value for name, (value, _) in cells.items()}
        for name, raw in raws.items():
            if raw:
                full = f"{raw}水库" if wide and name == "name" else raw
                made.told[record, name] = [Told(line, full)]


def _without(text: str, name: str) -> str | None:
    """The wording without the clause of one value, where that clause holds no other; None where it cannot go."""
    hole = "{" + name + "}"
    start = text.index(hole)
    low = max(text.rfind(mark, 0, start) for mark in ",;，；。")
    stops = [at for mark in ",;，；" if (at := text.find(mark, start)) >= 0]
    end = min(stops, default=-1)
    clause = text[low + 1 : end if end >= 0 else len(text)]
    if low < 0 or end < 0 or clause.count("{") != 1 or "." in clause or "。" in clause:
        return None
    return text[: low + 1] + text[end + 1 :] if text[low] not in "。" else text[: low + 1] + text[end + 1 :].lstrip()


def _mend(
    made: Register,
    rng: random.Random,
    column: str,
    how: tuple[str, str, Callable[[], float], Callable[[random.Random, float], str]],
) -> None:
    """Corrections of some values of a column, at the end."""
    wording, title, value, written = how
    known = [record for record, cells in made.truth.items() if cells[column] is not None]
    made.lines += [title, ""]
    for record in sorted(rng.sample(known, max(1, len(known) // 100))):
        new = value()
        raw, old = written(rng, new), made.told[record, column][0].raw
        line = made.add(wording.format(id=record, new=raw, old=old))
        made.truth[record][column] = new
        made.told[record, column].append(Told(line, raw, corrects=True))


MAKERS: dict[str, Callable[[int], Register]] = {"hives": hives, "lakes": lakes}
