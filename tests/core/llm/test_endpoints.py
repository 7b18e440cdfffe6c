"""Gates across event loops, the choice among endpoints, and URLs as messages show them."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tasks.core.asking import EndpointSettings
from tasks.core.llm import endpoints
from tasks.core.llm.endpoints import Endpoint, Gate


def test_a_gate_holds_across_loops_and_threads() -> None:
    gate, lock = Gate(2), threading.Lock()
    inside, most = 0, 0

    async def visit() -> None:
        nonlocal inside, most
        async with gate:
            with lock:
                inside += 1
                most = max(most, inside)
            await asyncio.sleep(0.005)
            with lock:
                inside -= 1

    async def visit_often() -> None:
        await asyncio.gather(*(visit() for _ in range(10)))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: asyncio.run(visit_often()), range(3)))
    assert most == 2 and gate.load == 0


def test_those_who_give_up_waiting_leave_the_gate_whole() -> None:
    gate = Gate(1)

    async def scene() -> None:
        async with gate:
            waiting = [asyncio.create_task(enter()) for _ in range(5)]
            await asyncio.sleep(0)
            waiting[1].cancel()
            waiting[3].cancel()
            await asyncio.sleep(0)
            assert gate.load == 4
        await asyncio.sleep(0)
        waiting[0].cancel()  # it may have been given the place in this very moment
        await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 2)

    async def enter() -> None:
        async with gate:
            await asyncio.sleep(0)

    asyncio.run(scene())
    assert gate.load == 0


def test_a_loop_that_ended_does_not_keep_its_place_in_line() -> None:
    gate = Gate(1)
    ended = asyncio.new_event_loop()

    async def scene() -> None:
        async with gate:
            gate._waiting.append((ended, ended.create_future()))
            ended.close()
        async with asyncio.timeout(1), gate:
            pass

    asyncio.run(scene())
    assert gate.load == 0


def test_those_who_go_first_do_and_all_others_as_they_came() -> None:
    gate, order = Gate(1), list[str]()

    async def visit(name: str, first: bool) -> None:
        await gate.enter(first)
        order.append(name)
        await asyncio.sleep(0)
        gate.leave()

    async def scene() -> None:
        async with gate:
            names = ("slice 1", "slice 2", "plan 1", "slice 3", "plan 2")
            visits = [asyncio.create_task(visit(name, name.startswith("plan"))) for name in names]
            await asyncio.sleep(0.01)
            visits[1].cancel()
        await asyncio.gather(*visits, return_exceptions=True)

    asyncio.run(scene())
    assert order == ["plan 1", "plan 2", "slice 1", "slice 3"] and gate.load == 0


def ends(*names: str) -> list[Endpoint]:
    return [Endpoint(name, EndpointSettings(url=f"http://{name}", model="m")) for name in names]


async def taken(choices: list[Endpoint]) -> str:
    async with endpoints.take(choices) as chosen:
        chosen.served += 1
        return chosen.name


def test_idle_endpoints_take_turns() -> None:
    choices = ends("a", "b", "c")

    async def scene() -> list[str]:
        return [await taken(choices) for _ in range(6)]

    assert sorted(asyncio.run(scene())) == ["a", "a", "b", "b", "c", "c"]


def test_the_one_with_the_fewest_in_flight_is_taken() -> None:
    one, two = choices = ends("a", "b")

    async def scene() -> list[str]:
        async with one.gate, one.gate, two.gate:
            return [await taken(choices) for _ in range(3)]

    assert asyncio.run(scene()) == ["b", "b", "b"]


def test_a_troubled_one_is_taken_only_when_none_is_well() -> None:
    one, two = choices = ends("a", "b")
    one.trouble(cool=60, wait=None)
    assert asyncio.run(taken(choices)) == "b" and one.closed_seconds == 0
    two.trouble(cool=30, wait=100)
    assert asyncio.run(taken(choices)) == "a"
    assert 99 < two.closed_seconds <= 100 and 99 < two.cool_seconds <= 100
    two.well()
    assert asyncio.run(taken(choices)) == "b"


def test_a_process_knows_an_endpoint_once() -> None:
    settings = EndpointSettings(url="http://once", model="m")
    assert endpoints.known("a", settings) is endpoints.known("a", settings.model_copy())
    assert endpoints.known("a", settings) is not endpoints.known("a", settings.model_copy(update={"model": "n"}))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.com", "https://api.example.com/v1"),
        ("https://me:secret@api.example.com:8443/v1?key=secret#secret", "https://api.example.com:8443/v1"),
        ("notaurl", "notaurl"),
        ("localhost:8000/v1", "localhost:8000/v1"),
        ("网址/模型", "网址/模型"),
        ("me:secret@localhost:8000", "localhost:8000"),
        ("notaurl?key=secret", "notaurl"),
        ("notaurl?key=sec@ret", "it"),
        ("me:sec?ret@localhost", "it"),
    ],
)
def test_messages_show_no_secrets_of_a_url(url: str, shown: str) -> None:
    assert str(Endpoint("main", EndpointSettings(url=url, model="m"))) == f"endpoint 'main' ({shown}, m)"


def test_the_path_of_a_model_served_here_is_its_key_and_not_shown() -> None:
    settings = EndpointSettings(url="http://127.0.0.1:9/5ecr37/v1", model="m", serve=True)
    assert str(Endpoint("main", settings)) == "endpoint 'main' (on this machine, m)"


def test_another_providers_url_stays_as_written() -> None:
    settings = EndpointSettings(url="http://127.0.0.1:11434/", model="m", provider="ollama_chat")
    assert endpoints.base_url(settings) == "http://127.0.0.1:11434"
