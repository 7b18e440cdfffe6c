"""The errors and exit codes of the command line → a page."""

from __future__ import annotations

import inspect
import re

from docs.pages import cell, table


def codes() -> dict[int, str]:
    """By exit code what it means, as `tablewright --help` says it."""
    from flows.cli.app import EXIT_CODES

    return {int(found[1]): found[2].strip() for found in re.finditer(r"\b(\d+) ([^·]+)", " ".join(EXIT_CODES.split()))}


def kinds() -> list[type[Exception]]:
    """Our errors, the one whose step is the user's first."""
    from tasks.core import errors

    found = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.TablewrightError)]
    return sorted(found, key=lambda one: (one is errors.TablewrightError, one.exit_code))


def page() -> str:
    """The page of exit codes and of the errors that lead to them."""
    rows = [(f"`{code}`", cell(text)) for code, text in codes().items()]
    errors = [
        (f"`{one.__name__}`", cell((inspect.getdoc(one) or "").splitlines()[0]), f"`{one.exit_code}`")  # type: ignore[attr-defined]
        for one in kinds()
    ]
    return "\n".join(
        [
            "# Exit codes and errors\n",
            "Made from the code; [command line](../cli.md#exit-codes) has more words on each. With `--json` an error is a JSON document: "
            "`kind` is its class, `message` says what and where, `next` the next step.\n",
            table(("exit code", "meaning"), rows),
            "## Classes of errors\n",
            "Some are handled inside a run: a query or a program that fails goes back to the model, and evidence that does not hold withholds "
            "the answer.\n",
            table(("class", "who must act, or what follows", "exit code, where it ends a command"), errors),
        ]
    )
