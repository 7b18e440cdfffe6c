"""metadata.yaml → notes with lines; every error at once, with its line and what to change."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tasks.core.errors import InputError
from tasks.core.models.metadata import Overrides
from tasks.core.settings import load
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.intake.overrides import read_overrides

GOOD = """\
tables:
  orders:
    role: fact
    description: one row per order 每行一笔订单
    aliases: [sales, 订单]
    columns:
      customer: {role: foreign_key, refers_to: customers.no}
      amount:
        unit: EUR
        alias: 金额
  customers:
metrics:
  - name: revenue
    formula: sum(orders.amount)
    filters: orders.status = 'paid'
    relevant_columns: [orders.amount, orders.status]
    alias: [营收]
columns:
  customers.no: {role: primary_key}
databases:
  shop:
    url_env: SHOP_URL
    tables: [a, b]
"""


def read(folder: Path, text: str | bytes, name: str = "metadata.yaml") -> Overrides:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    inventory = asyncio.run(take_inventory.function(str(folder), load().intake))
    return asyncio.run(read_overrides.function(inventory))


def test_every_entry_is_read_with_its_line(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    orders, customers = found.tables
    assert (orders.name, orders.role, orders.line, orders.aliases) == ("orders", "fact", 2, ("sales", "订单"))
    assert (customers.name, customers.role, customers.line) == ("customers", None, 11)
    customer, amount, number = found.columns
    assert (customer.table, customer.name, customer.refers_to, customer.line) == (
        "orders",
        "customer",
        "customers.no",
        7,
    )
    assert (amount.unit, amount.aliases, amount.line) == ("EUR", ("金额",), 8)
    assert (number.table, number.name, number.role, number.line) == ("customers", "no", "primary_key", 19)
    (metric,) = found.metrics
    assert (metric.name, metric.line, metric.basis) == ("revenue", 13, "metadata")
    assert metric.filters == ("orders.status = 'paid'",) and metric.aliases == ("营收",)
    assert metric.columns == ("orders.amount", "orders.status")
    (database,) = found.databases
    assert (database.name, database.url_env, database.tables, database.line) == ("shop", "SHOP_URL", ("a", "b"), 21)


@pytest.mark.parametrize("name", ["metadata.yaml", "Metadata.YML", "context/metadata.yml"])
def test_the_file_is_found_and_is_no_knowledge_text(tmp_path: Path, name: str) -> None:
    (tmp_path / "task.json").write_text("{}")
    (tmp_path / "context").mkdir()
    (tmp_path / "context" / "knowledge.md").write_text("# Rules\n- Be exact.\n")
    assert read(tmp_path, GOOD, name).path == name
    inventory = asyncio.run(take_inventory.function(str(tmp_path), load().intake))
    file = next(file for file in inventory.files if file.path == name)
    assert (file.kind, file.outcome, file.reason) == ("metadata", "knowledge", "")
    assert asyncio.run(read_knowledge.function(inventory)).path == "context/knowledge.md"


def test_a_folder_without_it_or_with_an_empty_one_has_no_overrides(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "metadata.yaml").write_text("anything: [at, all]")
    inventory = asyncio.run(take_inventory.function(str(tmp_path), load().intake))
    assert asyncio.run(read_overrides.function(inventory)) == Overrides()
    assert read(tmp_path, "# nothing yet\n") == Overrides(path="metadata.yaml")


def test_all_errors_are_said_at_once_with_their_lines(tmp_path: Path) -> None:
    text = """\
tables:
  orders:
    rol: fact
    columns:
      a: {role: key, refers_to: nowhere}
      b: [1, 2]
metrics:
  revenue: sum
views: {}
columns:
  amount: {unit: EUR}
databases:
  one: {}
  two: {url: "postgresql://me:hunter2@h/d"}
  three: {url_env: "postgresql://me:hunter2@h/d"}
  four: {url: "sqlite:///x"}
