"""The live link without a link: its options, its statistics, and the errors where none can be made."""

from __future__ import annotations

import json
import os
import shlex
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from links import link_of

from aqmlab import experiment, publishing, scenario, store
from aqmlab.cli import dashboard
from aqmlab.live import carrying, checkup, comparing, results, scenarios, web_page, workload
from aqmlab.live.carrying import Carried, Link
from aqmlab.results.frames import from_runs
from aqmlab.vocabulary.errors import InputError, MachineError


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--up 1mbit --aqm fifo", "--down: is missing: give its rate, as 20mbit, or a recorded link (--down-trace)"),
        (
            "--down 1mbit --up 1mbit",
            "--aqm: is missing: name a discipline for both directions, or --aqm-down for this one",
        ),
        ("--down 1mbit --up 1mbat --aqm fifo", "--up: '1mbat'"),
        (
            "--down 1mbit --up 1mbit --aqm-up fiffo --aqm-down fifo",
            "--aqm-up: unknown discipline 'fiffo', did you mean",
        ),
        ("--down 1mbit --up 1mbit --aqm fifo,codel", "--aqm: a link has one discipline in a direction, not 2"),
        ("--down 1mbit --up 1mbit --aqm fifo --seed x", "--seed: "),
        ("--down 1mbit --up 1mbit --aqm fifo --log x.txt", "--log: 'x.txt': the name must end in .parquet or .csv"),
        (
            "--down 1mbit --up 1mbit --aqm fifo --pcap no/x.pcapng",
            "--pcap: 'no/x.pcapng' cannot be written: there is no",
        ),
        ("--down 1mbit --up 1mbit --aqm fifo --pcap .", "--pcap: '.' is a folder"),
        ("--down 1mbit --up 1mbit --aqm fifo --server ''", "--server: it is empty"),
        ("--down 1mbit --up 1mbit --aqm fifo --loss 2", "--loss: '2'"),
        ("--down 1mbit --up 1mbit --aqm fifo --loss 'markov 1%'", "--loss: 'markov 1%' has no model 'markov'"),
        ("--down 1mbit --up 1mbit --aqm fifo --loss gemodel", "--loss: 'gemodel': allowed is gemodel P [R [1-H"),
        ("--down 1mbit --up 1mbit --aqm fifo --loss 'state 90% 0% 0% 0% 20%'", "has P13 + P14 above 100%"),
        ("--down 1mbit --up 1mbit --aqm fifo --loss 'gemodel x'", "--loss: 'x'"),
        ("--down 1mbit --up 1mbit --aqm fifo --reorder '25% 50%'", "--reorder: '25% 50%': allowed is a share, and"),
        ("--down 1mbit --up 1mbit --aqm fifo --duplicate 101%", "--duplicate: '101%'"),
        ("--down 1mbit --up 1mbit --aqm fifo --slot '4ms 1ms'", "--slot: '4ms 1ms' has a second time that is shorter"),
        ("--down 1mbit --up 1mbit --aqm fifo --slot 'packets 3'", "--slot: 'packets 3': allowed is the shortest and"),
        ("--down 1mbit --up 1mbit --aqm fifo --classes 46,x", "--classes: 'x' is no code point: allowed are 0 to 63"),
        ("--down 1mbit --up 1mbit --aqm fifo --classes 64", "--classes: '64' is no code point"),
        ("--down 1mbit --up 1mbit --aqm fifo --classes 8,0,8", "--classes: 8 is given twice"),
        ("--down 1mbit --up 1mbit --aqm fifo --down-trace nowhere", "--down: contradicts --down-trace"),
    ],
)
def wrong_options_are_refused_by_the_name_that_they_have_here(aqmlab: Command, words: str, says: str) -> None:
    ended = aqmlab("link", "--rtt", "20ms", *shlex.split(words), "--", "true")
    assert ended.status == 2, ended.err
    assert says in ended.line


