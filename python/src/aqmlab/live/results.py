"""Runs of links as a result: what `aqmlab report`, `plot` and `show` read, in a folder or not."""

from __future__ import annotations

import json
import platform
import secrets
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab import _native, engine, publishing, store
from aqmlab.engine import Histograms, Report, Run, Table
from aqmlab.live.carrying import SAMPLE_NS, Carried
from aqmlab.live.directions import DIRECTIONS, Line
from aqmlab.live.link_json import label, warnings
from aqmlab.results import Result, groups
from aqmlab.results.frames import Frames, from_runs
from aqmlab.runs.runner import FinishedRun
from aqmlab.scenario.options import SETTINGS
from aqmlab.store import growth
from aqmlab.vocabulary.scopes import of_port
from aqmlab.vocabulary.units import NANOS_PER_SECOND, format_span

ENGINE = "live"
SAMPLE_S = SAMPLE_NS / NANOS_PER_SECOND
CONTROL = "congestion control"
# Options of `compare` that a live link does not have.
LACKING = tuple(one.name for one in SETTINGS if not one.is_live)
# Columns of a queue in results, by the metric of a port that counts it.
COUNTED = {
    "arrived_packets": "packets_arrived",
    "dropped_early_packets": "drops_early",
    "dropped_overflow_packets": "drops_overflow",
    "ack_drops_packets": "ack_drops",
    "marked_packets": "marks",
}


@dataclass(frozen=True)
class Asked:
    """What is run: the command, the disciplines by their names, and the traffic's settings.

    ``loaded`` is the direction that the result is about; ``extra`` are settings beside those of `compare`, and ``raw``
    is kept with the result as it is.
    """

    command: str
    title: str
    links: Mapping[str, tuple[Line, Line]]
    seeds: Sequence[int]
    flows: Sequence[str]
    groups: Sequence[Mapping[str, Any]]
    duration_s: float
    warmup_s: float
    loaded: str = "down"
    extra: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of a result that has no run yet."""
        place = DIRECTIONS.index(self.loaded)
        lines = [both[place] for both in self.links.values()]
        known: dict[str, Any] = {"flows": list(self.flows), groups.KEY: list(self.groups), "seeds": list(self.seeds)}
        known["sample"] = format_span(SAMPLE_NS)
        known |= {"duration": _span(self.duration_s), "warmup": _span(self.warmup_s)}
        echo = lines[0].echo
        scenario = {
            **{name: value for name, value in echo.items() if name not in LACKING},
            **known,
            "aqm": [{**line.echo["aqm"][0], "label": label} for label, line in zip(self.links, lines, strict=True)],
            "rules": {"buffer": echo["rules"]["buffer"]},
            "defaults": [name for name in echo["defaults"] if name not in (*known, *LACKING)],
            "ports": {line.name: {"link": line.name, "rate": _rate(line)} for line in next(iter(self.links.values()))},
            "live": {**self.extra, "direction": self.loaded, "kernel": platform.release()},
        }
        manifest = {
            "format_version": store.FORMAT_VERSION,
            "command": self.command,
            "title": self.title,
            "aqmlab": _native.version(),
            "engine": ENGINE,
            "code": f"{ENGINE} {engine.find(engine.DEFAULT).version}",
            "build": json.loads(_native.build_info()),
            "created": datetime.now().astimezone().isoformat(timespec="seconds"),
            "platform": platform.platform(),
            "python": platform.python_version(),
            "points": [{"point": {}, "scenario": scenario, "files": {}}],
            "runs_expected": len(self.links) * len(self.seeds),
            "plan_warnings": [],
            "pages": {"of": "", "files": [], "warnings": []},
            "frames": "",
            "live": dict(self.raw),
        }
        return store.concluded(manifest, from_runs([]), [])


def settings(congestion_control: str, *, ecn: bool) -> dict[str, str]:
    """Return what is asked of the kernel's TCP."""
    return {CONTROL: congestion_control, "ecn": "asked for" if ecn else "off"}


