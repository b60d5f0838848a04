"""The points of `points.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
# A code point of each access category, the same by RFC 8325 and by precedence, which ns-3 goes by: CS1, CS4, CS6.
DSCP = {"bk": 8, "be": 0, "vi": 32, "vo": 48}


@dataclass(frozen=True)
class Flow:
    """Flows of one kind, access category and direction, one for each of some stations; ``mbit`` is what UDP offers."""

    kind: str
    category: str
    direction: str
    stations: tuple[int, ...]
    mbit: float | None

    @staticmethod
    def read(text: str) -> "Flow":
        """Read ``udp vo down 60 0 1`` or ``cubic up 2``."""
        kind, *rest = text.split()
        category = rest.pop(0) if rest[0] in DSCP else "be"
        direction = rest.pop(0)
        mbit = float(rest.pop(0)) if kind == "udp" else None
        return Flow(kind, category, direction, tuple(int(one) for one in rest), mbit)


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
    ping_category: str = "be"
    sack: bool = True
    agreed: bool = False

    @property
    def udp(self) -> bool:
        """Whether nothing but UDP is sent."""
        return all(flow.kind == "udp" for flow in self.flows)

    @property
    def categories(self) -> list[str]:
        """Return the access categories of its flows, the lowest first."""
        return [category for category in DSCP if any(flow.category == category for flow in self.flows)]


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
