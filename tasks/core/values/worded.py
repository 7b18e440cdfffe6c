"""What a knowledge says of a field → the unit that it names in words (in EUR, in thousand euros, 以万元计)."""

from __future__ import annotations

import re

_SIZES = r"(?:(?:thousand|million|billion|bn|mn)s?(?: of)? )"
_MONEY = (
    r"(?:EUR|USD|GBP|CNY|RMB|JPY|CHF|HKD|CAD|AUD|SGD|INR|SEK|NOK|DKK|KRW|TWD|US\$|HK\$|[€£¥$]"
    r"|(?i:euros?|(?:us |u\.s\. |hong kong )?dollars|yuan(?: renminbi)?|pounds sterling|(?:japanese )?yen|swiss francs|rupees))"
)
_MEASURES = (
    r"(?i:percent|per cent|%|kg|kilograms?|tonnes|grams|km|kilomet(?:re|er)s|met(?:re|er)s|hectares|lit(?:re|er)s"
    r"|hours|minutes|seconds|days|months|years)"
)
_ENDS = r"(?=\s*(?:[.,;:)）。，；]|$|(?:before|after|net|gross|excluding|including|incl\.|excl\.)\s))"
_HAN = r"(?:[千百十]?[万亿]|千|百)?"
_HAN_MONEY = r"(?:元|美元|港元|欧元|日元|英镑|人民币元?)"
_PATTERNS = (
    re.compile(rf"\b[Ii]n ((?:(?i:{_SIZES})?{_MONEY})|{_MEASURES}){_ENDS}"),
    re.compile(r"(?i)\bas an? (percent)age\b"),
    re.compile(rf"[（(]({_HAN}{_HAN_MONEY}|[%‰])[)）]"),
    re.compile(rf"(?:以|按)({_HAN}{_HAN_MONEY})(?:为单位|计)"),
)
_NAMED = re.compile(rf"\b[Ii]n (?i:{_SIZES})?({_MONEY})(?![A-Za-z])")
_UNMEASURED = re.compile(
    r"(?i)(?:the )?(?:number|count|date|day|name|code|id|list|share|part|proportion|whether|status|kind|type|currency)\b"
    r"|是否|币种|货币|日期|名称|代码|编号"
)
"""How the meaning begins of what is no amount in the unit that its text names: number of invoices paid in EUR."""
_TYPED = re.compile(r"(?i)char|text|str|date|time|bool|enum|字符|文本|日期|时间|枚举|布尔")


def worded(kind: str, meaning: str) -> str:
    """The unit of a field of that type that may be an amount; empty for none, and where several are named."""
    if _TYPED.search(kind) or _UNMEASURED.match(meaning) or len(set(_NAMED.findall(meaning))) > 1:
        return ""
    found = {match[1] for pattern in _PATTERNS for match in pattern.finditer(meaning)}
    return found.pop() if len(found) == 1 else ""
