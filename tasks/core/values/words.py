"""A text without a number → null, zero, yes or no, where its words say so."""

from __future__ import annotations

import re
from functools import lru_cache

from tasks.core.values.context import Context
from tasks.core.values.denials import denies
from tasks.core.values.nouns import same
from tasks.core.values.units import RATIO, target_of

_NULLS = (
    "未披露 未公布 未公开 未公告 暂缺 缺失 缺 不详 未知 不明 未提供 未提及 未说明 未注明 未列示 未记录 未填报 未填 未填写 未统计 未测 未测定 未检测 无数据 "
    "暂无 暂无数据 无记录 不适用 尚未披露 尚未公布 未见披露 数据缺失 资料缺失 资料不全 待定 待补 待核实 空缺 空白 无法获取 无从得知 没有披露 没有公布 没有记录 "
    "- -- --- / \\ . ... n/a n.a n.a. na nan null #n/a tbd tba tbc unknown unavailable undisclosed unreported unrecorded missing blank "
    "not-disclosed not-available not-reported not-stated not-given not-known not-applicable not-recorded not-published not-provided not-specified "
    "not-measured not-released not-made-public not-announced not-yet-disclosed not-yet-available no-data no-record no-information data-missing "
    "left-blank to-be-determined to-be-announced withheld none-given none-stated none-reported none-recorded"
)
NULLS = frozenset(_NULLS.split())
_TEXT_KEEPS = frozenset(
    {"/", "\\", ".", "na", "nan", "null", "unknown", "blank", "待定", "缺", "missing", "withheld", "未知", "不明"}
)
"""Words that a text column may hold as its value."""
_NULL_SHAPE = re.compile(
    r"(?:该|此|相关|具体)?(?:数据|数值|数字|信息|资料|金额|数量|比例|日期)?(?:均|尚|暂|并)?(?:未|没有|不)(?:予|作|对外)?(?:披露|公布|公开|公告|提供|说明|注明|列示|记录|记载|填报|统计|给出|详)"
    r"|(?:(?:was|were|is|are|has|have|had|being) )?(?:been )?(?:not|never) (?:yet )?(?:been )?(?:publicly )?(?:disclosed|available|reported|stated|given|known|recorded|published|provided|specified|measured|released|announced)"
    r"(?: (?:in|by|to) .{1,40})?|(?:was|were|is|are) (?:unavailable|undisclosed|missing|unknown|withheld|left blank(?: in .{1,40})?)|left blank in .{1,40}"
)
_NOT = r"(?:不再|已不|未再|并未|并不|未曾|未|没有|不|无)"
_ZEROS = re.compile(
    rf"零|零元|零股|〇|(?:全部|已|已经|全数)?清仓|持股为零|零持股|(?:与[^\d]{1, 6})?(?:没有|无|不存在)(?:任何)?持股(?:关系)?|{_NOT}(?:再)?(?:直接|继续)?(?:持有|保留|拥有|剩余|留有|留存)(?:任何|其|该公司|公司|上市公司|的){{0,3}}(?:股份|股票|股权|份额|持股)?"
    r"|zero|nil (?:holding|shares)|no (?:holding|stake)s?"
    r"|(?:(?:no longer|(?:does|did|do) not|never) (?:hold|own|have)(?:s|ed|ing)? any|no longer held any|(?:holds?|held|owns?|owned|had|has) (?:no|zero|none|nothing))"
    r"(?: of)?(?: the| its| his| her| company's| company| target's){0,2}(?: shares?| stock| stakes?| units?)?"
)
_NO_HOLDER = re.compile(
    r"(?:[a-z' ]{2,40} )?(?:was|were|is|are|had|has|have)(?: not| never|n't)(?: yet)?(?: been)?(?: previously| earlier)? (?:a |an )?(?:share|stock|unit)?(?:holder|owner)s?"
    r"(?: (?:in|of|until|before|at|prior to) [a-z' ]{2,40}| before| previously| earlier)?"
    r"|(?:[^\d，。]{0,8}?)(?:此前|之前|原先|原来|事前|受让前|转让前|交易前)?(?:并非|并不是|不是|尚不是|非)(?:该|本|标的|上市)?(?:公司)?(?:的)?股东"
)
_NONE_OF = re.compile(
    r"(?:there (?:were|was) )?(?:no|not a single|zero) (?P<noun>[a-z' -]{2,40}?)(?: (?:was|were|is|are|have been|has been) (?:\w+)(?: (?:in|by|for|on|during) .{1,40})?| at all)?|(?:没有|未有|无)(?:任何)?(?P<han>[^\d]{1,6})"
)
_NOT_GIVEN = re.compile(
    r"\b(?:disclosed|available|given|stated|published|released|announced|provided|specified|known|mentioned|named|determined|counted|measured|listed|shown)\b"
)
"""What is said of a figure, not of the things it counts."""
_NOBODY = re.compile(
    r"(?:nobody|no one|no-one|none)(?: was| were)(?: \w+){1,2}|无人(?:员)?(?:受伤|伤亡|死亡|受害|患病)?"
)
_ALIKE = (
    frozenset({"未检出", "未测出", "低于检出限",
            "低于检测下限",
            "低于检测限",
            "低于检出下限", "nd", "n.d", "undetectable", "undetected", "not detected", "not detectable", "below detection limit", "below the detection limit", "below detection"}),
    frozenset({"免费", "免费转会", "自由转会", "零转会费", "free", "free transfer", "on a free", "free agent", "no fee", "free of charge"}),
    frozenset({"nil", "none", "无", "没有"}),
)  # fmt: skip
_AROUND = re.compile(r"^(?:(?:was|is|were|are|came|on|as|for|a|an|the|均|为|系|属)\b ?)+", re.I)
_LIGHT = frozenset(
    {
        "was",
        "were",
        "is",
        "are",
        "got",
        "has",
        "have",
        "had",
        "been",
        "there",
        "any",
        "the",
        "a",
        "an",
        "received",
        "made",
        "reported",
        "recorded",
        "so",
        "far",
        "at",
        "all",
    }
)
_LONG_ENOUGH = 4
_YES = "是 对 真 有 已 √ ✓ ✔ ☑ true yes y t 1 on 正确 属实 通过 符合"
_NO = "否 错 假 无 未 没有 不是 × ✗ ✘ ☐ * false no n f 0 off 错误 不属实 未通过 不符合"
YES, NO = frozenset(_YES.split()), frozenset(_NO.split())


