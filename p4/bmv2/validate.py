"""`make validate-p4`: compiles pmqecn.p4, runs it in BMv2, and compares it with the simulator's program.

Needs p4c-bm2-ss and simple_switch on PATH or in P4_PREFIX/bin, iproute2, and root (a network namespace). Where one is
missing it names it and ends with status 0: nothing is compared, and nothing written.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bmv2 import decisions, figure_6, network, shapes, trials
from bmv2.decisions import Comparison, OrderError
from bmv2.figure_6 import Result
from bmv2.thrift import SwitchError

RESULTS = Path(__file__).parents[1] / "results.md"
TOOLS = ("p4c-bm2-ss", "simple_switch")
# How often a trial is repeated whose packets were lost on the links, which nobody counts.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Size:
    """How much is run."""

    overloads: int = len(trials.OVERLOADS)
    trials: int = len(trials.TRIALS)
    mutations: int = 2000
    controls: int = len(figure_6.CONTROLS)
    seconds: float = 30.0


QUICK = Size(trials=1, overloads=0, mutations=60, controls=1, seconds=6.0)


def missing() -> list[str]:
    """Return what the machine lacks, one line each."""
    lines = []
    for name in TOOLS:
        try:
            network.tool(name)
        except network.MissingError as error:
            lines.append(str(error))
    if os.geteuid():
        lines.append("root is needed for a network namespace")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; status 1 if a decision differs."""
    parser = argparse.ArgumentParser(description="compare p4/pmqecn.p4 in BMv2 with the simulator's program")
    parser.add_argument("--write", action="store_true", help="write p4/results.md")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of the run in the paper's network")
    parser.add_argument("--quick", action="store_true", help="one trial, a few headers, six seconds of the network")
    given = parser.parse_args(arguments)
    if given.quick and given.write:
        parser.error("--write: what is kept is the whole validation, not --quick")
    if lines := missing():
        print("not validated:", *lines, sep="\n  ")
        return 0
    try:
        network.enter_namespace()
        with tempfile.TemporaryDirectory() as folder:
            text, differing = validate(Path(folder), QUICK if given.quick else Size(seconds=given.seconds))
    except (network.MissingError, OrderError, OSError, SwitchError) as error:
        print(f"validate-p4: {error}", file=sys.stderr)
        return 2
    print(text)
    if given.write:
        RESULTS.write_text(text)
    return int(differing)


def validate(folder: Path, size: Size) -> tuple[str, bool]:
    """Compile, run and compare in a folder; return the tables, and whether anything differs."""
    warnings = []
    for defines in ((), ("ROUNDS",), ("TRACE",)):
        warnings += network.compile_program(folder / f"{'-'.join(('plain', *defines)).lower()}.json", *defines)
    for number in range(3):
        network.link(f"sw{number}", f"host{number}")
    rows, lines = [], []
    for trial in trials.TRIALS[: size.trials]:
        _say(trial.name)
        found, sent, dropped = _tried(trial, folder)
        rows.append((trial, sent, dropped, found))
        lines += [f"{trial.name}: {line}" for line in found.lines]
    shares = []
    for case in trials.OVERLOADS[: size.overloads]:
        _say(f"overload, weights {case.weights}")
        shares.append((case, trials.overload(case, folder)))
    _say("headers of every shape")
    shaped = shapes.run(folder / "plain.json", folder, size.mutations)
    lines += shaped.lines
    for one, other in figure_6.LINKS:
        network.link(one, other)
    results = []
    for control in figure_6.CONTROLS[: size.controls]:
        _say(f"the paper's network, senders {control}")
        results.append(figure_6.run(folder / "plain.json", folder, size.seconds, control))
    return _page(warnings, rows, shares, shaped, results, lines), bool(lines)


def _tried(trial: trials.Trial, folder: Path) -> tuple[Comparison, int, int]:
    for attempt in range(_ATTEMPTS):
        try:
            return trials.run(trial, folder)
        except OrderError as error:
            if attempt + 1 == _ATTEMPTS:
                raise
            _say(f"again: {error}")
    raise AssertionError


def _say(words: str) -> None:
    print(f"... {words}", file=sys.stderr, flush=True)


