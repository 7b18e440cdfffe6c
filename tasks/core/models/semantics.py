"""What knowledge.md says, each statement with its line (1-based)."""

from __future__ import annotations

from tasks.core.models.value import Value


class Section(Value):
    """A heading."""

    title: str
    level: int
    first_line: int


class Definition(Value):
    """A field, what it means and its unit. `table` is empty when the text does not say."""

    table: str = ""
    field: str
    type: str = ""
    meaning: str = ""
    unit: str = ""
    examples: tuple[str, ...] = ()
    line: int


class Metric(Value):
    """A named quantity and how it is computed."""

    name: str
    formula: str = ""
    meaning: str = ""
    unit: str = ""
    line: int


class Link(Value):
    """A stated relation between two columns. `table` is empty when the text does not say."""

    table: str = ""
    column: str
    target_table: str
    target_column: str
    line: int


class Rule(Value):
    """A convention, constraint or remark, as written."""

    text: str
    line: int


class Knowledge(Value):
    """All knowledge files of a folder; empty when there is none."""

    path: str = ""
    text: str = ""
    sections: tuple[Section, ...] = ()
    definitions: tuple[Definition, ...] = ()
    metrics: tuple[Metric, ...] = ()
    links: tuple[Link, ...] = ()
    rules: tuple[Rule, ...] = ()
