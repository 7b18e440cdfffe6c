"""A model's SQL + the names it may read → nothing, or the reason why it is refused.

DuckDB's own parser makes the tree, so that what is judged is what will run. Node kinds, tables and table
functions are allow-lists; what would read the session, the clock or chance is refused because the query
could not be replayed.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

_LONGEST = 50_000
"""Characters of a query; longer ones only cost the parser."""
_NAMED = 30
"""Tables that a message lists."""

_KINDS = frozenset(
    [
        "SELECT_NODE",
        "SET_OPERATION_NODE",
        "RECURSIVE_CTE_NODE",
        "BASE_TABLE",
        "SUBQUERY",
        "JOIN",
        "TABLE_FUNCTION",
        "EXPRESSION_LIST",
        "EMPTY",
        "PIVOT",
        "SHOW_REF",
        "DISTINCT_MODIFIER",
        "ORDER_MODIFIER",
        "LIMIT_MODIFIER",
        "LIMIT_PERCENT_MODIFIER",
        "ORDER_DEFAULT",
        "ASCENDING",
        "DESCENDING",
    ]
)
"""Kinds of tree nodes that are no expressions. DML in a CTE (`INSERT_QUERY_NODE`, `COPY_QUERY_NODE`) is not among them."""
_TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
_CLOCK = frozenset(
    [
        "now",
        "today",
        "current_date",
        "current_time",
        "current_timestamp",
        "current_localtime",
        "current_localtimestamp",
        "localtime",
        "localtimestamp",
        "get_current_time",
        "get_current_timestamp",
        "transaction_timestamp",
        "pg_postmaster_start_time",
    ]
)
_CHANCE = frozenset(["random", "setseed", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "reservoir_quantile"])
_SESSION = frozenset(
    [
        "getenv",
        "getvariable",
        "current_setting",
        "current_database",
        "current_catalog",
        "current_schema",
        "current_schemas",
        "current_user",
        "current_role",
        "session_user",
        "user",
        "current_query",
        "current_query_id",
        "current_connection_id",
        "current_transaction_id",
        "txid_current",
        "in_search_path",
        "inet_client_addr",
        "inet_client_port",
        "inet_server_addr",
        "inet_server_port",
        "version",
        "get_block_size",
        "nextval",
        "currval",
        "setval",
        "write_log",
        "sleep_ms",
        "pg_sleep",
        "pg_conf_load_time",
        "query",
        "query_table",
        "glob",
        "read_text",
        "read_blob",
        "json_execute_serialized_sql",
        "json_deserialize_sql",
        "json_serialize_plan",
        "json_serialize_sql",
        "vector_type",
        "stats",
        "which_secret",
        "parse_duckdb_log_message",
    ]
)
_RAW = frozenset(["finalize", "combine", "combine_aggr", "to_aggregate_state", "variant_bytes_to_variant"])
"""Functions that take DuckDB's own memory layouts as values: no query needs them, and a forged one is read as it is."""
_BY_NAME = frozenset(["aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"])
"""Functions whose second argument is the name of a function."""
_NO_DATE = "{name} is not the day of the question: write the date itself, e.g. DATE '2024-05-31'"


def check(
    sql: str,
    tables: Iterable[str],
    connection: duckdb.DuckDBPyConnection | None = None,
    described: Iterable[str] = (),
) -> str | None:
    """None when the SQL is one SELECT over these tables alone (any case), else what is wrong and what to do.

    `described` are names with a schema (`metadata.column_info`) that may be read too.
    """
    if len(sql) > _LONGEST:
        return f"the query has {len(sql)} characters, the limit is {_LONGEST}: write a shorter one"
    if not sql.isprintable() and any("\ud800" <= mark <= "\udfff" or mark == "\0" for mark in sql):
        return "the query holds characters that are no text: write it again"
    try:
        tree = json.loads(_parse(sql, connection or _parser()))
        if tree.get("error"):
            return _syntax(sql, tree)
        statements = tree["statements"]
        if len(statements) != 1:
            return "the query is empty" if not statements else f"send one SELECT, not {len(statements)} statements"
        review = _Review(tables, described)
        review.read(statements[0], frozenset())
    except RecursionError:
        return "the query is nested too deeply: write it with WITH"
    return "; ".join(dict.fromkeys(review.problems[:3])) or None


