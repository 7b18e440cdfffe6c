"""One suite for every store: it answers as the embedded one, a content is written once, and contents do not mix."""

from __future__ import annotations

import hashlib
import json
import os
import random
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from searcher import Searcher
from servers import Server

from tasks.core.errors import InputError
from tasks.core.search.index import Texts, Writer
from tasks.core.search.lookup import Lookup
from tasks.core.search.nearest import Vectors
from tasks.core.search.words import fold, words
from tasks.core.stores import database, elastic, qdrant
from tasks.core.stores.embedded import MetadataFile, VectorFile
from tasks.core.stores.place import Place

NOUNS = [
    "order",
    "amount",
    "region",
    "user",
    "city",
    "price",
    "date",
    "订单",
    "金额",
    "地区",
    "用户",
    "日期",
    "amounts",
]
VALUES = ["华北", "华东", "ＡＢＣ店", "O'Neil & Sons", 'a"b', "茶", "new york", "New York City", "Ünited", "it's 50%"]
QUESTIONS = [
    "the order amount of a region", "各地区订单金额", "users in New York", "ABC店", "price * AND \"date", "nothing known", "",
]  # fmt: skip
WIDTH, VECTORS = 8, 60


def text_content(folder: Path, seed: int) -> tuple[Path, str, int]:
    chance, path = random.Random(seed), folder / f"text-{seed}.sqlite"
    with Writer(path) as writer:
        for n in range(40):
            said = [" ".join(chance.choices(NOUNS, k=chance.randint(0, 4))) for _ in range(4)]
            writer.add("column", f"t{seed}.c{n}", Texts(*said))
        for n in range(5):
            writer.add("metric", f"m{seed}.{n}", Texts(chance.choice(NOUNS), chance.choice(NOUNS)))
        for n in range(4):
            values = chance.sample(VALUES, 5) + [f"{chance.choice(NOUNS)} {seed} {k}" for k in range(30)]
            writer.add_values(f"t{seed}.c{n}", values)
        known = writer.entries
    return path, digest_of(path), known


def vector_content(folder: Path, seed: int) -> tuple[Path, str]:
    chance, path = random.Random(seed), folder / f"vectors-{seed}.npy"
    file = Vectors(path, VECTORS)
    rows = [[chance.gauss(0, 1) for _ in range(WIDTH)] for _ in range(VECTORS - 1)]
    file.add(array("f", row) for row in [*rows, [0.0] * WIDTH])
    file.close()
    return path, digest_of(path)


def metadata_content(folder: Path, seed: int) -> tuple[Path, str]:
    told = {
        "name": f"t{seed}",
        "role": "fact",
        "description": "订单 'a' \"b\" \\n 😀 %s",
        "alias": ["x, y", "订单"],
        "rows": 2**40,
    }
    column = {
        "id": "t.`c`", "table_name": "t", "name": "`c`", "type": "DECIMAL(38,2)", "role": "measure", "examples": ["1.50", "", "\n"],
        "description": "d" * 70_000, "alias": [], "unit": "元", "refers_to": None, "match_rate": 0.1 + 0.2, "basis": "measured",
    }  # fmt: skip
    metric = {
        "id": "m", "name": "GMV", "description": "", "formula": "sum(c)", "filters": ["a = 'b'"], "unit": "", "grain": "", "alias": [],
        "relevant_columns": ["t.`c`"], "line": 3, "basis": "knowledge",
    }  # fmt: skip
    rows = {
        "table_info": [{**told, "origin": "o.csv", "basis": "measured"}],
        "column_info": [{**column, "id": f"c{n}", "match_rate": None if n else 1 / 3} for n in range(12)],
        "metric_info": [metric],
        "column_metric": [{"column_id": f"c{seed}", "metric_id": "m"}],
    }
    path = folder / f"metadata-{seed}.json"
    path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return path, digest_of(path)


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ask_text(store: Any) -> Any:
    found = []
    for question in QUESTIONS:
        asked = words(question)
        found += [ranked(store.search(kind, asked, limit)) for kind in ("column", "metric") for limit in (3, 100)]
        found += [ranked(store.values(asked, limit)) for limit in (2, 100)]
        found += [store.spread(kind, sorted(asked)) for kind in ("column", "metric", "value")]
    found.append(store.folded([fold(value) for value in (*VALUES, "gone")]))
    return [*found, *(store.places(value) for value in (*VALUES, "gone"))]


def ask_vectors(store: Any) -> Any:
    chance = random.Random(9)
    asked = [array("f", [chance.gauss(0, 1) for _ in range(WIDTH)]) for _ in range(3)]
    spans = (range(VECTORS), range(10, 30), range(VECTORS - 1, VECTORS), range(5, 5))
    found = [store.nearest(asked, rows, limit) for rows in spans for limit in (1, 5, 100)]
    return [[(row, pytest.approx(cosine, abs=1e-5), which) for row, cosine, which in some] for some in found]


