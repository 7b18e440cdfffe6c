"""Configuration from one pipe → confine this process, run the program, its `result` as one record on another pipe.

Runs in the child before anything of the model does: standard library only, no import of ours but `values` beside it.
The record counts only with the run's key, which stays unread in its pipe until the program has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import resource
import struct
import sys
import types
from typing import Any

_FILE = "program.py"
_READY = b"ready\n"
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _SET_PDEATHSIG, _SET_DUMPABLE = 38, 22, 1, 4
_ADD_RULE, _RESTRICT_SELF = 445, 446
_READ_FILE_AND_DIR = 1 << 2 | 1 << 3


def main() -> None:
    """Confine, tell the parent, run, answer; `sys.argv` names the three descriptors."""
    config_fd, key_fd, reply_fd = map(int, sys.argv[1:])
    with os.fdopen(config_fd, encoding="utf-8") as file:
        config = json.load(file)
    to_json = _values().to_json
    _confine(config)
    os.write(reply_fd, _READY)
    record = _run(config, to_json)
    text = _encode(record, config["record_bytes"])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    data = memoryview(os.read(key_fd, 64) + b" " + text + b"\n")
    while data:
        data = data[os.write(reply_fd, data) :]
    os._exit(0)


def _values() -> Any:
    spec = importlib.util.spec_from_file_location("values", __file__.replace("boot.py", "values.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _confine(config: dict[str, Any]) -> None:
    """Every step raises when it fails; the program never runs half confined."""
    sys.path += config["packages"]
    os.umask(0o077)
    os.sched_setaffinity(0, config["cores"])
    for name, values in config["limits"].items():
        _limit(getattr(resource, name), *values)
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if config["ruleset"] is not None:
        _restrict_files(libc, config["ruleset"])
    if config["user"] is not None:
        os.setgroups([])
        os.setresgid(*[config["user"]] * 3)
        # the saved number stays 0, without capabilities and out of reach of the filter: else the kernel refuses
        # bubblewrap, which is root without capabilities, to pass its own death on to a process of another user
        os.setresuid(config["user"], config["user"], 0)
        _checked(libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0))
    _drop_capabilities(libc)
    # after the change of user, which clears it; had the parent gone before, then writing to it will fail
    _checked(libc.prctl(_SET_PDEATHSIG, 9, 0, 0, 0))
    code = bytes.fromhex(config["filter"])
    holder = ctypes.create_string_buffer(code, len(code))
    filters = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(holder))
    _checked(libc.prctl(_SET_SECCOMP, 2, filters, 0, 0))


def _limit(kind: int, soft: int, hard: int) -> None:
    ceiling = resource.getrlimit(kind)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _restrict_files(libc: ctypes.CDLL, ruleset: int) -> None:
    """Apply the parent's Landlock rules, and one that only this process can name: its own folder in /proc."""
    own = os.open("/proc/self", os.O_PATH)
    rule = struct.pack("=Qi", _READ_FILE_AND_DIR, own)
    _checked(libc.syscall(_ADD_RULE, ruleset, 1, rule, 0))
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(own)
    os.close(ruleset)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    header, nothing = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _checked(libc.capset(header, nothing))


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _run(config: dict[str, Any], to_json: Any) -> dict[str, Any]:
    module = types.ModuleType("__main__")
    space = module.__dict__
    space.update(__file__=_FILE, inputs={name: name for name in config["inputs"]})
    sys.modules["__main__"] = module
    sys.argv = [_FILE]
    try:
        exec(compile(config["program"], _FILE, "exec", dont_inherit=True), space)  # noqa: S102
        if "result" not in space:
            return {"error": {"type": "NameError", "message": "the program did not assign `result`", "line": None}}
        return {"value": to_json(space["result"])}
    except BaseException as error:  # noqa: BLE001
        return {"error": _describe(error)}


def _describe(error: BaseException) -> dict[str, Any]:
    line, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == _FILE:
        return {"type": type(error).__name__, "message": error.msg, "line": error.lineno}
    try:
        message = str(error)[:2000]
    except BaseException:  # noqa: BLE001
        message = "(its message cannot be read)"
    return {"type": type(error).__name__, "message": message, "line": line}


def _encode(record: dict[str, Any], most: int) -> bytes:
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    except BaseException as error:  # noqa: BLE001
        return json.dumps({"error": _describe(error)}).encode()
    if len(text) <= most:
        return text
    message = f"`result` is larger than {most >> 20} MB as JSON"
    return json.dumps({"error": {"type": "ValueError", "message": message, "line": None}}).encode()


if __name__ == "__main__":
    main()
