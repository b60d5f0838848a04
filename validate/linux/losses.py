#!/usr/bin/env python3
"""Compare the shares of packets that models of loss lose: the chain's stationary distribution, simulator, netem.

    validate/linux/losses.py [--seeds N] [--jobs N] [--out DIR] [--write]

A stream of 2500 packets a second crosses a link that is half used, so that nothing else is lost. It prints a table in
Markdown; `--write` puts it into validate/linux/README.md. Runs that are in DIR are not made again. It needs the
kernel: aqmlab engine build linux.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import mean, stdev

import numpy as np

import aqmlab

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import splice_tables

README = Path(__file__).resolve().parent / "README.md"
MODELS = ("1%", "gemodel 1% 10%", "gemodel 2% 25% 80% 0.1%", "state 1% 20% 30% 50% 1%")
# Of a stream of 10 Mbit/s in IP packets of 500 bytes, what is payload of UDP.
SENT_MBIT = 10 * 472 / 500


def stationary(model: str) -> float:
    """Return the share that a model loses in the long run, by the balance of its chain (tc-netem(8)).

    >>> round(stationary("gemodel 1% 9%"), 12)
    0.1

    """
    name, *rest = model.split()
    shares = [float(word.rstrip("%")) / 100 for word in rest]
    if name == "gemodel":
        # In the bad state all are lost, in the good one none, unless a third and a fourth share say otherwise.
        p, r, bad, good = [*shares, *(1.0, 0.0)[len(shares) - 2 :]]
        chain = np.array([[1 - p, p], [r, 1 - r]])
        lost = np.array([good, bad])
    elif name == "state":
        p13, p31, p32, p23, p14 = shares
        # Received in gaps (1) and in bursts (2), lost in bursts (3) and alone (4), from which it goes back to 1.
        chain = np.array([
            [1 - p13 - p14, 0, p13, p14],
            [0, 1 - p23, p23, 0],
            [p31, p32, 1 - p31 - p32, 0],
            [1, 0, 0, 0],
        ])  # fmt: skip
        lost = np.array([0.0, 0.0, 1.0, 1.0])
    else:
        return float(name.rstrip("%")) / 100
    balance = np.vstack([chain.T - np.eye(len(lost)), np.ones(len(lost))])
    shares_of_time = np.linalg.lstsq(balance, np.append(np.zeros(len(lost)), 1.0), rcond=None)[0]
    return float(shares_of_time @ lost)


def table(seeds: int, jobs: int, out: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| `--loss` | formula, % | simulator, % | netem, % | netem from the formula, standard errors |"
    yield "|---|---|---|---|---|"
    for model in MODELS:
        result = aqmlab.compare(
            aqm="fifo",
            rate="20mbit",
            rtt="20ms",
            flows="1*cbr:rate=10mbit:packet=500b:start=0s",
            loss=model,
            duration="30s",
            warmup="1s",
            seeds=seeds,
            jobs=jobs,
            engine="native,linux",
            out=out / model.replace(" ", "-").replace("%", ""),
        )
        lost = {
            label: [
                100 * (1 - goodput / SENT_MBIT)
                for aqm, goodput in result.runs.select("aqm", "goodput_mbit").rows()
                if aqm == label
            ]
            for label in result.aqms
        }
        simulator, kernel = lost.values()
        expected, error = 100 * stationary(model), stdev(kernel) / len(kernel) ** 0.5
        cells = [f"{mean(values):.3f} ± {2 * stdev(values) / len(values) ** 0.5:.3f}" for values in (simulator, kernel)]
        yield f"| {model} | {expected:.3f} | {' | '.join(cells)} | {(mean(kernel) - expected) / error:+.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results/validate-linux/losses"))
    parser.add_argument("--write", action="store_true", help=f"put the table into {README.name}")
    given = parser.parse_args()
    lines = chain([""], table(given.seeds, given.jobs, given.out), [""])
    splice_tables.write_or_print(README if given.write else None, {("<!-- losses -->", "<!-- end -->"): lines})


if __name__ == "__main__":
    main()
