from __future__ import annotations

import struct
from collections import Counter

import pytest

from aqmlab import InputError
from aqmlab._native import cost, sketch

KINDS = ("count_min", "conservative", "count_sketch")


def _packed(keys: list[int]) -> bytes:
    return struct.pack(f"<{len(keys)}Q", *keys)


@pytest.mark.parametrize("kind", KINDS)
def a_sketch_without_collisions_is_exact_and_its_threshold_is_equation_9(kind: str) -> None:
    keys = [n * n % 7 for n in range(500)]
    estimates, thresholds, size = sketch(kind, 4096, 5, _packed(keys))
    assert size == 4096 * 5 * 4
    seen: Counter[int] = Counter()
    for key, estimate, threshold in zip(
        keys, struct.unpack("<500Q", estimates), struct.unpack("<500d", thresholds), strict=True
    ):
        assert estimate == seen[key]
        seen[key] += 1
        slow = sum(m * (m / seen.total()) for m in seen.values()) / seen.total()
        assert threshold == pytest.approx(slow, rel=1e-12)


def a_narrow_sketch_overestimates_and_conservative_update_does_so_less() -> None:
    keys = _packed([n * 48271 % 1009 for n in range(20_000)])
    last = {kind: struct.unpack("<20000Q", sketch(kind, 64, 2, keys)[0])[-1009:] for kind in KINDS}
    assert all(count >= 18 for count in last["count_min"] + last["conservative"])
    assert sum(last["conservative"]) < 0.9 * sum(last["count_min"])
    assert sum(last["count_sketch"]) < sum(last["conservative"])


@pytest.mark.parametrize(
    ("kind", "width", "depth", "keys", "message"),
    [
        ("bloom", 16, 2, b"", "unknown kind 'bloom' .allowed: count_min, conservative, count_sketch"),
        ("count_min", 0, 2, b"", "0 x 2 counters"),
        ("count_min", 16, 9, b"", "depth 1 to 8"),
        ("count_min", 1 << 31, 1, b"", "at most 2.26 counters"),
        ("count_min", 16, 2, b"1234567", "7 bytes"),
    ],
)
def an_impossible_sketch_is_refused(kind: str, width: int, depth: int, keys: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sketch(kind, width, depth, keys)


def a_packet_costs_more_than_on_a_plain_ring_and_the_memory_of_a_sketch_is_fixed() -> None:
    few = cost("s-pie width 1024 depth 4", 1_000_000_000, 10, 50, 20_000)
    many = cost("s-pie width 1024 depth 4", 1_000_000_000, 10_000, 50, 20_000)
    assert few[0] > few[1] > 0
    assert few[2] == many[2] > 1024 * 4 * 4
    assert cost("s-pie width 2048 depth 4", 1_000_000_000, 10, 50, 20_000)[2] == few[2] + 1024 * 4 * 4


@pytest.mark.parametrize(
    ("spec", "rate", "flows", "standing", "packets", "message"),
    [
        ("s-pi", 1, 1, 1, 100, "s-pi"),
        ("fifo", 0, 1, 1, 100, "rate_bps: 0"),
        ("fifo", 1, 0, 1, 100, "flows: 0"),
        ("fifo", 1, 1, 0, 100, "standing_packets: 0"),
        ("fifo", 1, 1, 1, 8, "packets: 8 .allowed: at least 9"),
    ],
)
def an_impossible_measurement_is_refused(
    spec: str, rate: int, flows: int, standing: int, packets: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        cost(spec, rate, flows, standing, packets)
