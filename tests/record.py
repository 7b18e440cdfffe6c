"""The samples or the document tasks, asked of the endpoint in MODEL_API_URL → tests/recordings/{replies,documents}."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import documents
import samples

KINDS = {
    "samples": (samples, "record", "replies", "recorded"),
    "documents": (documents, "documents-record", "documents", "reader"),
}
"""What asks, profile, folder of the recordings, name of the model in them."""


def main() -> int:
    """Record a kind into a fresh store, then replace its recordings; the exit code is 1 when one was answered wrong."""
    if not os.environ.get("MODEL_API_URL"):
        print("set MODEL_API_URL to the endpoint whose replies shall be recorded", file=sys.stderr)
        return 2
    asker, profile, name, model = KINDS[sys.argv[1] if len(sys.argv) > 1 else "samples"]
    target = samples.RECORDINGS / name
    os.environ["MODEL_NAME"] = model
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABLEWRIGHT_STORE"] = str(Path(folder) / "store")
        with ThreadPoolExecutor(len(asker.NAMES)) as pool:
            outs = {name: Path(folder) / name for name in asker.NAMES}
            list(pool.map(lambda name: asker.ask(name, profile, outs[name]), asker.NAMES))
        scores = {name: asker.score(name, out) for name, out in outs.items()}
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(Path(folder) / "store" / "journal", target)
    print(json.dumps(scores))
    return 0 if min(scores.values()) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
