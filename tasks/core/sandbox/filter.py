"""Nothing → the system-call filter (BPF bytes) that every generated program runs under.

A deny-list, since pandas, DuckDB and Arrow need several hundred calls; but calls newer than 2019 (number 424 and up, the
same on every architecture) are an allow-list, so that a kernel newer than libseccomp opens no door.
"""

from __future__ import annotations

import contextlib
import ctypes.util
import errno
import functools
import struct
import tempfile
from collections.abc import Iterator

_DENIED = """
execve execveat fork vfork ptrace process_vm_readv process_vm_writev kcmp
kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo
socket socketpair connect bind listen accept accept4 sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg shutdown
mount umount2 pivot_root chroot unshare setns
bpf perf_event_open userfaultfd keyctl add_key request_key seccomp io_setup io_submit vmsplice splice tee
memfd_create mknod mknodat link linkat symlink symlinkat open_by_handle_at name_to_handle_at
init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl syslog sync syncfs
setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset setsid setpgid
personality iopl ioperm modify_ldt vhangup sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex
chmod fchmod fchmodat chown fchown fchownat lchown utime utimes futimesat utimensat
setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
shmget shmat shmctl msgget msgsnd msgctl semget semop semctl mq_open mq_notify mq_unlink
inotify_init inotify_init1 inotify_add_watch fanotify_init fanotify_mark remap_file_pages
setpriority ioprio_set sched_setaffinity sched_setscheduler sched_setparam sched_setattr migrate_pages move_pages
""".split()  # noqa: SIM905

_LOW = 0xFFFFFFFF
_DENIED_BY_ARGUMENT = {
    # the kernel reads these arguments as 32 bits; comparing all 64 could be passed by with a high bit
    "prctl": (0, _LOW, (1, 4, 22, 35, 36)),  # parent-death signal, dumpable, seccomp, memory map, subreaper
    "fcntl": (1, _LOW, (8, 10, 15, 1024, 1026)),  # owner, signal, owner_ex: signals to others; leases; notify
    "ioctl": (1, _LOW, (0x5412, 0x541C, 0x8901, 0x8902)),  # type into a terminal; owner of a descriptor
    "clone": (0, 0x10000, (0,)),  # without CLONE_THREAD it makes a process
}
_NEW_FROM = 424
_NEW_ALLOWED = (436, 437, 439, 441, 449)  # close_range openat2 faccessat2 epoll_pwait2 futex_waitv


@functools.cache
def program() -> bytes:
    """Compile the filter. Raises OSError or RuntimeError when libseccomp is missing or refuses a rule."""
    with sonames():
        import pyseccomp as seccomp
    refuse = seccomp.ERRNO(errno.EPERM)
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in _DENIED:
        if (number := _number(seccomp, name)) >= 0:
            rules.add_rule(refuse, number)
    for name, (argument, mask, values) in _DENIED_BY_ARGUMENT.items():
        for value in values:
            rules.add_rule(refuse, name, seccomp.Arg(argument, seccomp.MASKED_EQ, mask, value))
    rules.add_rule(refuse, "prlimit64", seccomp.Arg(0, seccomp.NE, 0))  # limits of other processes
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return _new_calls() + file.read()


@contextlib.contextmanager
def sonames() -> Iterator[None]:
    """While a binding is imported: name libraries directly, as looking them up starts ldconfig or a compiler."""
    search = ctypes.util.find_library
    known = {"c": "libc.so.6", "seccomp": "libseccomp.so.2"}
    ctypes.util.find_library = lambda name: known.get(name) or search(name)
    try:
        yield
    finally:
        ctypes.util.find_library = search


def _number(seccomp: object, name: str) -> int:
    """The call's number here; negative when this architecture never had it (fork on arm64)."""
    number: int = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)  # type: ignore[attr-defined]
    if number == -1:
        raise RuntimeError(f"libseccomp does not know the system call {name!r}")
    return number


def _new_calls() -> bytes:
    """Instructions put before libseccomp's: new calls do not exist (ENOSYS, so that libraries fall back)."""
    load, jump_if_equal, jump_if_at_least, give = 0x20, 0x15, 0x35, 0x06
    count = len(_NEW_ALLOWED)
    code = [(load, 0, 0, 0), (jump_if_at_least, 0, count + 1, _NEW_FROM)]
    code += [(jump_if_equal, count - place, 0, number) for place, number in enumerate(_NEW_ALLOWED)]
    code += [(give, 0, 0, 0x00050000 | errno.ENOSYS)]
    return b"".join(struct.pack("=HBBI", *line) for line in code)
