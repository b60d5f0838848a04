"""The kernel in virtual time as an engine: its settings, what it refuses, what its taps measure, and its runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from kernel import needs_kernel

import aqmlab as package
from aqmlab import engine, scenario
from aqmlab._native import Inputs
from aqmlab.engine import Task, linux
from aqmlab.engine.linux import (
    build,
    counters,
    guest,
    job,
    kernel_image,
    measure,
    recorded,
    taps,
    tc,
    tracing,
    watchdog,
)
from aqmlab.engine.linux.job import START_NS
from aqmlab.results import differences
from aqmlab.scenario.model import Scenario
from aqmlab.scenario.registry import Spec
from aqmlab.vocabulary.errors import Cancelled, CheckError, InputError, MachineError

SECOND = 10**9
PIE = "target 15ms tupdate 15ms alpha 2 beta 20 noecn nobytemode no_dq_rate_estimator"
DUALPI2 = (
    "target 15ms tupdate 16ms alpha 0.16015625 beta 3.19921875 coupling_factor 2 step_thresh 1ms min_qlen_step 0"
    " classic_protection 10"
)
DROPS = "drop_on_overload drop_dequeue"


def _scenario(aqm: str = "pie:linux", **options: str | list[str]) -> Scenario:
    given = {"rate": "10mbit", "rtt": "40ms", "flows": "2*cubic", "duration": "6s", "warmup": "2s"} | options
    experiment = scenario.from_values({"aqm": aqm, **given}, place="--")
    (found,) = scenario.resolve(experiment).scenarios.values()
    return found


@pytest.mark.parametrize(
    ("aqm", "words"),
    [
        ("fifo limit 30p", "pfifo limit 30"),
        ("fifo limit 30kb", "bfifo limit 30720"),
        ("codel limit 100p ecn", "codel limit 100 target 5ms interval 100ms ecn"),
        (
            "pie:linux limit 100p",
            f"pie limit 100 {PIE}",
        ),
        (
            "fq_codel limit 100p noecn",
            "fq_codel limit 100 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 33554432 drop_batch 64 "
            "noecn",
        ),
        (
            "cake:linux bandwidth 9mbit besteffort",
            "cake bandwidth 9mbit internet besteffort triple-isolate no-ack-filter fwmark 0 egress raw",
        ),
        ("cake:linux", "cake unlimited internet diffserv3 triple-isolate no-ack-filter fwmark 0 egress raw"),
        ("dualpi2:linux limit 100p", f"dualpi2 limit 100 {DUALPI2} l4s_ect {DROPS}"),
        ("dualpi2:linux limit 100p any_ect", f"dualpi2 limit 100 {DUALPI2} any_ect {DROPS}"),
        (
            "dualpi2:linux limit 100p max_rtt 300ms step_thresh 3p min_qlen_step 2 classic_protection 0 overflow",
            "dualpi2 limit 100 coupling_factor 2 step_thresh 3packets min_qlen_step 2 classic_protection 0"
            " max_rtt 300ms l4s_ect overflow drop_dequeue",
        ),
        (
            "fq_pie:linux limit 90p ecn_prob 20%",
            "fq_pie limit 90 flows 1024 target 15ms tupdate 15ms alpha 2 beta 20 quantum 1514 memory_limit 33554432"
            " ecn_prob 20 noecn nobytemode no_dq_rate_estimator",
        ),
        (
            "red limit 100p min 20p max 60p nogentle w 0.03125",
            "red limit 151400 min 30280 max 90840 avpkt 1514 bandwidth 10mbit burst 34 probability 0.1 harddrop",
        ),
    ],
)
def a_discipline_is_written_in_the_words_of_tc(aqm: str, words: str) -> None:
    assert tc.qdisc(Spec.parse(aqm), 10_000_000) == words


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"aqm": "codel noecn control_law sqrt"}, "engine linux: codel: tc has no word for 'control_law'"),
        ({"aqm": "red"}, "give min and max in packets"),
        ({"aqm": "red limit 90p min 20p max 60p nogentle w 0.03"}, "w 0.03 is not a power of 2"),
        ({"aqm": "daqm"}, "aqm 'daqm': engine linux runs cake, choke, codel"),
        ({"flows": "1*prague:ecn=l4s"}, "has newreno, cubic, bbr1, dctcp, not prague"),
        ({"flows": "1*cubic:delack=off"}, "cannot set 'delack': leave it out"),
        ({"flows": "1*cubic:stop=3s"}, "cannot set 'stop'"),
        ({"flows": "1*cubic:app.sndbuf=64kb"}, "cannot set 'app.sndbuf'"),
        ({"flows": "1*newreno:slow_start.hystart=plusplus"}, "cannot set 'slow_start.hystart'"),
        ({"flows": "1*cubic:acks.rcvbuf=64kb"}, "cannot set 'acks.rcvbuf'"),
        ({"flows": "1*cbr:rate=1mbit:dscp=46"}, "cannot set 'dscp'"),
        ({"flows": ["1*cubic", "1*newreno:sack=off"]}, "'sack' is the same for all flows"),
        ({"flows": "1*voip"}, "sends bulk data over TCP and cbr, poisson, onoff over UDP, not voip"),
        ({"flows": "1*onoff:rate=1mbit:on=exp(1s)"}, "has periods of one length"),
        ({"flows": "1001*cubic"}, "at most 1000 flows"),
        ({"slot": "1ms 1ms"}, "slot: engine linux has off, not 1ms 1ms"),
        ({"overhead": "20b"}, "overhead: engine linux has 14b, not 20b"),
        ({"topology": "shared_medium"}, "topology: engine linux has no shared medium"),
        ({"topology": "leaf_spine"}, "topology: engine linux has one route only between two nodes"),
        ({"topology": "star:buffer=1mb"}, "topology: engine linux has no options of switches"),
        ({"topology": "asymmetric", "flows": "1*cubic:to=modem"}, "has flows between hosts, which 'modem' is not"),
        ({"topology": "asymmetric", "flows": "1*cubic:rtt=10ms"}, "rtt is 10 ms: its links alone take 40 ms"),
        (
            {"topology": "parking_lot", "flows": "1*cubic:from=dst:to=src"},
            "engine linux has limits only where a discipline is, and this path has none",
        ),
        ({"measure": "back"}, "measure: engine linux measures ports with a discipline only, which 'back' has not"),
    ],
)
def what_the_kernel_cannot_do_is_refused_by_name(options: dict[str, Any], refusal: str) -> None:
    assert refusal in engine.ENGINES["linux"].refusal(_scenario(**options))


@pytest.mark.parametrize("profile", ["rfc", "linux"])
@pytest.mark.parametrize("control", job.CONTROLS)
def the_kernel_stands_for_the_profiles_that_it_is_compared_with(control: str, profile: str) -> None:
    assert not engine.ENGINES["linux"].refusal(_scenario(flows=f"1*{control}:profile={profile}"))


def groups_of_flows_have_their_own_delay_and_route() -> None:
    flows = ["2*cubic:rtt=10ms:ecn=classic:iw=3", "1*dctcp:ecn=classic:size=100kb", "1*cbr:rate=1mbit:packet=1000b"]
    found = job.described(_scenario(flows=flows), 7)
    # 10 ms, and the serialisation of 1580 bytes on the bottleneck once and on access links of ten times its rate twice.
    assert [found.network.delay(path) for path in (0, 2)] == ["11516.8us", "40000us"]
    route = "src 10.9.1.1 initcwnd 3 advmss 1460 rto_min 200ms features ecn"
    assert f"route snd 10.9.2.10 dev e0 {route}" in found.network.lines()
    assert [line.split()[1:3] for line in found.lines("snd")] == [
        ["0", "cubic"],
        ["0", "cubic"],
        ["1", "dctcp"],
        ["2", "udp"],
    ]
    assert [line.split()[4:] for line in found.lines("snd")[2:]] == [["102400"], ["1000"]]


@pytest.mark.parametrize("model", ["random 2", "gemodel 1 10 80 0.5", "state 1 20 30 50 2"])
def models_of_loss_have_their_shares_in_the_order_of_netem(model: str) -> None:
    name, *shares = model.split()
    loss = f"{shares[0]}%" if name == "random" else f"{name} {' '.join(f'{share}%' for share in shares)}"
    lines = job.described(_scenario(flows="1*cbr:rate=1mbit", loss=loss), 1).network.lines()
    (words,) = (line.partition(" loss ")[2] for line in lines if line.startswith("netem"))
    assert words == " ".join([name, *(f"{float(share):f}%" for share in shares)])


def every_port_of_a_topology_knows_whose_packets_come_by_which_wire() -> None:
    flows = ["2*cubic:name=down", "1*cubic:name=up:from=home:to=server"]
    found = job.described(_scenario(topology="asymmetric:up=1mbit", flows=flows, loss="1%"), 1)
    assert [(port.name, port.link, port.rate_bps) for port in found.network.ports] == [
        ("down", "isp->modem", 10_000_000), ("up", "modem->isp", 1_000_000),
    ]  # fmt: skip
    # Data in one direction, and acknowledgments of the other direction.
    assert [list(port.entries.values()) for port in found.network.ports] == [[{0, 1}], [{0, 1}]]
    assert [found.network.paths[flow.path].nodes[0] for flow in found.flows] == ["server", "server", "home"]
    lines = found.network.lines()
    down, up = (port.interface for port in found.network.ports)
    assert f"port isp {down} htb 10000000 pie limit 34 {PIE}" in lines
    assert f"port modem {up} htb 1000000 pie limit 34 {PIE}" in lines
    assert [line.split()[1] for line in lines if line.startswith("netem")] == ["lossy"]
    assert all(f"route {box} 10.9.2.10" in " ".join(lines) for box in ("server", "isp", "lossy", "modem"))


def flows_of_a_group_begin_and_end_at_its_nodes_in_turn() -> None:
    flows = "3*cubic:from=cross0.src|cross1.src:to=dst"
    found = job.described(_scenario(topology="parking_lot:hops=2", flows=flows), 1)
    assert [path.nodes for path in found.network.paths] == [
        ("cross0.src", "r0", "r1", "r2", "dst"), ("cross1.src", "r1", "r2", "dst"),
    ]  # fmt: skip
    assert [flow.path for flow in found.flows] == [0, 1, 0]
    assert [path.rtt_ns / 1e6 for path in found.network.paths] == [40, 30]
    assert [line.split()[0] for line in found.lines("cross1.src")] == [str(found.flows[1].port)]


def _departures(rates: np.ndarray[Any, Any], at_ns: int, until_ns: int) -> list[int]:
    """When full packets that wait from a time on leave HTB, as it counts."""
    found = []
    while at_ns < until_ns:
        found.append(at_ns)
        rate = rates[np.searchsorted(rates["at"].astype("i8"), at_ns, side="right") - 1]
        at_ns += (tc.FULL_BYTES + int(rate["more"])) * SECOND // int(rate["bytes_per_second"])
    return found


@pytest.mark.parametrize("begin_ms", [0, 3.3, 210.02])
def packets_leave_a_recorded_link_at_its_opportunities(begin_ms: float) -> None:
    # Several in a millisecond, and an outage of 190 ms.
    opportunities = recorded.opportunities_ns(
        np.array([0, 1, 1, 1, 5, 6, 7, 7, 10, 200, 201, 201, 202, 204]), 3 * SECOND
    )
    rates = recorded.changes(opportunities)
    begin_ns = int(begin_ms * 1e6)
    found = np.array(_departures(rates, begin_ns, 3 * SECOND))
    due = opportunities[(opportunities >= begin_ns) & (opportunities < 3 * SECOND)]
    assert len(found) == pytest.approx(len(due), abs=2)
    # Soon each leaves in the millisecond of its opportunity.
    assert max(np.abs(at - due).min() for at in found[len(found) // 2 :]) < 500_000


def datagrams_are_sent_at_the_times_of_their_source() -> None:
    flows = ["1*cbr:rate=1mbit:packet=1000b:start=1s", "1*onoff:rate=1mbit:packet=1000b:on=20ms:off=1s:start=2s"]
    found = job.described(_scenario(flows=[*flows, "1*poisson:rate=1mbit:packet=1000b:start=0s"]), 1)
    times = [[at / 1e6 for at, flow in found.datagrams("snd") if flow == number] for number in range(3)]
    assert times[0][:3] == [1000, 1008, 1016]
    assert times[1][:6] == [2000, 2008, 2016, 3020, 3028, 3036]
    assert len(times[2]) == pytest.approx(7 * 125, rel=0.1)
    gaps = np.diff(times[2])
    assert gaps.std() == pytest.approx(8, rel=0.15)


def starts_are_drawn_by_the_seed_alone() -> None:
    starts = [
        [flow.start_ns for flow in job.described(_scenario(aqm), seed).flows]
        for aqm, seed in (
            ("pie:linux", 1),
            ("codel", 1),
            ("codel", 2),
        )
    ]
    assert starts[0] == starts[1] != starts[2]


def _tap(path: Path, *packets: tuple[float, int, int, int]) -> None:
    """Times after the start in ms, sequence numbers, identifications and ECN fields of packets of the first flow."""
    seen = np.zeros(len(packets), dtype=taps.SEEN)
    for row, (ms, seq, identification, ecn) in zip(seen, packets, strict=True):
        row["time"], row["seq"], row["id"], row["ecn"] = START_NS + round(ms * 1e6), seq, identification, ecn
        row["port"], row["length"] = job.FIRST_PORT, 1514
    seen.tofile(path)


@pytest.fixture
def taped(tmp_path: Path) -> Path:
    """A run of one flow for four seconds, of which two are measured, as the guest would leave it."""
    arrivals = [(100.0, 1, 1, 0), (2100.0, 2, 2, 2), (2200.0, 3, 3, 2), (2300.0, 4, 4, 2), (2400.0, 3, 5, 2)]
    _tap(tmp_path / "in.e1", *arrivals)
    _tap(tmp_path / "out.e2", (101.0, 1, 1, 0), (2110.0, 2, 2, 3), (2330.0, 4, 4, 2), (2404.0, 3, 5, 2))
    port = job.FIRST_PORT
    (tmp_path / "received.right").write_text(
        "t_ns,port,bytes\n"
        + "".join(f"{START_NS + s * SECOND},{port},{b}\n" for s, b in ((1, 1000), (2, 1500), (4, 5844)))
    )
    for box in ("snd", "right"):
        (tmp_path / f"counted.{box}").write_text("Tcp: InSegs OutSegs\nTcp: 2 2\n")
    (tmp_path / "sent.snd").write_text(
        "t_ns,port,cwnd_bytes,srtt_us,retransmissions\n"
        + "".join(f"{START_NS + s * SECOND},{port},{14480 * s},{50_000 + s},{s - 1}\n" for s in (1, 2, 3))
    )
    (tmp_path / "sampled.e2").write_text(
        "t_ns,packets,bytes,drops\n"
        + "".join(f"{START_NS + s * 10**7},{s % 3},{s % 3 * 1514},{int(s > 220)}\n" for s in range(501))
    )
    (tmp_path / "kernel").write_text("7.2.0\n")
    return tmp_path


def the_taps_tell_delay_loss_marks_and_goodput(taped: Path) -> None:
    one = _scenario(flows="1*cubic", duration="4s", warmup="2s", series="flows")
    found = measure.measured(taped, one, job.described(one, 1))
    metrics = found["metrics"]
    # Of four packets that arrived after the warm-up one was lost: 10, 30 and 4 ms of delay.
    assert metrics["packets_arrived"] == 4
    assert metrics["loss_ratio"] == 0.25
    assert metrics["marks"] == 1
    assert metrics["qdelay_mean_ms"] == pytest.approx(44 / 3)
    assert metrics["qdelay_p50_ms"] == pytest.approx(10, rel=1 / 64)
    assert metrics["goodput_mbit"] == pytest.approx(4344 * 8 / 1e6 / 2)
    assert metrics["throughput_mbit"] == pytest.approx(3 * 1514 * 8 / 1e6 / 2)
    assert metrics["retransmissions"] == 1
    assert metrics["rtt_mean_ms"] == pytest.approx(50.0025)
    assert metrics["queue_max_packets"] == 2
    assert metrics["class.cubic.loss_ratio"] == 0.25
    assert found["bottleneck_packets"] == 4
    assert len(found["warnings"]) == 1
    assert "kernel 7.2.0, tcp_rmem 4096 131072 6291456" in found["warnings"][0]


def every_series_has_a_value_for_each_period(taped: Path) -> None:
    one = _scenario(flows="1*cubic", duration="4s", warmup="2s", series="flows")
    series = measure.measured(taped, one, job.described(one, 1))["series"]
    assert {len(values) for values in series.values()} == {one.duration_ns // one.sample_ns}
    assert series["drops"].sum() == 1
    assert series["marks"].sum() == 1
    assert np.nanmax(series["qdelay_ms"]) == pytest.approx(30)
    assert series["flow.0.cwnd_bytes"][-1] == 3 * 14480


def packets_that_leave_without_having_come_fail_the_run(taped: Path) -> None:
    _tap(taped / "out.e2", (101.0, 1, 1, 0), (2110.0, 9, 9, 3))
    with pytest.raises(CheckError, match="never came"):
        taps.packets(taps.seen(taped, "in.e1"), taps.seen(taped, "out.e2"))


def what_leaves_after_the_last_look_at_arrivals_is_no_failure(taped: Path) -> None:
    _tap(taped / "out.e2", (101.0, 1, 1, 0), (2404.0, 3, 5, 2), (2405.0, 9, 9, 0))
    found = taps.packets(taps.seen(taped, "in.e1"), taps.seen(taped, "out.e2"))
    assert [(time - START_NS) / 1e6 for time in found.left_ns.tolist() if time] == [101, 2404]


def without_a_kernel_one_line_says_how_to_build_it(
    aqmlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel_image.VARIABLE, str(tmp_path))
    # Another test may have found a kernel.
    monkeypatch.delitem(vars(engine.find("linux")), "version", raising=False)
    words = ["compare", "--rate", "10mbit", "--rtt", "40ms", "--aqm", "pie", "--engine", "linux", "--out"]
    done = aqmlab(*words, str(tmp_path / "out"))
    assert done.status == 2
    assert done.err == "aqmlab: engine linux: no kernel has been built: aqmlab engine build linux\n"
    assert not (tmp_path / "out").exists()


def a_guest_of_another_version_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel_image.VARIABLE, str(tmp_path))
    (tmp_path / kernel_image.IDENTITY).write_text(json.dumps({"kernel": "k", "release": "7.2", "guest": "other"}))
    with pytest.raises(InputError, match="another version of aqmlab: aqmlab engine build linux"):
        kernel_image.found()


def a_build_says_in_one_line_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel_image.VARIABLE, str(tmp_path / "cache"))
    with monkeypatch.context() as patched:
        # Whatever this machine has.
        patched.setattr(build, "TOOLS", {})
        with pytest.raises(InputError, match="is no source tree of Linux"):
            build.build(lambda step, share: None, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match=r"programs are missing here: apt-get install gcc libc6-dev make flex bison bc"
    ):
        build.build(lambda step, share: None)


def a_build_needs_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel_image.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(build, "TOOLS", {})
    monkeypatch.setattr(build, "SPACE_GB", 1e6)
    with pytest.raises(InputError, match="GB free, and the build takes"):
        build.build(lambda step, share: None)


def only_the_simulator_needs_no_build(aqmlab: Command) -> None:
    listed = aqmlab("engine", "list").out
    assert "native    the simulator" in listed
    assert "linux     the Linux kernel" in listed
    assert aqmlab("engine", "build", "native").err == "aqmlab: engine native: needs no build\n"
    assert "did you mean 'linux'" in aqmlab("engine", "build", "linus").err


def an_aqm_may_name_its_engine() -> None:
    options = scenario.from_values(
        {"aqm": "pie on native,pie on linux", "rate": "10mbit", "rtt": "40ms", "flows": "1*cubic"}, place="--"
    )
    plan = scenario.resolve(options)
    assert [(one.label, one.engine) for one in plan.contestants] == [
        ("pie on native", "native"),
        ("pie on linux", "linux"),
    ]
    assert plan.scenarios["pie on native"] == plan.scenarios["pie on linux"]
    first, second = plan.contestants
    assert plan.key(first, 1, "a") != plan.key(second, 1, "b")


def an_aqm_in_another_engine_is_compared_with_itself() -> None:
    aqms = ["pie on native", "pie on linux", "codel on native", "codel on linux", "fifo"]
    assert [differences.reference(aqm, aqms) for aqm in aqms[1:]] == [
        "pie on native",
        "pie on native",
        "codel on native",
        "pie on native",
    ]


def an_engine_is_named_once() -> None:
    with pytest.raises(InputError, match="engine 'linux' is given twice"):
        engine.find("linux,native,linux")


def _task(one: Scenario, seed: int = 1) -> Task:
    return Task(0, "pie", seed, "key", one)


def _needs_kernel(script: str, tmp_path: Path) -> kernel_image.Place:
    """A place whose kernel is a script: it writes what a guest would."""
    kernel = tmp_path / kernel_image.KERNEL
    kernel.write_text(f"#!/bin/sh\n{script}\n")
    kernel.chmod(0o755)
    (tmp_path / kernel_image.ROOT).mkdir()
    return kernel_image.Place(tmp_path, "7.2.0", "digest")


def _run_guest(at: kernel_image.Place, watch: guest.Watch) -> None:
    with guest.finished(at, job.described(_scenario(), 1), "pie, seed 1", watch):
        pass


@pytest.mark.parametrize("hang", ["exec sleep 60", "while :; do :; done"])
def a_guest_that_hangs_is_stopped_and_named(hang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "PATIENCE_S", 0.1)
    monkeypatch.setattr(guest, "LOOK_S", 0.05)
    at = _needs_kernel(f"echo 2500000000 >job/reached; {hang}", tmp_path)
    with pytest.raises(MachineError, match=r"pie, seed 1: the guest hung at 2\.5 s and was stopped"):
        _run_guest(at, guest.Watch())


def a_guest_that_waits_for_a_processor_is_not_called_hung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "PATIENCE_S", 0.1)
    monkeypatch.setattr(guest, "LOOK_S", 0.05)
    # As on a busy machine: it could run all the time, and gets a hundredth of a processor.
    monkeypatch.setattr(guest, "use_of", lambda _: watchdog.Use(time.monotonic() / 100, is_runnable=True))
    at = _needs_kernel("sleep 0.5; touch job/done", tmp_path)
    _run_guest(at, guest.Watch())


def what_a_session_uses_is_that_of_all_its_processes() -> None:
    script = "sleep 60 & i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; {}"
    for then, is_runnable in (("while :; do :; done", True), ("exec sleep 60", False)):
        process = subprocess.Popen(["sh", "-c", script.format(then)], start_new_session=True)
        try:
            _until(lambda: watchdog.use_of(process.pid).cpu_s >= 0.05)  # noqa: B023
            _until(lambda: watchdog.use_of(process.pid).is_runnable == is_runnable)  # noqa: B023
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize(
    ("console", "meaning"),
    [
        ("SECCOMP userspace requested but not functional!", "does not allow seccomp filters"),
        ("check_ptrace : ptrace failed", "does not allow ptrace"),
        ("write error: No space left on device", "the disk is full"),
        ("Error: Specified qdisc kind is unknown.", "the guest failed: Error: Specified qdisc kind is unknown."),
    ],
)
def a_guest_that_fails_says_why_in_one_line(tmp_path: Path, console: str, meaning: str) -> None:
    at = _needs_kernel(f"echo '{console}'", tmp_path)
    with pytest.raises(MachineError, match=meaning):
        _run_guest(at, guest.Watch())


def a_guest_is_stopped_by_its_monitor_with_all_that_it_started(tmp_path: Path) -> None:
    at = _needs_kernel(f"sleep 60 & echo $! >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; wait", tmp_path)
    watch = guest.Watch()
    with ThreadPoolExecutor() as pool:
        run = pool.submit(_run_guest, at, watch)
        _until((tmp_path / "pid").exists)
        watch.cancel()
        with pytest.raises(Cancelled):
            run.result()
    state = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    # Where nobody collects orphans they stay as zombies.
    _until(lambda: not state.exists() or ") Z " in state.read_text())


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def counters_of_both_boxes_become_metrics(tmp_path: Path) -> None:
    more = "TcpExt: TCPTimeouts TCPFullUndo TCPLossUndo\nTcpExt: 3 1 4\n"
    (tmp_path / "counted.snd").write_text(f"Tcp: InSegs OutSegs\nTcp: 11 20\n{more}")
    (tmp_path / "counted.rcv").write_text("Tcp: InSegs OutSegs\nTcp: 20 11\n")
    assert counters.counted(tmp_path, ["snd"], ["rcv"]) == {
        "kernel.segments": 20, "kernel.acks": 11, "kernel.timeouts": 3, "kernel.undone": 5,
    }  # fmt: skip


@needs_kernel
@pytest.mark.timeout(300)
def the_same_seed_makes_the_same_run_with_any_number_of_jobs() -> None:
    results = [
        package.compare(
            rate="10mbit", rtt="40ms", flows="4*cubic", aqm="pie:linux", duration="6s", warmup="2s", seeds=2,
            engine="linux", jobs=jobs, no_size_check=True,
        )
        for jobs in (1, 2)
    ]  # fmt: skip
    first, second = (one.runs.drop("cpu_s") for one in results)
    assert first.equals(second)
    assert first["goodput_mbit"][0] != first["goodput_mbit"][1]
    assert set(first["engine"]) == {"linux"}


@needs_kernel
def a_traced_run_has_the_packets_of_an_untraced_one() -> None:
    one = _scenario("codel:linux", flows="2*newreno", duration="3s", warmup="1s")
    seen: dict[str, list[Any]] = {"in.e1": [], "out.e2": []}
    for states_ns in (0, tracing.STATES_NS):
        image = kernel_image.found()
        with guest.finished(image, job.described(one, 1, states_ns), "codel", guest.Watch()) as (folder, _):
            for name, tap in seen.items():
                tap.append(taps.seen(folder, name))
    for plain, traced in seen.values():
        assert all(np.array_equal(plain[name], traced[name]) for name in ("port", "length", "payload", "ecn"))
        # Looking costs some queries of the clock, each of 256 ns.
        assert np.abs(plain["time"].astype("i8") - traced["time"].astype("i8")).max() < 5000


@needs_kernel
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "aqm", ["fifo", "codel", "pie:linux", "fq_codel", "fq_pie:linux", "cake:linux", "dualpi2:linux"]
)
def the_kernel_fills_the_line_and_its_counters_agree(aqm: str) -> None:
    one = _scenario(aqm, flows=["3*cubic", "1*cbr:rate=1mbit"], duration="5s", warmup="2s", series="flows")
    runner = linux.Linux()
    task = _task(one)
    report = runner.run(task, runner.monitor(task))
    assert report.metrics["utilization"] == pytest.approx(1, abs=0.05)
    assert report.metrics["class.cbr.throughput_mbit"] < 1.1
    assert 1 < report.metrics["kernel.segments"] / report.metrics["kernel.acks"] < 2.1
    assert report.metrics["kernel.reneging"] == 0
    # tc has no word for CAKE's limit in packets.
    assert ["CAKE's limit" in warning for warning in report.warnings[1:]] == [True] * (aqm == "cake:linux")


@needs_kernel
def packets_are_lost_behind_the_queue_at_random() -> None:
    runner = linux.Linux()
    tasks = [_task(_scenario("fifo limit 100p", flows="1*newreno", loss="2%"), seed) for seed in (1, 1, 2)]
    first, again, other = (runner.run(task, runner.monitor(task)).metrics for task in tasks)
    assert first == again != other
    assert first["loss_ratio"] == 0
    segments = 4 * first["goodput_mbit"] * 1e6 / 8 / 1448
    assert 0.005 * segments < first["retransmissions"] < 0.05 * segments


@needs_kernel
def sources_over_udp_send_what_they_do_in_the_simulator() -> None:
    flows = ["1*cbr:rate=2mbit", "1*poisson:rate=3mbit", "1*onoff:rate=4mbit:on=500ms:off=500ms"]
    task = _task(_scenario("fifo limit 100p", flows=flows))
    found = {}
    for name in ("native", "linux"):
        runner = engine.ENGINES[name]
        found[name] = runner.run(task, runner.monitor(task)).metrics
    for metric in (f"class.{kind}.throughput_mbit" for kind in ("cbr", "poisson", "onoff")):
        assert found["linux"][metric] == pytest.approx(found["native"][metric], rel=0.1)


def _both(one: Scenario, inputs: Inputs | None = None) -> tuple[dict[str, float], dict[str, float]]:
    """The metrics of a run in the simulator, and in the kernel."""
    task = replace(_task(one), inputs=inputs or Inputs())
    runners = [engine.ENGINES[name] for name in ("native", "linux")]
    native, kernel = (runner.run(task, runner.monitor(task)).metrics for runner in runners)
    return native, kernel


@needs_kernel
def a_slow_uplink_fills_with_acknowledgments_as_in_the_simulator() -> None:
    native, kernel = _both(
        _scenario(topology="asymmetric:up=200kbit", flows="2*cubic:profile=linux", duration="10s", warmup="4s")
    )
    for metric, within in {
        "goodput_mbit": 0.05,
        "port.down.utilization": 0.05,
        "port.up.utilization": 0.01,
        "port.up.qdelay_mean_ms": 0.1,
        "port.up.queue_mean_packets": 0.1,
        "rtt_base_ms": 1e-6,
    }.items():
        assert kernel[metric] == pytest.approx(native[metric], rel=within), metric
    assert {name for name in kernel if name.startswith("port.")} <= set(native)


@needs_kernel
@pytest.mark.parametrize(
    ("aqm", "flows"),
    [("fifo limit 100p", "1*cbr:rate=30mbit:start=0s"), ("codel:linux limit 1000p", "4*newreno:profile=linux")],
)
def a_recorded_link_carries_what_it_does_in_the_simulator(aqm: str, flows: str) -> None:
    trace = str(Path(__file__).parents[2] / "data" / "link-traces" / "aqmlab-lte.down")
    given = {"link_trace": trace, "rtt": "40ms", "flows": flows, "duration": "8s", "warmup": "2s"}
    plan = scenario.resolve(scenario.from_values({"aqm": aqm, **given}, place="--"))
    (one,) = plan.scenarios.values()
    native, kernel = _both(one, plan.inputs)
    for metric, within in {"goodput_mbit": 0.03, "utilization": 0.03, "qdelay_mean_ms": 0.15}.items():
        assert kernel[metric] == pytest.approx(native[metric], rel=within), metric


@needs_kernel
def flows_over_both_hops_of_a_parking_lot_share_as_in_the_simulator() -> None:
    cross = [f"2*cubic:name=c{hop}:from=cross{hop}.src:to=cross{hop}.dst:profile=linux" for hop in (0, 1)]
    flows = ["2*cubic:name=long:profile=linux", *cross]
    one = _scenario("codel:linux", topology="parking_lot:hops=2", flows=flows, measure="r0->r1,r1->r2", duration="8s")
    native, kernel = _both(one)
    for metric, within in {
        "goodput_mbit": 0.05,
        "port.r0->r1.utilization": 0.03,
        "port.r1->r2.utilization": 0.03,
        "port.r0->r1.qdelay_mean_ms": 0.25,
        "port.r1->r2.qdelay_mean_ms": 0.25,
        "rtt_base_ms": 1e-6,
    }.items():
        assert kernel[metric] == pytest.approx(native[metric], rel=within), metric
    assert kernel["class.long.goodput_mbit"] < kernel["class.c0.goodput_mbit"] + kernel["class.c1.goodput_mbit"]


@needs_kernel
def each_group_has_its_own_round_trip() -> None:
    one = _scenario("codel:linux", flows=["1*cubic:name=near:rtt=10ms", "1*cubic:name=far:rtt=100ms"])
    runner = linux.Linux()
    task = _task(one)
    metrics = runner.run(task, runner.monitor(task)).metrics
    assert 10 < metrics["class.near.rtt_mean_ms"] < 40
    assert 100 < metrics["class.far.rtt_mean_ms"] < 130


@needs_kernel
@pytest.mark.timeout(300)
def both_engines_are_contestants_of_one_result(aqmlab: Command, tmp_path: Path) -> None:
    words = (
        "compare --rate 10mbit --rtt 40ms --flows 2*cubic --aqm pie:linux --seeds 2 --duration 4s --warmup 1s --json -"
    )
    done = aqmlab(*words.split(), "--engine", "native,linux", "--no-report", "--out", str(tmp_path / "out"))
    assert done.status == 0
    assert "engine linux: 2 runs will take about" in done.err
    found = json.loads(done.out)
    assert [(run["aqm"], run["engine"]) for run in found["runs"]] == [
        (f"pie:linux on {name}", name) for name in ("native", "linux") for _ in range(2)
    ]
    assert {one["aqm"] for one in found["differences"]} == {"pie:linux on linux"}
