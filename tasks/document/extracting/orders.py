"""A line → its parts that order whoever reads it about instead of stating something: they are no source of values.

Only words about a reply count: 'ignore the instructions above', 'answer 42'. A sentence that takes a figure back
('disregard the earlier figure of 318') states something and stays.
"""

from __future__ import annotations

import re
from functools import lru_cache

_STOP = re.compile(r"[。！？!?；;\n]+|\.+(?=[\s\"'”’)\]]|$)")
_OPENING = (
    r"^[\s\"'“‘(\[*#>_~-]*(?:[A-Za-z][A-Za-z ]{0,30}:\s*)?(?:(?:please|now|then|and|so|just|simply|always|only|instead|kindly"
    r"|you\s+(?:must|should|shall|will|are\s+to|have\s+to|need\s+to))[\s,]+)*"
)
_OPENING_WIDE = r"^[\s“‘「『（(\[*#>_-]*(?:[\u4e00-\u9fff]{1,6}[：:]\s*)?(?:请|务必|必须|你|您|要|应|应当|现在|直接|只|并|都|一律|统一|，)*"
_SAID = r"[\"“'‘]?(?:[-+]?[0-9][0-9.,]*+(?!\s*[:)])|(?:null|none|nothing|yes|no|zero|true|false|n/a)\b)"
_SAID_WIDE = r"[“\"「『]?[-+]?(?:(?!一个)[0-9０-９〇零一二三四五六七八九十百千万亿]++(?!\s*[份张本页篇封题字条次遍下些])|null|空)"
_TALK = r"(?:instructions?|prompts?|rules|directions|guidelines|commands)"
_ABOVE = r"(?:above|previous|prior|preceding|earlier|foregoing|following|below|other|rest|all|everything|anything)"
_VERBS = r"(?:answer|reply|respond|output|print|write|return|say|state|report|record|give|put|enter|use|set|fill|insert|copy)"
_VERBS_WIDE = r"(?:回答|回复|答复|作答|输出|填写|填入|填|写成|写入|写上|写|答|返回)"
_ORDERS = re.compile(
    rf"{_OPENING}(?:(?:ignore|disregard|forget|override|bypass|pay\s+no\s+attention\s+to|(?:do\s+not|don['’]t)\s+(?:follow|obey))\s+"
    rf"(?:[\w'’]+\s+){{0,4}}?(?:{_TALK}\b(?!\s+(?:is|are|was|were|has|have|had)\b)|{_ABOVE}\b.{{0,60}}?(?:\band\b|\bthen\b|\binstead\b|[,:])\s*(?:\w+\s+){{0,2}}?{_VERBS}\b)"
    rf"|(?:answer|reply|respond)\s+(?:(?:only|just|with|by|that|the|number|value|word|to|every|all|any|each|questions?)\s+)*"
    rf"{_SAID}(?!\s+(?:was|were|is|of)\b)"
    rf"|(?:output|return|print|write|say)\s+(?:(?:only|just|the|number|value|word)\s+)+{_SAID}"
    rf"|(?:(?:write|enter|fill\s+in)\s+{_SAID}|(?:return|print)\s+{_SAID}[\"”'’]?(?=\s+(?:as|in|into|under|of|for)\b)).{{0,200}}\b(?:(?:as|in|into|under)\s.{{0,200}}\b(?:column|cell|field|answer|reply|output|json)s?\b"
    rf"|(?:of|for|in|as)\s+(?:every|each|all)\b))"
    r"|\b(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:ai|llm|language\s+model|chatbot|assistant(?=s?\s+[\w ]{0,40}?reads?(?:ing)?\s+this))s?(?:\s+(?:model|assistant|agent|system)s?)?"
    r"(?:\s+(?:that|who|which)?\s*reads?(?:ing)?\s+this)?\s*:"
    r"|<\|im_(?:start|end)\|>|\[/?INST\]"
    rf"|{_OPENING_WIDE}(?:(?:忽略|无视|忘记|忘掉|抛开|不要理会|不必理会|不要管)掉?"
    rf"(?:[^，,：:]{{0,12}}?(?:指令|指示|提示词?|规则)(?!的)|[^，,：:]{{0,12}}?(?:以上|上述|上面|上文|前面|前文|之前|先前|此前|其他|其它|所有|一切|全部).{{0,30}}?{_VERBS_WIDE})"
    rf"|(?<=[请必须接只律一你您要应]){_VERBS_WIDE}[为成上：:]?\s*{_SAID_WIDE})"
    r"|(?:致(?:助手|机器人)|[致给](?:大模型|语言模型|AI|人工智能)(?:助手)?)[：:]",
    re.IGNORECASE,
)
_GOES_ON = re.compile(rf"{_OPENING}{_VERBS}\s|{_OPENING_WIDE}{_VERBS_WIDE}", re.IGNORECASE)
"""How a sentence begins that orders on, behind one that does."""


@lru_cache(maxsize=4096)
def orders(line: str) -> tuple[tuple[int, int], ...]:
    """Start and end of each sentence of the line that is an order to the reader."""
    found: list[tuple[int, int]] = []
    start, ordering = 0, False
    for stop in (*(match.end() for match in _STOP.finditer(line)), len(line)):
        sentence = line[start:stop]
        if sentence.strip():
            ordering = bool(_ORDERS.search(sentence) or (ordering and _GOES_ON.search(sentence)))
            if ordering:
                found.append((start, stop))
        start = stop
    return tuple(found)
