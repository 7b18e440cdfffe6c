"""pieces that the question asks for → whether the query counts records that have a number of pieces each, counted on the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import ColumnProfile
from tasks.core.models.evidence import Check
from tasks.solve.checking.facts import Facts, is_number
from tasks.solve.checking.measuring import Measuring, whole
from tasks.solve.checking.things import counts_rows, inner_columns
from tasks.solve.mending.scopes import sources

if TYPE_CHECKING:
    from sqlglot import exp

_TRADED = r"(?:sold|sell|ordered|bought|purchased|shipped|delivered|returned|produced|rented|dispatched|received|moved)"
_GOODS = r"(?:items?|articles?|products?|goods)"
_PIECES = r"(?:units?|pieces?|pcs|copies)"
_ADJECTIVES = r"(?:(?!\w+(?:s|ed)\b|(?:have|has|had|people|children|of|in|who|that|which|different|distinct|unique)\b)[\w-]+\s+){0,2}?"
_MANY = r"\b(?:how many|(?:number|count|total|amount) of|total|most|fewest|least|more|fewer)\s+(?:the\s+|all\s+)?"
_ENGLISH = re.compile(
    rf"(?i){_MANY}{_ADJECTIVES}{_PIECES}\b(?! (?:price|cost)s?\b)"
    rf"|{_MANY}{_ADJECTIVES}{_GOODS}\b[^.;?!]{{0,40}}?\b{_TRADED}\b"
    rf"|\bquantit(?:y|ies)\b|\b(?:best[- ]sell|most[- ]sold)"
)
_KINDS = re.compile(r"(?i)\b(?:different|distinct|unique|kinds?|types?|sorts?|varieties)\b|种|不同|去重")
_CHINESE = re.compile(
    r"(?:卖|售|销|购|买|采购|订购|出货|发货|进货|入库|出库|退货|生产)[^，,。；;？?]{0,12}?(?:多少|几)(?:件|个|台|瓶|箱|只|本|份|双|套|条|辆|部|盒|包|袋|支|块|把|张)"
    r"|(?:多少|几)(?:件|台|瓶|箱|盒|袋|包|双|套|本)(?:商品|产品|货)?|件数|销量|销售数量|销售量|订购数量|采购数量|出货量|总数量"
)
_NUMBER_OF = frozenset(["qty", "quantity", "quantities", "quant", "units", "pieces", "pcs", "copies"])
_NOT_OF = frozenset(
    [
        "price",
        "cost",
        "id",
        "code",
        "rate",
        "type",
        "discount",
        "per",
        "weight",
        "size",
        "stock",
        "min",
        "max",
        "minimum",
        "maximum",
        "reorder",
        "available",
        "left",
        "limit",
        "level",
    ]
)
_QUANTITY = re.compile(r"数量|件数|销量|销售量|采购量|订购量|台数|份数|箱数|套数|个数")
_NO_QUANTITY = re.compile(r"价|额|库存|编号|上限|下限|最低|最高")


async def pieces(facts: Facts, counts: Measuring) -> Check | None:
    """Where pieces are asked for, and each record says how many it has, these are summed and the records not counted."""
    from sqlglot import exp

    if _KINDS.search(facts.question) or not (_ENGLISH.search(facts.question) or _CHINESE.search(facts.question)):
        return None
    if any(_is_quantity(column.name) for node in facts.tree.find_all(exp.Sum) for column in node.find_all(exp.Column)):
        return None
    for node in facts.tree.find_all(exp.Count):
        select = node.parent_select
        if not isinstance(select, exp.Select) or not counts_rows(node, select):
            continue
        for text, name in _quantities(select, facts):
            grouped = counts.over(select, ["count(*) AS n", f"sum({text}) AS s"], grouped=True)
            row = await counts.row(f"SELECT n, s FROM ({grouped}) WHERE s <> n LIMIT 1")
            if row is None:
                continue
            of = " in a group" if select.args.get("group") else ""
            detail = (
                f"{node.sql('duckdb')} counts {whole(row[0])} records{of}, whose {name} sums up to {row[1]}: "
                "the question may ask for the latter"
            )
            return Check(name="pieces", outcome="noted", detail=detail)
    return None


def _quantities(select: exp.Select, facts: Facts) -> Iterator[tuple[str, str]]:
    """Columns of what the SELECT reads that say how many pieces a record has: as the query can write them, and their names."""
    from sqlglot import exp

    for source in (source for source in sources(select, facts.schema) if source.position >= 0):
        columns: tuple[ColumnProfile, ...] = (
            source.table.columns if source.table else tuple(inner_columns(source.columns, facts))
        )
        for column in columns:
            if is_number(column) and _is_quantity(column.name):
                yield exp.column(column.name, table=source.alias, quoted=True).sql("duckdb"), column.name


def _is_quantity(name: str) -> bool:
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).casefold()))
    if words & _NUMBER_OF:
        return not words & _NOT_OF
    return bool(_QUANTITY.search(name)) and not _NO_QUANTITY.search(name)
