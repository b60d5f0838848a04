"""``aqmlab compare``, ``sweep`` and ``run``: experiments from the command line."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from aqmlab import scenario
from aqmlab.cli.terminal import Terminal, give, tell
from aqmlab.files import shipped, system
from aqmlab.scenario import Experiment
from aqmlab.scenario.links import is_kind, named_links
from aqmlab.scenario.options import BY_NAME, OPTIONS, WIRE
from aqmlab.vocabulary.errors import CheckError, InputError, Interrupted, about
from aqmlab.vocabulary.units import parse_whole

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from aqmlab.results import Result
    from aqmlab.results.precision import Precision


def option(name: str) -> typer.models.OptionInfo:
    """Return an option of a scenario as the command line has it: as it is declared."""
    declared = BY_NAME[name]
    default = f" (default {declared.default})" if declared.default else ""
    info: typer.models.OptionInfo = typer.Option(
        declared.flag,
        metavar=declared.metavar,
        help=f"{declared.help}{default}",
        show_default=False,
        rich_help_panel=declared.section,
    )
    return info


Many = list[str] | None
OptText = str | None
Seeds = Annotated[OptText, option("seeds")]
FirstSeed = Annotated[OptText, option("first_seed")]
Jobs = Annotated[OptText, typer.Option("--jobs", metavar="N", help="Runs in parallel; one per core unless given.")]


def folder(text: str) -> Path:
    """Return a folder as the user names it."""
    # An empty path would be the folder that one is in.
    if not text:
        raise InputError("it is empty: name a folder, or . for this one")
    return Path(text)


Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", parser=folder, help="Folder for the result; a dated one under results/ unless given."
    ),
]
Json = Annotated[
    OptText, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - is standard output.")
]
Dask = Annotated[
    OptText,
    typer.Option("--dask", metavar="HOST:PORT", help="Make the runs on the Dask cluster of this scheduler."),
]
Shard = Annotated[
    OptText, typer.Option("--shard", metavar="K/N", help="Make only this part of the runs, as 3/20; see aqmlab merge.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already; no result is overwritten.")]
Engine = Annotated[
    OptText,
    typer.Option(
        "--engine",
        metavar="NAME,...",
        help="Engines: native (the simulator), the default; linux (the kernel in virtual time); or both.",
    ),
]
Report = Annotated[
    bool, typer.Option("--report/--no-report", help="Whether to draw figures and write the report.", show_default=False)
]
NoSizeCheck = Annotated[
    bool, typer.Option("--no-size-check", help="Skip the check of runs, events and memory before the first run.")
]
Until = Annotated[
    OptText,
    typer.Option(
        "--until-ci",
        metavar="P",
        help="More seeds until half the interval is within this share of the mean: 5% or 5%:metric=NAME:most=N.",
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="DIR", parser=folder, help="Say what changed against this result of the same scenario."
    ),
]
Unequal = Annotated[bool, typer.Option("--allow-unequal-buffers", help="Compare although the AQMs' limits differ.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="All tables, intervals and settings, as aqmlab show prints them.")
]


@dataclass(frozen=True)
class RunOptions:
    """How an experiment is run and shown: the options that `compare`, `sweep` and `run` share."""

    jobs: Jobs = None
    dask: Dask = None
    shard: Shard = None
    out: Out = None
    engine: Engine = None
    report: Report = True
    as_json: Json = None
    force: Force = False
    quiet: Quiet = False
    verbose: Verbose = False
    no_size_check: NoSizeCheck = False
    until_ci: Until = None
    baseline: Baseline = None


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """Return the command of a function.

    ``values`` are the options of a scenario, ``wire`` those of a live link's wire, ``how`` those of `RunOptions`.
    """
    of_run = get_type_hints(RunOptions, include_extras=True)
    hints = get_type_hints(function, include_extras=True)
    # What a function declares itself it has in its own form.
    options = {one.name: (Many if one.many else OptText, option(one.name)) for one in OPTIONS if one.name not in hints}
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(function).parameters.values():
        match one.name:
            case "values":
                parameters += [_parameter(name, Annotated[kind], None) for name, kind in options.items()]
            case "wire":
                parameters += [_parameter(name, Annotated[OptText, option(name)], None) for name in WIRE]
            case "how":
                parameters += [_parameter(each.name, of_run[each.name], each.default) for each in fields(RunOptions)]
            case _:
                parameters.append(one.replace(annotation=hints[one.name]))

    @functools.wraps(function)
    def command(**given: Any) -> None:
        if "how" in hints:
            given["how"] = RunOptions(**{name: given.pop(name) for name in of_run})
        if "values" in hints:
            # One that may be repeated is an empty list if it was not given.
            given["values"] = {name: given.pop(name) or None for name in options}
        if "wire" in hints:
            given["wire"] = {name: value for name in WIRE if (value := given.pop(name)) is not None}
        function(**given)

    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    return command


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


@with_options
def compare(
    *,
    values: dict[str, Any],
    link: Annotated[
        Many,
        typer.Option(
            "--link",
            metavar="KIND ...",
            help="Kind of the link, as 'turns rate 20mbit'; or named links, as 'vdsl=rate 50mbit rtt 20ms'.",
        ),
    ] = None,
    allow_unequal_buffers: Unequal = False,
    how: RunOptions,
) -> None:
    r"""Compare queue disciplines on one bottleneck, over seeds.

    For example:

    aqmlab compare --rate 10mbit --rtt 40ms --flows "10*cubic" --aqm fifo,codel,pie

    aqmlab compare --rate 10mbit --rtt 40ms --aqm "pie target 5ms" --aqm "pie target 20ms"

    aqmlab compare --link "vdsl=rate 50mbit rtt 20ms" --link "dsl=rate 6mbit rtt 40ms" --aqm fifo,codel
    """
    if link and any(is_kind(one) for one in link):
        if len(link) > 1:
            raise about("--link", "several links need names, as 'vdsl=rate 50mbit'")
        values, link = {**values, "link": link[0]}, None
    if link:
        experiment = named_links(values, link, "--", allow_unequal_buffers=allow_unequal_buffers)
    else:
        options = scenario.from_values(values, place="--", allow_unequal_buffers=allow_unequal_buffers)
        experiment = Experiment("", (options,))
    run_and_show(experiment, "compare", how)


@with_options
def sweep(
    *,
    values: dict[str, Any],
    swept: Annotated[
        list[str],
        typer.Option(
            "--sweep",
            metavar="NAME=VALUES",
            help="What varies: an option, or a $NAME in options; 5ms,20ms or 1ms..20ms*8 or 1ms..100ms*8log.",
        ),
    ],
    design: Annotated[
        str, typer.Option("--design", metavar="WHAT", help="All combinations, or a sample: grid, latin*N or sobol*N.")
    ] = "grid",
    allow_unequal_buffers: Unequal = False,
    how: RunOptions,
) -> None:
    r"""Compare queue disciplines over a space of settings.

    For example:

    aqmlab sweep --sweep rtt=10ms,40ms,160ms --sweep rate=1mbit..100mbit*5log --aqm codel,pie

    aqmlab sweep --sweep 'target=1ms..20ms*8' --rate 10mbit --rtt 40ms --aqm 'codel target $target'
    """
    named = named_values(swept)
    experiment = scenario.swept(values, named, design, "--", allow_unequal_buffers=allow_unequal_buffers)
    run_and_show(experiment, "sweep", how)


def named_values(swept: Sequence[str]) -> dict[str, str]:
    """Return what varies, by name.

    Raises:
        InputError: for a text that is not NAME=VALUES.

    """
    named: dict[str, str] = {}
    for text in swept:
        name, equals, values = text.partition("=")
        if not equals:
            raise InputError(f"--sweep: '{text}' is not NAME=VALUES, as rtt=10ms,40ms")
        if name.strip() in named:
            raise InputError(f"--sweep: '{name.strip()}' is given twice")
        named[name.strip()] = values
    return named


@with_options
def run(
    *,
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="A file, or the name of an experiment that comes with aqmlab.")
    ],
    seeds: Seeds = None,
    first_seed: FirstSeed = None,
    how: RunOptions,
) -> None:
    """Run an experiment: the options of compare as a TOML file, and sweeps over them.

    For example:

    aqmlab run mine.toml

    aqmlab run first-comparison
    """
    check_count("--seeds", seeds)
    check_count("--first-seed", first_seed)
    given = {"seeds": seeds, "first_seed": first_seed}
    overrides = {name: text for name, text in given.items() if text is not None}
    run_and_show(scenario.load(shipped.find(experiment), overrides), "run", how)


def run_and_show(experiment: Experiment, command: str, how: RunOptions) -> None:
    """Run an experiment, print and write its result, and exit with its status."""
    jobs = check_count("--jobs", how.jobs)
    if jobs is not None and how.dask is not None:
        raise InputError("--jobs: contradicts --dask, whose workers decide how many runs they make at once")
    if how.shard is not None and how.until_ci is not None:
        raise InputError("--shard: contradicts --until-ci, which needs every run of the pilot: give one of them")
    check_target(how.as_json, force=how.force)
    from aqmlab import store
    from aqmlab.cli import answer, show
    from aqmlab.engine import DEFAULT
    from aqmlab.experiment import run_experiment

    until = None if how.until_ci is None else _until(how.until_ci)
    folder = store.dated(command) if how.out is None else how.out

    def print_answer(result: Result) -> None:
        console = Terminal(to_stderr=how.as_json == "-")
        if result.since is not None:
            from aqmlab.cli import baseline

            console.print(baseline.shown(result))
        console.print(answer.findings(result, folder, console.width, verbose=how.verbose))

    with (
        show.watching(show.Bar, folder, dated=how.out is None, quiet=how.quiet) as bar,
        nullcontext() if how.dask is None else _cluster(how.dask) as executor,
    ):
        if not how.quiet:
            bar.answer = print_answer
        result = run_experiment(
            experiment,
            command,
            jobs,
            folder,
            bar,
            with_report=how.report,
            engine=how.engine or DEFAULT,
            no_size_check=how.no_size_check,
            executor=executor,
            shard=how.shard,
            until=until,
            baseline=how.baseline,
        )
    if how.as_json is not None:
        from aqmlab.results.result_json import document
        from aqmlab.vocabulary.json_text import json_text

        write_json(json_text(document(result)), how.as_json)
    if not how.quiet:
        console = Terminal(to_stderr=how.as_json == "-")
        if "shard" in result.manifest:
            console.print(answer.shard(result, folder))
        else:
            bar.on_result(result)
            console.print(answer.page(result, folder))
    elif how.as_json != "-":
        give(folder)
    failures = result.manifest["failures"]
    if failures:
        raise CheckError("; ".join(failures))
    if result.is_partial:
        raise Interrupted(f"interrupted: {folder} holds the finished runs")


def _cluster(address: str) -> AbstractContextManager[Executor]:
    from aqmlab.runs import cluster

    return cluster.connected(address, tell)


def _until(text: str) -> Precision:
    from aqmlab.results.precision import Precision

    try:
        return Precision.parse(text)
    except InputError as error:
        raise InputError(f"--until-ci: {error}") from None


def check_count(name: str, text: str | None, least: int = 1, most: int | None = None) -> int | None:
    """Return the whole number of an option, if it is given.

    Raises:
        InputError: if the text is not a whole number from ``least`` to ``most``.

    """
    try:
        return None if text is None else parse_whole(text, least, most)
    except ValueError as error:
        raise about(name, f"{error}") from None


def check_target(as_json: str | None, *, force: bool) -> None:
    """Check before the runs that the JSON can be written."""
    if as_json in (None, "-"):
        return
    from aqmlab.files import disk

    disk.check_place("--json", Path(str(as_json)), force=force)


def write_json(text: str, as_json: str | None) -> None:
    """Write JSON to the user's file, if any: completely or not at all, unless it is a device or a pipe."""
    if as_json is None:
        return
    if as_json == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from aqmlab.files import disk

    with system.writing(f"--json: '{as_json}'"):
        disk.put(Path(as_json), text.encode())


__all__ = ["check_count", "check_target", "compare", "option", "run", "run_and_show", "sweep", "write_json"]