def is_null(text: str, context: Context, free: bool = False) -> bool:
    """Whether a clean text says that no value is given; `free`: a text column, where short words may be values."""
    word = text.lower()
    key = word.replace(" ", "-")
    if not word or word in context.null_words or text in context.null_words:
        return True
    if key in NULLS or word in NULLS:
        return not (free and key in _TEXT_KEEPS)
    return bool(_NULL_SHAPE.fullmatch(word))


def is_zero(text: str, unit: str, context: Context) -> bool:
    """Whether a clean text says zero without a number; 无, nil, 未检出 only where the context names them or their like."""
    word = text.lower()
    if _ZEROS.fullmatch(word):
        return True
    if context.zero_words and _says_one_of(word, context.zero_words):
        return True
    if _NOT_GIVEN.search(word):
        return False
    if _NO_HOLDER.fullmatch(word):
        return same("share", unit) or target_of(unit).dimension == RATIO
    if _NOBODY.fullmatch(word):
        return not any(sign in unit for sign in "%‰/¥$€") and unit.lower() not in ("ratio", "percent")
    found = _NONE_OF.fullmatch(word)
    return bool(found and unit and same(found["noun"] or found["han"], unit)) or denies(word, unit, context.about)


def _says_one_of(word: str, zeros: tuple[str, ...]) -> bool:
    """Whether a text is one of the words for zero, one of their like, or one with a subject or light verbs put in."""
    wanted = {zero.lower() for zero in zeros}
    wanted |= {like for group in _ALIKE if group & wanted for like in group}
    if {word, _AROUND.sub("", word)} & wanted:
        return True
    short = _light(word)
    return any(
        _with_subject(zero).fullmatch(word) if re.search(r"[\u3400-\u9fff]", zero) else _light(zero) == short
        for zero in wanted
        if len(zero) >= _LONG_ENOUGH
    )


def _light(text: str) -> str:
    """English words without the light verbs around what they say (no claims [were received])."""
    return " ".join(part for part in text.strip(" .").split() if part not in _LIGHT)


@lru_cache(maxsize=512)
def _with_subject(zero: str) -> re.Pattern[str]:
    """全部走读 also as 全部学生走读: one to three signs put between two halves, none of which denies or counts."""
    put = r"[^不非未无没否仅除外\d零一二三四五六七八九十百千万亿]{1,3}"
    halves = [f"{re.escape(zero[:at])}{put}{re.escape(zero[at:])}" for at in range(2, len(zero) - 1)]
    return re.compile("|".join([re.escape(zero), *halves]))


def yes_or_no(text: str) -> bool | None:
    """True, False, or None for another text."""
    word = text.lower()
    return True if word in YES else False if word in NO else None
