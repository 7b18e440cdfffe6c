"""A counting word (shares, 股, 位, appearances) → the thing it counts; synonyms share one name."""

from __future__ import annotations

from functools import lru_cache

GENERIC = "个件"
"""Measure words that count anything."""
_GROUPS = (
    "share 股 股份 股票 股权 stock 普通股 a股",
    "person people 人 名 位 人次 employee staff 员工 student pupil 学生 patient inhabitant resident member worker teacher passenger injured",
    "household 户 holder account 账户 family shareholder 股东 unitholder",
    "unit 份 基金份额 piece pc item 台 套 只 部 set 辆 架 艘 枚 张 支 条 块板 vehicle copy 册 本 volume package carton box 箱 包 袋 瓶 pack pallet parcel",
    "match 场 appearance game cap app 次出场",
    "goal 球 进球 粒进球 粒", "assist 助攻 次助攻 记助攻",
    "time 次 回 occasion", "company 家 firm 间 所 座 栋 store shop branch outlet 门店 school hospital",
    "project 项 项目 case 起 宗 例 笔 transaction complaint order incident injury",
    "point 分 score mark", "container 集装箱", "head 头 匹 口", "class 班 教学班 个班", "bed 张床位 床", "room 间房 seat 座位", "step page 页 word 字", "age 岁 周岁",
    "rank 名次", "row line record 条记录 行", "vote 票 ballot", "patent 项专利 件专利", "flight 班次 航班 架次", "kind 种 类 type category", "layer 层 floor storey",
    "lot 手", "generation 代 edition 届 期 round 轮 season",
)  # fmt: skip
_PIECES = "份 台 套 只 部 辆 架 piece pc item set 枚 张 支 条 vehicle copy"
_IRREGULAR = {"people": "person", "staff": "staff", "lives": "life", "matches": "match", "boxes": "box", "classes": "class", "copies": "copy", "injuries": "injury",
              "companies": "company", "families": "family", "branches": "branch", "pcs": "pc", "ids": "id"}  # fmt: skip


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for group in _GROUPS:
        words = group.split()
        names |= {word: word if _loose(words[0]) else words[0] for word in words}
    return names


def _loose(first: str) -> bool:
    """Groups that only list known words: their members do not stand for one another."""
    return first in {"unit", "company", "project", "step", "row", "kind", "generation", "class"}


def singular(word: str) -> str:
    """An English noun without its plural ending."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


@lru_cache(maxsize=4096)
def noun(text: str) -> str:
    """The thing that a word counts; empty for a word that is not in the table."""
    names, word = _names(), text.strip().lower()
    if word and word in GENERIC:
        return "thing"
    return names.get(word) or names.get(singular(word), "")


def same(written: str, wanted: str) -> bool:
    """Whether a count written with one word answers a column that counts another: same word, synonym, generic measure word."""
    said, asked = written.strip().lower(), wanted.strip().lower()
    if said == asked or singular(said) == singular(asked) or (said and said in GENERIC):
        return True
    if said[:1] and said[0] in GENERIC and (asked in GENERIC or same(said[1:], asked)):
        return True
    known, target = noun(said), noun(asked)
    if known and (known == target or (target == "unit" and known in _UNITS)):
        return True
    words = {singular(word) for word in said.replace("-", " ").split()}
    return bool(asked.isascii() and asked and {singular(word) for word in asked.split()} <= words and len(words) <= 4)


_UNITS = frozenset(_PIECES.split())
