"""Profiles: what they may extend, and what is said of a wrong one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flows.running.session import check_model
from tasks.core.errors import InputError
from tasks.core.sections import PROJECT
from tasks.core.settings import load


def _profile(folder: Path, text: str, name: str = "own.toml") -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def test_a_profile_may_extend_another_by_its_name(tmp_path: Path) -> None:
    local = load("local")
    made = load(_profile(tmp_path, 'extends = "local"\n[budget]\ncalls = 20\n'))
    assert made.endpoints == local.endpoints and made.agent == local.agent and made.roles == local.roles
    assert (made.budget.calls, made.budget.tokens) == (20, local.budget.tokens)


def test_a_profile_may_extend_a_file_as_seen_from_its_own_folder(tmp_path: Path) -> None:
    _profile(tmp_path, "[agent]\nturns = 7\nstyle = 'tools'\n", "team/base.toml")
    own = _profile(tmp_path, 'extends = "team/base.toml"\n[agent]\nstyle = "single"\n')
    assert (load(own).agent.turns, load(own).agent.style) == (7, "single")


def test_a_profile_that_extends_itself_is_refused(tmp_path: Path) -> None:
    _profile(tmp_path, 'extends = "own.toml"\n', "other.toml")
    with pytest.raises(InputError, match=r"own\.toml extends itself") as error:
        load(_profile(tmp_path, 'extends = "other.toml"\n'))
    assert "extends" in error.value.hint


def test_the_byte_order_mark_of_an_editor_is_no_part_of_a_profile(tmp_path: Path) -> None:
    assert load(_profile(tmp_path, "\ufeff[agent]\nturns = 7\n")).agent.turns == 7


WRONG = {
    "a near key": ("[budget]\ntokns = 5", "[budget] has no setting 'tokns'", "did you mean tokens?"),
    "of a role": ("[roles.agent]\ntemprature = 0", "[roles.agent] has no setting 'temprature'", "temperature?"),
    "of all roles": ("[roles.default]\nmax_token = 9", "[roles.default] has no setting 'max_token'", "max_tokens"),
    "of an endpoint": ("[endpoints.main]\nurls = 'x'", "[endpoints.main] has no setting 'urls'", "did you mean url?"),
    "of another section": ("[agent]\nmoney = 1", "[agent] has no setting 'money'", "money in [budget]?"),
    "without a section": ("calls = 3", "outside of the sections there is no setting 'calls'", "calls in [budget]?"),
    "a near section": ("[budgets]\ncalls = 3", "there is no section 'budgets'", "did you mean budget?"),
    "nothing near": ("[budget]\n'上限' = 1", "has no setting '上限'", "[budget] has calls, tokens, money, seconds"),
    "a value": ("[agent]\nturns = 0", "agent.turns = '0': Input should be greater than", "see configs/default.toml"),
    "a word": ("[agent]\nstyle = 'poem'", "agent.style = 'poem'", "see configs/default.toml"),
    "no section": ("budget = 3", "budget is a section, written as [budget]", "see configs/default.toml"),
    "no role": ("[roles]\nagent = 3", "roles.agent is a section, written as [roles.agent]", "see"),
    "no roles": ("roles = 3", "roles is a section, written as [roles]", "see"),
    "an endpoint": ("[roles.agent]\nendpoints = ['big']", "'big', which no file defines", "add [endpoints.big]"),
    "what it extends": (
        "extends = 'lokal'",
        "no profile 'lokal'",
        "choose one of bare, container, default, local, quick",
    ),
    "extends no name": ("extends = 3", "extends = 3 is no profile", "choose one of"),
}


@pytest.mark.parametrize(("text", "says", "hint"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_setting_is_named_with_its_file_and_what_is_near(
    tmp_path: Path, text: str, says: str, hint: str
) -> None:
    path = _profile(tmp_path, text)
    with pytest.raises(InputError) as error:
        load(path)
    assert says in error.value.message and "more)" not in error.value.message and hint in error.value.hint, str(
        error.value
    )
    assert "no profile" in error.value.message or "own.toml" in error.value.message, str(error.value)


def test_a_mistake_is_laid_to_the_file_that_has_it(tmp_path: Path) -> None:
    base = _profile(tmp_path, "[budget]\ncals = 3\n", "base.toml")
    with pytest.raises(InputError) as error:
        load(_profile(tmp_path, 'extends = "base.toml"\n[agent]\nturn = 3\n'))
    assert f"{base}: [budget] has no setting 'cals'" in error.value.message
    assert f"{tmp_path / 'own.toml'}: [agent] has no setting 'turn'" in error.value.message
    assert "did you mean calls?" in error.value.hint and "turns" in error.value.hint


def test_a_profile_of_this_folder_without_its_ending_is_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _profile(tmp_path, "[agent]\nturns = 7\n", "cheap.toml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no profile 'cheap'") as error:
        load("cheap")
    assert "by its whole name, cheap.toml" in error.value.hint


def test_a_profile_is_laid_over_another(tmp_path: Path) -> None:
    path = _profile(tmp_path, "extends = 'local'\n[agent]\nturns = 7\n[vote]\nrounds = 4\n")
    both = load(f"{path}+quick")
    assert (both.agent.style, both.agent.turns, both.vote.rounds) == ("single", load("quick").agent.turns, 1)
    assert both.profile == f"{path}+quick" and load("default+quick").agent == load("quick").agent
    Path(path).rename(tmp_path / "a+b.toml")
    assert load(str(tmp_path / "a+b.toml")).agent.turns == 7
    with pytest.raises(InputError, match="no profile 'quik'"):
        load("local+quik")


def test_an_endpoint_without_a_model_names_its_own_settings(tmp_path: Path) -> None:
    own = _profile(tmp_path, "[endpoints.strong]\nurl = 'http://127.0.0.1:9'\n[roles.agent]\nendpoints = ['strong']\n")
    with pytest.raises(InputError, match="endpoint 'strong' of profile") as error:
        check_model(load(own), "agent")
    assert error.value.hint.startswith("set endpoints.strong.model and its url")
    with pytest.raises(InputError, match="endpoint 'main' of profile") as error:
        check_model(load(), "agent")
    assert error.value.hint.startswith("export MODEL_API_URL, MODEL_NAME and MODEL_API_KEY")


_TOML = [
    pytest.param(block, id=f"{path.name} {number}")
    for path in (PROJECT / "README.md", PROJECT / "docs" / "models.md")
    for number, block in enumerate(re.findall(r"^```\w*\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S))
    if re.search(r"^\[\w", block, re.M)
]


@pytest.mark.parametrize("block", _TOML)
def test_profiles_of_the_documentation_can_be_used(tmp_path: Path, block: str) -> None:
    for name in ("default", "local"):
        load(f"{name}+{_profile(tmp_path, block)}")


def test_the_cheap_profile_of_the_readme_limits_the_local_model(tmp_path: Path) -> None:
    made = load(_profile(tmp_path, _TOML[0].values[0]))
    assert made.endpoints["main"].serve and (made.budget.calls, made.budget.seconds) == (20, 300)


def test_each_process_has_its_share_of_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = _profile(tmp_path, "[machines]\nshares = 3\n[endpoints.main]\nconcurrency = 8\n")
    assert load(own).endpoints["main"].concurrency == 8 and load(own).endpoint("main").concurrency == 2
    assert load(own, {"machines": {"shares": 8}}).endpoint("main").concurrency == 1
    monkeypatch.setenv("TABLEWRIGHT_SHARES", "4")
    assert load().endpoint("main").concurrency == 1
    monkeypatch.setenv("TABLEWRIGHT_SHARES", "5")
    with pytest.raises(
        InputError, match=r"endpoints\.main\.concurrency = 4 cannot be cut into machines\.shares = 5"
    ) as told:
        load()
    assert "gateway" in told.value.hint


@pytest.mark.parametrize(
    ("text", "url", "model"),
    [
        ('extends = "local"\n', "", "qwen2.5-coder-1.5b-instruct-q4_k_m"),
        ('extends = "local"\n[endpoints.main]\nserve = false\n', "http://there.example:1/v1", "other"),
        ("[agent]\nturns = 7\n", "http://there.example:1/v1", "other"),
    ],
)
def test_a_model_that_is_served_here_stays_here_whatever_the_shell_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, url: str, model: str
) -> None:
    monkeypatch.setenv("MODEL_API_URL", "http://there.example:1/v1")
    monkeypatch.setenv("MODEL_NAME", "other")
    main = load(_profile(tmp_path, text)).endpoints["main"]
    assert (main.url, main.model, main.serve) == (url, model, not url)
