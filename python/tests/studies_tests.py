"""Measurements without a simulation, compared with known values."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from conftest import ROOT

from aqmlab import InputError, _native, compare
from aqmlab.papers.studies import airtime, attacks, conservation, cost, drop_probability, sketch, steps


def counts_before_are_those_of_a_plain_count() -> None:
    keys = np.random.default_rng(1).integers(0, 20, 500, dtype=np.uint64)
    seen: Counter[int] = Counter()
    expected = []
    for key in keys.tolist():
        expected.append(seen[key])
        seen[key] += 1
    assert sketch._counts_before(keys).tolist() == expected


def the_directly_computed_threshold_is_equation_9() -> None:
    # Three packets of one flow, one of another: (3 * 3/4 + 1 * 1/4) / 4.
    keys = np.array([5, 5, 9, 5], dtype=np.uint64)
    assert sketch._thresholds(keys, samples=2)[3] == pytest.approx(0.625)


def without_collisions_the_running_threshold_is_equation_9() -> None:
    keys = sketch._stream()[:5000]
    _, running, _ = _native.sketch("count_min", 65_536, 4, keys.astype("<u8").tobytes())
    thresholds = np.frombuffer(running, "<f8")
    for place, slow in sketch._thresholds(keys).items():
        assert thresholds[place] == pytest.approx(slow, rel=1e-3)


def errors_shrink_with_the_width_and_stay_below_the_bound() -> None:
    rows = sketch.measure("error", ["32", "256", "2048"])
    found = {(name, x): value for name, x, _, value, _, _ in rows}
    for width in (32.0, 256.0, 2048.0):
        bound = found["bound e / width", width]
        assert bound == pytest.approx(np.e / width)
        assert found["conservative", width] <= found["count_min", width] < bound
    for kind in sketch.SKETCHES:
        assert found[kind, 32.0] > found[kind, 256.0] > found[kind, 2048.0]


def costs_name_time_and_memory_of_every_aqm() -> None:
    result = compare(
        rate="50mbit",
        rtt="60ms",
        buffer="50p",
        aqm=["fifo", "s-pie", "fq_codel"],
        duration="100ms",
        warmup="0s",
        seeds=1,
    )
    aqms = result.aqms
    times = cost.measure(result, aqms, aqms, "ns_per_packet", ["10"])
    assert [row[0] for row in times] == aqms
    assert all(1.0 < row[3] < 100_000.0 for row in times)
    held = {(row[0], row[1]): row[3] for row in cost.measure(result, aqms, aqms, "state_bytes", ["10", "1000"])}
    # 1024 x 4 counters of four bytes, whatever the number of flows.
    assert held["s-pie", 10.0] == held["s-pie", 1000.0] >= 16_384


@pytest.mark.parametrize(
    ("of", "at", "wanted"),
    [("ns", ["10"], "unknown cost 'ns'"), ("state_bytes", ["ten"], "'ten' is not a whole number from 1")],
)
def an_unknown_cost_is_refused(of: str, at: list[str], wanted: str) -> None:
    result = compare(rate="50mbit", rtt="60ms", aqm="fifo", duration="100ms", warmup="0s", seeds=1)
    with pytest.raises(InputError, match=wanted):
        cost.measure(result, ["fifo"], ["fifo"], of, at)


def red_drops_between_its_thresholds_and_droptail_at_its_limit() -> None:
    result = compare(
        rate="1500kbit",
        rtt="60ms",
        aqm=["fifo limit 100p", "red:ns3 min 20p max 80p limit 1000p", "red:ns3 min 20p max 80p limit 1000p nowait"],
        allow_unequal_buffers=True,
        duration="100ms",
        warmup="0s",
        seeds=1,
    )
    names = ["fifo", "red", "red at random"]
    rows = drop_probability.measure(result, names, result.aqms, "drop_share", ["0", "20", "50", "79", "100", "170"])
    shares = {name: [row[3] for row in rows if row[0] == name] for name in names}
    assert shares["fifo"] == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    # p is 0.01 midway. Distances are uniform from 1 to 1 / p; with `wait`, from 1 / p to 2 / p (Floyd 1993, section 7).
    assert shares["red at random"][:3] == [0.0, 0.0, pytest.approx(2 * 0.01 / 1.01, rel=0.1)]
    assert shares["red"][2] == pytest.approx(0.01 / 1.5, rel=0.1)
    assert shares["red"][3] < 0.02 < shares["red"][4] < 1.0 == shares["red"][5]


def an_unknown_measure_of_a_law_is_refused() -> None:
    result = compare(rate="1mbit", rtt="60ms", aqm="fifo", duration="100ms", warmup="0s", seeds=1)
    with pytest.raises(InputError, match="unknown measure of the law 'drops'"):
        drop_probability.measure(result, ["fifo"], ["fifo"], "drops", ["1"])


def an_unknown_error_is_refused() -> None:
    with pytest.raises(InputError, match="unknown error of a sketch 'eror', did you mean 'error'"):
        sketch.measure("eror", ["16"])


def a_loss_of_a_fifth_and_a_gain_of_two_to_three_times_meet_between_an_eleventh_and_a_sixth() -> None:
    rows = conservation.STUDY.rows(None, [], [], "loss", ["0.0909090909", "0.1666666667", "0.6"])
    found = {(name, at): value for name, _, at, value, _, _ in rows}
    assert found["responsive x 3", "0.0909090909"] == pytest.approx(0.2)
    assert found["responsive x 2", "0.1666666667"] == pytest.approx(0.2)
    # More than there is cannot be lost.
    assert found["responsive x 3", "0.6"] == 1.0
    with pytest.raises(InputError, match="is not a share"):
        conservation.STUDY.rows(None, [], [], "loss", ["half"])


def every_classifier_catches_a_steady_attacker_and_none_one_whose_packets_are_all_of_other_flows() -> None:
    for classifier, _, attack, share, _, _ in attacks.measure("attacker", ["steady", "another address each"]):
        assert (share > 0.99) if attack == "steady" else (share == 0.0), classifier


def the_table_of_attacks_is_what_is_measured() -> None:
    notes = (ROOT / "experiments/sqm-lru/notes.md").read_text(encoding="utf-8")
    head, _, *lines = re.findall(r"^\|.*\|$", notes.partition("## Captures")[0], re.M)
    assert head.count("|") == len(attacks.ATTACKS) + 3
    shares: dict[str, list[float]] = {}
    for of, chosen in (("attacker", list(attacks.ATTACKS)), ("others", ["steady"])):
        for classifier, _, _, share, _, _ in attacks.measure(of, chosen):
            shares.setdefault(classifier, []).append(share)
    for line, measured in zip(lines, shares.values(), strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")[1:]]
        assert [float(cell) for cell in cells] == pytest.approx(measured, abs=0.0051), line


def short_flows_push_nothing_above_mark_out_and_only_equation_1_spares_the_others() -> None:
    caught = {row[0]: row[3] for row in attacks.measure("attacker", ["behind one-packet flows"])}
    others = {row[0]: row[3] for row in attacks.measure("others", ["steady"])}
    assert caught["m_lru"] > 0.99
    assert others["m_lru sampling single"] < 0.001 < 0.1 < others["m_lru"]
    with pytest.raises(InputError, match="unknown attack"):
        attacks.measure("attacker", ["stealth"])


@pytest.mark.parametrize("control", steps.NOTIFICATIONS)
def a_control_that_was_notified_once_slows_down_and_recovers(control: str) -> None:
    unit = {"dcqcn": "us", "qcn": "ms"}.get(control, "s")
    times = [f"{number * {'us': 10, 'ms': 4, 's': 1}[unit]}{unit}" for number in range(60)]
    rates = [value for curve, _, _, value, _, _ in steps.measure(control, times) if curve == "rate"]
    before, lowest = rates[19], min(rates[20:24])
    assert 0.45 * before < lowest < before
    assert rates[-1] > 0.95 * before


def a_control_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="unknown rate control 'dcqn', did you mean 'dcqcn'"):
        steps.measure("dcqn", ["0s"])


@pytest.mark.parametrize(
    ("case", "base_rates", "shares", "rates"),
    [
        ("FIFO", (97.3, 101.1, 6.5), (0.10, 0.11, 0.79), (9.7, 11.4, 5.1)),
        ("Airtime fair", (126.7, 126.8, 6.5), (0.33, 0.33, 0.33), (42.2, 42.3, 2.2)),
    ],
)
def the_airtime_model_gives_table_1_of_its_paper(
    case: str, base_rates: tuple[float, ...], shares: tuple[float, ...], rates: tuple[float, ...]
) -> None:
    def of(measure: str) -> list[float]:
        return [row[3] for row in airtime.measure(measure, airtime.STATIONS) if row[0] == case]

    assert of("base_rate") == pytest.approx(base_rates, abs=0.2)
    assert of("airtime_share") == pytest.approx(shares, abs=0.01)
    assert of("rate") == pytest.approx(rates, abs=0.2)


def an_aggregate_of_the_airtime_model_has_padded_packets() -> None:
    # 1500 + 42 bytes are padded to 1544, 1498 + 42 need no padding.
    assert [airtime.mpdu(size) for size in (1500, 1498, 1499)] == [1544, 1540, 1544]
    one = airtime.Station(airtime.mpdu(airtime.PACKET), airtime.FAST)
    assert one.packets == 1.0
    # Alone on the air: 32 + 85.5 us of data, and 34 + 16 + 16 + 3.2 + 67.5 us beside it.
    assert one.base_rate == pytest.approx(
        8 * 1500 / (32 + 8 * 1544 / 144.444 + 34 + 16 + 16 + 8 * 58 / 144.444 + 67.5), rel=1e-5
    )


def the_airtime_model_refuses_what_it_has_not() -> None:
    with pytest.raises(InputError, match="base_rate"):
        airtime.measure("base_rat", airtime.STATIONS)
    with pytest.raises(InputError, match="slow"):
        airtime.measure("rate", ["slo"])
