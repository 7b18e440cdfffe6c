"""The pages that are made from the code: nothing that the code has is missing from them, and the whole builds without a warning."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from docs.pages import ELSEWHERE, commands, evidence, exits, messages, settings, stages, write

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_every_command_option_and_argument_is_on_its_page() -> None:
    text = commands.page()
    found = dict(commands.commands())
    assert {"tablewright answer", "tablewright model fetch", "tablewright benchmark run"} <= set(found)
    for name, command in found.items():
        part = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert part and command.help, name
        for one in [*commands.options(command), *commands.arguments(command)]:
            assert one.help, f"{name} {one.name} has no help"
            shown = one.opts[0] if one in commands.options(command) else one.metavar or one.name.upper()
            assert shown in part, f"{name}: {shown}"


def test_every_setting_stands_on_its_page_with_what_it_takes_and_its_reason() -> None:
    found, said = settings.settings()
    lines = (ROOT / "configs" / "default.toml").read_text("utf-8").splitlines()
    assert len(found) == sum(bool(re.match(r"\w+ = ", line)) for line in lines)
    data = tomllib.loads("\n".join(lines))
    known = settings.kinds()
    for one in found:
        inner = data
        for part in one.section.split("."):
            inner = inner[part]
        assert tomllib.loads(f"x = {one.value}")["x"] == inner[one.name], one
        assert one.reason and known[settings._family(one.section), one.name], one
    told = {(settings._family(one.section), one.name) for one in found}
    assert set(known) <= told, "a setting of the code that default.toml does not name"
    assert all(f"## [{section}]" in settings.page() for section in said)


def test_every_stage_is_on_its_page() -> None:
    text = stages.page()
    decorated = [
        re.findall(r"\n@stage\(.*?\)\nasync def (\w+)", path.read_text("utf-8"), re.DOTALL)
        for path in ROOT.glob("tasks/*/*.py")
    ]
    names = [name for found in decorated for name in found]
    assert len(names) > 20
    for name in names:
        assert f"### {name}\n" in text, name


def test_exit_codes_are_those_of_the_errors_and_of_the_command_line() -> None:
    codes = exits.codes()
    assert set(codes) == {0, 1, 2, 3, 4, 5, 130} and codes[3] == "model"
    assert {kind.exit_code for kind in exits.kinds()} <= set(codes)
    text = (DOCS / "cli.md").read_text("utf-8")
    assert all(f"\n| {code} |" in text for code in codes)


def test_the_schema_of_evidence_names_every_field_and_refuses_others() -> None:
    import jsonschema

    schema = json.loads(evidence.schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    for model in evidence.models():
        part = schema if model.__name__ == "Evidence" else schema["$defs"][model.__name__]
        assert set(model.model_fields) <= set(part["properties"]), model
    said = schema["$defs"]["DocumentCell"]["properties"]["line"]["description"]
    assert said.startswith("Line of the file")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"status": "fine"}, schema)


def test_a_message_is_shown_as_the_code_words_it(tmp_path: Path) -> None:
    found = {one.text: one for one in messages.messages()}
    one = found["the output folder ⟨out⟩ is a file"]
    assert (one.kind, one.place.partition(":")[0]) == ("InputError", "flows/running/request.py")
    assert one.hint.startswith("give a folder, as ")
    assert "the output folder ⟨out⟩ is a file" in messages.page()


def test_pages_are_written_and_left_alone_when_nothing_changed(tmp_path: Path) -> None:
    write(tmp_path / "made")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "made").iterdir()}
    assert {f"{name}.md" for name in ELSEWHERE} < {path.name for path in times}
    assert "](../problems.md)" in (tmp_path / "made" / "folder.md").read_text("utf-8")
    write(tmp_path / "made")
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "made").iterdir()}


def test_every_page_is_in_the_tree_and_every_link_leads_to_a_file() -> None:
    index = (DOCS / "index.md").read_text("utf-8")
    listed = set(re.findall(r"^[\w/-]+$", index, re.MULTILINE))
    made = {
        f"generated/{name}" for name in ("commands", "settings", "stages", "exits", "evidence", "errors", *ELSEWHERE)
    }
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert listed == pages | made, "docs/index.md lists each page once"
    for path in [*DOCS.glob("*.md"), ROOT / "README.md", *(given[0] for given in ELSEWHERE.values())]:
        for target in re.findall(r"(?:\]\(|src=\")([^)#\s\"]+)", path.read_text("utf-8")):
            if "://" not in target and not target.startswith("generated/"):
                assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.slow
def test_the_documentation_builds_without_a_warning_and_asks_no_other_machine(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="the documentation is built where requirements-docs.txt is installed")
    asked = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html", str(DOCS), str(tmp_path)]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text("utf-8")
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"([^\"]+)", text)
        assert loaded and not [one for one in loaded if "://" in one or one.startswith("//")], page.name


SAID_ELSEWHERE = {
    "flows/": (),
    "tasks/": ("tasks/intake/loading/", "tasks/core/llm/forecast.py", "tasks/core/llm/retry.py"),
}
"""Where a message needs no next step of its own: a file that cannot be read gets the advice of its code (docs/problems.md), a dry run
sends nothing on purpose, and one message holds its next step itself, as its comment says."""


def test_every_error_that_a_user_sees_says_the_next_step() -> None:
    for one in messages.messages():
        for place, excepted in SAID_ELSEWHERE.items():
            if one.place.startswith(place) and not one.place.startswith(excepted or ("-",)):
                if one.kind in ("InputError", "ModelError", "BudgetError"):
                    assert one.hint, f"{one.place}: {one.text}"
                if one.kind == "BadParameter":
                    assert ": " in one.text, f"{one.place}: {one.text}"
        assert "tablewright[" not in one.hint, f"{one.place}: the package is in no registry"


def test_every_option_says_what_comes_without_it() -> None:
    words = re.compile(r"without it|default|unless given|where there is one|in place of", re.IGNORECASE)
    for name, command in commands.commands():
        for one in commands.options(command):
            shown = "[default" in one.help or one.default not in (None, "", (), [])
            assert one.is_flag or shown or words.search(one.help), f"{name} {one.opts}: {one.help}"
