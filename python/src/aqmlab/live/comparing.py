"""Several disciplines under the same live traffic, one after the other and again, with intervals."""

from __future__ import annotations

import itertools
import json
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aqmlab import _native
from aqmlab.live import checkup, results, web_page
from aqmlab.live.carrying import INTERRUPTED, QUIETLY, Carried, Link, carry
from aqmlab.live.directions import DIRECTIONS, Line
from aqmlab.live.link_json import FORMAT_VERSION, lateness_ms, warnings
from aqmlab.results import Result, groups
from aqmlab.results.frames import Frames
from aqmlab.runs.runner import FinishedRun
from aqmlab.stats.statistics import Estimate
from aqmlab.vocabulary.errors import Interrupted, MachineError
from aqmlab.vocabulary.names import listed
from aqmlab.vocabulary.scopes import of_port

PING_S = 0.02
# For a transfer to be accepted: the kernel asks six times meanwhile.
CONNECT_S = 60.0
# Flows of `compare` that are called otherwise by the kernel.
KINDS = {"reno": "newreno", "bbr": "bbr1"}
# Both ends are this program.
WORKLOAD, RATED, PAGE = ((*QUIETLY, f"aqmlab.live.{name}") for name in ("workload", "rated", "web_page"))


@dataclass(frozen=True)
class Datagrams:
    """Flows of UDP towards the near end, which send at a constant rate whatever happens; a packet is IP's."""

    count: int = 0
    rate_bps: int = 0
    packet_bytes: int = 0


@dataclass(frozen=True)
class Rated:
    """Rate-based senders towards the near end, and the control that they have (`_native.RateSender`)."""

    count: int = 0
    control: str = ""


@dataclass(frozen=True)
class Traffic:
    """Bulk transfers by the kernel's TCP in both directions; what is measured, and what before is not.

    A ``browser`` loads a page again and again while it is measured.
    """

    down: int = 1
    up: int = 0
    duration_s: float = 10.0
    warmup_s: float = 3.0
    datagrams: Datagrams = Datagrams()
    rated: Rated = Rated()
    browser: str = ""

    @property
    def loaded(self) -> str:
        """The direction whose queue is compared."""
        return "down" if self.down or self.rated.count else "up"


@dataclass(frozen=True)
class Ran:
    """One run: what the link and what the traffic has shown."""

    aqm: str
    carried: Carried
    measured: dict[str, Any]
    done: FinishedRun


@dataclass(frozen=True)
class Compared:
    """The runs that were made, and the result of them and of those that its folder had."""

    traffic: Traffic
    links: Mapping[str, tuple[Line, Line]]
    runs: tuple[Ran, ...]
    result: Result

    @property
    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """Over the runs of each discipline, each metric."""
        found: dict[str, dict[str, Estimate]] = {aqm: {} for aqm in self.result.aqms}
        for row in self.result.rows:
            found[row.aqm][row.metric] = row.estimate
        return found

    @property
    def tcp(self) -> dict[str, str]:
        """TCP of both ends."""
        return dict(self.result.manifest["live"]["tcp"])

    @property
    def path(self) -> str:
        """What carried packets."""
        return results.setting(self.result.manifest, "path")

    @property
    def warnings(self) -> list[str]:
        """What a reader has to know, each once for a discipline."""
        return list(dict.fromkeys(f"{one.aqm}: {text}" for one in self.runs for text in warnings(one.carried)))


