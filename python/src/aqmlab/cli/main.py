"""The commands, and how errors leave: one clear line and an exit status."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

from aqmlab import __version__
from aqmlab.cli import aqm, compare, flows, folders, reproduce, schema
from aqmlab.errors import CheckError, InputError, MachineError

app = typer.Typer(
    name="aqmlab",
    help="The laboratory for active queue management.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.add_typer(aqm.app, name="aqm")
app.add_typer(flows.app, name="flows")
app.command()(compare.compare)
app.command()(compare.run)
app.command()(reproduce.reproduce)
app.command()(folders.report)
app.command()(folders.plot)
app.command()(folders.export)
app.command()(schema.schema)

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aqmlab {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    del version


def main() -> None:
    """Run the command line and leave with its status: 0 done, 1 a failed check or machine, 2 bad input."""
    # Being told to end (kill, timeout) keeps what is finished, as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        # Errors come here instead of being printed in a box: one line each.
        sys.exit(app(standalone_mode=False))
    except InputError as error:
        _leave(BAD_INPUT, error)
    except (CheckError, MachineError) as error:
        _leave(FAILED, error)
    except (KeyboardInterrupt, typer.Abort):
        _leave(INTERRUPTED, "interrupted; nothing was finished")
    except typer.TyperException as error:
        _leave(BAD_INPUT, _usage(error))
    except BrokenPipeError:
        # The reader (a pager, head) has left: nobody is there to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _usage(error: typer.TyperException) -> str:
    """Return what is wrong with the command itself, and where help is."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "aqmlab"
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return f"{message.rstrip('.')} ('{command} --help' lists what there is)" if message.strip() else ""


def _leave(status: int, why: Exception | str) -> None:
    line = " ".join(str(why).split())
    if line:
        print(f"aqmlab: {line}", file=sys.stderr)
    sys.exit(status)
