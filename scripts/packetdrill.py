#!/usr/bin/env python3
"""Play the public packetdrill scripts about senders, and write what comes out as a page (`make packetdrill`).

    scripts/packetdrill.py CLONE [--write docs/reference/packetdrill.md]

CLONE is a clone of https://github.com/google/packetdrill, bare or not. Nothing of it is copied into the page but names.
Single scripts are played by `cargo run -p aqm-sim --example packetdrill -- PATH...`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = "gtests/net/tcp"
RECOVERY = (
    "slow_start",
    "cubic",
    "limited_transmit",
    "fast_retransmit",
    "fast_recovery",
    "sack",
    "cwnd_moderation",
    "ecn",
)
SEGMENTS = ("eor", "mss", "nagle", "mtu_probe")

# Why a script is not passed. The first fault of a script is what the sender does there.
REASONS = {
    "slow_start/slow-start-fq-ack-per-2pkt": "sch_fq sends the first ten segments at once, and then pairs;"
    " a sender with `pacing=on` spaces single segments",
    "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700": "an ACK that advances lets one segment more go"
    " (RFC 9937). So does Linux: its version 7.1.3 has 5, too (tests/protocol/tcp/packetdrill of"
    " [INET](https://github.com/inet-framework/inet))",
    "fast_retransmit/fr-4pkt-fack-last-mss": "RACK's timer is due after a quarter of the RTT, 25 ms (RFC 8985 section"
    " 6.2). Linux 6.6 adds 2 ms (TCP_TIMEOUT_MIN_US), earlier versions two ticks: with 250 Hz 36 to 40 ms",
    "mtu_probe/basic-v4": "a path's MTU does not change",
    "mtu_probe/basic-v6": "a path's MTU does not change",
}


@dataclass(frozen=True)
class Result:
    """A script by its folder and name, whether it passes, and where it first fails."""

    script: str
    passes: bool
    fault: str


def main() -> int:
    """Play the scripts of a clone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path, help="a clone of github.com/google/packetdrill")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page to write")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            commit = unpack(options.clone, Path(folder))
            results = [result for name in RECOVERY + SEGMENTS for result in play(Path(folder) / SCRIPTS, name)]
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{options.clone}: {error}", file=sys.stderr)
            return 2
    for result in results:
        print("pass" if result.passes else "fail", result.script, result.fault)
    print(f"{sum(result.passes for result in results)} of {len(results)} scripts pass")
    without_reason = [result.script for result in results if result.passes == (result.script in REASONS)]
    if without_reason:
        print(f"REASONS in {__file__} is wrong about {', '.join(without_reason)}", file=sys.stderr)
        return 1
    if options.write:
        options.write.write_text(page(commit, results))
    return 0


def unpack(clone: Path, folder: Path) -> str:
    """Write the scripts of the clone's last commit below `folder`; the commit."""
    git = ["git", "-C", str(clone)]
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    archive = folder / "scripts.tar"
    subprocess.run([*git, "archive", "--output", str(archive), "HEAD", "gtests/net"], check=True, capture_output=True)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return commit


def play(folder: Path, name: str) -> list[Result]:
    """Play every script of the folder `name`."""
    scripts = sorted((folder / name).glob("*.pkt"))
    if not scripts:
        raise FileNotFoundError(f"has no scripts in {SCRIPTS}/{name}")
    command = ["cargo", "run", "-q", "-p", "aqm-sim", "--example", "packetdrill", "--", *map(str, scripts)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = run.stdout.splitlines()
    if len(lines) != len(scripts) + 1:
        raise OSError(f"the replay ended with status {run.returncode}: {run.stderr}")
    results = []
    for script, line in zip(scripts, lines, strict=False):
        fault = line.partition(" ")[2].removeprefix(f"{script}:")
        passes = line.startswith("pass ")
        results.append(Result(f"{name}/{script.stem}", passes, "" if passes else f"line {fault}"))
    return results


def page(commit: str, results: list[Result]) -> str:
    """The page: what is played, and what comes out."""
    passed = sum(result.passes for result in results)
    lines = [
        "# Packetdrill scripts",
        "",
        "Written by `make packetdrill PACKETDRILL=/path/to/clone`, from",
        f"[google/packetdrill](https://github.com/google/packetdrill) at commit `{commit[:12]}`.",
        "",
        f"{passed} of {len(results)} scripts pass with `profile=linux`. Played is every script of the folders of",
        f"`{SCRIPTS}` that test when a sender sends, and how it cuts what is written into segments. Other folders",
        "test sockets and receivers.",
        "What is read of the language is in `crates/aqm-sim/src/packetdrill/mod.rs`. The scripts are not part of this",
        "repository; those of our own are in `crates/aqm-sim/tests/packetdrill/scripts`.",
        "",
    ]
    for title, folders in (("Congestion control and recovery", RECOVERY), ("Segments", SEGMENTS)):
        own = [result for result in results if result.script.partition("/")[0] in folders]
        lines += [
            f"## {title}",
            "",
            f"{sum(result.passes for result in own)} of {len(own)} pass.",
            "",
            "| Script | Result | First difference | Reason |",
            "|---|---|---|---|",
        ]
        for result in own:
            outcome = "pass" if result.passes else "fail"
            lines.append(f"| {result.script} | {outcome} | {result.fault} | {REASONS.get(result.script, '')} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
