"""The calls that make errors → a page of every message and its next step."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from docs.pages import ROOT, cell, table

CLASSES = ("InputError", "ModelError", "BudgetError", "QueryError", "SandboxError", "EvidenceError", "BadParameter")


class Message(NamedTuple):
    """One place that makes an error."""

    kind: str
    text: str
    hint: str
    place: str
    """File and line."""


def messages() -> list[Message]:
    """Every error that the code words, by class and file; a text that is made elsewhere is shown as its expression."""
    found: list[Message] = []
    for path in sorted([*ROOT.glob("flows/**/*.py"), *ROOT.glob("tasks/**/*.py")]):
        text = path.read_text("utf-8")
        if any(f"{name}(" in text for name in CLASSES):
            found += _of(path, text)
    return sorted(found, key=lambda one: CLASSES.index(one.kind))


def _of(path: Path, text: str) -> list[Message]:
    found: list[Message] = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in CLASSES:
            named = {word.arg: word.value for word in node.keywords}
            hint = node.args[1] if len(node.args) > 1 else named.get("hint")
            place = f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
            found.append(Message(name, shown(node.args[0]), shown(hint) if hint else "", place))
    return found


def shown(node: ast.expr) -> str:
    """A text as the code words it, with `⟨…⟩` where a value stands."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(shown(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"⟨{ast.unparse(node.value)}⟩"
    if isinstance(node, ast.IfExp):
        return f"{shown(node.body)} / {shown(node.orelse)}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return shown(node.left) + shown(node.right)
    return f"⟨{ast.unparse(node)}⟩"


def page() -> str:
    """The page of all messages."""
    parts = [
        "# Messages\n",
        "Made from the code: what an error says, and its next step. A value of the run stands where `⟨…⟩` names it; ` / ` stands between two wordings. "
        "[Exit codes and errors](exits.md) says what a class means; what `inspect` says of files has [codes](../problems.md).\n",
    ]
    found = messages()
    for kind in CLASSES:
        rows = [
            (cell(one.text), cell(one.hint), f"`{one.place.partition(':')[0]}`") for one in found if one.kind == kind
        ]
        parts += [f"## {kind}\n", table(("message", "next step", "where"), rows)]
    return "\n".join(parts)
