"""What a door says of an endpoint that no connection reaches, or that hangs up, with real sockets."""

from __future__ import annotations

import re

import pytest
from asking import MakeDoor, text
from endpoint import Drop, Endpoint

from tasks.core.asking import EndpointSettings
from tasks.core.errors import ModelError
from tasks.core.llm import endpoints


def _closed() -> str:
    """A URL at which a server has listened, and no longer does."""
    with Endpoint([]) as server:
        return server.url


@pytest.mark.parametrize("provider", ["", "anthropic", "ollama_chat"])
def test_a_closed_port_is_told_by_its_address_and_the_next_step(make_door: MakeDoor, provider: str) -> None:
    url = _closed()
    place = url.removeprefix("http://").removesuffix("/v1")
    with pytest.raises(ModelError) as error:
        text(make_door(url, role={"attempts": 2}, endpoint={"provider": provider}))
    message = error.value.message
    assert f"cannot be reached (2 tries): nothing listens at {place} (connection refused)" in message
    assert f"'end0' (http://{place}" in message and "HTTP" not in message and error.value.transient
    assert error.value.hint.startswith("start the server there, or set endpoints.end0.url")
    assert "tablewright doctor" in error.value.hint


def test_localhost_by_several_addresses_is_one_closed_place(make_door: MakeDoor) -> None:
    url = _closed().replace("127.0.0.1", "localhost")
    with pytest.raises(ModelError, match=r"nothing listens at localhost:\d+ \(connection refused\)"):
        text(make_door(url, role={"attempts": 1}))


@pytest.mark.parametrize("provider", ["", "anthropic"])
def test_a_host_name_without_an_address_is_told_as_that(make_door: MakeDoor, provider: str) -> None:
    door = make_door("http://no-such-host.invalid:8000", role={"attempts": 1}, endpoint={"provider": provider})
    with pytest.raises(ModelError) as error:
        text(door)
    assert "no address is known here for the host name 'no-such-host.invalid'" in error.value.message
    assert "http://no-such-host.invalid:8000" in error.value.message and "HTTP " not in error.value.message
    assert "endpoints.end0.url" in error.value.hint and error.value.transient


def test_https_where_the_server_speaks_http_is_told_as_that(make_door: MakeDoor) -> None:
    with Endpoint([]) as server, pytest.raises(ModelError) as error:
        text(make_door(server.url.replace("http:", "https:"), role={"attempts": 1}))
    assert re.search(r"no safe connection to 127\.0\.0\.1:\d+ \(wrong version number\)", error.value.message)


def test_a_place_that_never_answered_is_given_up_soon_and_then_tried_once(make_door: MakeDoor) -> None:
    door = make_door(_closed(), retry={"first_seconds": 60, "longest_seconds": 60, "absent_seconds": 0.1})
    for tries in (r"[1-4] tr(y|ies)", "1 try"):
        with pytest.raises(ModelError, match=rf"cannot be reached \({tries}\): nothing listens at") as error:
            text(door)
        assert (error.value.away, error.value.transient, error.value.unsettled) == ("never there", True, "stopped")


def test_a_place_that_answered_before_keeps_all_its_tries(make_door: MakeDoor) -> None:
    door = make_door(_closed(), role={"attempts": 3}, retry={"absent_seconds": 0})
    endpoints.known("end0", door.settings.endpoints["end0"]).well()
    for _ in range(2):
        with pytest.raises(ModelError, match=r"cannot be reached \(3 tries\)") as error:
            text(door)
        assert (error.value.away, error.value.unsettled) == ("lost", "transient")


def test_a_place_that_was_given_up_is_so_until_it_answers_or_has_another_trouble() -> None:
    place = endpoints.known("main", EndpointSettings(url="http://127.0.0.1:9", model="given up"))
    for ends in (place.well, lambda: place.trouble(0, None)):
        place.trouble(0, None, refuses=True)
        place.given_up = True
        place.trouble(0, None, refuses=True)
        assert place.given_up
        ends()
        assert not place.given_up and not place.absent


@pytest.mark.parametrize("after", [0, 25])
def test_a_lost_connection_is_no_http_status(make_door: MakeDoor, after: int) -> None:
    with Endpoint([Drop(after)]) as server, pytest.raises(ModelError) as error:
        text(make_door(server.url, role={"attempts": 1}))
    assert "the last one: the connection was lost" in error.value.message and "HTTP" not in error.value.message
    assert "run again later" in error.value.hint


@pytest.mark.parametrize(
    ("name", "url", "model", "key"),
    [
        ("main", "MODEL_API_URL", "MODEL_NAME", "endpoints.main.api_key_env"),
        ("strong", "endpoints.strong.url", "endpoints.strong.model", "endpoints.strong.api_key_env"),
        ("recall.embedding", "recall.embedding_url", "recall.embedding", "recall.embedding_key_env"),
        ("video.speech", "video.speech_url", "video.speech", "video.speech_key_env"),
    ],
)
def test_each_endpoint_names_the_settings_that_are_its_own(name: str, url: str, model: str, key: str) -> None:
    known = endpoints.known(name, EndpointSettings(url="http://127.0.0.1:9", model="m"))
    assert tuple(map(known.setting, ("url", "model", "api_key_env"))) == (url, model, key)
