"""The samples, asked of the endpoint in MODEL_API_URL → tests/recordings/replies."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import samples

TARGET = samples.RECORDINGS / "replies"


def main() -> int:
    """Record every sample into a fresh store, then replace the recordings; the exit code is 1 when one was answered wrong."""
    if not os.environ.get("MODEL_API_URL"):
        print("set MODEL_API_URL to the endpoint whose replies shall be recorded", file=sys.stderr)
        return 2
    os.environ["MODEL_NAME"] = "recorded"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABLEWRIGHT_STORE"] = str(Path(folder) / "store")
        with ThreadPoolExecutor(len(samples.NAMES)) as pool:
            outs = {name: Path(folder) / name for name in samples.NAMES}
            list(pool.map(lambda name: samples.ask(name, "record", outs[name]), samples.NAMES))
        scores = {name: samples.score(name, out) for name, out in outs.items()}
        shutil.rmtree(TARGET, ignore_errors=True)
        shutil.copytree(Path(folder) / "store" / "journal", TARGET)
    print(json.dumps(scores))
    return 0 if min(scores.values()) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
