"""Texts of models → objects, and models → schemas."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from tasks.core.llm import structured
from tasks.core.llm.structured import Invalid


class Query(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sql: str
    tables: list[str] = []
    limit: int | None = None


READ = {
    "plain": '{"sql": "SELECT 1"}',
    "fence": '```json\n{"sql": "SELECT 1"}\n```',
    "fence without language": '```\n{"sql": "SELECT 1"}\n```',
    "tilde fence": '~~~json\n{"sql": "SELECT 1"}\n~~~',
    "unclosed fence": '```json\n{"sql": "SELECT 1"}',
    "prose around": 'Here you are: {"sql": "SELECT 1"} — I hope [this] helps {you}!',
    "Chinese prose around": '好的，查询如下：{"sql": "SELECT 1"}。如有问题请告诉我。',
    "apostrophes before": 'I don\'t know if that\'s it, but it\'s {"sql": "SELECT 1"}',
    "list of one": '[{"sql": "SELECT 1"}]',
    "trailing commas": '{"sql": "SELECT 1", "tables": ["a",],}',
    "Python literals": "{'sql': 'SELECT 1', 'limit': None}",
    "comments": '{"sql": "SELECT 1", // the query\n /* no tables */ "tables": []}',
    "triple quotes": '{"sql": """SELECT 1"""}',
    "thinking first": '<think>{"sql": "SELECT 0"} or not?</think>{"sql": "SELECT 1"}',
    "thinking opened in the prompt": 'maybe {"sql": "SELECT 0"}?\n</think>\n{"sql": "SELECT 1"}',
    "the last valid one": '{"sql": "SELECT 0"} no, better: {"sql": "SELECT 1"}',
    "an invalid one after": '{"sql": "SELECT 1"} and its plan {"steps": 3}',
    "an unclosed one before": '{"sql": "SELECT {"sql": "SELECT 1"}',
    "numbers as text": '{"sql": "SELECT 1", "limit": "5"}',
    "byte order mark and blanks": '\ufeff\n\n  {"sql": "SELECT 1"}\n',
}


@pytest.mark.parametrize("text", READ.values(), ids=READ.keys())
def test_an_object_is_read_from_what_models_write(text: str) -> None:
    assert structured.parse(text, Query).sql == "SELECT 1"


VALUES = {
    "raw line break in a string": ('{"sql": "SELECT 1\nFROM t"}', "SELECT 1\nFROM t"),
    "escapes of another language": (r"""{'sql': 'it\'s "x" \d'}""", 'it\'s "x" \\d'),
    "an escape that JSON does not know": (r'{"sql": "a \d b",}', r"a \d b"),
    "literals inside a string stay": ('{"sql": "None, True, // and ,]",}', "None, True, // and ,]"),
    "brackets inside a string": ('{"sql": "SELECT \'}\', \\"{\\" FROM t"}', "SELECT '}', \"{\" FROM t"),
    "single quotes of SQL": ('{"sql": "SELECT \'北京\' AS 城市",}', "SELECT '北京' AS 城市"),
    "quotes in single quotes": ("""{'sql': 'SELECT "a b"'}""", 'SELECT "a b"'),
}


@pytest.mark.parametrize(("text", "sql"), VALUES.values(), ids=VALUES.keys())
def test_strings_come_through_unchanged(text: str, sql: str) -> None:
    assert structured.parse(text, Query).sql == sql


def test_half_a_character_becomes_one_that_can_be_written() -> None:
    assert structured.parse(r'{"sql": "a \ud800 b \ud83c\udf4e"}', Query).sql == "a ? b 🍎"
    (found,) = structured.decoded(r"{'sql': 'x \uDFFF', 'limit': [1.5, null]}")
    assert found == {"sql": "x ?", "limit": [1.5, None]}


INVALID = {
    "": "no complete JSON",
    "I cannot say.": "no complete JSON",
    '{"sql": "SELECT 1"': "no complete JSON",
    '{"sql": "SELECT 1", "tables": ["a"': "no complete JSON",
    '<think>{"sql": "SELECT 1"}': "no complete JSON",
    '{"tables": []}': "sql: Field required",
    '{"sql": 5}': "sql: Input should be a valid string",
    '{"sql": "x", "extra": 1}': "extra: Extra inputs are not permitted",
    '{"sql": "x", "limit": "many"}': "limit: Input should be a valid integer",
    '{"sql": "x", "limit": NaN, "tables": 3}': "tables: Input should be a valid array",
    '[{"sql": "x"}, {"sql": "y"}]': "the object: Input should be an object",
    "[" * 5000: "no complete JSON",
    '{"sql":' * 5000 + "1" + "}" * 5000: "no complete JSON",
    '{"sql":' * 500 + "1" + "}" * 500: "no complete JSON",
}


@pytest.mark.parametrize(("text", "problem"), INVALID.items(), ids=lambda text: text[:20])
def test_what_is_wrong_is_said_to_the_model(text: str, problem: str) -> None:
    with pytest.raises(Invalid, match=problem):
        structured.parse(text, Query)


def test_errors_are_listed_and_then_counted() -> None:
    with pytest.raises(Invalid, match=r"tables\.7: .*\n- and 4 more$"):
        structured.parse(json.dumps({"sql": "x", "tables": list(range(12))}), Query)


def test_dates_are_read_as_in_json() -> None:
    class Day(BaseModel):
        model_config = ConfigDict(strict=True)
        day: date

    assert structured.parse('{"day": "2024-02-29"}', Day).day == date(2024, 2, 29)


class Column(BaseModel):
    name: str = Field(min_length=1, title="Name", description="as in the table")
    kind: Literal["number", "text"]


class Plan(BaseModel):
    """A plan."""

    columns: tuple[Column, ...] = Field(max_length=3)
    limit: int | None = None
    share: float = Field(0.5, ge=0, le=1)
    pair: tuple[str, int] = ("a", 1)
    main: Column = Field(description="the first one")


def test_the_schema_is_what_strict_servers_take() -> None:
    found = structured.schema(Plan)
    assert (found["name"], found["strict"]) == ("Plan", True)
    tree = found["schema"]
    Draft202012Validator.check_schema(tree)
    assert tree["required"] == ["columns", "limit", "share", "pair", "main"]
    assert tree["additionalProperties"] is False
    assert tree["$defs"]["Column"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "as in the table"},
            "kind": {"type": "string", "enum": ["number", "text"]},
        },
        "required": ["name", "kind"],
        "additionalProperties": False,
    }
    assert tree["properties"]["limit"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert tree["properties"]["main"] == {"$ref": "#/$defs/Column"}
    assert tree["properties"]["share"] == {"type": "number", "minimum": 0, "maximum": 1}
    assert tree["properties"]["pair"]["items"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert not {"title", "default", "minLength", "prefixItems"} & keys_of(tree)


def test_free_keys_are_not_called_strict() -> None:
    class Call(BaseModel):
        tool: str
        arguments: dict[str, JsonValue]

    found = structured.schema(Call)
    assert found["strict"] is False
    arguments = {"tool": "query", "arguments": {"sql": "SELECT 1", "rows": 5}}
    Draft202012Validator(found["schema"]).validate(arguments)


def keys_of(tree: Any) -> set[str]:
    if isinstance(tree, dict):
        return set(tree) | {key for value in tree.values() for key in keys_of(value)}
    return {key for item in tree for key in keys_of(item)} if isinstance(tree, list) else set()
