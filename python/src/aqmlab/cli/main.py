"""The commands, and how errors are reported: one clear line and an exit status."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TextIO

import typer

from aqmlab import FULL_VERSION, _native
from aqmlab.cli.commands import Root
from aqmlab.cli.terminal import tell
from aqmlab.cli.unknown_option import unknown_option
from aqmlab.files import machine, system
from aqmlab.vocabulary.errors import CheckError, InputError, Interrupted, MachineError, about, defect
from aqmlab.vocabulary.printable import printable

app = typer.Typer(
    name="aqmlab",
    cls=Root,
    help="The laboratory for active queue management.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
FAILED = 1
BAD_INPUT = 2
INTERNAL = 70
INTERRUPTED = 130
# What the library that reads options says, and what it means.
_WORDS = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "it is not a whole number",
    "Input should be": "it should be",
}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aqmlab {FULL_VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version
    machine.check_limits()


def main() -> None:
    """Run the command line and exit with its status: 0 done, 1 a failed check or machine, 2 bad input, 70 a bug."""
    try:
        with _signals_watched():
            _main()
    except SystemExit as left:
        # Python would look for cycles among all that is left, a tenth of a second, before it lets go of it anyhow.
        gc.freeze()
        workers = sys.modules.get("aqmlab.runs.workers")
        if workers is not None and workers.left_behind():
            # Python would wait for it.
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            os._exit(int(left.code or 0))
        raise


def _main() -> None:
    _take_signals()
    _open_streams()
    try:
        # Errors reach this function instead of being printed in a box: one line each.
        status = app(standalone_mode=False)
        sys.stdout.flush()
        if status == INTERRUPTED:
            # Typer has caught the interrupt.
            _leave(INTERRUPTED, "interrupted; nothing was kept")
        sys.exit(status)
    except Interrupted as error:
        _leave(INTERRUPTED, error)
    except InputError as error:
        _leave(BAD_INPUT, _as_typed(error))
    except (CheckError, MachineError) as error:
        _leave(FAILED, error)
    except (KeyboardInterrupt, typer.Abort):
        _leave(INTERRUPTED, "interrupted; nothing was kept")
    except typer.TyperException as error:
        _leave(BAD_INPUT, _usage(error))
    except BrokenPipeError:
        # The reader (a pager, head) has closed the pipe: there is nobody to tell.
        _discard(sys.stdout)
        sys.exit(0)
    except (OSError, MemoryError) as error:
        if isinstance(error, OSError) and error.filename is None:
            _discard(sys.stdout)
        found = system.unforeseen(error)
        _leave(FAILED if isinstance(found, MachineError) else BAD_INPUT, found)
    except Exception as error:
        if sys.stdout is None or sys.stdout.closed:
            _leave(FAILED, "standard output was closed by a discipline in Python; finished runs are kept")
        print(printable(traceback.format_exc()), end="", file=sys.stderr)
        if _is_stale():
            _leave(INTERNAL, f"the compiled part is older than its sources: run 'make setup', and try again: {error!r}")
        _leave(INTERNAL, f"an error of aqmlab itself; please report it with the lines above: {error!r}")
    except BaseException as error:
        panic = defect(error)
        if panic is None:
            raise
        _leave(FAILED, panic)


def _is_stale() -> bool:
    """Whether, in a checkout, the sources of the compiled part are newer than it."""
    crates = Path(__file__).parents[4] / "crates"
    newest = max((source.stat().st_mtime for source in crates.glob("*/src/**/*.rs")), default=0.0)
    return newest > Path(_native.__file__ or "").stat().st_mtime


def _as_typed(refusal: InputError) -> InputError:
    """Return what was refused by the name of an argument in Python by that of the option that was given."""
    option = f"--{refusal.option.replace('_', '-')}"
    is_given = refusal.option and any(word.partition("=")[0] == option for word in sys.argv[1:])
    return about(refusal.option, refusal, option) if is_given else refusal


def _take_signals() -> None:
    """Treat requests to end (kill, timeout, a closed terminal) like Ctrl-C: finished runs are kept."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Keep it ignored under nohup.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)


@contextmanager
def _signals_watched() -> Iterator[None]:
    """End the process at a signal if nothing in Python can."""
    watch = _native.watch_signals()
    held = signal.set_wakeup_fd(watch, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(held)
        os.close(watch)


def _open_streams() -> None:
    """Make standard streams encode any text, and replace closed ones, so that no file takes their number.

    Writing to a closed standard output remains an error.
    """
    for name, mode in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, mode), "r" if name == "stdin" else "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # File names are written as they were read; characters that ASCII lacks become question marks.
            stream.reconfigure(errors="surrogateescape" if stream.encoding.lower() == "utf-8" else "replace")


def _discard(stream: TextIO) -> None:
    """Discard what a stream still buffers, so that Python does not report it on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usage(error: typer.TyperException) -> str:
    """Return what is wrong with the command line, and where to find help."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "aqmlab"
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    # Only the error about an unknown option has possibilities.
    if context and hasattr(error, "possibilities"):
        known = [name for option in context.command.params for name in option.opts]
        return unknown_option(str(getattr(error, "option_name", "")), known, command)
    for theirs, ours in _WORDS.items():
        message = message.replace(theirs, ours)
    return f"{message.rstrip('.')} ('{command} --help' lists the options)" if message.strip() else ""


def _leave(status: int, why: Exception | str) -> None:
    try:
        tell(why)
    except OSError:
        _discard(sys.stderr)
    except ValueError:
        # It was closed by a discipline in Python.
        sys.stderr = None
    sys.exit(status)