def compare(
    links: Mapping[str, tuple[Line, Line]],
    traffic: Traffic,
    seeds: Sequence[int],
    congestion_control: str = "",
    progress: Callable[[str], None] = lambda text: None,
    *,
    ecn: bool = False,
    path: str = "",
    out: Path | None = None,
    title: str = "",
    with_report: bool = True,
) -> Compared:
    """Run the traffic through each link with each seed, the links in turn: what drifts in the machine meets all.

    Args:
        links: both directions by the name of the discipline that is compared.
        traffic: what is sent.
        seeds: one for each repetition.
        congestion_control: TCP's (empty: CUBIC, where permitted).
        progress: receives what runs.
        ecn: whether TCP asks for ECN.
        path: what carries packets (`carrying.PATHS`; empty: what is permitted).
        out: folder for the result; finished runs are in it from then on, and are not made again by the same call.
        title: of the result, unless it is the disciplines' names.
        with_report: whether the folder gets figures and a report.

    Raises:
        InputError: the folder holds something else, or cannot be written.
        Interrupted: by the user, who meant the traffic with it.
        MachineError: the system does not permit it, or the traffic has ended with an error.

    """
    runs: list[Ran] = []
    with results.folder(out, continues=True) as place:
        stored = place.stored if place else None
        earlier = None
        if stored and place:
            # All runs are carried alike: what is permitted may be another thing by now.
            path = path or results.setting(stored.manifest, "path")
            congestion_control = congestion_control or results.setting(stored.manifest, results.CONTROL)
            settings = {**results.settings(congestion_control, ecn=ecn), "path": path}
            asked = _asked(links, traffic, seeds, congestion_control, settings, None, title)
            earlier = results.continued(stored, asked, place.path)
        finished = set(earlier.runs.select("aqm", "seed").rows()) if earlier else set()
        if stored and earlier and finished >= set(itertools.product(links, seeds)):
            progress(f"nothing: all {len(finished)} runs are in {out}")
            return Compared(traffic, links, (), Result(stored.manifest, earlier, out))
        accuracy = checkup.accuracy() if place else None
        for seed in seeds:
            for aqm, (down, up) in links.items():
                if (aqm, seed) in finished:
                    continue
                progress(f"{aqm}, seed {seed}")
                try:
                    runs.append(_run(aqm, Link(down, up, seed, congestion_control, ecn, path=path), traffic))
                except Interrupted:
                    if place and runs:
                        raise Interrupted(f"interrupted; {len(runs)} runs are kept: aqmlab report {out}") from None
                    raise
                path = runs[-1].carried.report["path"]
                if place:
                    if len(runs) == 1:
                        place.begin(_ran(links, traffic, seeds, runs[0], accuracy, title).manifest(), earlier)
                    place.keep(runs[-1].done)
        asked = _ran(links, traffic, seeds, runs[0], accuracy, title)
        made = results.result(asked, [one.done for one in runs], earlier)
        return Compared(
            traffic, links, tuple(runs), results.publish(made, place, with_report=with_report) if place else made
        )


def _ran(
    links: Mapping[str, tuple[Line, Line]],
    traffic: Traffic,
    seeds: Sequence[int],
    first: Ran,
    accuracy: Mapping[str, Any] | None,
    title: str,
) -> results.Asked:
    """Return what is run; what the kernel's TCP is set to is known when the first has run."""
    kind = first.carried.report["tcp"]["congestion_control"]
    notes = results.notes(first.carried, accuracy)
    if traffic.browser:
        notes["page"] = web_page.CONTENT
    if traffic.datagrams.count:
        notes["goodput"] = "without UDP at a constant rate, which is in throughput_mbit alone"
    return _asked(links, traffic, seeds, kind, notes, accuracy, title, first.carried.report["tcp"])


def _asked(
    links: Mapping[str, tuple[Line, Line]],
    traffic: Traffic,
    seeds: Sequence[int],
    kind: str,
    notes: Mapping[str, str],
    accuracy: Mapping[str, Any] | None,
    title: str,
    tcp: Mapping[str, str] | None = None,
) -> results.Asked:
    counts = {"down": traffic.down, "up": traffic.up}
    known = KINDS.get(kind, kind)
    found = [groups.data(name, known, count, {"name": name}) for name, count in counts.items() if count]
    if (udp := traffic.datagrams).count:
        keys = {"name": "udp", "rate": f"{udp.rate_bps}bit", "packet": f"{udp.packet_bytes}b"}
        found.append(groups.data("udp", "cbr", udp.count, keys))
    if (rated := traffic.rated).count:
        control, *words = rated.control.split()
        keys = {"name": "rated", **dict(zip(words[::2], words[1::2], strict=True))}
        found.append(groups.data("rated", control, rated.count, keys))
    return results.Asked(
        "live-compare",
        title or f"{listed(list(links))}, live",
        links,
        seeds,
        [groups.written(one) for one in found],
        found,
        traffic.warmup_s + traffic.duration_s,
        traffic.warmup_s,
        traffic.loaded,
        notes,
        {"selftest": accuracy, "tcp": tcp},
    )


