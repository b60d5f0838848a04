"""A link with a command behind it: the process that carries packets is started, waited for and asked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _native
from aqmlab.files import disk, system, temporary
from aqmlab.live import log as logs
from aqmlab.live import outside, quiet_exec
from aqmlab.live.directions import DIRECTIONS, Line
from aqmlab.live.worker import AT_THE_FAR_END
from aqmlab.vocabulary.errors import CheckError, InputError, Interrupted, MachineError

CAPTURE, SAMPLES, MEASURE, RESOLVER = "near.pcapng", "samples.jsonl", "measure", "resolv.conf"
# A module of this package as a program. -P: nothing is imported from the folder that the user is in.
QUIETLY = (sys.executable, "-P", quiet_exec.__file__)
# What carries packets between the ends and the link: pairs of veth interfaces, or those of the TUN driver.
PATHS = ("veth", "tun")
INTERRUPTED = "interrupted; nothing was kept"
# As often as a figure of a minute has points, and a reader sees a change.
SAMPLE_NS = 100_000_000


@dataclass(frozen=True)
class Link:
    """Both directions, the seed of all random numbers, and the kernel's TCP at both ends.

    An empty congestion control is CUBIC, where permitted; with ``ecn`` TCP asks for ECN, else neither end has it. The
    far end of one that ``is_open`` has a route to the network of this machine. ``path`` is one of `PATHS`; empty, the
    first of them that the system permits.
    """

    down: Line
    up: Line
    seed: int = 1
    congestion_control: str = ""
    ecn: bool = False
    is_open: bool = False
    path: str = ""


@dataclass(frozen=True)
class Carried:
    """What a run of a link has shown: the report of the data path, and that of a replay of its log, if it is whole.

    ``samples`` has a row for each direction and period; ``by`` says what made the route outside, if there is one.
    """

    link: Link
    command: tuple[str, ...]
    servers: tuple[tuple[str, ...], ...]
    report: dict[str, Any]
    replayed: dict[str, Any] | None = None
    samples: Sequence[Mapping[str, Any]] = ()
    by: str = ""

    @property
    def status(self) -> int:
        """How the command has ended."""
        return int(self.report["command"]["status"])


def unwatched(samples: Path) -> AbstractContextManager[object]:
    """Watch nothing while a link runs."""
    del samples
    return nullcontext()


def carry(
    link: Link,
    command: Sequence[str],
    servers: Sequence[Sequence[str]] = (),
    log: Path | None = None,
    capture: Path | None = None,
    *,
    stdout: int | None = None,
    watch: Callable[[Path], AbstractContextManager[object]] = unwatched,
) -> Carried:
    """Run a command behind a link until it ends.

    Args:
        link: the link.
        command: the program and its arguments; it runs at the near end.
        servers: programs that are started at the far end, and listen before the command begins.
        log: file for every call into the disciplines.
        capture: file for a capture (pcapng) of what passes the near end.
        stdout: descriptor for the standard output of the command and the servers, instead of one's own.
        watch: is entered while the link runs, with the file that its samples are written to.

    Raises:
        InputError: the command, a server or the congestion control does not exist.
        Interrupted: before the command has begun; from then on the command receives the signal.
        MachineError: the system does not permit it, or lacks something.

    """
    if not hasattr(_native, "link"):
        raise MachineError("a live link needs Linux")
    with temporary.folder("aqmlab-link-") as folder:
        samples, resolver = folder / SAMPLES, folder / RESOLVER
        os.mkfifo(folder / MEASURE)
        config = configuration(link, folder, logs=bool(log), captures=bool(capture))
        # What is run so lets them come.
        config["held_back"] = tuple(command[: len(QUIETLY)]) == QUIETLY
        request = {"config": config, "command": list(command), "servers": [list(one) for one in servers]}
        samples.touch()
        with watch(samples):
            report, by = _run(request, stdout, resolver if link.is_open else None)
        replayed, faults = None, report["faults"]
        if log:
            # Where rows are lacking, decisions after the last call would part.
            if not any(report[name]["is_log_cut"] for name in DIRECTIONS):
                with noted(faults, "the log"):
                    replayed = logs.replay(config, folder)
            as_csv = log.suffix == ".csv"
            with noted(faults, log):
                disk.place(log, lambda path: logs.write(folder, path, as_csv=as_csv))
        if capture:
            with noted(faults, capture):
                disk.place(capture, lambda path: _copy(folder / CAPTURE, path))
        rows: list[dict[str, Any]] = []
        with noted(faults, "the samples"):
            # What was written to a full disk may end within a line.
            rows = [json.loads(line) for line in samples.read_text().split("\n")[:-1]]
    return Carried(link, tuple(command), tuple(map(tuple, servers)), report, replayed, rows, by)


def configuration(link: Link, folder: Path, *, logs: bool = False, captures: bool = False) -> dict[str, Any]:
    """Return the settings of the process that carries packets; its files are in a folder."""
    return {
        **{one.name: one.data(folder / f"{one.name}.log" if logs else None, folder) for one in (link.down, link.up)},
        "seed": link.seed,
        "measure": str(folder / MEASURE),
        "samples": str(folder / SAMPLES),
        "sample_ns": SAMPLE_NS,
        "capture": str(folder / CAPTURE) if captures else None,
        "congestion_control": link.congestion_control or None,
        "ecn": link.ecn,
        "resolver": str(folder / RESOLVER) if link.is_open else None,
        "path": link.path or None,
    }


@contextmanager
def noted(faults: list[str], place: Path | str) -> Iterator[None]:
    """Note what fails once the command has ended: its status and the report are due all the same."""
    try:
        with system.writing(place):
            yield
    except (InputError, MachineError) as error:
        faults.append(str(error))
    except ValueError as error:
        faults.append(f"{place}: damaged: {error}")


def _copy(source: Path, to: Path) -> None:
    # `shutil.copyfile` refuses pipes.
    with source.open("rb") as whole, to.open("wb") as written:
        shutil.copyfileobj(whole, written)


def _run(request: dict[str, Any], stdout: int | None, resolver: Path | None) -> tuple[dict[str, Any], str]:
    """Return the report, and what made the route outside if a file for its name servers is given."""
    by = ""
    answers, its_answers = os.pipe()
    its_words, words = os.pipe()
    given = [json.dumps(request), *map(str, (its_answers, its_words, os.getpid()))]
    program = [*QUIETLY, "aqmlab.live.worker", *given]
    with open(words, "wb", buffering=0) as pipe, ExitStack() as paths:
        worker = None
        try:
            with _held_back():
                worker = subprocess.Popen(program, pass_fds=[its_answers, its_words], stdout=stdout)
            for one in (its_answers, its_words):
                os.close(one)
            with _terminal_left_alone(), open(answers) as answer:
                text = answer.readline()
                if text.encode() == AT_THE_FAR_END:
                    if resolver:
                        by = paths.enter_context(outside.joined(worker.pid, resolver))
                    # If it has been interrupted meanwhile, that is reported below.
                    with suppress(BrokenPipeError):
                        pipe.write(b"\n")
                    text = answer.read()
                worker.wait()
        except BaseException as error:
            if worker:
                worker.kill()
                worker.wait()
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(INTERRUPTED) from None
            if worker:
                _check_interrupt(worker)
            raise
    if not text:
        _check_interrupt(worker)
        raise MachineError(f"the process that carries packets has ended: {worker.returncode}")
    answer = json.loads(text)
    if "input" in answer:
        raise InputError(answer["input"])
    if "machine" in answer:
        raise MachineError(answer["machine"])
    if "defect" in answer:
        raise CheckError(answer["defect"])
    return dict(answer["report"]), by


def _check_interrupt(worker: subprocess.Popen[bytes]) -> None:
    """Raise it where an interrupt has ended the process that carries packets: before the command, it receives them."""
    if -worker.returncode in quiet_exec.SIGNALS:
        raise Interrupted(INTERRUPTED)


@contextmanager
def _held_back() -> Iterator[None]:
    """Hold the signals of a terminal back, for what is started, too: it asks for them once it can receive them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, quiet_exec.SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, quiet_exec.SIGNALS)


@contextmanager
def _terminal_left_alone() -> Iterator[None]:
    """Leave Ctrl-C to the process that carries packets, and to the command once that runs, as a shell does."""
    held = {one: signal.getsignal(one) for one in quiet_exec.SIGNALS}
    try:
        for one in held:
            signal.signal(one, signal.SIG_IGN)
        yield
    finally:
        for one, handler in held.items():
            signal.signal(one, handler)


__all__ = ["PATHS", "QUIETLY", "SAMPLE_NS", "Carried", "Link", "carry", "configuration", "noted", "unwatched"]
