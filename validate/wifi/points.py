"""The points of `points.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Flow:
    """Flows of one kind in one direction, one for each of some stations; ``mbit`` is what UDP offers."""

    kind: str
    direction: str
    stations: tuple[int, ...]
    mbit: float | None

    @staticmethod
    def read(text: str) -> "Flow":
        """Read ``udp down 60 0 1`` or ``cubic up 2``."""
        kind, direction, *rest = text.split()
        mbit = float(rest.pop(0)) if kind == "udp" else None
        return Flow(kind, direction, tuple(int(one) for one in rest), mbit)


@dataclass(frozen=True)
class Point:
    """One set-up that both sides run."""

    id: str
    stations: tuple[str, ...]
    queue: str
    flows: tuple[Flow, ...]
    line: str
    rtt_ms: float
    fifo_packets: int
    mac_packets: int
    warmup_s: float
    duration_s: float
    seeds: int
    ping: bool = False
    sack: bool = True

    @property
    def udp(self) -> bool:
        """Whether nothing but UDP is sent."""
        return all(flow.kind == "udp" for flow in self.flows)


def points() -> list[Point]:
    """Return the points of the file, in its order."""
    file = _file()
    found = []
    for table in file["point"]:
        values = {**file["common"], **table}
        flows = tuple(Flow.read(text) for text in values.pop("flows"))
        found.append(Point(**{**values, "stations": tuple(values["stations"])}, flows=flows))
    return found


def allowed() -> dict[str, float]:
    """Return what may differ, by what is compared."""
    found: dict[str, float] = _file()["allowed"]
    return found


def _file() -> dict:  # type: ignore[type-arg]
    with (HERE / "points.toml").open("rb") as stream:
        return tomllib.load(stream)
