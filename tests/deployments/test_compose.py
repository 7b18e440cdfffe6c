"""deployments/compose.yaml and what it names, as far as that can be told without Docker: files, commands, variables, services; and the gateway's limit."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml
from endpoint import Delay, Endpoint
from world import ROOT

PLACE = ROOT / "deployments"
COMPOSE: dict[str, Any] = yaml.safe_load((PLACE / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
GATEWAY: dict[str, Any] = yaml.safe_load((PLACE / "gateway.yaml").read_text("utf-8"))


def test_there_are_the_parts_of_several_machines() -> None:
    assert {"postgres", "objects", "server", "gateway", "worker", "batch"} <= set(SERVICES)
    assert SERVICES["worker"]["deploy"]["replicas"] == 2
    assert all(service["networks"] for service in SERVICES.values())
    assert COMPOSE["networks"]["inside"] == {"internal": True} and SERVICES["worker"]["networks"] == ["inside"]


def test_everything_that_is_named_is_there() -> None:
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", {})) <= set(SERVICES), name
        for needed, how in service.get("depends_on", {}).items():
            healthy = how["condition"] == "service_healthy"
            assert not healthy or "healthcheck" in SERVICES[needed], (
                f"{name} waits for {needed}, whose health nobody asks"
            )
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        assert {one["source"] for one in service.get("configs", ())} <= set(COMPOSE["configs"])
        for volume in service.get("volumes", ()):
            source = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", volume).split(":")[0]
            known = source in COMPOSE["volumes"] or source == "../out" or (PLACE / source).exists()
            assert known, f"{name} mounts {source}"
        if build := service.get("build"):
            context = (PLACE / build["context"]).resolve()
            assert context == ROOT and (context / build["dockerfile"]).is_file()
            assert all((context / lock).is_file() for lock in build["args"]["LOCKS"].split())
            assert "ARG LOCKS=" in (context / build["dockerfile"]).read_text("utf-8")


def test_every_variable_is_asked_for_in_the_file_to_fill_in() -> None:
    text = (PLACE / "compose.yaml").read_text("utf-8")
    asked = set(re.findall(r"\$\{(\w+)", text))
    offered = set(re.findall(r"^(\w+)=", (PLACE / "compose.env").read_text("utf-8"), re.MULTILINE))
    assert asked == offered
    secret = [name for name in asked if name not in ("TASKS", "OUT")]
    assert all(f"${{{name}:?}}" in text for name in secret), "a secret has no default"


def test_variables_are_those_that_the_programs_read() -> None:
    from prefect.settings.legacy import _get_valid_setting_names
    from prefect.settings.models.root import Settings

    ours = (ROOT / "tasks" / "core" / "settings.py").read_text("utf-8")
    theirs = _get_valid_setting_names(Settings)
    for name, service in SERVICES.items():
        for variable in service.get("environment", {}):
            if variable.startswith(("TABLEWRIGHT_", "MODEL_")) and variable != "MODEL_API_KEY":
                assert f'"{variable}"' in ours, f"{name}: {variable}"
            if variable.startswith("PREFECT_"):
                assert variable in theirs, f"{name}: {variable}"
    gateway = set(re.findall(r"os\.environ/(\w+)", (PLACE / "gateway.yaml").read_text("utf-8")))
    assert gateway | {"LITELLM_LOCAL_MODEL_COST_MAP"} == set(SERVICES["gateway"]["environment"])
    worker = SERVICES["worker"]["environment"]
    assert worker["MODEL_NAME"] == GATEWAY["model_list"][0]["model_name"] and worker["TABLEWRIGHT_SHARES"] == "1"
    port = SERVICES["gateway"]["command"][-1]
    assert worker["MODEL_API_URL"] == f"http://gateway:{port}"


@pytest.mark.service
@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if "build" in service])
def test_every_command_of_our_image_takes_its_options(name: str) -> None:
    command = SERVICES[name]["command"]
    if command[0] == "python":
        pytest.importorskip("s3fs", reason="s3fs is not installed: pip install -r requirements-machines.txt")
        compile(command[2], name, "exec")
        return
    lines = command[2].split(" && ") if command[0] == "sh" else [" ".join(command)]
    for line in lines:
        program, *words = line.split()
        start = {"prefect": ["-m", "prefect"], "tablewright": ["-c", "from flows.cli.main import main; main()"]}[
            program
        ]
        verbs = [word for word in words if re.fullmatch(r"[a-z-]+", word) and not word.startswith("-")][:2]
        verbs = verbs[:1] if verbs[0] in ("deploy", "batch") else verbs
        done = subprocess.run(
            [sys.executable, *start, *verbs, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        for option in (word for word in words if word.startswith("--") and word != "--no-prompt"):
            assert option in done.stdout, f"{' '.join(verbs)} has no {option}"


@pytest.mark.service
def test_the_gateway_keeps_the_limit_of_all_who_ask_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the router that litellm's proxy makes of the same file."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    limit, most = 3, 9
    with Endpoint(lambda _: Delay(0.3, "ja")) as endpoint:
        monkeypatch.setenv("UPSTREAM_MODEL", "openai/behind")
        monkeypatch.setenv("UPSTREAM_URL", endpoint.url)
        monkeypatch.setenv("UPSTREAM_KEY", "key-behind")
        (entry,) = GATEWAY["model_list"]
        assert entry["litellm_params"]["max_parallel_requests"] > limit
        entry = {**entry, "litellm_params": {**entry["litellm_params"], "max_parallel_requests": limit}}
        router = litellm.Router(model_list=[entry], **GATEWAY["router_settings"])

        async def asked() -> list[Any]:
            messages = [{"role": "user", "content": "?"}]
            return list(await asyncio.gather(*(router.acompletion(entry["model_name"], messages) for _ in range(most))))

        replies = asyncio.run(asked())
    assert [reply.choices[0].message.content for reply in replies] == ["ja"] * most
    assert endpoint.calls == most and endpoint.most_at_once == limit
    assert endpoint.headers[0]["authorization"] == "Bearer key-behind" and endpoint.requests[0]["model"] == "behind"
