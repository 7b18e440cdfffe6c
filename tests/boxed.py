"""Arguments of the command line → how it ends where a container would run it: another user, sources that are read-only, no network but
the model's.

Runs inside `unshare -n -m`, which `box()` starts: brings loopback up, mounts the input read-only, serves a scripted model there,
and starts the entry point as that user. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from endpoint import Delay, Endpoint  # noqa: E402
from machines import as_user  # noqa: E402
from world import solver  # noqa: E402

NOBODY = 65534
_OPEN = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=2)"


def box() -> tuple[list[str], str]:
    """The command that makes such a place, or why there is none here."""
    unshare = shutil.which("unshare")
    if not unshare or not shutil.which("mount"):
        return [], "no unshare or mount here"
    if os.getuid():
        return [], "only root may start processes of another user"
    command = [unshare, "-n", "-m"]
    done = subprocess.run([*command, "true"], capture_output=True, text=True)
    return (command, "") if done.returncode == 0 else ([], f"no namespaces here: {done.stderr.strip()}")


def main() -> None:
    """`boxed.py PYTHON INPUT SECONDS TERM_AFTER ARGUMENT …`: a reply takes so many seconds, SIGTERM comes after so many requests (0: never)."""
    python, source, seconds, term_after, *arguments = sys.argv[1:]
    subprocess.run(["mount", "--bind", source, source], check=True)
    subprocess.run(["mount", "-o", "remount,ro,bind", source], check=True)
    _loopback_up()
    told: dict[str, Any] = {}
    with Endpoint(lambda body: Delay(float(seconds), solver(body))) as endpoint:
        options = as_user(NOBODY)
        options["env"] |= {"MODEL_API_URL": endpoint.url, "MODEL_NAME": "scripted", "MODEL_API_KEY": "key"}
        options["env"] |= {"TMPDIR": "/tmp"}
        tries = {"network": [python, "-c", _OPEN], "input": ["touch", f"{source}/x"]}
        told |= {name: subprocess.run(try_, capture_output=True, **options).returncode for name, try_ in tries.items()}
        code = "from flows.cli.main import main; main()"
        process = subprocess.Popen(
            [python, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
        )
        if wanted := int(term_after):
            threading.Thread(target=_terminate, args=(process, endpoint, wanted, told), daemon=True).start()
        out, err = process.communicate(timeout=280)
        if "terminated" in told:
            told["seconds"] = time.monotonic() - told.pop("terminated")
        told |= {"code": process.returncode, "out": out, "err": err, "calls": endpoint.calls}
    print(json.dumps(told))


def _terminate(process: subprocess.Popen[str], endpoint: Endpoint, calls: int, told: dict[str, Any]) -> None:
    while endpoint.calls < calls and process.poll() is None:
        time.sleep(0.05)
    told["terminated"] = time.monotonic()
    process.send_signal(signal.SIGTERM)


def _loopback_up() -> None:
    """What `ip link set lo up` does."""
    import fcntl
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING


if __name__ == "__main__":
    main()