def _run(aqm: str, link: Link, traffic: Traffic) -> Ran:
    plan: dict[str, Any] = {"down": traffic.down, "up": traffic.up, "ping_s": PING_S}
    plan |= {"warmup_s": traffic.warmup_s, "duration_s": traffic.duration_s, "datagrams": asdict(traffic.datagrams)}
    plan["rated"] = {**asdict(traffic.rated), "line_bps": link.down.rate_bps}
    plan["rated"] |= {"overhead": link.down.overhead, "seed": link.seed}
    plan |= {"browser": traffic.browser, "connect_s": CONNECT_S}
    # Each in a process of its own, which transfers do not keep waiting.
    servers = [[*WORKLOAD, "server"]]
    servers += [[*WORKLOAD, "datagrams"]] if traffic.datagrams.count else []
    servers += [[*RATED]] if traffic.rated.count else []
    servers += [[*PAGE]] if traffic.browser else []
    # No pipe: all pings of a long run do not fit into one.
    with tempfile.TemporaryFile("w+") as output:
        carried = carry(
            link,
            [*WORKLOAD, json.dumps(plan)],
            servers,
            stdout=output.fileno(),
        )
        if carried.report["command"]["signal"] == signal.SIGINT:
            raise Interrupted(INTERRUPTED)
        output.seek(0)
        text = output.read()
    try:
        measured = json.loads(text)
    except ValueError:
        # It was killed, or what it wrote to a full disk ends early.
        measured = {"failed": f"status {carried.status}"}
    if "failed" in measured:
        raise MachineError(f"{aqm}: the traffic ended: {measured['failed']}")
    return Ran(
        aqm, carried, measured, results.done(aqm, carried, traffic.loaded, _metrics(traffic, measured), measured)
    )


def _metrics(traffic: Traffic, measured: dict[str, Any]) -> dict[str, float]:
    found = {}
    rates = {
        name: np.array([flow["goodput_mbit"] for flow in measured["flows"] if flow["direction"] == name])
        for name in ("down", "up")
    }
    for name, values in rates.items():
        if len(values):
            found[of_port(name).metric("goodput_mbit")] = float(values.sum())
    own = rates[traffic.loaded]
    if len(own):
        found["goodput_mbit"] = float(own.sum())
    if (own > 0).any():
        found["jain_index"] = float(own.sum() ** 2 / (len(own) * (own**2).sum()))
    found["pings_unanswered"] = float(measured["pings_unanswered"])
    if measured["round_trips_ms"]:
        found["ping_mean_ms"] = float(np.mean(measured["round_trips_ms"]))
        found["ping_p99_ms"] = float(np.quantile(measured["round_trips_ms"], 0.99, method="inverted_cdf"))
    if pages := measured["pages_s"]:
        completed = [seconds for seconds in pages if seconds is not None]
        found |= {"pages_requested": float(len(pages)), "pages_completed": float(len(completed))}
        if completed:
            found["page_load_mean_s"] = float(np.mean(completed))
            found["page_load_p95_s"] = float(np.quantile(completed, 0.95, method="inverted_cdf"))
    return found


def document(compared: Compared) -> dict[str, Any]:
    """Return the comparison as plain data (JSON), in the form of `compare`."""
    made = {(one.aqm, one.carried.link.seed): one for one in compared.runs}
    frames = compared.result.frames
    return {
        "format_version": FORMAT_VERSION,
        "command": "live-compare",
        "aqmlab": _native.version(),
        "scenario": {
            "traffic": {name: getattr(compared.traffic, name) for name in ("down", "up", "duration_s", "warmup_s")}
            | ({"page": web_page.CONTENT} if compared.traffic.browser else {}),
            "links": {aqm: {one.name: dict(one.settings) for one in both} for aqm, both in compared.links.items()},
            "tcp": compared.tcp,
            "path": compared.path,
        },
        "warnings": compared.warnings,
        "runs": [
            _run_document(frames, row, made.get((row["aqm"], row["seed"])))
            for row in frames.runs.sort("seed", maintain_order=True).iter_rows(named=True)
        ],
        "summary": [
            {"aqm": aqm, "metric": name, "mean": one.value, "ci95_low": one.low, "ci95_high": one.high, "n": one.n}
            for aqm, metrics in compared.estimates.items()
            for name, one in metrics.items()
        ],
    }


def _run_document(frames: Frames, row: Mapping[str, Any], made: Ran | None) -> dict[str, Any]:
    """Return a run as plain data; one that the folder had does not say how punctual the link was."""
    of_run = (pl.col("aqm") == row["aqm"]) & (pl.col("seed") == row["seed"])
    flows = frames.flows.filter(of_run).select("id", "group", "goodput_mbit")
    late = made.carried.report if made else None
    return {
        "aqm": row["aqm"],
        "seed": row["seed"],
        "metrics": {name: row[name] for name in frames.metrics if row[name] is not None},
        "flows": [
            {"id": number, "direction": group if group in DIRECTIONS else "down", "goodput_mbit": goodput}
            for number, group, goodput in flows.iter_rows()
        ],
        "engine": "live",
        "cpu_s": row["cpu_s"],
        "lateness_ms": {name: lateness_ms(late[name]["lateness_ms"]) for name in DIRECTIONS} if late else None,
    }


__all__ = ["Compared", "Ran", "Traffic", "compare", "document"]
