"""A build of the kernel that ends early: a full disk and Ctrl-C stop it in one line, and the same command continues.

The tools of the build are scripts here, which do what matters of the true ones.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aqmlab.engine.linux import build, kernel_image

# Compiles for long, fills the disk, or is done; says what it does.
MAKE = """#!/bin/sh
out=${4#O=}
echo $$ >$out/pid
case $DOES in
full) cat /dev/zero >/dev/full ;;
long) exec sleep 60 ;;
*)
    mkdir -p $out/include/config
    echo 7.2.0 >$out/include/config/kernel.release
    cp "$0" $out/linux
    ;;
esac
"""
GCC = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
touch "$2"
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where the sources are unpacked and the guest's root is made: what is left is to compile."""
    at, tools = tmp_path / "cache", tmp_path / "tools"
    for folder in (tools, at / kernel_image.ROOT / "usr", at / "build" / "source", at / "build" / "out"):
        folder.mkdir(parents=True)
    (at / "build" / build.CHANGED).touch()
    wanted = [line for line in build.CONFIG.read_text().splitlines() if line.startswith("CONFIG_")]
    (at / "build" / "out" / ".config").write_text("\n".join(wanted))
    for name in build.TOOLS:
        text = {"make": MAKE, "gcc": GCC}.get(name, "#!/bin/sh\n")
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    return at


def _start(cache: Path, does: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "aqmlab", "engine", "build", "linux"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PATH": f"{cache.parent / 'tools'}:{os.defpath}",
            kernel_image.VARIABLE: str(cache),
            "DOES": does,
            # A long path is not wrapped.
            "COLUMNS": "400",
        },
    )


def _continues(cache: Path) -> None:
    out, err = (process := _start(cache, "all")).communicate(timeout=60)
    assert process.returncode == 0, err
    assert out == f"Linux 7.2.0 is ready in {cache}\n"
    assert not (cache / "build").exists()


def a_disk_that_is_full_stops_the_compiler_in_one_line(cache: Path) -> None:
    out, err = (process := _start(cache, "full")).communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1].startswith("aqmlab: engine linux: make failed: ")
    assert err.endswith("No space left on device; the same command continues\n")
    assert not (cache / kernel_image.KERNEL).exists()
    _continues(cache)


def _runs(process: Path) -> bool:
    try:
        return ") Z " not in (process / "stat").read_text()
    except OSError:
        return False


def ctrl_c_ends_the_compiler_and_the_same_command_continues(cache: Path) -> None:
    process = _start(cache, "long")
    pid = cache / "build" / "out" / "pid"
    end = time.monotonic() + 30
    while not (pid.exists() and pid.read_text().strip()):
        assert time.monotonic() < end
        time.sleep(0.02)
    compiler = Path("/proc", pid.read_text().strip())
    assert compiler.exists()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.endswith("interrupted while compiling the kernel: the same command continues\n")
    # Killed, it is gone as soon as the machine gets to it.
    end = time.monotonic() + 30
    while _runs(compiler):
        assert time.monotonic() < end
        time.sleep(0.02)
    _continues(cache)