def files_of_a_link_go_through_links_and_into_pipes_and_what_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A made-up run: a capture of three bytes, and logs without a row."""

    def made_up(request: dict[str, Any], *_: object) -> tuple[dict[str, Any], str]:
        config = request["config"]
        if config["capture"]:
            Path(config["capture"]).write_bytes(b"cap")
        for name in ("down", "up"):
            if config[name]["log"]:
                Path(config[name]["log"]).touch()
        return {"faults": [], "down": {"is_log_cut": False}, "up": {"is_log_cut": False}}, ""

    monkeypatch.setattr(carrying, "_run", made_up)
    (tmp_path / "link.pcapng").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pipe.csv").symlink_to("pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    carried = carrying.carry(link_of("fifo"), ["true"], (), tmp_path / "pipe.csv", tmp_path / "link.pcapng")
    assert carried.report["faults"] == []
    assert os.read(reader, 100).startswith(b"direction,time_ns,kind,packet,reason,")
    os.close(reader)
    assert (tmp_path / "file").read_bytes() == b"cap"
    assert (tmp_path / "link.pcapng").is_symlink()
    assert (tmp_path / "pipe").is_fifo()
    for name in ("log.parquet", "log.csv"):
        carrying.carry(link_of("fifo"), ["true"], (), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(b"PAR1" if name.endswith("parquet") else b"direction,")
    lost = carrying.carry(link_of("fifo"), ["true"], (), None, tmp_path / "no" / "x.pcapng")
    assert lost.report["faults"] == [f"{tmp_path}/no/x.pcapng: cannot be written: No such file or directory"]


def a_log_that_is_cut_off_is_kept_and_not_replayed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Made-up logs: half a row, as a full disk leaves it, behind an arrival that has no end."""

    def made_up(request: dict[str, Any], *_: object) -> tuple[dict[str, Any], str]:
        for name in ("down", "up"):
            Path(request["config"][name]["log"]).write_bytes(bytes(56) + bytes(44) + b"\3" + bytes(11 + 20))
        return {"faults": [], "down": {"is_log_cut": False}, "up": {"is_log_cut": True}}, ""

    monkeypatch.setattr(carrying, "_run", made_up)
    carried = carrying.carry(link_of("fifo"), ["true"], (), tmp_path / "log.csv")
    assert carried.replayed is None
    assert len((tmp_path / "log.csv").read_text().splitlines()) == 1 + 2 * 2


def _made_up_run(link: Link, *_: object, stdout: int, **__: object) -> Carried:
    """A run with goodput of 7 Mbit/s and its seed, and a queue that is longer from run to run."""
    flows = [{"direction": "down", "goodput_mbit": (7 + link.seed) / 2}] * 2
    # So many pings are no pipe's; one that is full would make the test wait.
    os.set_blocking(stdout, False)
    settings = {"flows": flows, "round_trips_ms": [20.0, 20.0 + link.seed] * 10_000, "pings_unanswered": link.seed}
    # Of three pages one did not come.
    settings["pages_s"] = [0.5, None, 0.5 + link.seed]
    # Seconds since measuring began, and bytes: 1 MB/s.
    settings["delivered"] = [[0.0, 500], [0.05, 50_500], [0.15, 150_500], [0.25, 250_500]]
    os.write(stdout, json.dumps(settings).encode())
    metrics = {"qdelay_mean_ms": float(link.seed), "qdelay_p50_ms": 1.0, "loss_ratio": 0.01}
    metrics |= {"packets_arrived": 100.0, "drops_early": 1.0, "drops_overflow": 0.0, "marks": 0.0, "ack_drops": 0.0}
    port = {
        "metrics": metrics,
        "sojourn": [[1_000_000 * link.seed, 100], [50_000_000, 1]],
        "lateness_ms": [0.1, 0.2, 0.3, 0.4], "missed": 0, "refused": 0, "malformed": 0, "lost": 0,
    }  # fmt: skip
    report = {
        "command": {"status": 0, "signal": None},
        "down": port,
        "up": port,
        "faults": [],
        "warmup_s": 0.1,
        "cpu_s": 0.1,
        "tcp": {"congestion_control": "cubic", "tcp_ecn": "0", "tcp_rmem": "1 2 3"},
        "path": "veth",
    }
    samples = [
        {"direction": name, "sample": {"time_s": 0.1 * number, "qdelay_ms": delay, "drops": number}}
        for number, delay in enumerate((None, 3.0, 4.0), 1)
        for name in ("down", "up")
    ]
    return Carried(link, (), (), report, samples=samples)


