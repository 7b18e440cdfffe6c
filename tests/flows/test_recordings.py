"""The bundled samples over recorded replies: the same prompts, the same answers."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import samples

from docs.pages import evidence


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_recorded_sample_is_replayed_to_its_gold(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "store"))
    ended = samples.ask(name, "replay", tmp_path / "out")
    assert ended.spend.total().calls == 0
    assert samples.score(name, tmp_path / "out") == 1
    assert ended.answer.status == "not_assessed"
    written = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    jsonschema.validate(written, json.loads(evidence.schema()), jsonschema.Draft202012Validator)
