"""A stage as a plain call and as a Prefect task: keys, records, retries, and one set of records for both."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from world import task_runs

from tasks import stage as stages
from tasks.core.errors import BudgetError, InputError, ModelError
from tasks.core.files.store import Folder, Store, use
from tasks.core.llm import budget, door
from tasks.core.models.value import Location, Value
from tasks.core.settings import Settings, load
from tasks.stage import canonical, stage


class Place(Value):
    root: Annotated[str, Location()]
    files: tuple[str, ...] = ()


class Sum(Value):
    total: int
    parts: tuple[float, ...] = ()
    note: str = ""
    data: dict[str, Any] = {}  # noqa: RUF012
    unsettled: str = ""


class Counted:
    """A stage body that counts its runs and fails first with the given errors."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.runs = 0

    def __call__(self) -> None:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)


ran = Counted()


@stage()
async def add(a: int, b: int = 2) -> Sum:
    ran()
    return Sum(total=a + b, parts=(a / 3, b), note="合计 — total", data={"__class__": "os.system", "data": "exit 3"})


@stage()
async def nothing(a: int) -> Sum | None:
    ran()
    return None


@stage(fresh=True)
async def look(place: Place) -> Sum:
    ran()
    return Sum(total=len(place.files))


@stage()
async def count(place: Place) -> Sum:
    ran()
    return Sum(total=len(place.files))


@stage()
async def cut_short(a: int, cause: str) -> Sum:
    ran()
    return Sum(total=a, unsettled=cause)


@pytest.fixture(autouse=True)
def fresh_count(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    ran.runs, ran.errors = 0, []
    monkeypatch.setattr(stages, "RETRY_SECONDS", (0.0, 0.0))
    yield


def call(work: Awaitable[Any]) -> Any:
    async def main() -> Any:
        return await work

    return asyncio.run(main())


def events(work: Callable[[], Awaitable[Any]]) -> list[tuple[str, str]]:
    heard: list[tuple[str, str]] = []
    token = stages.listener.set(lambda name, event, _seconds: heard.append((name, event)))
    try:
        asyncio.run(work())  # type: ignore[arg-type]
    finally:
        stages.listener.reset(token)
    return heard


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
    "error", [ModelError("refused"), InputError("gone"), BudgetError("used up"), ValueError("slip")], ids=repr
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


# With a Prefect server: a flow around the same stages.


def in_flow(work: Callable[[], Awaitable[Any]], store_settings: Any, count: int = 1) -> tuple[Any, list[Any]]:
    """Run in a flow with the store's block; its result or exception, and the task runs as the server knows them."""
    from prefect import flow
    from prefect.context import FlowRunContext

    from flows.running.storage import open_block

    seen: dict[str, Any] = {}

    @flow(name="probe")
    async def probe() -> None:
        context = FlowRunContext.get()
        assert context and context.flow_run
        seen["id"] = context.flow_run.id
        stages.block.set(await open_block(store_settings))
        try:
            seen["result"] = await work()
        except Exception as error:
            seen["result"] = error

    async def main() -> tuple[Any, list[Any]]:
        await probe()
        return seen["result"], await task_runs(seen["id"], count)

    return asyncio.run(main())


def states(runs: list[Any]) -> list[tuple[str, str, int]]:
    return sorted((run.name, run.state_name, run.run_count) for run in runs)


def test_prefect_and_plain_calls_share_their_records(prefect_api: str, store: Store, settings: Settings) -> None:
    fresh, runs = in_flow(lambda: add(1), settings.store)
    assert states(runs) == [("add", "Completed", 1)]
    assert (call(add(1)), ran.runs) == (fresh, 1)
    cached, runs = in_flow(lambda: add(1), settings.store)
    assert (cached, states(runs), ran.runs) == (fresh, [("add", "Cached", 1)], 1)

    plain = call(add(2))
    crossed, runs = in_flow(lambda: add(2), settings.store)
    assert (crossed, states(runs), ran.runs) == (plain, [("add", "Cached", 1)], 2)
    assert (in_flow(lambda: nothing(1), settings.store)[0], call(nothing(1)), ran.runs) == (None, None, 3)
    records = [path for path in settings.store.folder.rglob("*") if path.is_file()]
    assert {path.parent.parent.name for path in records} == {"records"} and len(records) == 3


def test_prefect_shows_retries_of_transient_trouble_only(prefect_api: str, store: Store, settings: Settings) -> None:
    ran.errors = [ModelError("busy", transient=True)]
    result, runs = in_flow(lambda: add(1), settings.store)
    assert (result.total, states(runs)) == (3, [("add", "Completed", 2)])
    ran.errors = [ModelError("refused")]
    result, runs = in_flow(lambda: add(2), settings.store)
    assert (str(result), states(runs)) == ("refused", [("add", "Failed", 1)])
    ran.errors = [ModelError("busy", transient=True)] * 3
    result, runs = in_flow(lambda: add(3), settings.store)
    assert (str(result), states(runs), ran.runs) == ("busy", [("add", "Failed", 3)], 6)
    assert [path.name for path in settings.store.folder.rglob("*.json")] == [Path(add.record(1)).name]
    assert all(path.parent.name == "add" for path in settings.store.folder.rglob("*") if path.is_file())


def test_prefect_gives_a_result_of_this_run_only_and_records_nothing(
    prefect_api: str, store: Store, settings: Settings
) -> None:
    result, runs = in_flow(lambda: cut_short(1, "stopped"), settings.store)
    assert (result, states(runs)) == (Sum(total=1, unsettled="stopped"), [("cut_short", "Failed", 1)])
    assert ran.runs == 1 and not [path for path in settings.store.folder.rglob("*") if path.is_file()]


def test_prefect_runs_fresh_stages_every_time_and_gathers_others(
    prefect_api: str, store: Store, settings: Settings
) -> None:
    async def work() -> list[Sum]:
        place = await look(Place(root="/a", files=("x",)))
        return await asyncio.gather(*(add(n, place.total) for n in range(4)))

    for second in (False, True):
        sums, runs = in_flow(work, settings.store, count=5)
        assert [s.total for s in sums] == [1, 2, 3, 4]
        assert states(runs) == [("add", "Cached" if second else "Completed", 1)] * 4 + [("look", "Completed", 1)]
    assert ran.runs == 6


def test_under_prefect_too_a_store_that_takes_nothing_is_an_error(
    prefect_api: str, store: Store, settings: Settings
) -> None:
    settings.store.folder.mkdir()
    (settings.store.folder / "records").write_text("a file where a folder should be")
    result, _ = in_flow(lambda: add(1), settings.store)
    assert isinstance(result, InputError) and "'add' could not be stored" in str(result)


@pytest.mark.parametrize("other", ["", "null"])
def test_a_torn_record_is_made_anew_under_prefect(
    prefect_api: str, store: Store, settings: Settings, other: str
) -> None:
    call(add(1))
    whole = json.loads(store.read(add.record(1)) or b"")
    torn = json.dumps({**whole, "result": other}) if other else '{"metadata": {"storage_key": "x"}, "resu'
    store.write(add.record(1), torn.encode())
    result, runs = in_flow(lambda: add(1), settings.store)
    assert (result.total, states(runs), ran.runs) == (3, [("add", "Completed", 1)], 2)
    assert call(add(1)) == result and ran.runs == 2