def repeated_runs_have_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "carry", _made_up_run)
    links = {name: (link_of(name).down, link_of(name).up) for name in ("fifo", "codel")}
    compared = comparing.compare(links, comparing.Traffic(down=2), [1, 2, 3])
    assert [(one.aqm, one.carried.link.seed) for one in compared.runs[:3]] == [("fifo", 1), ("codel", 1), ("fifo", 2)]
    rate = compared.estimates["fifo"]["goodput_mbit"]
    # 9 +- 4.303 / sqrt(3)
    assert (rate.value, rate.n) == (9, 3)
    assert rate.half_width == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert compared.estimates["codel"]["qdelay_p50_ms"].value == pytest.approx(2, rel=0.01)
    assert compared.estimates["codel"]["ping_p99_ms"].value == 23
    assert compared.estimates["codel"]["pings_unanswered"].value == 2
    pages = compared.estimates["codel"]
    assert [pages[name].value for name in ("page_load_mean_s", "pages_completed", "pages_requested")] == [1.5, 2, 3]
    assert pages["page_load_p95_s"].value == pytest.approx(3.5, rel=0.01)
    document = comparing.document(compared)
    assert [run["aqm"] for run in document["runs"]] == ["fifo", "codel"] * 3
    late = {"p50": 0.1, "p99": 0.2, "p999": 0.3, "max": 0.4}
    assert document["runs"][0]["lateness_ms"] == {"down": late, "up": late}
    assert {row["metric"] for row in document["summary"]} > {"goodput_mbit", "qdelay_mean_ms", "jain_index"}


@pytest.mark.parametrize(
    ("rated", "says"),
    [
        ("2*qcn", "--rated: qcn: its receiver tells it nothing, and switches are not there"),
        ("dcqnc", "--rated: unknown rate control 'dcqnc', did you mean 'dcqcn'?"),
        ("x*dcqcn", "--rated: 'x'"),
    ],
)
def senders_that_a_link_has_not_are_refused(aqmlab: Command, rated: str, says: str) -> None:
    line = ["--down", "1mbit", "--up", "1mbit", "--rtt", "20ms", "--aqm", "fifo", "--rated", rated]
    ended = aqmlab("live-compare", *line)
    assert ended.status == 2
    assert says in ended.line


def without_a_browser_no_page_is_loaded_and_that_is_reported(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "carry", _made_up_run)
    monkeypatch.setattr(web_page, "BROWSERS", ("chrome-that-nobody-has",))
    line = ["--down", "1mbit", "--up", "1mbit", "--rtt", "20ms", "--aqm", "fifo", "--seeds", "1", "--page", "--quiet"]
    ended = aqmlab("live-compare", *line)
    assert ended.status == 0, ended.err
    assert ended.line == "warning: --page: no page is loaded: there is no chrome-that-nobody-has here"


