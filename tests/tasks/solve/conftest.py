"""The shop's question for the agent."""

from pathlib import Path

import pytest
from solver import Case

from tasks.core.files.store import Store


@pytest.fixture
def case(store: Store, tmp_path: Path) -> Case:
    return Case(store, tmp_path)
