"""The models of `evidence.json` → its JSON Schema, and a page of every field with its meaning."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import textwrap
from typing import Any

from docs.pages import cell, code, table


def schema() -> str:
    """The JSON Schema of evidence.json, with the meanings of fields that the code tells."""
    from tasks.core.models.evidence import Evidence

    made = Evidence.model_json_schema(mode="serialization")
    known = {one.__name__: one for one in models()}
    for name, part in [("Evidence", made), *made.get("$defs", {}).items()]:
        for field, text in meanings(known[name]).items() if name in known else ():
            part["properties"].setdefault(field, {}).setdefault("description", text)
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **made}, indent=1, ensure_ascii=False)


def models() -> list[type[Any]]:
    """`Evidence` and every model below it, in the order in which a reader meets them."""
    from pydantic import BaseModel

    from tasks.core.models.evidence import Evidence

    found: list[type[Any]] = []

    def add(kind: Any) -> None:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if kind not in found:
                found.append(kind)
                for field in kind.model_fields.values():
                    add(field.annotation)
            return
        for inner in getattr(kind, "__args__", ()):
            add(inner)

    add(Evidence)
    return found


def meanings(model: type[Any]) -> dict[str, str]:
    """By field the text below it in the code."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if not hasattr(one, "model_fields") or one.__module__.startswith("pydantic"):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0].body  # type: ignore[attr-defined]
        for field, after in itertools.pairwise(body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                found[ast.unparse(field.target)] = inspect.cleandoc(str(after.value.value))
    return found


def page() -> str:
    """The page of evidence.json."""
    parts = [
        "# evidence.json\n",
        "Made from the code. {download}`The JSON Schema <evidence.schema.json>` holds the same for a program. Equal runs write equal bytes; "
        "`schema_version` counts up when a field changes its meaning or goes.\n",
    ]
    for model in models():
        said = meanings(model)
        rows = [
            (code(name), code(_type(field.annotation)), cell(said.get(name, "")))
            for name, field in model.model_fields.items()
        ]
        parts += [f"## {model.__name__}\n", cell((inspect.getdoc(model) or "").strip()) + "\n"]
        parts.append(table(("field", "type", "meaning"), rows))
    return "\n".join(parts)


def _type(kind: Any) -> str:
    name = kind.__name__ if isinstance(kind, type) and not getattr(kind, "__args__", ()) else str(kind)
    for word in ("typing.", "tasks.core.models.", "datetime."):
        name = name.replace(word, "")
    return name
