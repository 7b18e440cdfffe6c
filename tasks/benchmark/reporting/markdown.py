"""figures of a run → Markdown: the artifact in Prefect, `report.md`, and the section of a page of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tasks.core.models.benchmark import Benchmark, Paired, SetupScore

_MOST_TASKS = 60


def markdown(found: Benchmark) -> str:
    """Scores and cost, stages, what moved, and what was left out."""
    blocks = [
        _about(found),
        _table(SETUP_HEADS, (setup_row(s) for s in found.setups)),
        _stages(found),
        _sure(found),
        _against(found),
        *(_paired(pair) for pair in found.between),
        _disputed(found),
    ]
    return "\n\n".join(block for block in blocks if block).replace("<", "&lt;") + "\n"


SETUP_HEADS = ("suite", "setup", "tasks", "repeats", "answered", "score", "σ", "perfect", "s a question",
               "tokens a question", "calls a question", "of them paid", "US$ in all")  # fmt: skip


def setup_row(s: SetupScore) -> tuple[str, ...]:
    """The cells of a suite under a setup."""
    sigma = "–" if s.sigma is None else f"{s.sigma:.3f}"
    suite = " ".join(filter(None, (s.suite, s.version))) or "**all**"
    return (suite, s.setup, str(s.tasks), str(s.repeats), f"{s.answered:.0%}", f"{s.score:.3f}", sigma,
            f"{s.perfect:.0%}", f"{s.seconds:.1f}", f"{s.tokens:,.0f}", f"{s.calls:.1f}", f"{s.paid:.1f}", f"{s.money:.2f}")  # fmt: skip


def verdict(pair: Paired) -> str:
    """What a paired comparison says, in a sentence."""
    said = (
        f"{pair.pairs} tasks on both sides: {pair.up} better, {pair.down} worse, {pair.pairs - len(pair.moves)} as before; "
        f"mean {pair.difference:+.3f}; sign test p = {pair.p:.3g}"
    )
    return said + (
        f"; {pair.unpaired} are not compared, because they are new, gone, changed or disputed" if pair.unpaired else ""
    )


def stage_rows(found: Benchmark) -> list[tuple[str, ...]]:
    """A row for each measure of each suite and setup."""
    return [
        (s.suite, " / ".join(filter(None, (s.profile, s.model))), s.stage, s.metric, f"{s.right / s.of:.3f}",
         f"{s.right:,.0f} of {s.of:,.0f}")
        for s in found.stages
        if s.of
    ]  # fmt: skip


STAGE_HEADS = ("suite", "setup", "stage", "measure", "share", "counted")


def _about(found: Benchmark) -> str:
    suites = ", ".join(f"{s.name} {s.version or '(no manifest)'}" for s in found.suites)
    lines = [f"Run `{found.run}`: {suites}; penalty λ = {found.penalty:g}; {found.seconds:,.0f} s in all."]
    if found.missing:
        lines.append(f"**{found.missing} trials have not run yet.**")
    return "\n\n".join([" ".join(lines), *errors(found)])


def errors(found: Benchmark) -> list[str]:
    """A sentence for each suite and setup in which trials ended by an error."""
    return [
        f"{s.errors} trials of {s.suite} under {s.setup} ended by an error and count as 0; the first: {s.error}"
        for s in found.setups
        if s.errors and s.suite
    ]


def _stages(found: Benchmark) -> str:
    rows = stage_rows(found)
    return "By stage, where the truth is known:\n\n" + _table(STAGE_HEADS, rows) if rows else ""


def _sure(found: Benchmark) -> str:
    if not found.sure:
        return ""
    rows = [(setup, yes, str(trials), str(right)) for setup, yes, trials, right in found.sure]
    return _table(("setup", "enough samples agree", "trials", "right"), rows)


def _against(found: Benchmark) -> str:
    if found.against is None:
        return "There is no earlier run to hold it against."
    return f"Against the run `{found.against.before}`: {verdict(found.against)}." + _moves(found.against)


def _paired(pair: Paired) -> str:
    return f"`{pair.after}` against `{pair.before}`: {verdict(pair)}." + _moves(pair)


def _moves(pair: Paired) -> str:
    within = len({move.setup for move in pair.moves}) < 2
    lines = [
        f"- {m.suite}/{m.task}{'' if within or not m.setup else f' ({m.setup})'}: {m.before:.2f} → {m.after:.2f}"
        for m in pair.moves[:_MOST_TASKS]
    ]
    more = len(pair.moves) - len(lines)
    return "".join(f"\n{line}" for line in ["", *lines, *([f"- and {more} more"] if more else [])]) if lines else ""


def _disputed(found: Benchmark) -> str:
    lines = [f"- {s.name}/{task}: {reason}" for s in found.suites for task, reason in s.disputed.items()]
    return "Left out of every score, because their gold is disputed:\n\n" + "\n".join(lines) if lines else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
