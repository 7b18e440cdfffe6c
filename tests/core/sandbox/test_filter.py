"""The system-call filter as the kernel reads it."""

from __future__ import annotations

import ctypes.util
import errno
import struct

import pytest

from tasks.core.sandbox import filter


def verdict(number: int, arguments: tuple[int, ...] = ()) -> int:
    """Run the filter as the kernel would, on this machine's architecture; the filter's 32-bit answer."""
    code = [struct.unpack("=HBBI", filter.program()[at : at + 8]) for at in range(0, len(filter.program()), 8)]
    native = next(k for op, _, _, k in code if op == 0x15 and k >= 0xC0000000)
    data = struct.pack("=iIQ6Q", number, native, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    at, register = 0, 0
    while True:
        op, yes, no, k = code[at]
        at += 1
        if op == 0x06:
            return k
        if op == 0x20:
            register = struct.unpack_from("=I", data, k)[0]
        elif op == 0x54:
            register &= k
        elif op == 0x05:
            at += k
        else:
            holds = {0x15: register == k, 0x25: register > k, 0x35: register >= k, 0x45: bool(register & k)}[op]
            at += yes if holds else no


def number_of(name: str) -> int:
    with filter.sonames():
        import pyseccomp

    return int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name))


ALLOW = 0x7FFF0000
REFUSED = 0x00050000 | errno.EPERM
UNKNOWN = 0x00050000 | errno.ENOSYS


@pytest.mark.parametrize("name", ["read", "write", "openat", "mmap", "futex", "getrandom", "exit_group", "prlimit64"])
def test_ordinary_calls_are_allowed(name: str) -> None:
    assert verdict(number_of(name)) == ALLOW


@pytest.mark.parametrize("name", ["execve", "socket", "connect", "kill", "tgkill", "ptrace", "mount", "fchmodat"])
def test_dangerous_calls_are_refused(name: str) -> None:
    assert verdict(number_of(name)) == REFUSED


@pytest.mark.parametrize("number", [424, 425, 434, 435, 438, 442, 444, 447, 452, 463, 469, 500, 600, 0x40000000 + 90])
def test_calls_newer_than_the_filter_do_not_exist(number: int) -> None:
    assert verdict(number) == UNKNOWN


@pytest.mark.parametrize("number", [436, 437, 439, 441, 449])
def test_harmless_new_calls_are_allowed(number: int) -> None:
    assert verdict(number) == ALLOW


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("clone", (0x50F00,), ALLOW),
        ("clone", (17,), REFUSED),
        ("clone", (0x4000,), REFUSED),
        ("prctl", (15,), ALLOW),
        ("prctl", (1,), REFUSED),
        ("prctl", (1 | 1 << 32,), REFUSED),
        ("prctl", (22,), REFUSED),
        ("fcntl", (3, 2), ALLOW),
        ("fcntl", (3, 8), REFUSED),
        ("fcntl", (3, 8 | 1 << 40), REFUSED),
        ("ioctl", (3, 0x5401), ALLOW),
        ("ioctl", (3, 0x5412), REFUSED),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), REFUSED),
        ("prlimit64", (1 << 32, 7), REFUSED),
    ],
)
def test_calls_that_depend_on_an_argument(name: str, arguments: tuple[int, ...], expected: int) -> None:
    assert verdict(number_of(name), arguments) == expected


def test_library_search_is_restored() -> None:
    search = ctypes.util.find_library
    with filter.sonames():
        assert ctypes.util.find_library("seccomp") == "libseccomp.so.2"
    assert ctypes.util.find_library is search
