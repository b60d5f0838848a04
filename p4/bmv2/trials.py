"""Trials of the comparison: bursts into a switch in a network of its own, and what comes out beside the simulator."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from aqmlab import _native
from bmv2 import decisions, frames, network
from bmv2.decisions import ARRAYS, CLASSES, QUEUES, Comparison, OrderError, Packet
from bmv2.frames import Frame, Hop
from bmv2.thrift import Switch

# Port 0 is the sender's, port 1 the receiver's.
SENDER, RECEIVER = 0, 1
THRIFT = 9090
SENDER_MAC, SWITCH_MAC, RECEIVER_MAC = frames.mac(1), frames.mac(0xFE), frames.mac(2)
SOURCES = tuple(frames.address(f"10.0.0.{number}") for number in range(1, CLASSES + 1))
DESTINATION = frames.address("10.0.1.1")
FIRST_SESSION = 100
# BMv2 reads its ports through rings of about 30 frames; what finds them full is lost before any program sees it.
# So many packets are sent before the switch has counted them.
_WINDOW = 16
# A threshold that no virtual queue exceeds.
_NEVER = 2**31


@dataclass(frozen=True)
class Trial:
    """A build of the program, what the simulator runs beside it, and what is sent."""

    name: str
    program: str
    defines: tuple[str, ...]
    weight: int | None
    threshold: int | None
    count: int
    burst: int
    pause: float
    rate: int
    """Packets per second of each band."""
    seed: int
    rounds: int = 1
    """Before each round but the first, the simulator's control plane decides, and both have what it wrote."""

    def bits(self) -> int:
        """Rate of the port in the simulator, where a packet is 1000 bytes."""
        return decisions.BANDS * self.rate * 8000


TRIALS = (
    Trial("registers never written", "pmqecn int", (), None, None, 1500, 40, 0.06, 200, 1),
    Trial("weight 3, threshold 5", "pmqecn weight 3 threshold 5 int", (), 3, 5, 1500, 30, 0.06, 200, 2),
    Trial("weight 1, threshold 1", "pmqecn weight 1 threshold 1 int", (), 1, 1, 1500, 20, 0.04, 200, 3),
    Trial("bands overflow", "pmqecn weight 300 threshold 40 int", (), 300, 40, 2000, 160, 0.2, 200, 4),
    Trial("control plane", "pmqecn int", (), None, None, 900, 40, 0.06, 200, 5, rounds=3),
    Trial(
        "rounds as in the authors' code",
        "pmqecn weight 3 threshold 5 refill round int",
        ("ROUNDS",),
        3,
        5,
        1500,
        30,
        0.06,
        200,
        6,
    ),
)


def run(trial: Trial, folder: Path) -> tuple[Comparison, int, int]:
    """Run a trial; return the comparison, and how many packets were sent and dropped. Raises `OrderError`."""
    found = Comparison()
    lost = 0
    with network.switch(
        _compiled(trial, folder), {SENDER: "sw0", RECEIVER: "sw1"}, THRIFT, folder / "switch.log"
    ) as switch:
        _configure(switch, trial)
        simulator = _native.DataPlane(trial.program, [0, trial.bits()], trial.seed)
        ports = network.Port("host0"), network.Port("host1")
        serial = 0
        for turn in range(trial.rounds):
            if turn:
                simulator.advance(turn * 2_000_000_000)
                _install(switch, simulator)
            sent = decisions.packets(trial.count, trial.seed * 100 + turn, trial.burst, trial.pause)
            came_out, came_back = _exchange(ports, sent, switch)
            end = switch.read("serial", 0)
            left = decisions.departures(came_out)
            sequence = decisions.order(sent, left, serial, end)
            serial = end
            part = decisions.replay(simulator, RECEIVER, sent, sequence, left, _messages(came_back, found))
            arrays = {name: switch.read_all(name) for name in ("arrivals", "waiting", "used")}
            decisions.compare_registers(part, RECEIVER, arrays, simulator.registers())
            found.compared += part.compared
            found.differing += part.differing
            found.lines += part.lines
            lost += len(sent) - len(left)
        for port in ports:
            port.socket.close()
    return found, trial.count * trial.rounds, lost


@dataclass(frozen=True)
class Overload:
    """Twice what a port sends, by class: weights and proportions of what comes."""

    weights: tuple[int, int, int]
    offered: tuple[int, int, int]


OVERLOADS = (Overload((4, 4, 4), (4, 1, 1)), Overload((8, 2, 2), (1, 1, 1)))


