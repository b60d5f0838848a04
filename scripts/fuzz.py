#!/usr/bin/env python3
"""Fuzz the targets of crates/aqm-fuzz with libFuzzer, one after the other, and add to the count of executions.

    scripts/fuzz.py [--seconds N] [--keep] [TARGET]...

Needs a nightly toolchain and cargo-fuzz: `rustup toolchain install nightly; cargo install --locked cargo-fuzz`. What is
found lies in fuzz/artifacts; `cargo run -p aqm-fuzz --example replay -- TARGET FILE` shows it. Inputs that reach new
code are kept in .build/fuzz; --keep writes the fewest that reach as much into the target's pack in fuzz/corpus, up to
64 KiB: each is its length in decimal digits, a line end, and its bytes. Inputs that a person has named, in the folder
beside the pack, stay files.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
GROWN = ROOT / ".build" / "fuzz"
EXECUTIONS = FUZZ / "executions.toml"
HEAD = "# Executions of each target over the life of the project; `make fuzz` adds to them.\n"
CORPUS = FUZZ / "corpus"
MOST_BYTES = 64 * 1024
# The code has no unsafe block that a sanitizer could watch, and is faster without.
OPTIONS = ("--sanitizer", "none", "--fuzz-dir", str(FUZZ))


def main() -> None:
    """Fuzz every target that is named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("--keep", action="store_true", help="renew fuzz/corpus")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    known = _targets()
    if unknown := set(options.targets) - set(known):
        sys.exit(f"unknown target {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    found = []
    for target in options.targets or known:
        count, ended = fuzz(target, options.seconds)
        total = add(target, count)
        print(f"{target}: {count} executions, {total} in all{'' if ended else ': FOUND SOMETHING'}", flush=True)
        if not ended:
            found.append(target)
        elif options.keep:
            keep(target)
    if found:
        sys.exit(f"found something in {', '.join(found)}: see fuzz/artifacts")


def fuzz(target: str, seconds: int) -> tuple[int, bool]:
    """Fuzz a target; return how often it was executed, and whether nothing was found."""
    grown = GROWN / target
    grown.mkdir(parents=True, exist_ok=True)
    limits = (f"-max_total_time={seconds}", "-print_final_stats=1", "-timeout=20", "-rss_limit_mb=3000")
    # Of two inputs that reach as much, the faster one is changed more often.
    limits += ("-entropic_scale_per_exec_time=1",)
    run = _cargo("run", target, str(grown), *kept(target), "--", *limits)
    if not (reported := re.search(r"number_of_executed_units: *(\d+)", run.stderr)):
        sys.exit(f"{target} did not run:\n{run.stderr[-2000:]}")
    if run.returncode:
        print(run.stderr[-4000:], file=sys.stderr)
    return int(reported[1]), run.returncode == 0


def add(target: str, count: int) -> int:
    """Add to the executions of a target; return what they are now."""
    with EXECUTIONS.open("r+") as file:
        # Others may be at it with other targets.
        fcntl.flock(file, fcntl.LOCK_EX)
        executions = tomllib.loads(file.read())
        executions[target] = executions.get(target, 0) + count
        lines = [f"{name} = {executions[name]}\n" for name in _targets() if name in executions]
        file.seek(0)
        file.write(HEAD + "".join(lines))
        file.truncate()
    return int(executions[target])


def kept(target: str) -> list[str]:
    """Return the folders of what the repository has for a target: of its pack, as files, and of what has a name."""
    folder, named = GROWN / f"{target}.pack", CORPUS / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = CORPUS / f"{target}.pack"
    pack = path.read_bytes() if path.exists() else b""
    while pack:
        length, rest = pack.split(b"\n", 1)
        content, pack = rest[: int(length)], rest[int(length) :]
        (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)
    return [str(one) for one in (named, folder) if one.is_dir()]


def keep(target: str) -> None:
    """Bring what reaches most with least into the repository."""
    cover = GROWN / f"{target}.cover"
    shutil.rmtree(cover, ignore_errors=True)
    cover.mkdir()
    _cargo("run", target, str(cover), *kept(target), str(GROWN / target), "--", "-set_cover_merge=1").check_returncode()
    named = {path.read_bytes() for path in (CORPUS / target).glob("*")}
    pack = b""
    # By their digests: where not all find room, small ones and large ones stay alike.
    for path in sorted(cover.iterdir()):
        content = path.read_bytes()
        entry = b"%d\n%b" % (len(content), content)
        if content not in named and len(pack) + len(entry) <= MOST_BYTES:
            pack += entry
    (CORPUS / f"{target}.pack").write_bytes(pack)


def _targets() -> list[str]:
    """Every target, in order."""
    return [program["name"] for program in tomllib.loads((FUZZ / "Cargo.toml").read_text())["bin"]]


def _cargo(command: str, target: str, *rest: str) -> subprocess.CompletedProcess[str]:
    """Run cargo-fuzz."""
    words = ["cargo", "+nightly", "fuzz", command, *OPTIONS, target, *rest]
    # Output of the code under test need not be text.
    return subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", env=os.environ, check=False)


if __name__ == "__main__":
    main()
