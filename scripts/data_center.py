#!/usr/bin/env python3
"""Write the tables of experiments/data-center/README.md from result folders.

for name in incast incast-100g ...; do aqmlab run data-center/$name --out DIR/$name; done
scripts/data_center.py DIR        # each folder of DIR that has an experiment's name becomes generated/NAME.csv
scripts/data_center.py            # the tables again, from those files
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import splice_tables

import aqmlab
from aqmlab.stats import statistics
from aqmlab.vocabulary.units import parse_bytes

FOLDER = Path(__file__).resolve().parents[1] / "experiments/data-center"
README, GENERATED = FOLDER / "README.md", FOLDER / "generated"
COLUMNS = (
    "completed_flows",
    "started_flows",
    "fct_p99_s",
    "loss_ratio",
    "path_loss_ratio",
    "jain_index",
    "pause_frames",
    "goodput_mbit",
    "throughput_mbit",
    "queue_mean_bytes",
    "queue_max_packets",
    "buffer_max_bytes",
    "buffer_drops",
    "drops_early",
    "slowdown_small_mean",
    "slowdown_small_p99",
    "slowdown_medium_mean",
    "slowdown_large_mean",
    "feedback_sent",
)
# What marks, by the first words of its text: the schemes of the papers.
SCHEMES = {
    ("DCQCN", "20%"): "DCQCN, production",
    ("DCQCN", "1%"): "DCQCN, 2015",
    ("DCTCP", "dctcp_step"): "DCTCP, step",
    ("DCTCP", "tcn"): "DCTCP, TCN",
    ("DCTCP", "mq_ecn"): "DCTCP, MQ-ECN",
    ("text", "sp"): "PMQECN, text",
    ("bounded", "sp"): "PMQECN, bounded",
}
ORDER = list(SCHEMES.values())


def store(folder: Path, name: str) -> None:
    """Write what the tables need of a result: a line for each run, with the swept values as they are named."""
    result = aqmlab.load(folder)
    points = pl.DataFrame([{"point": place, **one} for place, one in enumerate(result.points)])
    chosen = result.runs.select("point", "aqm", "seed", *(one for one in COLUMNS if one in result.runs.columns))
    joined = points.join(chosen, on=pl.col("point").cast(pl.UInt32), maintain_order="right").drop(
        "point", "point_right"
    )
    GENERATED.mkdir(exist_ok=True)
    joined.write_csv(GENERATED / f"{name}.csv", float_precision=6)


def tables() -> dict[str, list[str]]:
    """Return the lines of each table that there are runs for, by its name in the page."""
    made = {
        "incast 10 Gbit/s": lambda: _incast(("incast", "pmqecn-incast"), 1e3, 2),
        "incast 100 Gbit/s": lambda: _incast(("incast-100g", "pmqecn-incast-100g"), 1e6, 0),
        "loads 10 Gbit/s": lambda: _loads(("loads", "pmqecn-loads")),
        "loads 100 Gbit/s": lambda: _loads(("loads-100g", "pmqecn-loads-100g")),
        "hadoop": lambda: _by_load(("loads", "pmqecn-loads")),
        "fluid": _fluid,
        "thresholds": _thresholds,
        "feedback": _feedback,
    }
    return {name: list(lines()) for name, lines in made.items() if f"<!-- {name}: " in README.read_text("utf-8")}


def marks(name: str) -> tuple[str, str]:
    """Return the marks that a table stands between."""
    return f"<!-- {name}: written by scripts/data_center.py -->", f"<!-- end of {name} -->"


def _runs(name: str) -> pl.DataFrame:
    return pl.read_csv(GENERATED / f"{name}.csv", infer_schema_length=None)


def _by_scheme(names: Sequence[str]) -> pl.DataFrame:
    """Return the runs of experiments with their scheme: a control, and what marks for it."""
    parts = []
    for name in names:
        runs = _runs(name)
        schemes = [_scheme(one) for one in runs.iter_rows(named=True)]
        if "switch" not in runs.columns:
            runs = runs.with_columns(pl.lit("lossy").alias("switch"))
        parts.append(runs.with_columns(pl.Series("scheme", schemes)).filter(pl.col("scheme") != ""))
    return pl.concat(parts, how="diagonal_relaxed")


def _scheme(run: dict[str, str]) -> str:
    """Return the name of a control with what marks for it; empty for what no paper combines."""
    words = run["aqm"].split()
    return next((name for (control, word), name in SCHEMES.items() if run["control"] == control and word in words), "")


def _incast(names: Sequence[str], scale: float, digits: int) -> Iterator[str]:
    """Yield the time of the slowest answers, and the share lost or the PAUSE frames."""
    runs = _by_scheme(names)
    servers = [8, 32, 128, 256]
    yield "| Scheme | Flow control | " + " | ".join(f"{count} servers" for count in servers) + " |"
    yield "|---|---|" + "---|" * len(servers)
    for switch in ("lossy", "PFC"):
        for scheme in ORDER:
            own = runs.filter((pl.col("scheme") == scheme) & (pl.col("switch") == switch))
            if own.is_empty():
                continue
            cells = [
                _answers(own.row(by_predicate=pl.col("servers") == one, named=True), scale, digits) for one in servers
            ]
            yield f"| {scheme} | {'yes' if switch == 'PFC' else 'no'} | {' | '.join(cells)} |"


def _answers(run: dict[str, float], scale: float, digits: int) -> str:
    done, begun = run["completed_flows"], run["started_flows"]
    some = "" if done == begun else f"{done:.0f} of {begun:.0f}: "
    time = "" if run["fct_p99_s"] is None else f"{run['fct_p99_s'] * scale:.{digits}f}, "
    last = f"{100 * run['loss_ratio']:.0f} %" if run["switch"] == "lossy" else f"{run['pause_frames']:.0f}"
    return f"{some}{time}{last}"


def _loads(names: Sequence[str]) -> Iterator[str]:
    """Yield each scheme at 90 % of the receivers' ports; the few flows of data mining hardly meet."""
    runs = _by_scheme(names).filter(pl.col("load") == "90%")
    yield "| Flows | Scheme | PFC | Goodput | Queue | Small | Small, 99 % | Medium | Jain | PAUSE | Loss |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for size in ("websearch", "hadoop"):
        for switch in ("lossy", "PFC"):
            for scheme in ORDER:
                found = (pl.col("size") == size) & (pl.col("switch") == switch) & (pl.col("scheme") == scheme)
                for run in runs.filter(found).iter_rows(named=True):
                    pauses = f"{run['pause_frames']:.0f}" if switch == "PFC" else ""
                    numbers = [
                        run["goodput_mbit"] / 1e3,
                        run["queue_mean_bytes"] / 1e3,
                        run["slowdown_small_mean"],
                        run["slowdown_small_p99"],
                        run["slowdown_medium_mean"],
                    ]
                    shown = " | ".join("" if one is None else f"{one:.1f}" for one in numbers)
                    has_pfc = "yes" if switch == "PFC" else "no"
                    rest = f"{run['jain_index']:.2f} | {pauses} | {100 * run['path_loss_ratio']:.2f} %"
                    yield f"| {size} | {scheme} | {has_pfc} | {shown} | {rest} |"


