"""``aqmlab compare`` and ``aqmlab run``: experiments from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aqmlab import scenario, shipped
from aqmlab.errors import CheckError, InputError, Interrupted
from aqmlab.scenario import OPTIONS, Experiment
from aqmlab.units import parse_whole

_HELP = {option.name: option.help for option in OPTIONS}
_DEFAULT = {option.name: option.default for option in OPTIONS}


def _option(name: str, metavar: str) -> typer.models.OptionInfo:
    default = f" (default {_DEFAULT[name]})" if _DEFAULT[name] else ""
    info: typer.models.OptionInfo = typer.Option(
        f"--{name.replace('_', '-')}", metavar=metavar, help=f"{_HELP[name]}{default}", show_default=False
    )
    return info


Many = list[str] | None
One = str | None
Seeds = Annotated[One, _option("seeds", "N")]
Jobs = Annotated[One, typer.Option("--jobs", metavar="N", help="Runs in parallel; one per core unless given.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder for the result; a dated one under results/ unless given."),
]
Json = Annotated[One, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - is standard output.")]
Engine = Annotated[One, typer.Option("--engine", metavar="NAME", help="Engine: native (the simulator), the default.")]
Yes = Annotated[
    bool, typer.Option("--yes", help="Run it however many runs, events and bytes of memory it is estimated to take.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")]


def compare(
    aqm: Annotated[Many, _option("aqm", "SPEC")] = None,
    rate: Annotated[One, _option("rate", "R")] = None,
    rtt: Annotated[One, _option("rtt", "T")] = None,
    buffer: Annotated[One, _option("buffer", "B")] = None,
    flows: Annotated[Many, _option("flows", "SPEC")] = None,
    topology: Annotated[One, _option("topology", "SPEC")] = None,
    measure: Annotated[Many, _option("measure", "PORT,...")] = None,
    link_trace: Annotated[One, _option("link_trace", "FILE")] = None,
    capture: Annotated[Many, _option("capture", "FILE")] = None,
    overhead: Annotated[One, _option("overhead", "B")] = None,
    device_ring: Annotated[One, _option("device_ring", "N")] = None,
    access_rate: Annotated[One, _option("access_rate", "R")] = None,
    loss: Annotated[One, _option("loss", "P")] = None,
    jitter: Annotated[One, _option("jitter", "T")] = None,
    duration: Annotated[One, _option("duration", "T")] = None,
    warmup: Annotated[One, _option("warmup", "T|auto")] = None,
    series: Annotated[One, _option("series", "WHAT")] = None,
    seeds: Seeds = None,
    allow_unequal_buffers: Annotated[
        bool, typer.Option("--allow-unequal-buffers", help="Compare although the AQMs' limits differ.")
    ] = False,
    jobs: Jobs = None,
    out: Out = None,
    engine: Engine = None,
    as_json: Json = None,
    quiet: Quiet = False,
    yes: Yes = False,
) -> None:
    r"""Compare queue disciplines on one bottleneck, over seeds.

    For example:

    aqmlab compare --rate 10mbit --rtt 40ms --flows "10*cubic" --aqm fifo,codel,pie

    aqmlab compare --rate 10mbit --rtt 40ms --aqm "pie target 5ms" --aqm "pie target 20ms"
    """
    values = {
        "aqm": aqm or None,
        "rate": rate,
        "rtt": rtt,
        "buffer": buffer,
        "flows": flows or None,
        "topology": topology,
        "measure": measure or None,
        "link_trace": link_trace,
        "capture": capture or None,
        "overhead": overhead,
        "device_ring": device_ring,
        "access_rate": access_rate,
        "loss": loss,
        "jitter": jitter,
        "duration": duration,
        "warmup": warmup,
        "series": series,
        "seeds": seeds,
    }
    options = scenario.from_values(values, place="--", allow_unequal_buffers=allow_unequal_buffers)
    conduct(Experiment("", (options,)), "compare", jobs, out, as_json, quiet, engine, yes)


def run(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="A file, or the name of an experiment that comes with aqmlab.")
    ],
    seeds: Seeds = None,
    jobs: Jobs = None,
    out: Out = None,
    engine: Engine = None,
    as_json: Json = None,
    quiet: Quiet = False,
    yes: Yes = False,
) -> None:
    """Run an experiment: the options of compare as a TOML file, and sweeps over them.

    For example:

    aqmlab run mine.toml

    aqmlab run first-comparison
    """
    check_count("--seeds", seeds)
    overrides = {} if seeds is None else {"seeds": seeds}
    conduct(scenario.load(shipped.find(experiment), overrides), "run", jobs, out, as_json, quiet, engine, yes)


def conduct(
    experiment: Experiment,
    command: str,
    jobs: str | None,
    out: Path | None,
    as_json: str | None,
    quiet: bool,
    engine: str | None = None,
    yes: bool = False,
) -> None:
    """Run an experiment, print and write its result, and exit with its status."""
    number = check_count("--jobs", jobs)
    check_target(as_json)
    from aqmlab import store
    from aqmlab.cli import show
    from aqmlab.engine import DEFAULT
    from aqmlab.experiment import Watcher
    from aqmlab.experiment import conduct as _conduct

    folder = store.dated(command) if out is None else out
    bar = None if quiet or not sys.stderr.isatty() else show.Bar()
    try:
        result = _conduct(experiment, command, number, folder, bar or Watcher(), engine=engine or DEFAULT, yes=yes)
    except KeyboardInterrupt:
        if store.is_result(folder):
            raise Interrupted(f"interrupted: {folder} holds the finished runs") from None
        raise
    finally:
        if bar:
            bar.close()
        if out is None:
            store.discard_if_empty(folder, folder.parent)
    write_json(result.to_json(), as_json)
    if not quiet:
        console = show.console(to_stderr=as_json == "-")
        console.print(show.result(result, folder, console.width))
    elif as_json != "-":
        typer.echo(str(folder))
    failures = result.manifest["failures"]
    if failures:
        raise CheckError("; ".join(failures))
    if result.is_partial:
        raise Interrupted(f"interrupted: {folder} holds the finished runs")


def check_count(option: str, text: str | None) -> int | None:
    """Return the whole number of an option, if it is given.

    Raises:
        InputError: if the text is not a whole number from 1.

    """
    try:
        return None if text is None else parse_whole(text, 1)
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None


def check_target(as_json: str | None) -> None:
    """Check before the runs that the JSON can be written."""
    if as_json in (None, "-"):
        return
    path = Path(str(as_json))
    if path.is_dir():
        raise InputError(f"--json: '{path}' is a folder")
    if not path.parent.is_dir():
        raise InputError(f"--json: '{path}' cannot be written: there is no folder '{path.parent}'")


def write_json(text: str, as_json: str | None) -> None:
    """Write JSON to the user's file, if any: completely or not at all, unless it is a device or a pipe."""
    if as_json is None:
        return
    if as_json == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from aqmlab.store import files

    try:
        files.put(Path(as_json), text.encode())
    except OSError as error:
        raise files.failed(f"--json: '{as_json}'", error) from None


__all__ = ["check_count", "check_target", "compare", "conduct", "run", "write_json"]
