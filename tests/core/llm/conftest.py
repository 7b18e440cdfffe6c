"""A door to scripted endpoints, with a store of its own and waits short enough for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.core import settings
from tasks.core.files.store import Folder, Store
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door

MakeDoor = Callable[..., Door]
SHORT_WAITS = {"first_seconds": 0.01, "longest_seconds": 0.05, "asked_seconds": 5, "cool_seconds": 0.3}


@pytest.fixture
def make_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeDoor:
    """`make_door(url, ..., role={...}, journal={...}, budget={...}, endpoint={...}, store="name")` → Door."""
    for name in (
        "MODEL_API_URL",
        "MODEL_NAME",
        "MODEL_API_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)

    def make(*urls: str, store: str = "store", endpoint: dict[str, Any] | None = None, **sections: Any) -> Door:
        names = [f"end{index}" for index in range(len(urls))]
        loaded = settings.load(
            overrides={
                "endpoints": {
                    name: {"url": url, "model": "scripted", "api_key_env": "MODEL_API_KEY", **(endpoint or {})}
                    for name, url in zip(names, urls, strict=True)
                },
                "roles": {"default": {"endpoints": names, "timeout_seconds": 10, **sections.get("role", {})}},
                "retry": {**SHORT_WAITS, **sections.get("retry", {})},
                "journal": sections.get("journal", {}),
                "budget": sections.get("budget", {}),
            }
        )
        folder = tmp_path / store
        return Door(loaded, Store(Folder(folder), folder / "cache"), Meter(loaded.budget))

    return make