def _by_load(names: Sequence[str]) -> Iterator[str]:
    """Yield how Hadoop's small and medium flows do by load, without flow control."""
    runs = _by_scheme(names).filter((pl.col("size") == "hadoop") & (pl.col("switch") == "lossy"))
    loads = ["30%", "60%", "90%"]
    yield "| Scheme | " + " | ".join(one.replace("%", " %") for one in loads) + " |"
    yield "|---|" + "---|" * len(loads)
    for scheme in ORDER:
        own = [
            runs.row(by_predicate=(pl.col("scheme") == scheme) & (pl.col("load") == one), named=True) for one in loads
        ]
        cells = [f"{one['slowdown_small_p99']:.1f}, {one['slowdown_medium_mean']:.1f}" for one in own]
        yield f"| {scheme} | {' | '.join(cells)} |"


def _fluid() -> Iterator[str]:
    """Yield DCQCN's queue and rates beside the fixed point of its fluid model."""
    runs = _runs("dcqcn-fluid")
    yield "| Pmax | Flows | Queue: model | Simulated | Rate of each: model | Simulated | Jain index |"
    yield "|---|---|---|---|---|---|---|"
    for (pmax, flows), own in runs.group_by("pmax", "senders", maintain_order=True):
        queue, rates, jain = (
            _range(own["queue_mean_bytes"] / 1e3, 1),
            _range(own["throughput_mbit"] / 1e3 / flows, 1),
            _range(own["jain_index"], 3),
        )
        model = fluid_queue(flows, 40e9, 5e3, 200e3, float(pmax.removesuffix("%")) / 100) / 1e3
        queues, shares = f"{model:.1f} kB | {queue} kB", f"{40 / flows:.0f} Gbit/s | {rates} Gbit/s"
        yield f"| {pmax.replace('%', ' %')} | {flows} | {queues} | {shares} | {jain} |"


