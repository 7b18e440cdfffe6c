"""Commands of the documentation → a shell that runs them as a reader would, with `tablewright` on its path and a scripted model in place of any other."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SHIM = """#!{python}
import sys

sys.path.insert(0, {root!r})
given = sys.argv[1:]
for at, word in enumerate(given[1:], 1):
    if given[at - 1] == "--profile" and word == "local":
        given[at] = {profile!r}
sys.argv[1:] = given
from flows.cli.main import main

main()
"""


@dataclass
class Shell:
    """A folder to work in; `--profile local` means the profile of the small model with replies of `url`."""

    folder: Path
    url: str
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        bin_ = self.folder / "bin"
        bin_.mkdir(parents=True)
        self.work = self.folder / "work"
        self.work.mkdir()
        profile = self.folder / "scripted.toml"
        profile.write_text(
            f'extends = "local"\n[endpoints.main]\nserve = false\nurl = "{self.url}"\nmodel = "scripted"\n', "utf-8"
        )
        shim = bin_ / "tablewright"
        shim.write_text(_SHIM.format(python=sys.executable, root=str(ROOT), profile=str(profile)), "utf-8")
        shim.chmod(0o755)

    def run(self, script: str, seconds: float = 900) -> subprocess.CompletedProcess[str]:
        """Run lines of a shell in the folder; `set -e` ends them at the first that fails."""
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "MODEL_API_URL": self.url,
            "MODEL_NAME": "scripted",
            "MODEL_API_KEY": "key",
            "TABLEWRIGHT_STORE": str(self.folder / "store"),
            "PREFECT_API_URL": "http://127.0.0.1:9/api",
            **self.environment,
        }
        return subprocess.run(
            ["sh", "-ec", script], cwd=self.work, env=environment, capture_output=True, text=True, timeout=seconds
        )
