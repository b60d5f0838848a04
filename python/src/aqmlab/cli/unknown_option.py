"""What is said of an option that a command does not have: its new name, ours for another tool's, or the nearest."""

from __future__ import annotations

from collections.abc import Collection

from aqmlab.vocabulary.errors import nearest
from aqmlab.vocabulary.renames import COMMAND_OPTIONS

# Options by which other tools of the field ask for the same, and ours.
OF_OTHER_TOOLS = {
    # iperf3 and netperf
    "-b": "--rate",
    "-C": "--flows",
    "--congestion": "--flows",
    "--parallel": "--flows",
    "-P": "--flows",
    "-t": "--duration",
    "--time": "--duration",
    # flent
    "-l": "--duration",
    "--length": "--duration",
    "-o": "--out",
    "--output": "--out",
    # tc, netem and Mininet
    "--bandwidth": "--rate",
    "--bw": "--rate",
    "--delay": "--rtt",
    "--latency": "--rtt",
    "--limit": "--buffer",
    "--max-queue-size": "--buffer",
    "--qdisc": "--aqm",
    "--queue": "--buffer",
    # ns-3 and others
    "--cc": "--flows",
    "--pcap": "--capture",
    "--RngRun": "--first-seed",
    "--runs": "--seeds",
    "--tcp": "--flows",
    "--trace": "--link-trace",
    # make
    "-j": "--jobs",
}


def unknown_option(flag: str, known: Collection[str], command: str) -> str:
    """Return what to say of an option that is not among those that a command knows.

    >>> unknown_option("--bandwidth", ["--rate", "--rtt"], "aqmlab compare")
    "--bandwidth: there is no such option, did you mean '--rate'?"
    >>> unknown_option("--seed", ["--seeds", "--series"], "aqmlab compare")
    "--seed: there is no such option, did you mean '--seeds'?"
    >>> unknown_option("--colour", ["--seeds", "--series"], "aqmlab compare")
    "--colour: there is no such option: 'aqmlab compare --help' lists them"

    """
    if flag in COMMAND_OPTIONS:
        return f"{flag} is now {COMMAND_OPTIONS[flag]}"
    ours = OF_OTHER_TOOLS.get(flag)
    if ours not in known:
        near = nearest(flag.lstrip("-"), [name.lstrip("-") for name in known])
        ours = near and f"--{near}"
    rest = f", did you mean '{ours}'?" if ours else f": '{command} --help' lists them"
    return f"{flag}: there is no such option{rest}"