def _page(
    warnings: list[str],
    rows: list[tuple[trials.Trial, int, int, Comparison]],
    shares: list[tuple[trials.Overload, list[tuple[int, list[int]]]]],
    shaped: Comparison,
    results: list[Result],
    lines: list[str],
) -> str:
    made_by = (
        f"p4c {network.version('p4c-bm2-ss')}, simple_switch {network.version('simple_switch')}, "
        f"Linux {platform.release()}, Python {platform.python_version()}"
    )
    counts = [(kind, count, shaped.differing[kind]) for kind, count in shaped.compared.items()]
    parts = [
        "# PMQECN's data plane in BMv2: results",
        f"Written by `make validate-p4 WRITE=1` on {datetime.date.today()}: {made_by}. "
        f"The compiler gave {len(warnings) or 'no'} lines of warnings.",
        "## Decisions beside the simulator's, packet by packet",
        _decisions(rows),
        "## Rounds under overload",
        _overloads(shares),
        "## Headers of every shape",
        "Frames as `bmv2/model.py` expects them, byte by byte: shapes by hand, and mutations of them.",
        _table(("what", "compared", "different"), counts),
        "## What differs",
        "\n".join(f"- {line}" for line in lines[:50]) or "Nothing.",
        "## Scenario 1 in the paper's network (figure 6)",
        *map(_network, results),
    ]
    return "\n\n".join(parts) + "\n"


def _decisions(rows: list[tuple[trials.Trial, int, int, Comparison]]) -> str:
    kinds = list(dict.fromkeys(kind for *_, found in rows for kind in found.compared))
    body: list[tuple[object, ...]] = [
        (trial.name, sent, dropped, *(_share(found, kind) for kind in kinds)) for trial, sent, dropped, found in rows
    ]
    return f"Cells: differing of compared decisions.\n\n{_table(('trial', 'packets', 'dropped', *kinds), body)}"


def _overloads(shares: list[tuple[trials.Overload, list[tuple[int, list[int]]]]]) -> str:
    heads = ("weights", "offered", "class", "came", *(f"sent by band {band}" for band in range(decisions.BANDS)))
    body: list[tuple[object, ...]] = [
        (_ratio(case.weights), _ratio(case.offered), figure_6.CLASSES[queue], came, *bands)
        for case, classes in shares
        for queue, (came, bands) in enumerate(classes)
    ]
    return f"Twice what the port sends comes; each band has a third of its rate.\n\n{_table(heads, body)}"


def _ratio(numbers: Sequence[int]) -> str:
    return ":".join(map(str, numbers))


def _share(found: Comparison, kind: str) -> str:
    return f"{found.differing[kind]} of {found.compared[kind]}" if found.compared[kind] else "-"


def _network(result: Result) -> str:
    body: list[tuple[object, ...]] = []
    last = next((decision for decision in reversed(result.decisions["s1"]) if decision["port"] == 3), None)
    for queue, name in enumerate(figure_6.CLASSES):
        sent, received = result.sent[queue], result.received[queue]
        lost = f"{100 * (1 - received / sent):.1f} %" if sent else "-"
        shares = (last["weights"][queue], last["thresholds"][queue], last["best_rates"][queue]) if last else ("-",) * 3
        came = (result.came[switch][queue] for switch in figure_6.PORTS)
        body.append((name, sent, *came, received, lost, result.messages[queue], *shares))
    heads = (
        "class",
        "sent",
        "came to s1",
        "came to s2",
        "received",
        "lost",
        "messages",
        "last weight",
        "threshold",
        "lambda*",
    )
    lengths = [
        (name, f"{sum(queue) / len(queue):.1f}" if queue else "-", max(queue, default="-"))
        for name, queue in zip(("s1 to s2", "s2 to h5"), result.queues, strict=True)
    ]
    periods = ", ".join(f"{len(decided)} by {name}" for name, decided in result.decisions.items())
    parts = [
        f"Senders `{result.control}`, {result.seconds:g} s; "
        f"links of {figure_6.SERVICE} packets/s of {figure_6.PACKET} bytes. "
        f"Decisions of the control planes: {periods}.",
        _table(heads, body),
        _table(("queue behind a packet", "mean", "longest"), lengths),
    ]
    return "\n\n".join(parts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