def a_live_comparison_is_a_result_as_others(aqmlab: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    accuracy = {"finding": "punctual (made up)", "load": 0.5}
    monkeypatch.setattr(comparing, "carry", _made_up_run)
    monkeypatch.setattr(checkup, "accuracy", lambda: accuracy)
    monkeypatch.setattr(publishing, "publish", lambda result, place: result)
    line = ["live-compare", "--down", "1mbit", "--up", "2mbit", "--rtt", "20ms", "--aqm", "fifo,codel", "--seeds", "2"]
    settings = aqmlab(*line, "--quiet", "--out", tmp_path / "result")
    assert settings.status == 0, settings.err
    found = experiment.load(tmp_path / "result")
    assert (found.aqms, found.seeds, found.is_partial) == (["fifo", "codel"], [1, 2], False)
    assert found.manifest["live"]["selftest"] == accuracy
    live = found.scenarios[0]["live"]
    assert (live["punctuality"], live["congestion control"]) == ("punctual (made up) (load 0.5)", "cubic")
    assert found.scenarios[0]["flows"] == ["2*cubic:name=down"]
    assert found.warmups_s() == (0.1, 0.1)
    assert {"qdelay", "port.up.qdelay", "ping", "page_load"} == set(found.histograms["name"]) - {"port.down.qdelay"}
    first = found.series.filter(aqm="fifo", seed=1)
    rates = first.filter(name="goodput_mbit").drop_nulls("value")
    # What arrived in a period that was measured whole.
    assert rates["time_s"].to_list() == [0.2, 0.3]
    assert rates["value"].to_list() == pytest.approx([8, 8])
    assert first.filter(name="qdelay_ms")["value"].to_list() == [None, 3, 4]
    # Results are never overwritten: finished runs are not made again, and those of another comparison stay.
    monkeypatch.setattr(comparing, "carry", None)
    again = aqmlab(*line, "--out", tmp_path / "result")
    assert (again.status, again.err.splitlines()[0]) == (
        0,
        f"aqmlab: running nothing: all 4 runs are in {tmp_path / 'result'}",
    )
    other = aqmlab(*line, "--rtt", "30ms", "--out", tmp_path / "result")
    assert other.status == 2
    assert "holds another experiment: rtt is 20ms there and 30ms here" in other.line


def the_dashboard_shows_the_last_second_and_ten_before() -> None:
    quiet = {
        "throughput_mbit": 0.0,
        "queue_packets": 0,
        "qdelay_ms": None,
        "qdelay_p50_ms": None,
        "qdelay_p99_ms": None,
    }
    quiet |= {"drops": 0, "marks": 0}
    busy = {"throughput_mbit": 8.0, "queue_packets": 30, "qdelay_ms": 5.0, "qdelay_p50_ms": 4.0, "qdelay_p99_ms": 9.0}
    busy |= {"drops": 1, "marks": 2}
    _, down, up = dashboard.lines({"down": [quiet] * 5 + [busy] * 9 + [quiet], "up": []})
    # Of ten samples nine are busy: 7.2 Mbit/s, 9 drops and 18 marks; the last delay is that of the last that left.
    assert down.split() == ["down", "7.20", "█▆", "0", "packets", "4.0", "9.0", "█▆", "9.0", "18.0"]
    assert up.split() == ["up"]


def a_dashboard_needs_a_terminal(aqmlab: Command) -> None:
    line = ["--down", "1mbit", "--up", "1mbit", "--rtt", "20ms", "--aqm", "fifo", "--dashboard", "--", "true"]
    ended = aqmlab("link", *line)
    assert (ended.status, ended.line) == (2, "--dashboard: standard error is no terminal: leave it out")


def pings_are_unanswered_once_they_wait_longer_than_any_answer_took(monkeypatch: pytest.MonkeyPatch) -> None:
    pings = object.__new__(workload.Pings)
    # One each 20 ms; the answers took 50 ms, but for the third, and the last three are in flight.
    pings.count, pings.sent = 10, {number: number * 0.02 for number in range(10)}
    pings.round_trips_ms = {number: 50.0 for number in range(7) if number != 3}
    monkeypatch.setattr(workload.time, "monotonic", lambda: 0.185)
    assert pings.since(2) == ([50.0] * 4, 1)
    assert pings.since(4) == ([50.0] * 3, 0)
    pings.round_trips_ms = {}
    assert pings.since(2) == ([], 8)


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ({"loss": "gemodel 5%"}, {"loss": "gemodel 5% 95% 100% 0%"}),
        ({"loss": "gemodel 1% 10% 70% 0.1%"}, {"loss": "gemodel 1% 10% 70% 0.1%"}),
        ({"loss": "state 1%"}, {"loss": "state 1% 99% 0% 100% 0%"}),
        ({"reorder": "25% gap 5", "duplicate": "1%"}, {"reorder": "25% gap 5", "duplicate": "1%", "loss": "0%"}),
        ({"slot": "1ms 4ms bytes 64kb packets 8"}, {"slot": "1ms 4ms packets 8 bytes 64kb"}),
        ({"slot": "800us"}, {"slot": "800us 800us"}),
    ],
)
def netems_words_are_read_with_its_defaults_and_reported(words: dict[str, Any], settings: dict[str, str]) -> None:
    line = link_of("fifo", **words).down
    assert {name: line.settings[name] for name in settings} == settings


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--aqm fifo,fifo", "--aqm: 'fifo' is given twice"),
        ("--aqm fifo --downloads 0", "--downloads: nothing is sent"),
        ("--aqm fifo --seeds 0", "--seeds: '0' is not a whole number from 1 to 1000"),
        ("--aqm fifo --duration 0s", "--duration: 0s is no time to run"),
        ("--aqm fifo --downloads x", "--downloads: "),
        ("", "--aqm: is missing"),
    ],
)
def wrong_comparisons_are_refused(aqmlab: Command, words: str, says: str) -> None:
    ended = aqmlab("live-compare", "--down", "1mbit", "--up", "1mbit", "--rtt", "20ms", *words.split())
    assert ended.status == 2, ended.err
    assert says in ended.line