class _Review:
    """One walk over a statement's tree."""

    def __init__(self, tables: Iterable[str], described: Iterable[str] = ()) -> None:
        self.tables = {_fold(table): table for table in tables}
        self.described = frozenset(described)
        self.problems: list[str] = []

    def read(self, node: Any, scope: frozenset[str]) -> None:
        """Judge a node and all below it; `scope` holds the CTE names that are visible there."""
        if isinstance(node, list):
            for item in node:
                self.read(item, scope)
        elif isinstance(node, dict):
            if "cte_map" in node:
                scope = self._read_ctes(node["cte_map"].get("map", []), scope)
            self._judge(node, scope)
            for key, value in node.items():
                if key != "cte_map":
                    self.read(value, scope)

    def _read_ctes(self, entries: list[dict[str, Any]], scope: frozenset[str]) -> frozenset[str]:
        """A CTE sees those before it, and itself only when it is recursive."""
        for entry in entries:
            name = _fold(entry["key"])
            query = entry["value"].get("query_node") or entry["value"].get("query") or {}
            body = query.get("node", query)
            self.read(entry["value"], scope | {name} if body.get("type") == "RECURSIVE_CTE_NODE" else scope)
            scope = scope | {name}
        return scope

    def _judge(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        kind = node.get("type")
        if "class" in node:
            self._judge_expression(node)
        elif isinstance(kind, str) and kind not in _KINDS and "id" not in node:
            self._refuse(f"{kind.removesuffix('_NODE').replace('_', ' ').lower()} is not allowed: send one SELECT")
        elif kind == "BASE_TABLE":
            self._judge_table(node, scope)
        elif kind == "TABLE_FUNCTION":
            name = str(node.get("function", {}).get("function_name", "")).lower()
            if name not in _TABLE_FUNCTIONS:
                self._refuse(f"table function {name}() is not allowed: query one of the tables ({self._names()})")
        elif kind == "SHOW_REF" and not self._may_show(node):
            self._refuse("SHOW is only for TABLES: use DESCRIBE or SUMMARIZE with a table")
        self._judge_sample(node.get("sample"))

    def _judge_table(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        name, schema = str(node.get("table_name", "")), str(node.get("schema_name", "")).lower()
        if not node.get("catalog_name") and f"{schema}.{_fold(name)}" in self.described and not node.get("at_clause"):
            return
        if node.get("catalog_name") or schema not in ("", "main"):
            where = ".".join(part for part in (node.get("catalog_name"), node.get("schema_name")) if part)
            self._refuse(f"there is no schema {where!r}: name tables alone ({self._names()})")
        elif node.get("at_clause"):
            self._refuse("AT is not allowed: tables have one version")
        elif _fold(name) not in self.tables and (schema or _fold(name) not in scope):
            self._refuse(self._unknown(name))

    def _judge_expression(self, node: dict[str, Any]) -> None:
        if node["class"] == "PARAMETER":
            self._refuse("the query has a parameter: write the value itself")
        if node["class"] == "COLUMN_REF" and len(node["column_names"]) == 1:
            name = str(node["column_names"][0])
            bare = node.get("query_location_length") == len(name)
            if bare and name.lower() in _CLOCK:
                self._refuse(_NO_DATE.format(name=name))
        if name := str(node.get("function_name") or "").lower():
            self._judge_function(name, node)

    def _judge_function(self, name: str, node: dict[str, Any]) -> None:
        if name in _CLOCK or (name == "age" and len(node.get("arguments", [])) == 1):
            self._refuse(_NO_DATE.format(name=f"{name}()"))
        elif name in _CHANCE:
            self._refuse(f"{name}() gives another result each time, so the query could not be replayed")
        elif name in _SESSION or name in _RAW or name.startswith(("has_", "pg_get_", "__internal_")):
            self._refuse(f"function {name}() is not allowed: compute from the tables' columns")
        elif node.get("export_state"):
            self._refuse("EXPORT_STATE is not allowed: aggregate the rows themselves")
        elif name in _BY_NAME:
            self._judge_name_of_function(name, node)
        elif str(node.get("schema") or "main").lower() not in ("main", "pg_catalog") or node.get("catalog"):
            self._refuse(f"function {name}() of another schema is not allowed")

    def _judge_name_of_function(self, name: str, node: dict[str, Any]) -> None:
        """`list_aggregate(list, 'sum')`: the text is judged as the function that it names."""
        arguments = node.get("arguments", [])
        literal = arguments[1].get("expression", {}).get("literal") if len(arguments) > 1 else None
        if isinstance(literal, dict) and literal.get("kind") == "STRING":
            self._judge_function(str(literal["text"]).lower(), {})
        else:
            self._refuse(f"{name}() needs the name of its function as a plain text: {name}(list, 'sum')")

    def _judge_sample(self, sample: Any) -> None:
        if isinstance(sample, dict) and sample.get("seed", -1) == -1:
            self._refuse("a sample differs each time, so the query could not be replayed: use ORDER BY and LIMIT")

    def _may_show(self, node: dict[str, Any]) -> bool:
        if node.get("show_type") in ("DESCRIBE", "SUMMARY"):
            return bool(node.get("query"))
        return bool(node.get("table_name") == '"tables"')

    def _unknown(self, name: str) -> str:
        if any(mark in name for mark in "/\\*?:") or name.lower().endswith(
            (".csv", ".json", ".parquet", ".db", ".txt")
        ):
            return f"{name!r} is a file, not a table: query one of the tables ({self._names()})"
        near = difflib.get_close_matches(name.lower(), self.tables, n=1, cutoff=0.6)
        meant = f", did you mean {self.tables[near[0]]!r}?" if near else ""
        return f"there is no table {name!r}{meant} (tables: {self._names()})"

    def _names(self) -> str:
        names = list(self.tables.values())
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return (", ".join(names[:_NAMED]) or "none") + more

    def _refuse(self, problem: str) -> None:
        self.problems.append(problem)


def _fold(name: str) -> str:
    """The name as DuckDB compares names: only A to Z lose their case. Folding more would take one name for another."""
    return name.encode().lower().decode()


def _parse(sql: str, connection: duckdb.DuckDBPyConnection) -> str:
    import duckdb

    try:
        row = connection.cursor().execute("select json_serialize_sql(?)", [sql]).fetchone()
    except duckdb.Error as error:
        return json.dumps({"error": True, "error_message": str(error).splitlines()[0]})
    return str(row[0]) if row else "{}"


def _syntax(sql: str, tree: dict[str, Any]) -> str:
    message = str(tree.get("error_message", "not a SELECT"))
    if message.startswith("Only SELECT"):
        first = sql.split(maxsplit=1)[0].upper() if sql.split() else ""
        if "pivot" in sql.lower() and first in ("PIVOT", "SELECT", "FROM", "WITH"):
            return "PIVOT needs its values: PIVOT … ON column IN ('a', 'b') USING …"
        refused = "what comes with it" if first in ("SELECT", "FROM", "WITH") else first
        return f"{refused} is not allowed: send one SELECT (WITH … SELECT is fine)"
    if "expression depth" in message:
        return "the query is nested too deeply, or chains too many operators: write it with WITH or IN"
    place = str(tree.get("position", ""))
    if not place.isdecimal():
        return message[:300]
    before = sql.encode()[: int(place)].decode("utf-8", "ignore")
    return f"{message[:200]} (line {before.count(chr(10)) + 1}, after {' '.join(before.split())[-30:]!r})"


@functools.cache
def _parser() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect(config={"enable_external_access": "false"})