def overload(case: Overload, folder: Path, count: int = 6000) -> list[tuple[int, list[int]]]:
    """Return what came of each class, and what each band sent of it."""
    trial = Trial("overload", "pmqecn", (), None, _NEVER, count, 1, 0.0, 100, 1)
    with network.switch(
        _compiled(trial, folder), {SENDER: "sw0", RECEIVER: "sw1"}, THRIFT, folder / "switch.log"
    ) as switch:
        _configure(switch, trial)
        for queue, weight in enumerate(case.weights):
            switch.write("weight", RECEIVER * QUEUES + queue, weight)
        source = random.Random(trial.seed)
        gap = 1 / (2 * decisions.BANDS * trial.rate)
        queues = source.choices(range(CLASSES), case.offered, k=count)
        sent = [Packet(gap, queue, frames.NOT_ECT, None) for queue in queues]
        ports = network.Port("host0"), network.Port("host1")
        left = decisions.departures(_exchange(ports, sent, switch)[0])
        for port in ports:
            port.socket.close()
    bands = Counter((sent[number].queue, departure.band) for number, departure in left.items())
    return [(queues.count(queue), [bands[queue, band] for band in range(decisions.BANDS)]) for queue in range(CLASSES)]


def _compiled(trial: Trial, folder: Path) -> Path:
    program = folder / f"{'-'.join(('trace', *trial.defines)).lower()}.json"
    if not program.exists():
        network.compile_program(program, "TRACE", *trial.defines)
    return program


def _configure(switch: Switch, trial: Trial) -> None:
    switch.add_route(DESTINATION, 32, RECEIVER_MAC, RECEIVER)
    for queue, source in enumerate(SOURCES[:-1]):
        switch.add_class((source, b"\xff" * 4), (bytes(4), bytes(4)), queue)
    for port in (SENDER, RECEIVER):
        switch.mirror(FIRST_SESSION + port, port)
    switch.set_rate(RECEIVER, trial.rate)
    for queue in range(CLASSES):
        place = RECEIVER * QUEUES + queue
        if trial.weight is not None:
            switch.write("weight", place, trial.weight)
        if trial.threshold is not None:
            switch.write("threshold", place, trial.threshold)


def _install(switch: Switch, simulator: _native.DataPlane) -> None:
    """Write into the switch what the simulator's control plane has in force."""
    registers = simulator.registers()
    for name in ("weight", "threshold", "rate", "best_rate"):
        for queue in range(CLASSES):
            value = registers[ARRAYS.index(name)][RECEIVER * CLASSES + queue]
            switch.write(name, RECEIVER * QUEUES + queue, value)


def frame(number: int, packet: Packet) -> bytes:
    """Return the frame of a packet: 20 bytes of data for the switch to write into."""
    return frames.build(
        Frame(
            source_mac=SENDER_MAC,
            destination_mac=SWITCH_MAC,
            source=SOURCES[packet.queue],
            destination=DESTINATION,
            ecn=packet.ecn,
            dscp=decisions.DSCP[packet.queue],
            hops=None if packet.hops is None else decisions.carried(packet.hops),
            data=number.to_bytes(4) + bytes(60),
        )
    )


def _exchange(
    ports: tuple[network.Port, network.Port], sent: list[Packet], switch: Switch
) -> tuple[list[Frame], list[Frame]]:
    """Send packets in time; return the frames that came out at the receiver, and back at the sender."""
    outputs: tuple[list[Frame], list[Frame]] = ([], [])

    def collect() -> int:
        count = 0
        for port, into in zip(ports, outputs, strict=True):
            while (data := port.receive()) is not None:
                count += 1
                if (parsed := frames.parse(data)) is not None:
                    into.append(parsed)
        return count

    before, due = _arrivals(switch), time.monotonic()
    end = due + 300
    for number, packet in enumerate(sent):
        due += packet.gap
        while (wait := due - time.monotonic()) > 0:
            collect()
            time.sleep(min(wait, 0.005))
        ports[0].send(frame(number, packet))
        while (number + 1) % _WINDOW == 0 and (_arrivals(switch) - before) < number + 1:
            collect()
            if time.monotonic() > end:
                raise OrderError("the switch does not count what is sent")
    quiet = time.monotonic()
    while time.monotonic() < end:
        if collect():
            quiet = time.monotonic()
        elif time.monotonic() - quiet > 1 and not any(switch.read_all("held")[: (RECEIVER + 1) * decisions.BANDS]):
            return outputs[1], outputs[0]
        time.sleep(0.01)
    raise OrderError("the switch does not run empty")


def _arrivals(switch: Switch) -> int:
    return sum(switch.read("arrivals", RECEIVER * QUEUES + queue) for queue in range(CLASSES))


def _messages(came_back: list[Frame], found: Comparison) -> dict[int, Hop]:
    """Return the messages by the packet that they are about, and check what is fixed in each."""
    messages: dict[int, Hop] = {}
    for message in came_back:
        number, hops = message.number, message.hops
        if number is None or hops is None or number in messages:
            found.check("message's shape", f"message about {number}", (hops, number in messages), "one hop, once")
            continue
        # 64 bytes; to the sender's MAC and port, from the one that it sent to.
        here = (message.destination_mac, message.source_mac, message.source, message.ecn, message.ttl, len(hops))
        there = (SENDER_MAC, SWITCH_MAC, DESTINATION, frames.CE, 64, 1)
        found.check("message's shape", f"message about {number}", here, there)
        messages[number] = hops[0]
    return messages
