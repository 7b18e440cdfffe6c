"""an answer's query + all that is known of its folder → the facts that checks look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tasks.core.models.answer import Contract, JoinAudit
from tasks.core.models.catalogue import ColumnProfile, Profile, Table, TableProfile
from tasks.core.models.semantics import Metric
from tasks.solve.mending.scopes import Schema, resolved

if TYPE_CHECKING:
    from sqlglot import exp

Place = tuple[TableProfile, ColumnProfile]
KEYISH = re.compile(r"(?:(?:^|_)(?i:id|code|key|no)|[a-z]I[dD]|编号|编码|代码|号)$")
"""Names of columns that name a thing and say nothing of it."""
_NUMERIC = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT", "BIGINT", "SMALLINT", "TINYINT", "REAL", "UBIGINT", "UINT")


@dataclass(frozen=True)
class Facts:
    """What a check may look at; nothing here is run."""

    question: str
    contract: Contract
    tree: exp.Expr
    profile: Profile
    said: str = ""
    """All that the knowledge and the contract say, as text."""
    joins: tuple[JoinAudit, ...] = ()
    metrics: tuple[Metric, ...] = ()
    """Those that the knowledge defines."""
    drawn: tuple[Table, ...] = ()
    """Tables of the catalogue that were drawn from documents."""

    @cached_property
    def schema(self) -> Schema:
        """The profile's tables by name."""
        return Schema(self.profile)

    def place(self, column: exp.Expr) -> Place | None:
        """The table and column that a column of the query is, where it is exactly one."""
        from sqlglot import exp

        return resolved(column, self.schema) if isinstance(column, exp.Column) else None

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Conditions that hold something against a number or text that is written in the query."""
        return tuple(_comparisons(self))

    @cached_property
    def tables(self) -> tuple[TableProfile, ...]:
        """Tables that the query reads, each once."""
        from sqlglot import exp

        found = [self.schema.table(table.name) for table in self.tree.find_all(exp.Table)]
        return tuple(dict.fromkeys(table for table in found if table))


@dataclass(frozen=True)
class Comparison:
    """`subject sign value`, the value written in the query; a BETWEEN is two of them."""

    subject: exp.Expr
    sign: str
    """`=`, `<>`, `<`, `<=`, `>`, `>=`."""
    value: str
    """As written, without quotes."""
    text: bool
    """Written in quotes."""
    place: Place | None
    node: exp.Expr

    @property
    def number(self) -> float | None:
        """The value as a number; None for other text."""
        try:
            return float(self.value)
        except ValueError:
            return None

    @property
    def name(self) -> str:
        """What is compared, for a reader."""
        return str(self.place[1].name if self.place else self.subject.sql("duckdb")[:80])


def is_number(column: ColumnProfile) -> bool:
    """Whether the column's type is one of numbers."""
    return column.type.upper().startswith(_NUMERIC)


def names_a_thing(column: ColumnProfile) -> bool:
    """Whether its values only name things: a key, or called so."""
    return bool(KEYISH.search(column.name)) or (column.is_key and not column.name.casefold().endswith(("name", "名称")))


def _comparisons(facts: Facts) -> Iterator[Comparison]:
    from sqlglot import exp

    signs: dict[type[exp.Expr], str] = {
        exp.EQ: "=",
        exp.NEQ: "<>",
        exp.LT: "<",
        exp.LTE: "<=",
        exp.GT: ">",
        exp.GTE: ">=",
    }
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    for node in facts.tree.walk():
        if type(node) in signs:
            sign = signs[type(node)]
            left, right = node.this, node.expression
            if _written(left) is not None:
                left, right, sign = right, left, turned.get(sign, sign)
            pairs = [(left, sign, right)]
        elif isinstance(node, exp.Between):
            pairs = [(node.this, ">=", node.args["low"]), (node.this, "<=", node.args["high"])]
        elif isinstance(node, exp.In):
            pairs = [(node.this, "=", item) for item in node.expressions]
        else:
            continue
        for subject, sign, value in pairs:
            written = _written(value)
            if written is not None and _written(subject) is None:
                yield Comparison(subject, sign, written[0], written[1], _place(subject, facts), node)


def _place(subject: exp.Expr, facts: Facts) -> Place | None:
    """The column compared, also through a cast or a function that keeps the value's scale."""
    from sqlglot import exp

    while isinstance(subject, exp.Cast | exp.Paren | exp.Abs | exp.Round | exp.Lower | exp.Upper | exp.Trim):
        subject = subject.this
    return facts.place(subject)


def _written(node: exp.Expr) -> tuple[str, bool] | None:
    """The value of a literal, its sign included, and whether it is text."""
    from sqlglot import exp

    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return f"-{node.this.name}", False
    return (node.name, node.is_string) if isinstance(node, exp.Literal) else None
