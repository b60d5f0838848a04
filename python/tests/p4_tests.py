"""PMQECN in BMv2: frames, control plane and comparison without compiler and switch; with them, that it compiles."""

from __future__ import annotations

import random
import re
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from conftest import ROOT

from aqmlab import _native
from aqmlab.papers import pmqecn

sys.path.insert(0, str(ROOT / "p4"))

from bmv2 import control_plane, decisions, figure_6, frames, model, network, shapes, thrift, trials, validate
from bmv2.decisions import ARRAYS, CLASSES, QUEUES, Departure, OrderError, Packet
from bmv2.frames import Frame, Hop
from bmv2.thrift import SwitchError

PROGRAM = (ROOT / "p4/pmqecn.p4").read_text()


# Frames.


@pytest.mark.parametrize("hops", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("protocol", [frames.UDP, 6])
def a_frame_is_parsed_as_it_was_built(hops: int | None, protocol: int) -> None:
    made = Frame(
        frames.mac(1),
        frames.mac(2),
        frames.address("10.0.0.1"),
        frames.address("10.0.0.2"),
        ecn=frames.ECT_0,
        dscp=46,
        hops=None if hops is None else decisions.carried(hops),
        protocol=protocol,
        ports=(7, 9) if protocol == frames.UDP else (0, 0),
        data=b"\0\0\1\2abc",
    )
    assert frames.parse(frames.build(made)) == made
    assert made.number == 258


def the_sum_is_that_of_the_example_in_rfc_1071() -> None:
    assert frames.checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


def whatever_the_bytes_are_a_frame_is_parsed_or_refused() -> None:
    source = random.Random(1)
    parsed = sum(frames.parse(data) is not None for _, data in shapes.mutated(3000, 5))
    assert 500 < parsed < 2900
    for _ in range(3000):
        frames.parse(source.randbytes(source.randrange(100)))
        frames.parse(bytes(12) + b"\x08\0" + b"\x45" + source.randbytes(source.randrange(80)))


def what_the_model_sends_on_is_sound_and_has_its_hop() -> None:
    hop, hopped = Hop(1, 2, 3), 0
    for name, data in shapes.fixed() + shapes.mutated(2000, 7):
        sent, before = model.forwarded(data, frames.mac(9), hop), frames.parse(data)
        if sent is None or before is None:
            continue
        after = frames.parse(sent)
        # A header may promise more bytes than the frame has.
        assert after is not None or int.from_bytes(sent[16:18]) > len(sent) - 14, name
        if after is not None and before.hops is not None and len(before.hops) < 3 and before.ecn != frames.CE:
            assert after.hops == (hop, *before.hops), name
            hopped += 1
        elif after is not None:
            assert (after.hops, after.options) == (before.hops, before.options), name
    assert hopped > 50


def a_message_goes_back_in_64_bytes_with_the_rates_of_the_switch_alone() -> None:
    for hops in (None, 0, 3):
        sent = Frame(
            frames.mac(1),
            frames.mac(0xFE),
            frames.address("10.0.0.1"),
            frames.address("10.0.1.1"),
            hops=None if hops is None else decisions.carried(hops),
            ports=(7, 9),
            data=bytes(range(40)),
        )
        data = model.message(frames.build(sent), Hop(30, 20, 10))
        assert data is not None
        assert len(data) == 64
        message = frames.parse(data)
        assert message is not None
        assert (message.source_mac, message.destination_mac) == (frames.mac(0xFE), frames.mac(1))
        assert (message.source, message.destination, message.ports) == (sent.destination, sent.source, (9, 7))
        assert (message.ecn, message.hops, message.data) == (frames.CE, (Hop(30, 20, 10),), bytes(range(6)))
    for ecn in (frames.NOT_ECT, frames.CE):
        assert model.message(frames.build(replace(sent, ecn=ecn)), Hop(0, 0, 0)) is None


# Thrift.


@contextmanager
def _server(answer: Callable[[str, dict[int, Any]], bytes]) -> Iterator[thrift.Switch]:
    """A switch that is answered by a function of a call's name and arguments."""
    here, there = socket.socketpair()

    def receive(count: int) -> bytes:
        data = there.recv(count, socket.MSG_WAITALL) if count else b""
        if len(data) < count:
            raise EOFError
        return data

    def serve() -> None:
        reader = thrift.Reader(receive)
        try:
            while True:
                assert reader.number(thrift.I32) & 0xFFFFFFFF == thrift.VERSION | thrift.CALL
                name = reader.value(thrift.STRING).decode()
                sequence = reader.number(thrift.I32)
                arguments = reader.value(thrift.STRUCT)
                there.sendall(answer(name, arguments | {0: sequence}))
        except (EOFError, ConnectionResetError):
            pass  # The client closes, perhaps before it has read all.

    thread = threading.Thread(target=serve)
    thread.start()
    switch = thrift.Switch(here)
    here.settimeout(20)
    try:
        yield switch
    finally:
        switch.close()
        thread.join()
        there.close()


def _reply(name: str, sequence: int, fields: dict[int, thrift.Argument], kind: int = thrift.REPLY) -> bytes:
    head = struct.pack(">I", thrift.VERSION | kind) + thrift.text(name.split(":")[-1]).payload
    return head + thrift.i32(sequence).payload + thrift.record(fields).payload


def calls_reach_a_server_with_the_fields_that_bmv2_declares() -> None:
    calls: list[tuple[str, dict[int, Any]]] = []

    def answer(name: str, arguments: dict[int, Any]) -> bytes:
        sequence = arguments.pop(0)
        calls.append((name, arguments))
        values = thrift.items(thrift.I64, [thrift.i64(4), thrift.i64(-1)])
        found = {"read": thrift.i64(2**31), "read_all": values, "add_entry": thrift.i32(1)}
        result = next((value for key, value in found.items() if name.endswith(key)), None)
        return _reply(name, sequence, {0: result} if result else {})

    with _server(answer) as switch:
        assert switch.read("arrivals", 7) == 2**31
        assert switch.read_all("used") == [4, -1]
        switch.write("weight", 3, 2**32 - 1)
        switch.add_route(bytes((10, 0, 0, 0)), 8, frames.mac(3), 300)
        switch.add_class((bytes(4), b"\xff" * 4), (bytes(4), bytes(4)), 1)
        switch.mirror(100, 0)
        switch.set_rate(3, 200)
    lpm = {1: 1, 3: {1: bytes((10, 0, 0, 0)), 2: 8}}
    ternary = [{1: 2, 4: {1: bytes(4), 2: mask}} for mask in (b"\xff" * 4, bytes(4))]
    assert calls == [
        ("standard:bm_register_read", {1: 0, 2: b"arrivals", 3: 7}),
        ("standard:bm_register_read_all", {1: 0, 2: b"used"}),
        ("standard:bm_register_write", {1: 0, 2: b"weight", 3: 3, 4: 2**32 - 1}),
        (
            "standard:bm_mt_add_entry",
            {1: 0, 2: b"Enter.route", 3: [lpm], 4: b"Enter.forward", 5: [frames.mac(3), b"\x01\x2c"], 6: {}},
        ),
        (
            "standard:bm_mt_add_entry",
            {1: 0, 2: b"Enter.classify", 3: ternary, 4: b"Enter.set_queue", 5: [b"\1"], 6: {1: 1}},
        ),
        ("simple_switch:mirroring_session_add", {1: 100, 2: {1: 0}}),
        ("simple_switch:set_egress_queue_rate", {1: 3, 2: 200}),
    ]


@pytest.mark.parametrize(
    ("reply", "printed"),
    [
        (lambda name, seq: _reply(name, seq, {1: thrift.record({1: thrift.i32(2)})}), "refused"),
        (lambda name, seq: _reply(name, seq, {1: thrift.text("no such call")}, thrift.EXCEPTION), "no such call"),
        (lambda name, seq: _reply(name, seq + 1, {0: thrift.i64(1)}), "a reply of kind 2"),
        (lambda name, seq: b"HTTP/1.1 400 Bad Request\r\n", "no strict Thrift reply"),
        (lambda name, seq: _reply(name, seq, {})[:-1] + b"\x0f\0\0\x0b\x7f\xff\xff\xff", "a list of 2147483647 values"),
        (lambda name, seq: _reply(name, seq, {})[:-1] + b"\x0b\0\0\xff\xff\xff\xff", "a value of -1 bytes"),
        (lambda name, seq: _reply(name, seq, {})[:-1] + b"\x0c\0\0" * 40, "nests deeper than 16"),
        (lambda name, seq: _reply(name, seq, {})[:-1] + b"\x63\0\0", "unknown kind 99"),
    ],
)
def a_reply_that_is_none_is_refused_in_one_line(reply: Callable[[str, int], bytes], printed: str) -> None:
    with (
        _server(lambda name, arguments: reply(name, arguments[0])) as switch,
        pytest.raises(SwitchError, match=printed) as raised,
    ):
        switch.read("arrivals", 0)
    assert "\n" not in str(raised.value)


def whatever_a_switch_sends_is_a_value_or_refused() -> None:
    source = random.Random(3)
    for _ in range(3000):
        data = bytes(source.choice((2, 3, 8, 10, 11, 12, 13, 15, 0, 0, 1)) for _ in range(source.randrange(60)))

        def receive(count: int, rest: list[int] = list(data)) -> bytes:  # noqa: B006 - one for each round
            taken, rest[:count] = bytes(rest[:count]), []
            if len(taken) < count:
                raise SwitchError("closed")
            return taken

        with suppress(SwitchError):
            thrift.Reader(receive).value(thrift.STRUCT)


# The control plane.


class _Registers:
    """Registers without a switch."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, int], int] = {}

    def read(self, register: str, place: int) -> int:
        return self.values.get((register, place), 0)

    def write(self, register: str, place: int, value: int) -> None:
        assert 0 < value < 2**32
        self.values[register, place] = value

    def row(self, register: str, port: int) -> list[int]:
        return [self.read(register, port * QUEUES + queue) for queue in range(CLASSES)]


def a_period_writes_what_the_optimiser_says_of_what_it_read() -> None:
    registers, port = _Registers(), 3
    for queue, (arrivals, wait) in enumerate(((200, 5000), (400, 10_000), (800, 20_000))):
        registers.values["arrivals", port * QUEUES + queue] = arrivals
        registers.values["delay", port * QUEUES + queue] = wait
    controller = control_plane.Controller(control_plane.Settings(port, 1000.0, links=4))
    decision = controller.period(registers, 2.0)
    best = pmqecn.solve([100, 200, 400], [0.005, 0.01, 0.02], link=1000, links=4)
    assert decision is not None
    assert registers.row("threshold", port) == list(best.thresholds)
    assert registers.row("weight", port) == [round(12 * rate / 1000) for rate in best.service]
    assert registers.row("rate", port) == [100, 200, 400]
    assert registers.row("best_rate", port) == [max(1, round(rate)) for rate in best.rates]
    # Nothing more has come: nothing is decided, and other ports are never touched.
    assert controller.period(registers, 2.0) is None
    assert {place // QUEUES for _, place in registers.values} == {port}


def the_counters_of_arrivals_may_wrap() -> None:
    registers = _Registers()
    controller = control_plane.Controller(control_plane.Settings(0, 1000.0))
    for counted, expected in ((2**32 - 50, None), (150, 200)):
        registers.values["arrivals", 0] = counted
        decision = controller.period(registers, 2.0)
        assert decision is not None
        assert expected in (None, decision.arrivals[0])
    assert registers.read("rate", 0) == 100


@pytest.mark.parametrize("arrivals", [(100, 200, 400), (600, 30, 30), (900, 900, 900)])
def a_switch_and_the_simulator_get_the_same(arrivals: tuple[int, int, int]) -> None:
    simulator = _native.DataPlane("pmqecn", [8_000_000], 1)
    for queue, count in enumerate(arrivals):
        for _ in range(count):
            band = simulator.arrive(0, decisions.DSCP[queue], 1)
            assert band is not None
            simulator.leave(0, decisions.DSCP[queue], 1, band, 0, 0)
    simulator.advance(2_000_000_000)
    simulator.advance(3_000_000_000)
    there = simulator.registers()
    registers = _Registers()
    registers.values = {("arrivals", queue): count for queue, count in enumerate(arrivals)}
    control_plane.Controller(control_plane.Settings(0, 1000.0)).period(registers, 2.0)
    # The searches begin at different points: both are within a packet of the best.
    for name in ("weight", "threshold", "rate", "best_rate"):
        close = pytest.approx(there[ARRAYS.index(name)], abs=1, rel=0.02)
        assert registers.row(name, 0) == close, name


def periods_follow_the_clock_however_late_each_is() -> None:
    registers, now, elapsed = _Registers(), [0.0], []

    class Recorder(control_plane.Controller):
        def period(self, _: control_plane.Registers, seconds: float) -> control_plane.Decision | None:
            elapsed.append(seconds)
            now[0] += 0.5  # A solve takes its time.
            return None

    def sleep(seconds: float) -> None:
        now[0] += seconds

    one = Recorder(control_plane.Settings(0, 1000.0))
    control_plane.run([one], registers, period=2.0, until=10.0, clock=lambda: now[0], sleep=sleep)
    assert elapsed == [2.0] * 5


@pytest.mark.parametrize("wrong", [{"port": 511}, {"port": -1}, {"port": 0, "classes": ("voice",) * 5}])
def a_port_or_a_class_that_the_program_has_not_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\(allowed: "):
        control_plane.Controller(control_plane.Settings(service=1000.0, **wrong))


# The comparison.


def _switched(
    program: str, sent: list[Packet], seed: int
) -> tuple[dict[int, Departure], dict[int, Hop], int, _native.DataPlane]:
    """What a switch would say of packets, if it were the simulator's program behind bands of 64 packets."""
    plane, source = _native.DataPlane(program, [0, 4_000_000], 1), random.Random(seed)
    bands: list[list[tuple[int, int]]] = [[], [], []]
    left: dict[int, Departure] = {}
    messages: dict[int, Hop] = {}
    count = 0
    waiting = list(range(len(sent)))
    while waiting or any(bands):
        if waiting and (source.random() < 0.6 or not any(bands)):
            number = waiting.pop(0)
            packet = sent[number]
            band = plane.arrive(1, decisions.DSCP[packet.queue], packet.ecn)
            assert band is not None
            if len(bands[band]) < decisions.ROOM:
                bands[band].append((number, count))
            else:
                plane.drop(1, decisions.DSCP[packet.queue], packet.ecn, band)
        else:
            band = next(band for band, queue in enumerate(bands) if queue)
            number, admitted = bands[band].pop(0)
            packet = sent[number]
            behind = sum(map(len, bands))
            _, hop_fields, hop = plane.leave(1, decisions.DSCP[packet.queue], packet.ecn, band, behind, 0)
            assert hop is not None
            if hop_fields is not None:
                messages[number] = Hop(*hop_fields)
            length = plane.registers()[ARRAYS.index("waiting")][CLASSES + packet.queue]
            hops = decisions.expected_hops(packet, Hop(hop[0], *hop[1]))
            left[number] = Departure(admitted, count, band, length, packet.ecn, hops)
        count += 1
    return left, messages, count, plane


def _compared(
    program: str, sent: list[Packet], left: dict[int, Departure], messages: dict[int, Hop], count: int
) -> decisions.Comparison:
    sequence = decisions.order(sent, left, 0, count)
    return decisions.replay(_native.DataPlane(program, [0, 4_000_000], 1), 1, sent, sequence, left, messages)


def the_same_decisions_differ_in_nothing_and_each_other_one_is_found() -> None:
    program, sent = "pmqecn weight 300 threshold 5 int", decisions.packets(400, 1, 40, 0.1)
    left, messages, count, _ = _switched(program, sent, 2)
    assert messages
    assert len(left) < len(sent), "some find no room"
    found = _compared(program, sent, left, messages, count)
    assert (found.lines, found.compared["admission"], found.compared["hop"]) == ([], 400, len(left))
    number = next(number for number in messages if left[number].hops is not None and len(left[number].hops or ()) < 3)
    departure = left[number]
    first, *others = departure.hops or ()
    for kind, changed in (
        ("band", replace(departure, band=1 - departure.band)),
        ("virtual queue", replace(departure, waiting=departure.waiting + 1)),
        ("mark", replace(departure, ecn=frames.CE)),
        ("hop", replace(departure, hops=(replace(first, queue=first.queue + 1), *others))),
    ):
        assert _compared(program, sent, left | {number: changed}, messages, count).differing == {kind: 1}
    without = {other: hop for other, hop in messages.items() if other != number}
    assert _compared(program, sent, left, without, count).differing == {"notification": 1}
    wrong = messages | {number: replace(messages[number], rate=7)}
    assert _compared(program, sent, left, wrong, count).differing == {"message": 1}


def another_program_decides_otherwise() -> None:
    sent = decisions.packets(400, 1, 40, 0.1)
    left, messages, count, _ = _switched("pmqecn weight 3 threshold 5 int", sent, 2)
    for other in ("pmqecn weight 4 threshold 5 int", "pmqecn weight 3 threshold 6 int"):
        assert _compared(other, sent, left, messages, count).lines


def counts_that_are_no_order_are_refused() -> None:
    sent = decisions.packets(50, 1, 20, 0.1)
    left, *_, count, _ = _switched("pmqecn int", sent, 2)
    one, other = left[3], left[4]
    swapped = left | {3: replace(one, admitted=other.admitted), 4: replace(other, admitted=one.admitted)}
    missing = {number: departure for number, departure in left.items() if number != 7}
    for wrong, end in ((swapped, count), (left | {3: replace(one, left=other.left)}, count), (left, count + 1)):
        with pytest.raises(OrderError):
            decisions.order(sent, wrong, 0, end)
    # A packet that was lost after it was counted leaves a departure that nothing carries.
    with pytest.raises(OrderError, match="1 of 50 packets did not leave, but the switch dropped 2"):
        decisions.order(sent, missing, 0, count)


def registers_of_a_switch_lie_four_to_a_port() -> None:
    plane = _native.DataPlane("pmqecn", [0, 4_000_000], 1)
    band = plane.arrive(1, decisions.DSCP[1], 1)
    here = {name: [0] * 64 for name in ("arrivals", "waiting", "used")}
    here["arrivals"][QUEUES + 1] = here["waiting"][QUEUES + 1] = here["used"][(QUEUES + 1) * 3 + (band or 0)] = 1
    found = decisions.Comparison()
    decisions.compare_registers(found, 1, here, plane.registers())
    assert (found.lines, found.compared["register"]) == ([], 15)
    here["waiting"][QUEUES] = 1
    decisions.compare_registers(found, 1, here, plane.registers())
    assert found.lines == ["waiting of class 0, band 0: register is 1 in BMv2, 0 in the simulator"]


def a_packet_of_a_trial_has_room_for_what_the_switch_writes() -> None:
    for number, packet in enumerate(decisions.packets(200, 3, 30, 0.1)):
        frame = frames.parse(trials.frame(number, packet))
        assert frame is not None
        assert frame.trace == frames.Trace(number)
        assert (frame.ecn, None if frame.hops is None else len(frame.hops)) == (packet.ecn, packet.hops)


# The program and the command.


def the_program_and_what_surrounds_it_have_the_same_constants() -> None:
    given = dict(re.findall(r"(?:#define|const bit<\d+>) +(\w+) =? ?(\w+)", PROGRAM))
    assert (int(given["QUEUES"]), int(given["BANDS"]), int(given["ROOM"])) == (QUEUES, decisions.BANDS, decisions.ROOM)
    assert int(given["FIRST_SESSION"]) == trials.FIRST_SESSION
    assert int(given["PORTS"]) == control_plane.MOST_PORT + 2
    first = _native.DataPlane("pmqecn", [4_000_000], 1).registers()
    assert first[ARRAYS.index("threshold")] == [int(given["FIRST_THRESHOLD"])] * CLASSES
    assert first[ARRAYS.index("weight")] == [int(given["FIRST_WEIGHT"])] * CLASSES


def every_host_of_the_network_is_routed_once_by_each_switch() -> None:
    for name, ports in figure_6.PORTS.items():
        routes: list[tuple[bytes, int]] = []
        switch = Mock()
        switch.add_route = lambda destination, _prefix, _next_hop, port, into=routes: into.append((destination, port))
        figure_6.configure(switch, name)
        assert sorted(destination for destination, _ in routes) == sorted(figure_6.HOSTS.values())
        for host, address in figure_6.HOSTS.items():
            port = dict(routes)[address]
            assert ports[port][1] in (host, "s2" if name == "s1" else "s1")


def without_the_tools_the_command_names_them(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("P4_PREFIX", str(tmp_path))
    assert validate.main([]) == 0
    printed = capsys.readouterr().out
    assert f"p4c-bm2-ss is not in {tmp_path}/bin (P4_PREFIX)" in printed
    assert f"simple_switch is not in {tmp_path}/bin" in printed


def what_is_kept_is_no_quick_run(capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        validate.main(["--quick", "--write"])
    assert ended.value.code == 2
    assert "--write: what is kept is the whole validation" in capsys.readouterr().err


@pytest.mark.timeout(600)
def in_bmv2_the_program_decides_as_the_simulator_does() -> None:
    if lines := validate.missing():
        pytest.skip("; ".join(lines))
    words = [sys.executable, "-m", "bmv2.validate", "--quick"]
    done = subprocess.run(words, cwd=ROOT / "p4", capture_output=True, text=True, timeout=580)
    assert (done.returncode, "Nothing." in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize("defines", [(), ("ROUNDS",), ("TRACE",), ("TRACE", "ROUNDS")])
def the_program_compiles_without_a_warning(tmp_path: Path, defines: tuple[str, ...]) -> None:
    try:
        printed = network.compile_program(tmp_path / "pmqecn.json", *defines)
    except network.MissingError as error:
        pytest.skip(str(error))
    assert printed == []
