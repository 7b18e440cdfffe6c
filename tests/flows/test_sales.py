"""region_sales over recorded replies: all tables unfolded, folded by votes, folded and merged; each to its gold.

The replies are a capable reader's, who saw requests only.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import ways

QUICK = ("region_total", "headphones_flagship", "level_by_region", "last_30_days", "top_products", "came_back_damaged")
"""Their merged way runs in every test: six kinds, both languages; the rest takes a minute and a half more."""
NAMES = [
    name if name in {f"{quick}-merged" for quick in QUICK} else pytest.param(name, marks=pytest.mark.slow)
    for name in ways.NAMES
]


@pytest.mark.parametrize("name", NAMES)
def test_c8_a_recorded_question_is_replayed_to_its_gold(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "store"))
    with ways.measuring():
        ended = ways.ask(name, "sales", tmp_path / "out")
    assert ended.spend.total().calls == 0
    assert ways.score(name, tmp_path / "out") == 1
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    judged = {stage["stage"]: stage["calls"] for stage in evidence["usage"]}
    folded = {one["name"] for one in evidence["folded"]}
    if name.endswith("-whole"):
        assert not folded and "relevance" not in judged
    else:
        assert "staff_attendance" in folded and 3 <= judged["relevance"] <= 5
        assert ("recall" in judged, "filter" in judged) == (name.endswith("-merged"),) * 2
