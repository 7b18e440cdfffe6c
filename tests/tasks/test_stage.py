"""A stage as a plain call: keys, records, retries."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from staged import Place, Sum, add, call, count, cut_short, events, fresh_count, look, nothing, ran

from tasks import stage as stages
from tasks.core.errors import BudgetError, InputError, ModelError
from tasks.core.files.store import Folder, Store, use
from tasks.core.llm import budget, door
from tasks.core.models.value import Location, Value
from tasks.core.settings import Settings, load
from tasks.stage import canonical, stage

__all__ = ("fresh_count",)


def test_the_second_equal_call_is_read_and_equals_the_first(store: Store) -> None:
    first, second = call(add(1)), call(add(a=1, b=2))
    assert first == second == Sum(total=3, parts=(1 / 3, 2.0), note="合计 — total", data=first.data)
    assert ran.runs == 1
    assert type(second.parts) is tuple and type(second.parts[1]) is float
    assert call(add(1, 3)).total == 4 and ran.runs == 2


def test_the_listener_hears_what_ran_and_what_was_read(store: Store) -> None:
    assert events(lambda: add(1)) == [("add", "start"), ("add", "done")]
    assert events(lambda: add(1)) == [("add", "start"), ("add", "cached")]


def test_a_stored_none_is_a_hit(store: Store) -> None:
    assert call(nothing(1)) is None and call(nothing(1)) is None
    assert ran.runs == 1


def test_a_folder_may_move_without_losing_its_results(store: Store) -> None:
    call(count(Place(root="/a", files=("x",))))
    assert call(count(Place(root="/b", files=("x",)))).total == 1 and ran.runs == 1
    assert call(count(Place(root="/b", files=("x", "y")))).total == 2 and ran.runs == 2


def test_a_fresh_stage_runs_every_time_and_leaves_no_record(store: Store, settings: Settings) -> None:
    for _ in range(2):
        call(look(Place(root="/a")))
    assert ran.runs == 2 and not (settings.store.folder / "records").exists()


@pytest.mark.parametrize(
    "torn",
    [
        *(b"", b'{"metadata": {}', b'{"result": "[1,"}', b"[]", b'{"result": 3}', b"\xff"),
        *(b'{"result": "null"}', b'{"result": "{\\"total\\": \\"many\\"}"}'),
    ],
)
def test_a_torn_record_is_made_anew(store: Store, torn: bytes) -> None:
    call(add(1))
    store.write(add.record(1), torn)
    assert call(add(1)).total == 3 and ran.runs == 2
    assert call(add(1)).total == 3 and ran.runs == 2


@pytest.mark.parametrize(
    "value",
    [b"x", {1: "x"}, {"x"}, Path("x"), object(), lambda: 0, [Path("x")], {"x": b""}],
    ids=("bytes", "key that is no text", "set", "path", "object", "function", "path in a list", "bytes in a dict"),
)
def test_what_has_no_stable_form_is_refused(store: Store, value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be an input"):
        call(add(value))
    assert ran.runs == 0


def test_canonical_tells_apart_what_differs() -> None:
    values = [
        1,
        1.0,
        True,
        "1",
        None,
        "",
        [],
        {},
        [1],
        {"float": "1.0"},
        date(2026, 1, 2),
        "2026-01-02",
        Place(root="/a"),
    ]
    forms = [json.dumps(canonical(value), sort_keys=True) for value in values]
    assert len(set(forms)) == len(values)
    assert canonical((1, [2])) == canonical([1, (2,)])
    assert canonical({"b": 1, "a": 2}) == canonical({"a": 2, "b": 1})


class Part(Value):
    numbers: tuple[int, ...]
    at: Annotated[str, Location()] = ""


class Whole(Value):
    name: str
    part: Part


@stage()
async def weigh(whole: Whole, parts: tuple[Part, ...]) -> int:
    return sum(whole.part.numbers)


def test_records_of_models_are_by_content_whichever_object_and_order(store: Store, settings: Settings) -> None:
    def record(*numbers: int, name: str = "a", at: str = "here", kept: bool = True) -> str:
        part = Part(numbers=numbers, at=at)
        if kept:  # its digest is known before that of the whole
            weigh.record(Whole(name="other", part=part), (part,))
        return weigh.record(Whole(name=name, part=part), (part, Part(numbers=(1,))))

    assert record(1, 2) == record(1, 2) == record(1, 2, kept=False) == record(1, 2, at="there")
    assert len({record(1, 2), record(2, 1), record(1, 2, name="b"), record(12)}) == 4


def test_a_digest_is_made_once_for_each_object_and_forgotten_with_it(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    plain = stages.canonical
    monkeypatch.setattr(stages, "canonical", lambda value: seen.append(value) or plain(value))
    part = Part(numbers=(3, 4))
    for name in ("a", "b", "c"):
        weigh.record(Whole(name=name, part=part), ())
    assert seen.count((3, 4)) == 1
    key = id(part)
    assert key in stages._digests
    del part
    gc.collect()
    assert key not in stages._digests


def test_transient_trouble_is_tried_again_twice(store: Store) -> None:
    ran.errors = [ModelError("busy", transient=True)] * 2
    assert call(add(1)).total == 3 and ran.runs == 3
    ran.errors = [ModelError("busy", transient=True)] * 3

    async def fail() -> None:
        with pytest.raises(ModelError, match="busy"):
            await add(5)

    assert [event for _, event in events(fail)] == ["start", "retry", "retry", "failed"]
    assert ran.runs == 6


@pytest.mark.parametrize(
    "error",
    [
        ModelError("refused"),
        ModelError("nothing there", transient=True, away="never there"),
        InputError("gone"),
        BudgetError("used up"),
        ValueError("slip"),
    ],
    ids=repr,
)
def test_other_errors_are_raised_at_once_and_not_recorded(store: Store, error: Exception) -> None:
    ran.errors = [error]
    with pytest.raises(type(error), match=str(error.args[0])):
        call(add(1))
    assert ran.runs == 1
    assert call(add(1)).total == 3 and ran.runs == 2


@pytest.mark.parametrize(("cause", "runs"), [("stopped", 1), ("transient", 3)])
def test_a_result_of_this_run_only_is_given_and_not_recorded(store: Store, cause: str, runs: int) -> None:
    assert call(cut_short(1, cause)) == Sum(total=1, unsettled=cause)
    assert ran.runs == runs and not store.files.exists(cut_short.record(1, cause))


def test_a_store_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("a file where a folder should be")
    with use(Store(Folder(tmp_path), tmp_path)), pytest.raises(InputError, match="cannot write to the store"):
        call(add(1))


def test_a_value_that_json_cannot_hold_is_an_error(store: Store) -> None:
    @stage()
    async def divide() -> Sum:
        return Sum(total=1, parts=(float("nan"),))

    with pytest.raises(ValueError, match="JSON"):
        call(divide())


def make(folder: Path, body: str = "return a", helper: str = "X = 1", prompt: str = "p", roles: str = "()") -> Any:
    """A stage of a package of its own, loaded anew."""
    (folder / "prompts").mkdir(parents=True, exist_ok=True)
    (folder / "prompts" / "p.md").write_text(prompt)
    (folder / "near.py").write_text(helper)
    (folder / "made.py").write_text(
        "from tasks.stage import stage\n\n\n"
        f"@stage(prompts=('p.md',), roles={roles})\nasync def made(a: int) -> int:\n    {body}\n"
    )
    stages.code_digest.cache_clear()
    spec = importlib.util.spec_from_file_location("made", folder / "made.py")
    assert spec and spec.loader
    module = sys.modules["made"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.made


@pytest.mark.parametrize("change", [{"body": "return a  # 2"}, {"helper": "X = 2"}, {"prompt": "q"}], ids=str)
def test_the_key_holds_code_prompts_and_nothing_of_the_place(store: Store, tmp_path: Path, change: Any) -> None:
    before = make(tmp_path / "one").record(1)
    assert make(tmp_path / "two").record(1) == before
    assert make(tmp_path / "one", **change).record(1) != before


def test_the_key_holds_the_model_of_the_roles_and_no_secret(store: Store, tmp_path: Path) -> None:
    made = make(tmp_path / "one", roles="('agent',)")

    def record(**overrides: Any) -> str:
        settings = load(overrides=overrides)
        with door.use(door.Door(settings, store, budget.Meter(settings.budget))):
            return str(made.record(1))

    before = record()
    assert (
        record(endpoints={"main": {"url": "http://127.0.0.1:9/v1", "api_key_env": "OTHER", "concurrency": 9}}) == before
    )
    assert record(roles={"agent": {"timeout_seconds": 5, "attempts": 1}}) == before
    changes: list[dict[str, Any]] = [
        {"endpoints": {"main": {"model": "other"}}},
        {"roles": {"agent": {"temperature": 1.0}}},
        {"roles": {"agent": {"thinking": True}}},
        {"journal": {"repeat": 1}},
    ]
    assert len({before, *(record(**change) for change in changes)}) == 1 + len(changes)


def test_stages_run_side_by_side(store: Store) -> None:
    async def both() -> list[Sum]:
        return await asyncio.gather(add(1), add(2), nothing(1))

    assert [s.total for s in call(both())[:2]] == [3, 4]
    assert ran.runs == 3
