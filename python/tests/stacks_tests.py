"""Real transports: what makes them another kind of flow than the simulator's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, ClassVar

import polars as pl
import pytest
from conftest import ROOT, loaded

import aqmlab
from aqmlab import InputError, exports, scenario
from aqmlab.engine.linux import job
from aqmlab.scenario import flows
from aqmlab.scenario.kinds import KINDS, TRANSPORTS

REAL = [one.name for one in TRANSPORTS.values() if one.form == "stack"]


def the_stacks_of_this_build_are_kinds_of_flow() -> None:
    assert {"quinn", "smoltcp"} <= set(REAL)
    assert set(REAL) <= KINDS.keys()


@pytest.mark.parametrize("stack", REAL)
def results_are_the_same_with_any_number_of_jobs(stack: str) -> None:
    def frames(jobs: int) -> list[pl.DataFrame]:
        flows = [f"2*{stack}", f"1*{stack}:size=200kb", "1*cubic"]
        result = aqmlab.compare(rate="10mbit", rtt="20ms", duration="2s", flows=flows, aqm="pie", seeds=4, jobs=jobs)
        return [result.runs.drop("cpu_s"), result.flows, result.series, result.queues]

    for alone, beside in zip(frames(1), frames(2), strict=True):
        assert alone.equals(beside, null_equal=True)


def what_a_stack_tells_of_itself_is_in_the_flows_and_series() -> None:
    result = aqmlab.compare(rate="10mbit", rtt="40ms", duration="6s", flows="1*quinn", aqm="fifo", seeds=1)
    (flow,) = result.flows.iter_rows(named=True)
    assert flow["kind"] == "quinn"
    assert 40.0 < flow["rtt_mean_ms"] < 90.0
    assert flow["packets_dropped"] <= flow["retransmissions"] + 2
    assert flow["recoveries"] > 0
    windows = result.series.filter(pl.col("name") == "flow.0.cwnd_bytes")["value"]
    assert 0 < windows.min() < windows.max()


@pytest.mark.parametrize("stack", REAL)
def finite_flows_and_workloads_go_over_it(stack: str) -> None:
    flows = [f"2*{stack}:size=100kb:name=sized", f"1*workload:load=0.3:size=20kb:transport={stack}"]
    result = aqmlab.compare(rate="10mbit", rtt="20ms", duration="4s", flows=flows, aqm="fq_codel", seeds=1)
    (run,) = result.runs.iter_rows(named=True)
    assert run["class.sized.completed_flows"] == 2
    assert run["class.workload.completed_flows"] > 20


@pytest.mark.parametrize("stack", REAL)
def a_transport_stops_on_request_and_that_is_no_failure(stack: str) -> None:
    flows = [f"1*{stack}:start=0s:stop=2s", "1*cubic:start=0s"]
    result = aqmlab.compare(rate="5mbit", rtt="20ms", duration="5s", warmup="1s", flows=flows, aqm="fifo", seeds=1)
    assert not any("ended too soon" in warning for warning in result.warnings)
    got = result.series.filter(name="flow.0.delivered_bytes").sort("time_s")
    before, then, after = (got.filter(pl.col("time_s") <= at)["value"][-1] for at in (2.0, 2.1, 5.0))
    assert before > 50_000
    # What a socket of smoltcp holds is still sent.
    assert after - then <= {"quinn": 0, "smoltcp": 256_000}[stack]


def quinn_tells_its_server_that_it_stopped_although_congestion_control_has_data_wait() -> None:
    """It resets the stream, and closes when that is acknowledged."""
    flows = "1*quinn:start=0s:stop=2s"
    result = aqmlab.compare(rate="5mbit", rtt="20ms", duration="5s", flows=flows, aqm="fifo", seeds=1)
    (files,) = exports.qlog(result)
    (log,) = (content for name, content in files.items() if "sender" in name)
    sent = [one for one in map(json.loads, log.split(b"\x1e")[2:]) if one["name"] == "quic:packet_sent"]
    after = [(one["time"], one["data"]["raw"]["length"]) for one in sent if one["time"] > 2000]
    assert after
    assert all(length < 100 for _, length in after)
    assert after[-1][0] < 2200


@pytest.mark.parametrize("stack", REAL)
def an_application_that_writes_over_time_gets_through_what_it_writes(stack: str) -> None:
    flows = [
        f"1*onoff:rate=8mbit:on=100ms:off=300ms:transport={stack}:start=0s",
        f"2*vbr:size=4kb:transport={stack}:start=0s",
    ]
    result = aqmlab.compare(rate="10mbit", rtt="20ms", duration="6s", warmup="2s", flows=flows, aqm="fifo", seeds=1)
    onoff, *frames = result.flows["goodput_mbit"].to_list()
    assert onoff == pytest.approx(2.0, rel=0.02)
    assert frames == pytest.approx([4096 * 8 / 0.04 / 1e6] * 2, rel=0.02)
    assert not any("ended too soon" in warning for warning in result.warnings)


def its_receivers_count_ecn_fields() -> None:
    def counts(ecn: str, aqm: str) -> tuple[float | None, ...]:
        flows = [f"1*quinn:ecn={ecn}"] if ecn else ["1*cubic:ecn=classic"]
        result = aqmlab.compare(rate="5mbit", rtt="20ms", duration="4s", warmup="1s", flows=flows, aqm=aqm, seeds=1)
        (run,) = result.runs.iter_rows(named=True)
        if ecn == "classic":
            # A QUIC packet that is marked is not dropped: all that are marked arrive.
            assert run["ecn_ce_packets"] == pytest.approx(run["marks"], abs=2)
        return tuple(run.get(f"ecn_{field}_packets") for field in ("ect0", "ect1", "ce"))

    ect0, ect1, ce = counts("classic", "codel ecn")
    assert (ect0 > 0, ect1, ce > 0) == (True, 0, True)
    assert counts("off", "codel ecn") == (0, 0, 0)
    assert counts("", "codel ecn") == (None, None, None)


def a_connection_that_fails_is_named_below_the_result() -> None:
    flows = "2*quinn:start=0s"
    result = aqmlab.compare(rate="1mbit", rtt="20ms", duration="35s", flows=flows, loss="99.99%", aqm="fifo", seeds=1)
    assert any("2 of the flows 'quinn' ended too soon: timed out" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("flows", "complaint"),
    [
        ("1*quinn:cc=vegas", "cc: 'vegas' is not one of cubic, newreno"),
        ("1*quinn:mss=1000b", "'mss' means nothing for quinn"),
        ("1*quinn:packet=1000b", "packet: '1000b' is out of range"),
        ("1*quinn:start=2s:stop=1s", "stop is 1s: it must not be before the latest start, 2s"),
        ("1*smoltcp:ecn=classic", "ecn: 'classic' is not one of off"),
        ("1*web:transport=quinn", "transport 'quinn' is not one of"),
        ("1*gaming:transport=smoltcp", "transport 'smoltcp' is not one of"),
    ],
)
def what_it_cannot_do_is_refused(flows: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        aqmlab.compare(rate="10mbit", rtt="20ms", duration="2s", flows=flows, aqm="fifo", seeds=1)


def no_kernel_has_it() -> None:
    options = {"rate": "10mbit", "rtt": "20ms", "duration": "2s", "flows": "1*quinn", "aqm": "fifo"}
    (simulated,) = scenario.resolve(scenario.from_values(options)).scenarios.values()
    with pytest.raises(InputError, match=r"engine linux sends bulk data over TCP and .* not quinn"):
        job.described(simulated, 1)


def _example(name: str, transport: str) -> Iterator[str]:
    """Register the class of an example of the documents, and forget it."""
    module = loaded(ROOT / "docs" / "examples" / f"{name}.py", name)
    yield from _registered(getattr(module, transport))
    del sys.modules[name]


def _registered(transport: type[aqmlab.Transport]) -> Iterator[str]:
    """Register a class, and forget it: other tests look at every kind."""
    known = [(table, dict(table)) for table in (KINDS, TRANSPORTS)]
    yield aqmlab.register_transport(transport)
    for table, before in known:
        table.clear()
        table.update(before)
    flows._declared.cache_clear()


@pytest.fixture
def aimd() -> Iterator[str]:
    yield from _example("aimd", "AIMD")


@pytest.fixture
def aioquic() -> Iterator[str]:
    pytest.importorskip("aioquic", reason="aioquic is not installed: the extra dev")
    yield from _example("aioquic_flow", "Aioquic")


def a_transport_in_python_is_a_kind_of_flow(aimd: str) -> None:
    def frames(flows: list[str]) -> pl.DataFrame:
        return aqmlab.compare(rate="4mbit", rtt="40ms", duration="3s", flows=flows, aqm="fq_codel", seeds=2).runs

    runs = frames([f"1*{aimd}", "1*cubic"])
    assert min(runs["class.aimd.goodput_mbit"]) > 1.3
    assert min(runs["class.aimd.rtt_mean_ms"]) > 40.0
    assert runs.drop("cpu_s").equals(frames([f"1*{aimd}", "1*cubic"]).drop("cpu_s"), null_equal=True)
    assert frames([f"3*{aimd}:size=60kb:payload=600b"])["completed_flows"].to_list() == [3, 3]
    with pytest.raises(InputError, match="payload: '2000b' is out of range"):
        frames([f"1*{aimd}:payload=2000b"])


class Steady(aqmlab.Transport):
    """Sends a datagram each millisecond, and asks for the next time only as it sends."""

    def __init__(self) -> None:
        self.next = self.start

    def send(self, now: int) -> bytes | None:
        """Send what is due."""
        if self.role == "server" or now < self.next:
            return None
        self.next = now + 1_000_000
        return bytes(1000)

    def deadline(self) -> int | None:
        """Wait for the next one."""
        return self.next if self.role == "client" else None


@pytest.fixture
def steady() -> Iterator[str]:
    yield from _registered(Steady)


class Written(aqmlab.Transport):
    """Sends what its application writes, in datagrams, as it comes."""

    def __init__(self) -> None:
        assert self.size == 0
        self.left = 0

    def write(self, count: int, now: int) -> None:
        """Have so much more to send."""
        assert now >= self.start
        self.left += count

    def receive(self, datagram: bytes, ecn: int, now: int) -> None:  # noqa: ARG002
        """Count it."""
        self.delivered += len(datagram)

    def send(self, now: int) -> bytes | None:  # noqa: ARG002
        """Send what there is."""
        count = min(self.left, 1000)
        self.left -= count
        return bytes(count) or None


@pytest.fixture
def written() -> Iterator[str]:
    yield from _registered(Written)


def a_transport_in_python_with_write_carries_what_an_application_writes_and_one_without_does_not(
    written: str, steady: str
) -> None:
    path = {"rate": "10mbit", "rtt": "20ms", "duration": "3s", "warmup": "1s", "aqm": "fifo", "seeds": 1}
    result = aqmlab.compare(**path, flows=f"1*cbr:rate=2mbit:transport={written}:start=0s")
    assert result.flows["goodput_mbit"].to_list() == pytest.approx([2.0], rel=0.02)
    with pytest.raises(InputError, match=f"transport '{steady}' is not one of udp, newreno"):
        aqmlab.compare(**path, flows=f"1*cbr:rate=2mbit:transport={steady}")


@pytest.mark.timeout(30)
def a_transport_in_python_falls_silent_where_it_stops_and_nothing_is_asked_of_it(steady: str) -> None:
    flows = f"1*{steady}:start=0s:stop=500ms"
    result = aqmlab.compare(rate="20mbit", rtt="20ms", duration="5s", warmup="0s", flows=flows, aqm="fifo", seeds=1)
    assert result.flows["packets_arrived"].to_list() == [500]


def aioquic_runs_the_same_with_any_number_of_jobs_though_its_keys_differ(aioquic: str) -> None:
    def frames(jobs: int) -> list[pl.DataFrame]:
        flows = [f"1*{aioquic}", f"1*{aioquic}:size=20kb:name=sized", "1*cubic"]
        result = aqmlab.compare(rate="3mbit", rtt="40ms", duration="2s", flows=flows, aqm="pie", seeds=2, jobs=jobs)
        return [result.runs.drop("cpu_s"), result.flows, result.series, result.queues]

    alone, beside = frames(1), frames(2)
    assert all(one.equals(other, null_equal=True) for one, other in zip(alone, beside, strict=True))
    runs = alone[0]
    assert runs["class.sized.completed_flows"].to_list() == [1, 1]
    assert min(runs["class.aioquic.goodput_mbit"]) > 0.5
    assert min(runs["class.aioquic.rtt_mean_ms"]) > 40.0


def aioquic_carries_what_an_application_writes_in_streams(aioquic: str) -> None:
    onoff = f"1*onoff:rate=8mbit:on=100ms:off=300ms:transport={aioquic}:streams=3:packet=1300b:start=0s"
    path = {"rate": "10mbit", "rtt": "20ms", "duration": "4s", "warmup": "2s", "aqm": "fifo", "seeds": 1}
    result = aqmlab.compare(**path, flows=[onoff, f"1*{aioquic}:streams=7:size=200kb:start=0s:name=sized"])
    assert result.flows["goodput_mbit"][0] == pytest.approx(2.0, rel=0.02)
    assert result.runs["class.sized.completed_flows"].to_list() == [1]


def a_transport_that_raises_ends_the_run_with_its_place(aimd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("no window")

    monkeypatch.setattr(sys.modules["aimd"].AIMD, "receive", fails)
    with pytest.raises(InputError, match="aimd: ZeroDivisionError: no window"):
        aqmlab.compare(rate="4mbit", rtt="40ms", duration="1s", flows=f"1*{aimd}", aqm="fifo", seeds=1)


class Mistaken(aqmlab.Transport):
    """Sends 1000 bytes each millisecond, but for one mistake."""

    ecn = True
    mistake: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.next = self.start if self.role == "client" else None
        self.owed = 0
        vars(self).update(self.mistake.get("attributes", {}))

    def receive(self, datagram: bytes, ecn: int, now: int) -> Any:  # noqa: ARG002
        """Count it, and answer."""
        self.owed += self.role == "server"
        self.delivered += len(datagram) if self.role == "server" else 0
        self.delivered = self.mistake.get("delivered", {}).get(self.delivered, self.delivered)
        return self.mistake["receive"]() if "receive" in self.mistake else None

    def send(self, now: int) -> Any:
        """Send what is due."""
        if self.owed:
            self.owed -= 1
            return b"got it"
        if self.next is None or now < self.next:
            return None
        self.next = now + 1_000_000
        if self.mistake.get("send") == "endless":
            self.next = now
        return self.mistake.get("sent", bytes(1000))

    def deadline(self) -> Any:
        """Wait for the next one."""
        return self.mistake.get("deadline", self.next) if self.role == "client" else None


async def _later() -> None:
    """Do nothing, and not yet."""


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        ({"deadline": 0}, "deadline returned 0 at 1000 ns, the last of 100 times without a datagram sent or received"),
        ({"deadline": -5}, "deadline returned -5 at 1000 ns, the last of 100 times"),
        ({"deadline": 1.5}, "deadline returned 1.5: allowed is whole nanoseconds, or None"),
        ({"deadline": True}, "deadline returned True: allowed is whole nanoseconds, or None"),
        ({"send": "endless"}, "send returned the last of 100000 datagrams at 0 ns: it must return None when no more"),
        (
            {"sent": bytes(10_000_000)},
            "send returned a datagram of 10000000 bytes: allowed are 1 to 1472, since the key",
        ),
        ({"sent": b""}, "send returned a datagram of 0 bytes: allowed are 1 to 1472, since the key packet is 1500b"),
        ({"sent": "text"}, "send returned 'text': allowed is bytes, a tuple of bytes and an ECN field, or None"),
        ({"sent": (b"x", 1, 2)}, "send returned (b'x', 1, 2): allowed is bytes, a tuple of bytes and an ECN field"),
        (
            {"sent": (b"x", 7)},
            "send returned the ECN field 7: allowed is 0 (not ECN-capable), 1 (ECT(1)) or 2 (ECT(0))",
        ),
        ({"sent": (b"x", 3)}, "send returned the ECN field 3: allowed is 0"),
        ({"sent": (b"x", "CE")}, "send returned the ECN field 'CE': allowed is 0"),
        ({"attributes": {"delivered": 10**30}}, f"delivered is {10**30}: allowed is a whole number of bytes from 0"),
        ({"attributes": {"delivered": 1.5}}, "delivered is 1.5: allowed is a whole number of bytes from 0"),
        (
            {"delivered": {3000: 3001}},
            "delivered is 3001: allowed is a whole number of bytes from 2000, what it was bef",
        ),
        (
            {"delivered": {3000: 1}},
            "delivered is 1: allowed is a whole number of bytes from 2000, what it was before, to",
        ),
        (
            {"attributes": {"rtt": "x"}},
            "rtt is 'x': allowed is a whole number of nanoseconds from 0 to 100000000000, or",
        ),
        ({"attributes": {"rtt": -5}}, "rtt is -5: allowed is a whole number of nanoseconds from 0"),
        ({"attributes": {"window": 10**13}}, "window is 10000000000000: allowed is a whole number of bytes from 0 to"),
        (
            {"attributes": {"window": "x" * 10**6}},
            "xxxxxx...: allowed is a whole number of bytes from 0 to 1000000000000",
        ),
        (
            {"receive": _later},
            "receive returned a coroutine, whose body nobody runs: allowed is a method without yield",
        ),
    ],
)
def what_a_transport_answers_is_checked(mistake: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mistaken, "mistake", mistake)
    kinds = _registered(Mistaken)
    path = {"rate": "10mbit", "rtt": "10ms", "duration": "1s", "warmup": "0s", "aqm": "fifo", "seeds": 1}
    with pytest.raises(InputError) as refused:
        aqmlab.compare(**path, flows=f"1*{next(kinds)}:start=0s")
    next(kinds, None)
    text = str(refused.value)
    assert says in text
    assert text.startswith("mistaken: ")
    assert "\n" not in text
    assert len(text) < 400


def a_transport_without_a_mistake_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = _registered(Mistaken)
    path = {"rate": "10mbit", "rtt": "10ms", "duration": "1s", "warmup": "0s", "aqm": "fifo", "seeds": 1}
    kind = next(kinds)
    assert aqmlab.compare(**path, flows=f"1*{kind}:start=0s").runs["goodput_mbit"].item() > 7.5
    monkeypatch.setattr(Mistaken, "ecn", False)
    monkeypatch.setattr(Mistaken, "mistake", {"sent": (b"x", 1)})
    next(kinds, None)
    kinds = _registered(Mistaken)
    with pytest.raises(
        InputError, match="send returned the ECN field 1: allowed is 0, since the class does not declare"
    ):
        aqmlab.compare(**path, flows=f"1*{next(kinds)}:start=0s")
    next(kinds, None)


def a_class_that_cannot_be_a_kind_of_flow_is_refused() -> None:
    class Plain(aqmlab.Transport):
        """Nothing."""

    class Taken(aqmlab.Transport):
        """Takes a name that is taken."""

        params: ClassVar[dict[str, str]] = {"size": "1kb"}

    for given, name, complaint in [
        (Plain, "cubic", "is a kind of flow already"),
        (Plain, "My Transport", "is no name of a kind of flow"),
        (int, "whole", "is no subclass of aqmlab.Transport"),
        (Taken, "taken", "params: 'size' is taken"),
    ]:
        with pytest.raises(InputError, match=complaint):
            aqmlab.register_transport(given, name)  # type: ignore[arg-type]