def fluid_queue(flows: int, bits_per_sec: float, kmin: float, kmax: float, pmax: float) -> float:
    """Return the queue in bytes at the fixed point of DCQCN's fluid model with the paper's parameters.

    Zhu et al., SIGCOMM 2015, section 5.1: equations 5 to 9 with all derivatives zero. Less marking raises the rate
    and more lowers it, so the probability at which both cancel out is found by halving its logarithm.
    """
    packet_bits = 1514 * 8
    rate = bits_per_sec / flows / packet_bits
    feedback, alpha_period, timer, stages = 50e-6, 55e-6, 55e-6, 5
    counter, additive = 10e6 / 1514, 40e6 / packet_bits

    def falls_faster(mark: float) -> bool:
        clear = 1 - mark
        cut = (1 - clear ** (feedback * rate)) ** 2 * (1 - clear ** (alpha_period * rate))
        by_bytes, by_timer = mark / (clear**-counter - 1), mark / (clear ** (-timer * rate) - 1)
        recovered = clear ** (stages * counter) * by_bytes + clear ** (stages * timer * rate) * by_timer
        return cut > (by_bytes + by_timer) * recovered * feedback**2 * additive * rate

    low, high = 1e-9, 0.5
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if falls_faster(middle) else (middle, high)
    return kmin + low / pmax * (kmax - kmin)


def _range(values: pl.Series, digits: int) -> str:
    low, high = (f"{end:.{digits}f}" for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def _thresholds() -> Iterator[str]:
    """Yield what each threshold gives, as means over the seeds with 95 % intervals."""
    runs = _runs("thresholds-100g")
    yield "| Threshold | Small flows | Large flows | Goodput, Gbit/s | Buffer used, kB | Dropped at its threshold |"
    yield "|---|---|---|---|---|---|"
    for k in runs["k"].unique(maintain_order=True):
        own = runs.filter(pl.col("k") == k)
        cells = [
            _mean(own["slowdown_small_mean"], 1),
            _mean(own["slowdown_large_mean"], 1),
            _mean(own["goodput_mbit"] / 1e3, 0),
        ]
        cells += [f"{own['buffer_max_bytes'].mean() / 1e3:.0f}", f"{own['buffer_drops'].mean():.0f} packets"]
        yield f"| {parse_bytes(k) / 1e3:.0f} kB | {' | '.join(cells)} |"


def _feedback() -> Iterator[str]:
    """Yield the queue of QCN by the share of its messages that are lost."""
    runs = _runs("feedback-loss")
    yield "| Messages lost | Mean queue, kB | Longest, packets | Throughput, Gbit/s | Messages sent |"
    yield "|---|---|---|---|---|"
    for lost in runs["lost"].unique(maintain_order=True):
        own = runs.filter(pl.col("lost") == lost)
        cells = [f"{own['queue_mean_bytes'].mean() / 1e3:.1f}", f"{own['queue_max_packets'].max():.0f}"]
        cells += [f"{own['throughput_mbit'].mean() / 1e3:.2f}", f"{own['feedback_sent'].mean():.0f}"]
        yield f"| {lost} % | {' | '.join(cells)} |"


def _mean(values: pl.Series, digits: int) -> str:
    known = values.drop_nulls().to_list()
    found = statistics.mean(known)
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, metavar="DIR", help="the folder with the results")
    arguments = parser.parse_args()
    if arguments.results is not None:
        for file in sorted(FOLDER.glob("*.toml")):
            if (arguments.results / file.stem / "runs.parquet").exists():
                store(arguments.results / file.stem, file.stem)
    for name, lines in tables().items():
        README.write_text(splice_tables.replaced(README.read_text("utf-8"), *marks(name), "\n".join(lines)), "utf-8")


if __name__ == "__main__":
    main()