def ask_metadata(store: Any) -> Any:
    return store.rows()


def ranked(hits: list[tuple[str, float]]) -> Any:
    return [(ref, pytest.approx(score, rel=1e-9)) for ref, score in hits]


KINDS: dict[str, tuple[Callable[..., Any], Callable[[Any], Any], Callable[..., Any], Callable[[Path], Any]]] = {
    "text": (text_content, ask_text, elastic.connect, Lookup),
    "vectors": (vector_content, ask_vectors, qdrant.connect, VectorFile),
    "metadata": (metadata_content, ask_metadata, database.connect, MetadataFile),
}
REAL = pytest.mark.service
STORES = [
    pytest.param(("text", "searcher"), id="text-http"),
    pytest.param(("text", "TEST_ELASTICSEARCH_URL"), id="text-elasticsearch", marks=REAL),
    pytest.param(("text", "TEST_OPENSEARCH_URL"), id="text-opensearch", marks=REAL),
    pytest.param(("vectors", "local"), id="vectors-qdrant-local"),
    pytest.param(("vectors", "TEST_QDRANT_URL"), id="vectors-qdrant-server", marks=REAL),
    pytest.param(("metadata", "postgres"), id="metadata-postgresql", marks=REAL),
    pytest.param(("metadata", "mariadb"), id="metadata-mariadb", marks=REAL),
]


class Side:
    """A store of one kind, on a server that is its own."""

    def __init__(self, kind: str, url: str, folder: Path) -> None:
        self._make, self._ask, self._connect, self._embedded = KINDS[kind]
        self._made: dict[int, Any] = {}
        self.folder = folder
        self.place = Place(
            url=url, key="", prefix=f"test{os.getpid()}_{folder.name[-12:].replace('-', '_')}".lower(), seconds=20
        )

    def _content(self, seed: int) -> Any:
        if seed not in self._made:
            self._made[seed] = self._make(self.folder, seed)
        return self._made[seed]

    def fill(self, seed: int) -> bool:
        with self._connect(self.place, self._content(seed)) as store:
            return bool(store.fill())

    def answers(self, seed: int) -> Any:
        with self._connect(self.place, self._content(seed)) as store:
            return self._ask(store)

    def expected(self, seed: int) -> Any:
        return self._ask(self._embedded(self._content(seed)[0]))


@pytest.fixture(params=STORES)
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Side]:
    kind, server = request.param
    if kind == "vectors":
        pytest.importorskip(
            "qdrant_client", reason="qdrant-client is not installed: pip install -r requirements-stores.txt"
        )
    if server == "searcher":
        with Searcher() as searcher:
            yield Side(kind, searcher.url, tmp_path)
    elif server == "local":
        yield Side(kind, f"file://{tmp_path / 'qdrant'}", tmp_path)
    elif server in ("postgres", "mariadb"):
        made: Server = request.getfixturevalue("database_of")(server)
        yield Side(kind, made.url, tmp_path)
    elif url := os.environ.get(server):
        yield Side(kind, url, tmp_path)
    else:
        pytest.skip(f"no server: set {server} to the URL of one on this machine")


def test_answers_are_those_of_the_embedded_store(side: Side) -> None:
    side.fill(1)
    assert side.answers(1) == side.expected(1)


def test_a_content_is_written_once_and_contents_do_not_mix(side: Side) -> None:
    assert [side.fill(seed) for seed in (1, 1, 2, 1, 2)] == [True, False, True, False, False]
    assert side.answers(1) == side.expected(1)
    assert side.answers(2) == side.expected(2)
    assert side.expected(1) != side.expected(2)


@pytest.mark.service
@pytest.mark.parametrize("program", ["postgres", "mariadb"])
def test_of_many_that_write_at_once_one_writes(
    program: str, database_of: Callable[[str], Server], tmp_path: Path
) -> None:
    side = Side("metadata", database_of(program).url, tmp_path)
    expected = side.expected(1)
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(side.fill, [1] * 4)) == [False] * 3 + [True]
    assert side.answers(1) == expected


def test_what_was_broken_off_is_completed(tmp_path: Path) -> None:
    with Searcher() as searcher:
        side = Side("text", searcher.url, tmp_path)
        searcher.most = 30
        with pytest.raises(InputError, match="the disk is full"):
            side.fill(1)
        searcher.most = 0
        assert [side.fill(1), side.fill(1)] == [True, False]
        assert side.answers(1) == side.expected(1)


def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    pytest.importorskip(
        "qdrant_client", reason="qdrant-client is not installed: pip install -r requirements-stores.txt"
    )
    place = Place(url=f"file://{tmp_path / 'q'}", key="", prefix="p", seconds=5)
    with qdrant.connect(place, vector_content(tmp_path, 1)) as store, pytest.raises(ValueError, match="8 numbers"):
        store.nearest([array("f", [1.0])], range(3), 3)
