"""Readable paths + one writable folder → the descriptor of a Landlock ruleset, which a child applies to itself."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tasks.core.sandbox.filter import sonames


def ruleset(readable: Iterable[Path], writable: Path) -> int:
    """Build the ruleset: all that this kernel's Landlock knows is refused, but for these paths and /dev/null.

    Executing is allowed nowhere. Raises OSError when Landlock is missing or off.
    """
    with sonames():
        from py_landlock import LandlockError
    try:
        return _build(readable, writable)
    except LandlockError as error:
        raise OSError(f"Landlock: {error}") from error


def _build(readable: Iterable[Path], writable: Path) -> int:
    from py_landlock import AccessFs, PathBeneathAttr, RulesetAttr, abi, add_rule, create_ruleset, get_abi_version

    version = get_abi_version()
    known = abi.get_supported_fs(version)
    handled = RulesetAttr(known, abi.get_supported_net(version), abi.get_supported_scope(version))
    look, see = AccessFs.READ_FILE, AccessFs.READ_FILE | AccessFs.READ_DIR
    change = AccessFs.WRITE_FILE | AccessFs.TRUNCATE | AccessFs.MAKE_REG | AccessFs.MAKE_DIR
    remove = AccessFs.REMOVE_FILE | AccessFs.REMOVE_DIR
    rules = [(path, see if path.is_dir() else look) for path in readable]
    rules += [(Path("/dev/null"), look | AccessFs.WRITE_FILE), (writable, see | change | remove | AccessFs.REFER)]
    descriptor = create_ruleset(handled)
    try:
        for path, access in rules:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                add_rule(descriptor, PathBeneathAttr(int(access & known), place))
            finally:
                os.close(place)
    except BaseException:
        os.close(descriptor)
        raise
    return int(descriptor)
