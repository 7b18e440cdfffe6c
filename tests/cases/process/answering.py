"""A worker's child for tests: does what the request names."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tasks.core.answering import answer_requests


noted = []


def handle(request):
    match request["do"]:
        case "echo":
            return {"text": request["text"], "pid": os.getpid()}
        case "sleep":
            time.sleep(request["seconds"])
            return {}
        case "spin":  # native code that never gives the interpreter back
            re.match(r"(a+)+$", "a" * 60 + "!")
        case "large":
            return {"text": "中" * request["size"]}
        case "print":
            for _ in range(request["times"]):
                print("x" * 1000)
                print("y" * 1000, file=sys.stderr)
            os.write(1, b"raw\n")
            return {"printed": True}
        case "fail":
            print("before", file=sys.stderr)
            raise ValueError("spoilt 中文 " + "z" * request.get("long", 0))
        case "nan":
            return {"value": float("nan")}
        case "memory":
            return {"size": len(bytearray(request["mb"] << 20))}
        case "exit":
            os._exit(request["code"])
        case "signal":
            os.kill(os.getpid(), request["number"])
            time.sleep(10)
        case "child":  # of the same group, holding every stream
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            return {"pid": child.pid}
        case "thread":
            threading.Thread(target=time.sleep, args=(600,)).start()
            return {}
        case "stop":
            signal.raise_signal(signal.SIGSTOP)
            return {}
        case "note":  # what this process was told before
            noted.append(request["text"])
            return {"noted": noted, "parent": os.getppid(), "group": os.getpgrp() == os.getpid()}
        case "spoil":
            os.write(int(request["descriptor"]), b"no json\n")
            return {}
        case "environment":
            return dict(os.environ)
        case "limits":
            import resource

            return {"memory": resource.getrlimit(resource.RLIMIT_AS), "core": resource.getrlimit(resource.RLIMIT_CORE)}
        case "descriptors":
            return {"open": sorted(int(name) for name in os.listdir("/proc/self/fd"))}
    return {}


if __name__ == "__main__":
    answer_requests(handle)
