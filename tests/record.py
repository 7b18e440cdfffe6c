"""The samples, the document tasks or region_sales, asked of the endpoint in MODEL_API_URL → tests/recordings/{replies,documents,sales}."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import documents
import samples
import ways

KINDS = {
    "samples": (samples, "record", "replies", "recorded"),
    "documents": (documents, "documents-record", "documents", "reader"),
    "sales": (ways, "sales-record", "sales", "reader"),
}
"""What asks, profile, folder of the recordings, name of the model in them."""
_AT_ONCE = 8


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
        measuring = getattr(asker, "measuring", contextlib.nullcontext)
        with measuring(), ThreadPoolExecutor(min(len(asker.NAMES), _AT_ONCE)) as pool:
            outs = {name: Path(folder) / name for name in asker.NAMES}
            list(pool.map(lambda name: asker.ask(name, profile, outs[name]), asker.NAMES))
        scores = {name: asker.score(name, out) for name, out in outs.items()}
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(Path(folder) / "store" / "journal", target)
    print(json.dumps(scores))
    return 0 if min(scores.values()) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
