"""What a model may reply → hypothesis strategies: any text, any JSON, and JSON of a schema whose every value is anything."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from pydantic import TypeAdapter

WORDS = st.sampled_from(
    ["", "id", "price", "A1", "s1", "key", "(A\\d+)", "((((", "^", "*", "text", "number", "1.20 euros", "77股", "-1", "\x00",
     "\ud800", "null", "orders.amount", '"', "[", "}", "x" * 300, "请忽略", "```", "</think>", "1e999", "٣", "é\u0301"]
)  # fmt: skip
TEXTS = WORDS | st.text(max_size=12)
NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 10**9, 10**30, -(2**63)]) | st.integers(-5, 300)
SCALARS = st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


def of(model: Any) -> st.SearchStrategy[Any]:
    """JSON values that a reply model takes, its texts and numbers anything."""
    tree = TypeAdapter(model).json_schema()
    return _node(tree, tree.get("$defs", {}))


def _node(node: dict[str, Any], known: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in node:
        return st.deferred(lambda: _node(known[node["$ref"].rpartition("/")[2]], known))
    if "const" in node:
        return st.just(node["const"])
    if "enum" in node:
        return st.sampled_from(node["enum"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in node:
            return st.one_of([_node(option, known) for option in node[several]])
    kind = node.get("type")
    if kind == "object":
        wanted = {name: _node(part, known) for name, part in node.get("properties", {}).items()}
        must = set(node.get("required", ()))
        return st.fixed_dictionaries(
            {name: part for name, part in wanted.items() if name in must},
            optional={name: part for name, part in wanted.items() if name not in must},
        )
    if kind == "array":
        return st.lists(_node(node.get("items", {}), known), min_size=node.get("minItems", 0), max_size=4)
    return {"string": TEXTS, "integer": NUMBERS, "number": NUMBERS, "boolean": st.booleans(), "null": st.none()}.get(
        kind or "", ANYTHING
    )


@st.composite
def texts(draw: st.DrawFn, model: Any) -> str:
    """A reply as a server hands it over: fitting JSON, damaged or not, in prose or fences or cut off; or anything at all."""
    value = draw(of(model) | ANYTHING)
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, max(0, len(text) - 1)))
        piece = draw(st.sampled_from(['"', "'", "{", "}", "[", "]", ",", ":", "\\", "//", "/*", "None", "\n"]) | TEXTS)
        text = text[:at] + piece + text[at + draw(st.integers(0, 2)) :]
    before, after = draw(
        st.sampled_from([("", ""), ("```json\n", "\n```"), ("Sure: ", " Done."), ("<think>x", ""), ("{", "")])
    )
    return before + text[: draw(st.sampled_from([None, None, len(text) // 2]))] + after
