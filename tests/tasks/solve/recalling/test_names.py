"""Of hundreds of columns with one name, that one comes first which more of the added terms meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.core.models.context import Terms
from tasks.core.models.metadata import ColumnInfo, Metadata, TableInfo
from tasks.core.search.index import Texts, Writer
from tasks.core.search.lookup import Lookup
from tasks.core.settings import load
from tasks.solve.recalling.names import find_columns

TRADES = [f"trade{n}" for n in range(20)]
THINGS = {"en": [f"thing{n}" for n in range(10)], "zh": [f"物品{n}" for n in range(10)]}
RECALL = load().recall


def metadata(language: str) -> Metadata:
    """Two hundred tables with the same two columns."""
    names = [f"{trade}_{thing}" for trade in TRADES for thing in THINGS[language]]
    columns = ("capacity", "weight") if language == "en" else ("容量", "重量")
    return Metadata(
        tables=tuple(TableInfo(name=name, origin=name, role="fact", rows=1) for name in names),
        columns=tuple(
            ColumnInfo(id=f"{name}.{column}", table=name, name=column, type="DOUBLE", role="measure")
            for name in names
            for column in columns
        ),
    )


def found(folder: Path, made: Metadata, question: str, *terms: str) -> list[str]:
    """Ids of the columns, best first."""
    with Writer(folder / "index.sqlite") as writer:
        for column in made.columns:
            writer.add("column", column.id, Texts(column.name, around=column.table))
    with Lookup(folder / "index.sqlite") as lookup:
        hits = find_columns(lookup, Terms(question=question, columns=terms), made, (), RECALL)
    return [hit.id for hit in hits]


@pytest.mark.parametrize(("language", "column"), [("en", "capacity"), ("zh", "容量")])
def test_a_column_that_hundreds_of_tables_have_is_that_of_the_table_that_the_terms_name(
    tmp_path: Path, language: str, column: str
) -> None:
    thing = THINGS[language][9]
    assert (
        found(tmp_path, metadata(language), "how much room?", column, "trade19", thing)[0]
        == f"trade19_{thing}.{column}"
    )


def test_the_words_of_the_question_do_not_hide_the_table_that_the_terms_name(tmp_path: Path) -> None:
    question = "room inside of trade3 thing4"
    ids = found(tmp_path, metadata("en"), question, "capacity", "trade19", "thing9", "trade18")
    tables = [*dict.fromkeys(id.partition(".")[0] for id in ids)]
    assert {"trade19_thing9", "trade3_thing4"} <= {*tables[:8]}


def test_without_terms_the_question_s_words_rank_as_they_do(tmp_path: Path) -> None:
    assert found(tmp_path, metadata("en"), "the weight of trade7 thing2")[0] == "trade7_thing2.weight"