def notes(carried: Carried, accuracy: Mapping[str, Any] | None) -> dict[str, str]:
    """Return settings that a link has beside those of `compare`, and how punctual it was before, if that is known."""
    tcp = carried.report["tcp"]
    found = {**settings(tcp["congestion_control"], ecn=tcp["tcp_ecn"] == "1"), "tcp_rmem": tcp["tcp_rmem"]}
    found["path"] = carried.report["path"]
    if classes := carried.link.down.settings["classes"]:
        found["classes"] = f"code points {classes}"
    return (
        found if accuracy is None else {**found, "punctuality": f"{accuracy['finding']} (load {accuracy['load']:.1f})"}
    )


def of_link(carried: Carried, accuracy: Mapping[str, Any]) -> Result:
    """Return a run of a command as a result; it is about the direction that carried more."""
    report, link, name = carried.report, carried.link, label(carried)
    loaded = max(DIRECTIONS, key=lambda one: float(report[one]["metrics"].get("throughput_mbit", 0.0)))
    program = Path(carried.command[0]).name
    words = {"command": shlex.join(carried.command), "outside": carried.by or "no"}
    words |= {f"server {number}": shlex.join(server) for number, server in enumerate(carried.servers, 1)}
    asked = Asked(
        "link",
        f"{program} behind {name}, live",
        {name: (link.down, link.up)},
        [link.seed],
        [program.replace(":", " ")],
        [],
        report["warmup_s"] + report["duration_s"],
        report["warmup_s"],
        loaded,
        words | notes(carried, accuracy),
        {"selftest": accuracy},
    )
    base = {"rtt_base_ms": (link.down.delay_ns + link.up.delay_ns) / 1e6}
    return result(asked, [done(name, carried, loaded, base)])


def done(
    aqm: str, carried: Carried, loaded: str, metrics: Mapping[str, float], measured: Mapping[str, Any] | None = None
) -> FinishedRun:
    """Return a run; ``metrics`` are its own, and ``measured`` is what its traffic has got, if it says so."""
    report, both = carried.report, {name: carried.report[name]["metrics"] for name in DIRECTIONS}
    ports = {of_port(name).metric(metric): value for name in DIRECTIONS for metric, value in both[name].items()}
    begins = round(report["warmup_s"], 2)
    histograms = {"qdelay": _buckets(report[loaded]["sojourn"])}
    histograms |= {of_port(name).metric("qdelay"): _buckets(report[name]["sojourn"]) for name in DIRECTIONS}
    flows: dict[str, Any] = {}
    if measured is not None:
        flows = {
            "id": np.arange(len(measured["flows"])),
            "group": [flow.get("group", flow["direction"]) for flow in measured["flows"]],
            "goodput_mbit": np.array([flow["goodput_mbit"] for flow in measured["flows"]]),
        }
        histograms["ping"] = _counted(measured["round_trips_ms"])
        if pages := measured["pages_s"]:
            histograms["page_load"] = _counted([1e3 * seconds for seconds in pages if seconds is not None])
    queues: dict[str, Any] = {"link": list(DIRECTIONS)}
    queues |= {"discipline": [line.aqm for line in (carried.link.down, carried.link.up)]}
    queues |= {name: np.array([int(both[one][of]) for one in DIRECTIONS]) for name, of in COUNTED.items()}
    return FinishedRun(
        Run(0, aqm, carried.link.seed, secrets.token_hex(16)),
        Report(
            metrics={**both[loaded], **metrics, **ports, **({"warmup_s": begins} if begins else {})},
            flows=Table.of(flows),
            series=Table.of(_series(carried, loaded, measured)),
            queues=Table.of(queues),
            histograms=Histograms.of(histograms),
            warnings=warnings(carried),
            events=0,
            bottleneck_packets=int(both[loaded]["packets_arrived"]),
            cpu_s=report["cpu_s"],
            engine=ENGINE,
        ),
    )