def a_comparison_without_a_rate_names_only_options_that_it_has(aqmlab: Command) -> None:
    ended = aqmlab("live-compare", "--up", "1mbit", "--rtt", "20ms", "--aqm", "fifo")
    assert ended.status == 2, ended.err
    assert ended.line.endswith("--down: is missing: give its rate, as 20mbit")


def the_doctor_says_what_to_do_where_no_link_can_be_made(aqmlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Carried:
        raise MachineError("the system permits no network namespaces (made up)")

    monkeypatch.setattr(checkup, "carry", refused)
    monkeypatch.setattr(checkup.shutil, "which", lambda *_, **__: None)
    ended = aqmlab("doctor", "--selftest")
    assert ended.status == 1
    assert "not found: install the package iproute2" in ended.out
    assert "the system permits no network namespaces (made up)" in ended.out


def a_self_test_that_cannot_be_judged_says_so() -> None:
    late = checkup.SelfTest({"p99": 0.7}, {"p99": 0.9}, 0)
    assert late.finding.startswith("not measurable here")
    assert checkup.SelfTest({"p99": 0.05}, {"p99": 0.15}, 0).finding.endswith("is +0.10 ms from that of an idle timer")


SCENARIO = {
    "aqm": "codel",
    "rate": "10mbit",
    "rtt": "10ms",
    "flows": ["2*newreno:name=all", "2*cbr:rate=1mbit:packet=500b"],
    "duration": "800ms",
    "warmup": "300ms",
}


def _planned(**changes: Any) -> scenarios.Planned:
    options = scenario.from_values({**SCENARIO, **changes}, "live.toml: ")
    return scenarios.planned(scenario.Experiment("Two transfers", (options,)))


def _asked(**changes: Any) -> results.Asked:
    one = _planned(**changes)
    settings = results.settings(one.congestion_control, ecn=False)
    return comparing._asked(one.links, one.traffic, one.seeds, one.congestion_control, settings, None, one.title)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"flows": "3*newreno"}, "flows is 2\\*newreno:.* there and 3\\*newreno"),
        ({"flows": "2*cubic"}, "flows is .* here"),
        ({"duration": "900ms"}, "duration is 800ms there and 900ms here"),
        ({"warmup": "200ms"}, "warmup is 300ms there and 200ms here"),
        ({"loss": "1%"}, "loss is 0% there and 1% here"),
        ({"jitter": "1ms"}, "jitter is 0s there and 1ms here"),
        ({"aqm": "codel target 9ms"}, "disciplines is codel .* there and codel target 9ms .* here"),
    ],
)
def runs_of_another_scenario_are_not_taken_for_its_own(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    stored = store.StoredResult(_asked(seeds="5").manifest(), from_runs([]))
    assert results.continued(stored, _asked(), tmp_path) is stored.frames
    with pytest.raises(InputError, match=f"holds another experiment: {says}"):
        results.continued(stored, _asked(**changes), tmp_path)


def runs_by_other_code_or_another_kernel_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = _asked().manifest()
    with pytest.raises(InputError, match=r"code is live 0\.1\.0 there and live "):
        results.continued(store.StoredResult({**manifest, "code": "live 0.1.0"}, from_runs([])), _asked(), tmp_path)
    monkeypatch.setattr("platform.release", lambda: "1.0")
    with pytest.raises(InputError, match=r"kernel is .* there and 1\.0 here"):
        results.continued(store.StoredResult(manifest, from_runs([])), _asked(), tmp_path)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"flows": "2*newreno:ecn=classic"}, "flows: '2*newreno' does not run live with ecn=classic"),
        ({"flows": "1*cubic:rtt=20ms:mss=1000b"}, "flows: '1*cubic' does not run live with rtt=20ms, mss=1000b"),
        ({"flows": ["1*cubic", "1*cbr:rate=1mbit:start=1s"]}, "flows: '1*cbr' does not run live with start=1s"),
        ({"flows": "1*bbr3"}, "flows: 'bbr3' does not run live: bulk transfers of"),
        (
            {"rate": None, "link": "turns rate 5mbit"},
            "link: 'turns rate 5mbit' does not run live: a link is of kind rate or trace",
        ),
        ({"device_ring": "8p"}, "device_ring: '8p' does not run live: a link has no such setting"),
        ({"access_rate": "10gbit"}, "access_rate: '10gbit' does not run live: a link has no such setting"),
        ({"topology": "parking-lot"}, "topology: 'parking-lot' does not run live: a link has no such setting"),
        ({"warmup": "mser5"}, "warmup: 'mser5' does not run live: give a time"),
    ],
)
def what_a_link_has_not_is_refused_by_its_name(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refused:
        _planned(**changes)
    assert str(refused.value).startswith(f"live.toml: {says}")


def what_is_as_without_it_runs_live() -> None:
    flows = ["1*cubic:profile=linux:ecn=off", "1*cbr:rate=1mbit:start=0s..1s"]
    assert _planned(device_ring="1p", access_rate="10x", topology="dumbbell", flows=flows).congestion_control == "cubic"


def datagrams_are_asked_for_again_until_one_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
        far.bind(("127.0.0.1", 0))
        port = far.getsockname()[1]
        monkeypatch.setattr(workload, "ASK_AGAIN_S", 0.05)

        def answer_the_second() -> None:
            far.recv(2000)
            text, to = far.recvfrom(2000)
            far.sendto(text, to)

        threading.Thread(target=answer_the_second, daemon=True).start()
        workload.ask_for_datagrams("127.0.0.1", port, {"count": 1}).close()
        monkeypatch.setattr(workload, "MOST_QUESTIONS", 2)
        with pytest.raises(workload.Unreachable, match=r"no datagram has arrived within 0\.1 s"):
            workload.ask_for_datagrams("127.0.0.1", port, {"count": 1})
