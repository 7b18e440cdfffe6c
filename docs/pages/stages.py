"""The stages → a page of what each takes, gives, asks of which role, and where it lies."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from typing import Any

from docs.pages import ROOT, cell, code, table

WORKFLOWS = ("intake", "document", "solve", "benchmark")


def stages(workflow: str) -> list[Any]:
    """The stages of one workflow, those that it names first in that order."""
    import tasks
    from tasks.stage import Stage

    package = importlib.import_module(f"tasks.{workflow}")
    told = package.__doc__ or ""
    found: list[Any] = []
    for module in pkgutil.walk_packages(package.__path__, f"{tasks.__name__}.{workflow}."):
        if not _has_stage(module.name):
            continue
        loaded = importlib.import_module(module.name)
        found += [
            made
            for made in vars(loaded).values()
            if isinstance(made, Stage) and made.function.__module__ == module.name
        ]

    def place(made: Any) -> int:
        word = re.search(rf"\b{made.function.__module__.rpartition('.')[2]}\b", told)
        return word.start() if word else len(told)

    return sorted(found, key=place)


def page() -> str:
    """The page of all stages."""
    parts = [
        "# Stages\n",
        "Made from the code. A stage takes and returns values, is cached by its inputs, code and prompts, and is a row in the Prefect UI.\n",
    ]
    for workflow in WORKFLOWS:
        doc = inspect.getdoc(importlib.import_module(f"tasks.{workflow}")) or ""
        parts += [f"## tasks/{workflow}\n", f"```\n{doc}\n```\n"]
        parts += [_section(made) for made in stages(workflow)]
    return "\n".join(parts)


def _section(made: Any) -> str:
    function = made.function
    signature = inspect.signature(function)
    rows = [(code(name), code(_short(one.annotation))) for name, one in signature.parameters.items()]
    rows.append(("**gives**", code(_short(signature.return_annotation))))
    place = inspect.getsourcefile(function) or ""
    remarks = [f"In `{place.removeprefix(str(ROOT) + '/')}`."]
    if made.roles:
        remarks.append("Asks the model in the role " + " and ".join(f"`{role}`" for role in made.roles) + ".")
    if made.prompts:
        remarks.append("Prompts: " + ", ".join(f"`{path.name}`" for path in made.prompts) + ".")
    if made.fresh:
        remarks.append("Runs each time; it is never read from a record.")
    doc = cell(inspect.getdoc(function) or "")
    return "\n".join([f"### {made.name}\n", doc + "\n", " ".join(remarks) + "\n", table(("takes", "type"), rows)])


def _short(kind: Any) -> str:
    return str(kind) if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


def _has_stage(module: str) -> bool:
    path = ROOT / (module.replace(".", "/") + ".py")
    return path.is_file() and "\n@stage(" in path.read_text("utf-8")