def _buckets(counts: Sequence[tuple[int, int]]) -> tuple[Any, Any]:
    table = np.array(counts, dtype=np.uint64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _counted(delays_ms: Sequence[float]) -> tuple[Any, Any]:
    nanos, counts = np.unique((np.array(delays_ms, dtype=float) * 1e6).astype(np.uint64), return_counts=True)
    return nanos, counts.astype(np.uint64)


def _series(carried: Carried, loaded: str, measured: Mapping[str, Any] | None) -> dict[str, Any]:
    rows = {name: [one["sample"] for one in carried.samples if one["direction"] == name] for name in DIRECTIONS}
    # Both directions have the same periods, but for the last when the command ends.
    count = min(map(len, rows.values()))
    if count == 0:
        return {}
    times = np.round(np.arange(1, count + 1) * SAMPLE_S, 9)
    found: dict[str, Any] = {"time_s": times}
    for prefix, name in (("", loaded), *((of_port(name).prefix, name) for name in DIRECTIONS)):
        for column in rows[name][0].keys() - {"time_s"}:
            values = [row[column] for row in rows[name][:count]]
            found[f"{prefix}{column}"] = np.array([np.nan if one is None else one for one in values], dtype=float)
    if measured is not None and measured["delivered"]:
        # The traffic's clock begins when measuring does.
        at, delivered = np.array(measured["delivered"], dtype=float).T
        total = np.interp(times - carried.report["warmup_s"], at, delivered, left=np.nan, right=np.nan)
        found["goodput_mbit"] = np.diff(total, prepend=np.nan) * 8e-6 / SAMPLE_S
    return {"time_s": found.pop("time_s"), **dict(sorted(found.items()))}


def result(asked: Asked, finished: Sequence[FinishedRun], earlier: Frames | None = None) -> Result:
    """Return finished runs as a result, with earlier ones of the same comparison."""
    frames = from_runs(finished)
    frames = (earlier.joined(frames) if earlier else frames).sorted(list(asked.links))
    return Result(store.concluded(asked.manifest(), frames, []), frames)


def folder(path: Path | None, *, continues: bool = False) -> AbstractContextManager[store.Folder | None]:
    """Open the folder of a result, if there is to be one; it is new, or may have runs already.

    Raises:
        InputError: if it is not empty where it has to be, or cannot be written.

    """
    if path is None:
        return nullcontext()
    if not continues:
        store.check_new(path)
    return store.opened(path)


def continued(stored: store.StoredResult, asked: Asked, folder: Path) -> Frames:
    """Return the runs that a folder has of the same comparison, by the same code and kernel.

    Of the settings beside those of `compare` only those that ``asked`` tells are compared.

    Raises:
        InputError: if they are of another one, naming what differs.

    """
    here = json.loads(json.dumps(asked.manifest()))
    keys = here["points"][0]["scenario"]["live"].keys()
    growth.check_same(_compared(stored.manifest, keys), _compared(here, keys), folder)
    return stored.frames


def setting(manifest: Mapping[str, Any], name: str) -> str:
    """Return a setting of the live runs of a result, beside those of `compare`."""
    return str(manifest["points"][0]["scenario"]["live"][name])


def _compared(manifest: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    scenario = manifest["points"][0]["scenario"]
    live = scenario.get("live", {})
    return {
        **{name: manifest[name] for name in ("code", "title")},
        **{name: value for name, value in scenario.items() if name != "live"},
        "disciplines": [f"{one['label']} ({one['spec']})" for one in scenario["aqm"]],
        **{name: live.get(name) for name in keys},
    }


def publish(made: Result, place: store.Folder, *, with_report: bool = True) -> Result:
    """Write a result, with its figures and its report."""
    written = Result(place.commit(made.manifest, made.frames), made.frames, place.path)
    return publishing.publish(written, place) if with_report else written


def _rate(line: Line) -> str:
    return str(line.settings["rate"] or line.settings["link_trace_mean_rate"])


def _span(seconds: float) -> str:
    return format_span(round(round(seconds, 2) * NANOS_PER_SECOND))


__all__ = [
    "CONTROL",
    "Asked",
    "continued",
    "done",
    "folder",
    "notes",
    "of_link",
    "publish",
    "result",
    "setting",
    "settings",
]
