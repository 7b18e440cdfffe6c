"""Instructions in data reach the model as data, and the reader as text; a model that obeys orders still answers right."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from planted import ALL, FORMS, PLACES, Obedient, outside_fences, plant
from world import ANSWER, CONTRACT, SQL, World, last_run, make_folder

from tasks.core.llm.prompts import fence
from tasks.solve.solving.single import query_of

SAFE_TAGS = """
html head meta title style body main header section footer h1 h2 h3 p span div b i em strong small code pre ul ol li dl dt
dd table caption thead tbody tfoot tr th td details summary br figure
"""


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def ask(world: World, form: str, style: str) -> tuple[Obedient, Path]:
    model = world.endpoint.replies = Obedient(style)
    out = world.root / "out"
    world.answer(plant(world.root / "task", form), out, style=style)
    return model, out


def check(model: Obedient, out: Path) -> None:
    assert "PWNED" not in "\n".join(model.outer)
    assert (out / "answer.csv").read_text("utf-8") == ANSWER


def test_orders_in_data_stay_within_fences_and_the_reader_sees_them_as_text(world: World) -> None:
    model, out = ask(world, ALL, "json")
    check(model, out)
    inner = "\n".join(model.inner)
    assert [place for place in PLACES if f"PWNED-{place}" not in inner] == []
    page = Page((out / "report.html").read_text("utf-8"))
    assert page.tags <= set(SAFE_TAGS.split()), page.tags
    assert not {name for name in page.attributes if name.startswith("on") or name in ("href", "src", "srcdoc")}
    assert "<script>alert(1)</script>" in page.text and "PWNED-file" in page.text and "PWNED-table" in page.text
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.text)
    evidence = json.loads((out / "evidence.json").read_text("utf-8"))
    names = [name for source in evidence["sources"] for name in (source["path"], *source["tables"])]
    assert any("PWNED-file" in name for name in names) and any("PWNED-table" in name for name in names)
    assert "PWNED" not in evidence["replay"]["sql"]
    tier = last_run(world.store)["isolation"]["tier"]
    assert evidence["solving"]["tier"] == ("" if tier == "none" else tier)


@pytest.mark.parametrize("style", ["tools", "single"])
def test_orders_in_data_are_followed_in_no_style(world: World, style: str) -> None:
    model, out = ask(world, ALL, style)
    check(model, out)
    assert "PWNED" in "\n".join(model.inner)
    steps = json.loads((out / "evidence.json").read_text("utf-8"))["solving"]["steps"]
    assert not [step for step in steps if str(step["arguments"].get("sql", "")).startswith("SELECT 'PWNED")]


@pytest.mark.slow
@pytest.mark.parametrize("style", ["json", "tools", "single"])
@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_order_stays_within_fences(world: World, form: str, style: str) -> None:
    check(*ask(world, FORMS[form], style))


def test_the_obedient_model_would_obey(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fences the same model hands in what the data say: the other tests can fail."""
    for module in ("agent", "contract", "solving.observe", "solving.single"):
        monkeypatch.setattr(f"tasks.solve.{module}.fence", lambda text: text)
    _, out = ask(world, FORMS["bare"], "json")
    assert "PWNED" in (out / "answer.csv").read_text("utf-8")


def test_a_fence_within_a_value_is_not_the_query() -> None:
    sql = "SELECT a FROM t WHERE note = '```sql\nSELECT 1\n```' AND b > 2"
    assert query_of(sql) == query_of(f"  {sql};") == sql
    assert query_of("Here it is:\n```sql\nSELECT 2\n```\n") == "SELECT 2"


@pytest.mark.parametrize("form", [ALL, *FORMS.values(), "~~~", "~", "a\n~~~~~\nb", "~~~~\n" * 50], ids=str)
def test_no_text_ends_its_fence(form: str) -> None:
    assert outside_fences(f"before\n{fence(form)}\nafter")[0] == "before\nafter"


def test_formulas_for_spreadsheets_are_left_as_data_and_the_reader_is_warned(world: World) -> None:
    sql = "SELECT '=HYPERLINK(\"http://127.0.0.1:9\")' AS note, '+86 138' AS phone, -5 AS n"
    submit = json.dumps({"thought": "", "tool": "submit", "arguments": {"sql": sql, "confirm": True}})
    contract = json.dumps({"columns": [{"name": "note"}, {"name": "phone"}, {"name": "n"}]})
    world.endpoint.replies = lambda body: (
        contract if "response_format" in body and "ContractReply" in str(body) else submit
    )
    world.answer(make_folder(world.root / "task"), world.root / "out")
    assert (world.root / "out" / "answer.csv").read_text("utf-8").splitlines()[1] == (
        '"=HYPERLINK(""http://127.0.0.1:9"")",+86 138,-5'
    )
    warning = "1 cell of note, 1 cell of phone begin like a formula"
    doubts = json.loads((world.root / "out" / "evidence.json").read_text("utf-8"))["doubts"]
    assert any(doubt.startswith(warning) for doubt in doubts)
    assert warning in Page((world.root / "out" / "report.html").read_text("utf-8")).text


def test_a_hostile_model_is_refused_at_every_door_and_the_answer_still_comes(world: World, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("CANARY secret\n")
    reading = f"SELECT content FROM read_text('{secret}')"
    statements = [
        reading,
        f"SELECT * FROM '{secret}'",
        f"SELECT 1; ATTACH '{tmp_path}/new.db' AS n",
        f"COPY orders TO '{tmp_path}/out.csv'",
        "WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x",
        "PRAGMA database_list",
        "INSTALL httpfs",
        "SELECT getenv('MODEL_API_KEY')",
    ]
    programs = [
        f"result = open({str(secret)!r}).read()",
        "import os; result = os.fork()",
        "result = rows[0]['n'].__class__.__base__",
    ]
    moves = [(tool, {"sql": sql, **({"program": "result = rows"} if tool == "compute" else {})})
             for sql in statements for tool in ("query", "compute", "submit")]  # fmt: skip
    moves += [("submit", {"sql": SQL, "program": program}) for program in programs]

    def hostile(body: dict[str, Any]) -> str:
        if "ContractReply" in str(body.get("response_format")):
            return json.dumps(CONTRACT)
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        tool, arguments = moves[turn] if turn < len(moves) else ("submit", {"sql": SQL})
        return json.dumps({"thought": "", "tool": tool, "arguments": arguments})

    world.endpoint.replies = hostile
    before = set(tmp_path.iterdir()) | {tmp_path / name for name in ("task", "out", "store")}
    world.answer(make_folder(world.root / "task"), world.root / "out")
    assert (world.root / "out" / "answer.csv").read_text("utf-8") == ANSWER
    text = (world.root / "out" / "evidence.json").read_text("utf-8")
    solving = json.loads(text)["solving"]
    made = [step["ok"] for step in solving["steps"] if step["kind"] == "tool"]
    assert made == [False] * len(moves) + [True]
    assert (solving["chosen"], len(solving["candidates"])) == (0, 1)
    assert "CANARY" not in text and set(tmp_path.iterdir()) <= before
