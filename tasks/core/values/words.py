"""A text without a number → null, zero, yes or no, where its words say so."""

from __future__ import annotations

import re

from tasks.core.values.context import Context

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
    r"|(?:(?:was|were|is|are|has been|have been) )?(?:not|never) (?:been )?(?:publicly )?(?:disclosed|available|reported|stated|given|known|recorded|published|provided|specified|measured|released|announced)"
    r"(?: (?:in|by|to) .{1,40})?|(?:was|were|is|are) (?:unavailable|undisclosed|missing|unknown|withheld|left blank(?: in .{1,40})?)|left blank in .{1,40}"
)
_ZEROS = re.compile(
    r"零|零元|零股|〇|zero|全部清仓|清仓|已清仓|不再持有(?:任何|该公司|其|公司)?(?:股份|股票|股权)?|未持有(?:任何|该公司|公司)?(?:股份|股票|股权)?|不持有(?:任何|该公司|公司)?(?:股份|股票)?|没有持有(?:任何)?(?:股份|股票)?|持股为零|零持股|"
    r"nil holding|no holding|no (?:longer )?holds? any(?: shares)?|no longer (?:holds|held|holding) any(?: shares)?|(?:held|holds|holding|owned|had) (?:no|zero) (?:shares|stock|stake)|no shares(?: at all)?|held none|sold (?:out )?(?:its|the) (?:entire|whole) (?:holding|stake)"
)
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


def is_zero(text: str, context: Context) -> bool:
    """Whether a clean text says zero without a number; 无, nil, 未检出 only where the context names them."""
    return text in context.zero_words or text.lower() in context.zero_words or bool(_ZEROS.fullmatch(text.lower()))


def yes_or_no(text: str) -> bool | None:
    """True, False, or None for another text."""
    word = text.lower()
    return True if word in YES else False if word in NO else None
