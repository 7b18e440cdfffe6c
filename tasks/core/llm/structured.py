"""A model's text → an object of a pydantic model; and that model → a JSON schema that servers accept.

Reading follows one procedure: every outermost bracketed span of the text is taken in turn, fenced or not; it is read
as JSON, and when that fails once more after Python literals, quotes, comments and trailing commas were mended; the last
span that is a valid object counts. Brackets are never completed: a reply that was cut off stays invalid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
_SHOWN_ERRORS = 8
_FALSE_STARTS = 200
"""Brackets without an end that are tried before the rest of a text is given up: bounds the work on hostile text."""
_DEEPEST = 100
"""Levels of nesting: what is read here is written again, in places with less of the stack left."""
_PAIRS = {"{": "}", "[": "]"}
_LOOSE = re.compile(
    r'"""(?P<long>.*?)"""'
    r'|(?P<double>"(?:\\.|[^"\\])*")'
    r"|'(?P<single>(?:\\.|[^'\\])*)'"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<comma>,(?=\s*[}\]]))"
    r"|\b(?P<word>True|False|None|NaN|undefined)\b",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "NaN": "null", "undefined": "null"}
_HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
"""Where half a character may be written, which no UTF-8 can hold."""
_BAD_ESCAPE = re.compile(r'\\(?:(?P<good>["\\/bfnrt]|u[0-9a-fA-F]{4})|(?P<bad>.))', re.DOTALL)


class Invalid(Exception):
    """A reply that is not what was asked for; `str()` is written for the model."""


def parse(text: str, reply_model: type[T]) -> T:
    """The last valid object of `reply_model` in a text. Raises Invalid."""
    adapter = TypeAdapter(reply_model)
    problem = ""
    for value in reversed(list(decoded(text))):
        reason = None
        for option in [value, value[0]] if isinstance(value, list) and len(value) == 1 else [value]:
            try:
                return adapter.validate_json(json.dumps(option))
            except ValidationError as error:
                reason = error
        if reason and not problem:
            problem = _explain(reason)
    raise Invalid(problem or "The reply has no complete JSON object that can be read.")


def decoded(text: str) -> Iterator[Any]:
    """Every outermost JSON object or array of a text, in order; what cannot be read is passed over."""
    for span in _spans(drop_thinking(text)):
        try:
            yield loads(span)
        except ValueError:
            continue


def loads(text: str) -> Any:
    """JSON, or JSON as models write it. Raises ValueError, also for what is nested deeper than anything we ask for."""
    try:
        try:
            value = json.loads(text, strict=False, parse_constant=_refuse)
        except ValueError:
            value = json.loads(_LOOSE.sub(_mend, text), strict=False, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if _HALF.search(text):
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        nested = [item for item in level if isinstance(item, dict | list)]
        level = [inner for item in nested for inner in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return value
    raise ValueError("nested too deeply")


def drop_thinking(text: str) -> str:
    """The text after the model's reasoning, when it stands at the start in tags; empty when the reasoning has no end."""
    head = text.lstrip()
    for tag in ("think", "thinking", "reasoning"):
        end = text.find(f"</{tag}>")
        if head.startswith(f"<{tag}>") or (end >= 0 and f"<{tag}>" not in text[:end]):
            return text[end + len(tag) + 3 :].lstrip() if end >= 0 else ""
    return text


def schema(reply_model: Any) -> dict[str, Any]:
    """`json_schema` of a `response_format`: the subset that llama.cpp and OpenAI's strict mode both read.

    `strict` is false where the model allows free keys, which strict mode cannot say.
    """
    tree = _simplify(TypeAdapter(reply_model).json_schema())
    name = re.sub(r"\W+", "_", getattr(reply_model, "__name__", "reply"))[:60]
    return {"name": name, "schema": tree, "strict": not _is_open(tree)}


def _spans(text: str) -> Iterator[str]:
    start, misses = 0, 0
    while misses < _FALSE_STARTS and (match := re.compile(r"[{\[]").search(text, start)):
        end = _end_of(text, match.start())
        if end is None:
            start, misses = match.start() + 1, misses + 1
        else:
            yield text[match.start() : end]
            start = end


def _end_of(text: str, start: int) -> int | None:
    """Index after the bracket that closes the one at `start`; brackets in strings do not count."""
    open_ones: list[str] = []
    index = start
    while index < len(text):
        char = text[index]
        if char in "\"'":
            match = _LOOSE.match(text, index)
            if match is None and char == '"':
                return None
            index = match.end() if match else index + 1
            continue
        if char in _PAIRS:
            open_ones.append(_PAIRS[char])
        elif char in "}]":
            if char != open_ones.pop():
                return None
            if not open_ones:
                return index + 1
        index += 1
    return None


def _mend(match: re.Match[str]) -> str:
    if match["long"] is not None:
        return json.dumps(match["long"])
    if match["double"] is not None:
        return _BAD_ESCAPE.sub(_escape, match["double"])
    if match["single"] is not None:
        inner = re.sub(r'(?<!\\)"', r"\"", match["single"]).replace(r"\'", "'")
        return _BAD_ESCAPE.sub(_escape, f'"{inner}"')
    return _WORDS.get(match["word"] or "", "")


def _escape(match: re.Match[str]) -> str:
    if match["good"]:
        return match[0]
    return "'" if match["bad"] == "'" else f"\\\\{match['bad']}"


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _explain(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False)
    lines = [f"- {'.'.join(str(part) for part in e['loc']) or 'the object'}: {e['msg']}" for e in found[:_SHOWN_ERRORS]]
    if len(found) > _SHOWN_ERRORS:
        lines.append(f"- and {len(found) - _SHOWN_ERRORS} more")
    return "The JSON does not have the asked form:\n" + "\n".join(lines)


_PLAIN = ("type", "description", "enum", "const", "$ref", "minItems", "maxItems", "minimum", "maximum")
_NESTED = ("items", "properties", "anyOf", "$defs")


def _simplify(node: Any) -> Any:
    """Only the keywords that strict servers know; every property required, no others allowed."""
    if not isinstance(node, dict):
        return node
    if len(node.get("allOf", ())) == 1:
        node = {**node["allOf"][0], **node}
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    if "oneOf" in node:
        node = {"anyOf": node["oneOf"], **node}
    kept = {key: value for key, value in node.items() if key in (*_PLAIN, *_NESTED)}
    for key in ("properties", "$defs"):
        if key in kept:
            kept[key] = {name: _simplify(value) for name, value in kept[key].items()}
    if "anyOf" in kept:
        kept["anyOf"] = [_simplify(option) for option in kept["anyOf"]]
    if "items" in kept:
        kept["items"] = _simplify(kept["items"])
    if "prefixItems" in node:
        kept["items"] = {"anyOf": [_simplify(item) for item in node["prefixItems"]]}
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    elif kept.get("type") == "object":
        kept["additionalProperties"] = _simplify(node.get("additionalProperties", True))
    return kept


def _is_open(node: Any) -> bool:
    """Whether a schema allows free keys or anything at all somewhere."""
    if isinstance(node, list):
        return any(_is_open(item) for item in node)
    if not isinstance(node, dict):
        return False
    if node.get("additionalProperties", False) is not False:
        return True
    nested = [*node.get("properties", {}).values(), *node.get("$defs", {}).values(), *node.get("anyOf", ())]
    if "items" in node:
        nested.append(node["items"])
    return node == {} or any(_is_open(item) for item in nested)
