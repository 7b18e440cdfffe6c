"""The number of rows of an answer against a count of its query."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from truth import folder_of

from tasks.core.files.store import Folder, Store, use
from tasks.core.models.answer import Submission
from tasks.core.models.evidence import Check, Replay
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.solve.checking.counted import compare, counted

TRUTHS = [
    ("SELECT tree FROM trees", 4, "passed"),
    ("SELECT tree FROM trees", 3, "failed"),
    ("SELECT tree FROM trees", 5, "failed"),
    ("SELECT DISTINCT kind FROM trees", 2, "passed"),
    ("SELECT kind, count(*) FROM trees GROUP BY kind HAVING count(*) > 1", 2, "passed"),
    ("SELECT kind FROM trees UNION ALL SELECT tree FROM trees", 8, "passed"),
    ("SELECT kind FROM trees UNION SELECT tree FROM trees ORDER BY 1 LIMIT 2", 2, "passed"),
    ("WITH t AS (SELECT * FROM trees LIMIT 3) SELECT tree, tree FROM t", 3, "passed"),
    ("SELECT tree FROM trees ORDER BY height DESC LIMIT 2", 2, "passed"),
    ("SELECT tree FROM trees ORDER BY height DESC LIMIT 9", 5, "failed"),
    ("SELECT tree FROM trees OFFSET 3", 1, "passed"),
    ("SELECT tree FROM trees WHERE kind = '柳'", 0, "passed"),
]


Look = Callable[..., Check | None]


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Look]:
    """The check of a query that gave so many rows, over one small table."""
    root = tmp_path_factory.mktemp("counted")
    with use(Store(Folder(root / "store"), root / "store" / "cache")), asyncio.Runner() as runner:
        catalogue, _ = folder_of(root / "task", {"trees.csv": "tree,kind,height\n1,松,9\n2,松,7\n3,oak,9\n4,oak,2\n"})
        engine = Engine.over(catalogue, load().query)

        def check(sql: str, rows: int, **more: str) -> Check | None:
            replay = Replay(sql=sql, columns=("tree",), rows=rows, truncated=more.get("cut") == "yes")
            return runner.run(counted(engine, Submission(sql=sql, program=more.get("program", "")), replay))

        yield check
        runner.run(engine.close())


@pytest.mark.parametrize(("sql", "rows", "outcome"), TRUTHS)
def test_the_rows_of_an_answer_are_those_that_a_count_gives(look: Look, sql: str, rows: int, outcome: str) -> None:
    made = look(sql, rows)
    assert made and (made.name, made.outcome) == ("row count", outcome), made


def test_what_a_limit_leaves_is_said_and_what_cannot_be_counted_is_not_claimed(look: Look) -> None:
    assert compare(2, 4, True).detail == "2 of the 4 rows that the query has without its limit"
    assert look("SELECT tree FROM trees", 9, program="rows") is None
    assert look("SELECT tree FROM trees", 1, cut="yes") is None
    assert look("SELECT nothing FROM trees", 1) is None
