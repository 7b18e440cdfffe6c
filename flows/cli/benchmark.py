"""`tablewright benchmark`: suites with gold under several setups → scores, σ, cost, and what moved since an accepted run."""

from __future__ import annotations

import asyncio
import secrets
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape

from flows.cli.app import app, as_called, err, lost, note, out, print_json, table

if TYPE_CHECKING:
    from flows.running.grid import BenchmarkRequest
    from flows.running.link import Link
    from tasks.core.models.benchmark import Benchmark

commands = typer.Typer(name="benchmark", help="Measure setups on suites with gold.", no_args_is_help=True)
app.add_typer(commands)
Results = Annotated[Path | None, typer.Option(help="Folder of all runs; benchmarks in the store unless given.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")]


@commands.command("run")
def command_run(
    config: Annotated[str, typer.Option(help="File that says what is measured: `benchmark` for configs/benchmark.toml, or the path of a .toml; options go before it; without it, options alone.")] = "",
    suite: Annotated[list[str] | None, typer.Option(help="Folder of tasks with gold/TASK/gold.csv, or its manifest; repeat for more. Default: data/samples.")] = None,
    profile: Annotated[list[str] | None, typer.Option(help="Settings to measure; repeat for more. Default: default.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Model at the endpoint main, under each profile; repeat for more; without it, the profile's.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, max=100, help="Trials of each task, each with samples of its own. Default: 1.")] = None,
    seed: Annotated[list[int] | None, typer.Option(min=0, help="Number of a repeat, in place of --repeats; repeat for more.")] = None,
    skip: Annotated[list[str] | None, typer.Option(help="SUITE/TASK to leave out; repeat for more; without it, none.")] = None,
    lam: Annotated[float | None, typer.Option(min=0, help="λ: what a surplus column costs, as a share of its part. Default: 0.1.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=0, help="Questions at once; 0, the default: as for a batch.")] = None,
    deadline: Annotated[float | None, typer.Option(min=0, help="Seconds after which no more questions begin; 0, the default: none.")] = None,
    against: Annotated[str | None, typer.Option(help="Hold it against the accepted run, the previous one, or none. Default: accepted.")] = None,
    accept: Annotated[str | None, typer.Option(help="Accept it for later runs: no (default), 'unless worse', or yes.")] = None,
    results: Results = None,
    run: Annotated[str, typer.Option(help="Name of the run; an unfinished one goes on; without it, made of day and time.")] = "",
    into: Annotated[str | None, typer.Option(help="Markdown file whose section is replaced; without it, none.")] = None,
    section: Annotated[str | None, typer.Option(help="Name of that section, in its markers. Default: benchmark.")] = None,
    no_prefect: Annotated[bool, typer.Option("--no-prefect", help="Plain calls, even when a server answers.")] = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Ask every task of every suite under every profile × model, score the answers, and write the report.

    Exit code 5 when more tasks fell than rose against the other run, and the sign test's p is below 0.05; where no question
    got an answer, that of most of them.
    """
    given: dict[str, Any] = {"suites": suite, "profiles": profile, "models": model, "skip": skip, "repeats": repeats,
             "seeds": seed, "penalty": lam, "concurrency": concurrency, "deadline": deadline, "against": against, "accept": accept,
             "into": into, "results": str(results) if results else None, "section": section}  # fmt: skip
    chosen = {name: value for name, value in given.items() if value not in (None, [])}
    found = _run(config, {**chosen, "run": run or _new_name()}, no_prefect)
    _print(found, as_json)
    if found.unanswered:
        err.print(f"[bold red]error:[/] {escape(as_called(found.unanswered))}")
    raise typer.Exit(found.code)


@commands.command("report")
def command_report(
    run: Annotated[str, typer.Argument(help="Name of a run, or its folder.")],
    results: Results = None,
    lam: Annotated[
        float | None,
        typer.Option(
            min=0, help="Score with another λ, the share that a surplus column costs; without it, that of the run."
        ),
    ] = None,
    against: Annotated[str | None, typer.Option(help="accepted, previous or none; without it, as the run was.")] = None,
    into: Annotated[str, typer.Option(help="Markdown file whose section is replaced; without it, none.")] = "",
    section: Annotated[str, typer.Option(help="Name of that section, in its markers.")] = "benchmark",
    as_json: Json = False,
) -> None:
    """Score what a run has by now and write its report anew; no question is asked."""
    from flows.benchmark import report

    changes: dict[str, Any] = {"into": into, "section": section, "penalty": lam, "against": against, "accept": "no"}
    chosen = {name: value for name, value in changes.items() if value is not None}
    _print(asyncio.run(report(_folder(run, results), **chosen)), as_json)


@commands.command("accept")
def command_accept(run: Annotated[str, typer.Argument(help="Name of a run.")], results: Results = None) -> None:
    """Hold later runs against this one."""
    from tasks.benchmark.accepted import accept

    folder = _folder(run, results)
    accept(folder.parent, folder.name)
    out.print(f"accepted: {folder.name}")


@commands.command("list")
def command_list(results: Results = None, as_json: Json = False) -> None:
    """The runs that ended, with their scores; the accepted one is marked."""
    from tasks.benchmark.accepted import accepted
    from tasks.benchmark.figures import setups
    from tasks.benchmark.results import runs

    place = _existing(results)
    names = accepted(place)
    found = [(folder.name, s) for folder in runs(place) for s in setups(folder) if s.suite]
    if as_json:
        print_json([{"run": run, "accepted": names[-1:] == [run], **s.model_dump(mode="json")} for run, s in found])
        return
    if not found:
        out.print(escape(f"no run of the benchmark has ended in {place}"))
        out.print(escape(as_called("  next: make one: tablewright benchmark run --suite DIR --profile NAME")))
        return
    shown = table("run", "suite", "setup", "tasks", "repeats", "score", "σ")
    for run, s in found:
        mark = " (accepted)" if names[-1:] == [run] else ""
        sigma = "" if s.sigma is None else f"{s.sigma:.3f}"
        shown.add_row(
            run + mark, f"{s.suite} {s.version}", s.setup, str(s.tasks), str(s.repeats), f"{s.score:.3f}", sigma
        )
    out.print(shown)


@commands.command("query")
def command_query(
    sql: Annotated[str, typer.Argument(help="A query of DuckDB over trials, measures and costs of all runs.")],
    results: Results = None,
    as_json: Json = False,
) -> None:
    """Ask the results of all runs in SQL; see docs/benchmark.md for the columns."""
    from tasks.benchmark.results import ask, runs
    from tasks.core.sql.cells import to_cell

    names, rows = ask(runs(_existing(results)), sql)
    cells = [[to_cell(value) for value in row] for row in rows]
    if as_json:
        print_json([dict(zip(names, row, strict=True)) for row in cells])
        return
    shown = table(*names)
    for row in cells:
        shown.add_row(*("" if cell is None else escape(str(cell)) for cell in row))
    out.print(shown)


def _run(config: str, given: dict[str, Any], no_prefect: bool) -> Benchmark:
    """Under Prefect when its server answers, as any other run."""
    from flows.benchmark import benchmark, count
    from flows.cli.progress import Board
    from flows.running import launch
    from flows.running.sweep import asked
    from tasks.core.settings import load

    request = asked(config, given)
    settings = load(request.profiles[0])
    if link := launch.choose(settings, no_prefect, note, lost):
        return cast("Benchmark", asyncio.run(_in_prefect(request, link)))
    board = Board(count(request))
    try:
        with board.shown():
            return asyncio.run(benchmark(request, request.run, date.today(), board))
    except KeyboardInterrupt:
        err.print(f"interrupted; the same command with --run {request.run} goes on from here")
        raise typer.Exit(130) from None


async def _in_prefect(request: BenchmarkRequest, link: Link) -> Any:
    """As a flow run; without one where the server goes away. What has ended by then is read."""
    from flows.benchmark import benchmark
    from flows.deployed import benchmark_flow
    from flows.running.link import Witness, through

    async def flow() -> Any:
        state: Any = await benchmark_flow(request, return_state=True)
        return await state.aresult(raise_on_failure=False)

    return await through(link, Witness(opens=False), flow, lambda _: benchmark(request, request.run, date.today()))


def _print(found: Benchmark, as_json: bool) -> None:
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    out.print((Path(found.folder) / "report.md").read_text("utf-8"), markup=False)
    out.print(str(Path(found.folder) / "report.html"), markup=False)


def _results(results: Path | None) -> Path:
    from flows.running.grid import BenchmarkRequest

    return BenchmarkRequest(results=str(results or "")).folder


def _folder(run: str, results: Path | None) -> Path:
    given = Path(run)
    return given.absolute() if (given / "run.json").is_file() else _existing(results) / run


def _existing(results: Path | None) -> Path:
    """The folder of all runs. Raises InputError when it was named and is not there."""
    from tasks.core.files.paths import check_folder

    if results:
        check_folder(results, "the folder of runs, the --results of `tablewright benchmark run`")
    return _results(results)


def _new_name() -> str:
    return f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
