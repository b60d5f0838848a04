"""What the kernel's TCP has counted, as metrics of a run: all of it, the warm-up and the second after the end included.

What has no counter (PRR, acknowledgments sent at once) shows in others: a receiver that waits for every second segment
sends half as many acknowledgments as it gets segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

# The side, the group and the names that are added up (/proc/net/snmp and netstat), by metric.
COUNTERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "kernel.segments": ("rcv", "Tcp", ("InSegs",)),
    "kernel.acks": ("rcv", "Tcp", ("OutSegs",)),
    "kernel.delayed_acks": ("rcv", "TcpExt", ("DelayedACKs",)),
    "kernel.recoveries": ("snd", "TcpExt", ("TCPSackRecovery", "TCPRenoRecovery")),
    "kernel.timeouts": ("snd", "TcpExt", ("TCPTimeouts",)),
    "kernel.probes": ("snd", "TcpExt", ("TCPLossProbes",)),
    "kernel.lost_again": ("snd", "TcpExt", ("TCPLostRetransmit",)),
    "kernel.reneging": ("snd", "TcpExt", ("TCPSACKReneging",)),
    "kernel.spurious_timeouts": ("snd", "TcpExt", ("TCPSpuriousRTOs",)),
    "kernel.undone": ("snd", "TcpExt", ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo")),
}


def counted(folder: Path, senders: Sequence[str], receivers: Sequence[str]) -> dict[str, float]:
    """Return the metrics of a finished run; those that this kernel does not count are absent.

    Where a box sends and receives, its segments and acknowledgments cannot be distinguished, and are absent.
    """
    boxes = {box: _read((folder / f"counted.{box}").read_text()) for box in {*senders, *receivers}}
    found = {}
    for metric, (side, group, names) in COUNTERS.items():
        if group == "Tcp" and {*senders} & {*receivers}:
            continue
        chosen = senders if side == "snd" else receivers
        values = [boxes[box][group, name] for box in chosen for name in names if (group, name) in boxes[box]]
        if values:
            found[metric] = float(sum(values))
    return found


def _read(text: str) -> dict[tuple[str, str], int]:
    r"""Read lines in pairs: names, and below them their values.

    >>> _read("Tcp: InSegs OutSegs\nTcp: 20 11\n")
    {('Tcp', 'InSegs'): 20, ('Tcp', 'OutSegs'): 11}

    """
    lines = text.splitlines()
    found = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, _, listed = names.partition(":")
        numbers = values.partition(":")[2].split()
        found.update({(group, name): int(number) for name, number in zip(listed.split(), numbers, strict=True)})
    return found