"""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    said = caught.value.message
    for line, part in (
        (3, "unknown key 'rol': use one of role, description, aliases, columns"),
        (5, "role must be 'primary_key', 'foreign_key', 'measure' or 'dimension', not 'key'"),
        (5, "refers_to must be table.column"),
        (6, "'b' must be a mapping"),
        (8, "'revenue' must be a mapping"),
        (9, "unknown key 'views': use one of tables, columns, metrics, databases"),
        (15, "url_env must be the name of an environment variable, not its value"),
    ):
        assert f"metadata.yaml:{line}: {part}" in said
    assert "hunter2" not in str(caught.value) and "rename" in caught.value.hint


def test_errors_between_entries_are_said_with_their_lines(tmp_path: Path) -> None:
    text = """\
tables: {orders: {columns: {a: {unit: t}}}}
columns:
  amount: {unit: EUR}
  orders.a: {unit: kg}
databases:
  one: {}
  two: {url: "postgresql://me:hunter2@h/d"}
  three: {url: "sqlite:///x"}
  four: {url: "mysql://h/d", url_env: X}
"""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    said = caught.value.message
    assert "metadata.yaml:3: 'amount' must be table.column" in said
    assert "metadata.yaml:4: 'orders.a' is described below its table too" in said
    assert "metadata.yaml:6: database 'one' needs one of url_env and url" in said
    assert "metadata.yaml:7: url: a password may not stand in the file" in said
    assert "metadata.yaml:8: url: it is no URL of PostgreSQL" in said
    assert "metadata.yaml:9: database 'four' needs one of" in said
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("tables:\n  a: [1\n", 3, "no YAML"),
        ("tables:\n  a: {}\n  a: {}\n", 3, "second time"),
        ("tables:\n  a: !!python/object/apply:os.system [ls]\n", 2, "tag"),
        ("tables:\n  a: !mine {}\n", 2, "tag"),
        ("x: &x {role: fact}\ntables:\n  a:\n    <<: *x\n", 4, "`<<` is not read"),
        ("tables:\n  - role: fact\n", 2, "needs `name`"),
        ("tables:\n  [a, b]: {}\n", 2, "a key must be a name"),
        ("- tables\n", 1, "must be a mapping"),
        ("a: 1\n---\nb: 2\n", 2, "no YAML"),
        ("tables:\n  a: \x07\n", 1, "no YAML"),
        ("tables: &a\n  b: *a\n", 1, "too deep"),
        ("a: " + "[" * 30 + "]" * 30, 1, "nested more than"),
        ("a: " + "[" * 5000, 1, "nest"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_with_its_line(tmp_path: Path, text: str, line: int, part: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert f"metadata.yaml:{line}: " in caught.value.message and part in caught.value.message


def test_aliases_that_unfold_to_billions_end_soon(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    started = time.monotonic()
    with pytest.raises(InputError, match="too deep, or more than"):
        read(tmp_path, "\n".join(lines))
    assert time.monotonic() - started < 20


def test_scalars_are_the_text_that_stands_there(tmp_path: Path) -> None:
    text = "tables:\n  007:\n    description: 1e3\n    aliases: [no, 2024-01-01, 0x1F, on]\n    columns: {yes: {unit: %}, 1_0: {}}\n"
    found = read(tmp_path, text.replace("%", "'%'"))
    (table,) = found.tables
    assert (table.name, table.description, table.aliases) == ("007", "1e3", ("no", "2024-01-01", "0x1F", "on"))
    assert [column.name for column in found.columns] == ["yes", "1_0"]


def test_other_encodings_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, "tables:\n  订单: {aliases: [销售]}\n".encode("gb18030")).tables[0].name == "订单"
    assert read(tmp_path, "tables:\n  订单: {}\n".encode("utf-16")).tables[0].name == "订单"


def test_two_of_them_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "metadata.yml").write_text("tables: {}")
    with pytest.raises(InputError, match="there are two"):
        read(tmp_path, "tables: {}")
