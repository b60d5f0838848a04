"""Runs one guest: a process of its own, watched while it runs, and ended with all that it started."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.engine.linux.job import BOOT_NS, Job
from aqmlab.engine.linux.kernel_image import KERNEL, ROOT, Place
from aqmlab.engine.linux.recorded import changes
from aqmlab.engine.linux.watchdog import OwnTime, use_of
from aqmlab.files import session
from aqmlab.vocabulary.errors import Cancelled, MachineError, about

MEMORY_MB = 512
POLL_S = 0.05
# A guest that gets no further for so long of its own time hangs. It reports each tenth of a second of its clock.
PATIENCE_S = 180.0
# How often that is looked at.
LOOK_S = 1.0
# Where the kernel was started, under the same name in every run (also in guest/init.sh).
HOME = "/proc/self/cwd"
# Where the guest's memory lies: a file system in memory, if there is one with room.
SHARED = Path("/dev/shm")
# How the guest's system calls are caught: without ptrace, which containers forbid, and a third cheaper (from 6.16 on).
SYSTEM_CALLS = "seccomp=on"
NEARLY_FULL_BYTES = 10**5
# The console's words, and what they mean to the user.
COMPLAINTS = {
    "SECCOMP userspace": "this system does not allow seccomp filters, which user-mode Linux needs",
    "check_ptrace": "this system does not allow ptrace, which this kernel needs (docker run --cap-add=SYS_PTRACE)",
    "No space left": "the disk is full",
    "unmapping physical memory": "there is no memory for it",
}


class Watch:
    """Watches a guest from another thread, and can stop it."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self.progress: Path | None = None

    @property
    def reached_ns(self) -> int:
        """Time that the guest has reached, nanoseconds."""
        if self.progress is None:
            return 0
        with suppress(OSError, ValueError):
            return int(self.progress.read_text())
        return 0

    def cancel(self) -> None:
        """Ask the guest to stop."""
        self.is_cancelled = True


@contextmanager
def finished(place: Place, job: Job, label: str, watch: Watch) -> Iterator[tuple[Path, float]]:
    """Run a guest; yield the folder with its files, which goes afterwards, and the processor time that it took.

    Raises:
        Cancelled: if the monitor stopped it.
        MachineError: if it failed, or hung.

    """
    with tempfile.TemporaryDirectory(prefix="aqmlab-linux-", ignore_cleanup_errors=True) as name:
        around = Path(name)
        folder = around / "job"
        try:
            _lay(place, job, around, folder)
        except OSError as error:
            raise MachineError(f"engine linux: {label}: {error.strerror}: {around}") from None
        watch.progress = folder / "reached"
        cpu_s = ended(_command(), around, job.seed, label, watch)
        if not (folder / "done").exists():
            raise MachineError(f"engine linux: {label}: {_why(around)}")
        yield folder, cpu_s
        watch.progress = None


@functools.lru_cache(maxsize=1)
def check(place: Place) -> None:
    """Start the kernel without a guest: it says by itself whether it can run here.

    Raises:
        InputError: saying what is missing.
        MachineError: if it hung.

    """
    with tempfile.TemporaryDirectory(prefix="aqmlab-linux-") as name:
        command = [str(place.folder / KERNEL), "mem=64M", "root=/dev/nothing", "panic=-1", "con=null", "con0=null,fd:1"]
        try:
            ended([*command, "ssl=null", SYSTEM_CALLS], Path(name), 0, "its first start", Watch())
        except OSError as error:
            raise about("engine linux", f"the kernel cannot be started: {error}") from None
        console = Path(name, "console").read_text(errors="replace")
    if "Linux version" not in console:
        raise about("engine linux", f"the kernel cannot run here: {_meaning(console)}")


def _lay(place: Place, job: Job, around: Path, folder: Path) -> None:
    """Write the job. The guest sees the same paths in every run: they begin where it was started."""
    folder.mkdir()
    (around / KERNEL).symlink_to(place.folder / KERNEL)
    (around / ROOT).symlink_to(place.folder / ROOT)
    lines = [f"{key}={shlex.quote(str(value))}" for key, value in job.variables.items()]
    files = {"job.env": lines, "network": job.network.lines(), "programs": job.programs}
    for box in job.network.senders:
        files[f"flows.{box}"] = job.lines(box)
        # As `struct datagram` in guest/send.c.
        np.array(job.datagrams(box), dtype="u8").tofile(folder / f"datagrams.{box}")
    if recorded := job.network.recorded:
        assert job.opportunities is not None
        changes(job.opportunities).tofile(folder / f"rates.{recorded[1]}")
    for name, content in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in content))


def _command() -> list[str]:
    return [*kernel(f"./{KERNEL}"), f"rootflags={HOME}/{ROOT}/", "init=/init"]


def kernel(program: str) -> list[str]:
    """Return how a kernel is started, but for its root folder on this machine (``rootflags``) and its ``init``."""
    # No randomness of addresses, a fixed start of time, and a seed: the same job makes the same run.
    command = [program, "time-travel=inf-cpu", f"time-travel-start={BOOT_NS}", f"mem={MEMORY_MB}M"]
    command += ["root=/dev/root", "rootfstype=hostfs", "ro"]
    return [*command, "norandmaps", "con=null", "con0=null,fd:1", "ssl=null", "quiet", SYSTEM_CALLS]


def ended(command: Sequence[str], around: Path, seed: int, label: str, watch: Watch) -> float:
    """Run a kernel until it ends; return its processor time. What it says is in the file ``console`` of a folder."""
    with (around / "console").open("wb") as console:
        how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": console, "stderr": console}
        with session.alone(command, env=_environment(around, seed), cwd=around, **how) as process:
            return _wait(process, label, watch)


def _wait(process: subprocess.Popen[bytes], label: str, watch: Watch) -> float:
    own, next_s = OwnTime(), 0.0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used.ru_utime + used.ru_stime
        time.sleep(POLL_S)
        if watch.is_cancelled:
            raise Cancelled("stopped")
        if time.monotonic() < next_s:
            continue
        reached_ns, now_s = watch.reached_ns, time.monotonic()
        next_s = now_s + LOOK_S
        if own.since(reached_ns, now_s, use_of(process.pid)) > PATIENCE_S:
            raise MachineError(
                f"engine linux: {label}: the guest hung at {reached_ns / 1e9:.1f} s and was stopped; finished "
                "runs are kept, and the same command continues"
            )


def _environment(around: Path, seed: int) -> dict[str, str]:
    room = SHARED.is_dir() and os.access(SHARED, os.W_OK) and shutil.disk_usage(SHARED).free > MEMORY_MB * 2**20
    # The kernel's sources read the seed of all randomness from here (see build.py).
    return {"PATH": os.defpath, "TMPDIR": str(SHARED if room else around), "HOME": str(around), "UML_SEED": str(seed)}


def _why(around: Path) -> str:
    """Return in one line why a guest failed: its last line."""
    if shutil.disk_usage(around).free < NEARLY_FULL_BYTES:
        return f"the disk is full: {around.parent}"
    texts = [path.read_text(errors="replace") for path in (around / "console", around / "job" / "log") if path.exists()]
    return f"the guest failed: {_meaning(''.join(texts))}"


def _meaning(console: str) -> str:
    for words, meaning in COMPLAINTS.items():
        if words in console:
            return meaning
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"
