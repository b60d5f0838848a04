"""BBRv3 from the pseudocode of draft-ietf-ccwg-bbr-06: names as there, rates in byte/s, round-trip times in seconds.

Assumptions shared with aqmlab:

- The pacing rate starts again with the first round-trip time, as the text of section 5.6.2 says; no filter of
  round-trip times expires before its first sample.
- State is saved with the first loss of a round; entering fast recovery saves the window alone. After a timeout the
  window is one segment: nothing is in flight then.
- A probe has reached inflight_longterm (section 5.3.3.7) if what was in flight before the acknowledgment and a segment
  more is beyond it.
- BBR.bdp is BBR.bw * BBR.min_rtt at any time. The send quantum follows the pacing rate, and matters in the window only.
- Startup ends by losses (section 5.3.1.3) where data arrives that was sent after fast recovery began; ranges are
  counted between the ends of rounds of losses.
- Bounds in bytes are whole numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from control import MSS, NUMBERS, SECOND, Control, History

INFINITY = float("inf")
INITIAL, MIN_PIPE = 10 * MSS, 4 * MSS
LOSS_THRESH, BETA, HEADROOM = 0.02, 0.7, 0.15
# Pacing gain and window gain (section 5.6.1).
GAINS = {
    "Startup": (2.77, 2.0),
    "Drain": (0.5, 2.0),
    "DOWN": (0.9, 2.0),
    "CRUISE": (1.0, 2.0),
    "REFILL": (1.0, 2.0),
    "UP": (1.25, 2.25),
    "ProbeRTT": (1.0, 0.5),
}
PROBE_BW = ("DOWN", "CRUISE", "REFILL", "UP")
OPEN, FAST, TIMEOUT = range(3)


class WindowedMax:
    """The largest value of the last times."""

    def __init__(self) -> None:
        self.values: list[tuple[int, float]] = []

    def update(self, value: float, time: int, length: int) -> float:
        self.values = [(at, one) for at, one in [*self.values, (time, value)] if at > time - length]
        return max(one for _, one in self.values)


class Bbr3(Control):
    """One connection."""

    rules = (
        *("Startup", "Drain", "DOWN", "CRUISE", "REFILL", "UP", "ProbeRTT", "Startup ends by losses"),
        *(
            "probe too high",
            "precautionary",
            "acceleration",
            "slope",
            "bound in the short term",
            "limited by the bound",
        ),
        *("spurious from Startup", "spurious from UP", "spurious", "timeout", "restart"),
    )

    def __init__(self) -> None:
        """OnInit of section 5.2.1."""
        super().__init__()
        self.cwnd: float = INITIAL
        self.now, self.delivered = 0.0, 0
        self.max_bw_filter, self.extra_acked_filter = WindowedMax(), WindowedMax()
        self.max_bw = self.bw = self.extra_acked = 0.0
        self.min_rtt, self.min_rtt_stamp = INFINITY, 0.0
        self.probe_rtt_min_delay, self.probe_rtt_min_stamp, self.probe_rtt_expired = INFINITY, 0.0, False
        self.probe_rtt_done_stamp, self.probe_rtt_round_done = 0.0, False
        self.prior_cwnd = 0.0
        self.undo_state: str | None = None
        self.undo_bw_shortterm = self.undo_inflight_shortterm = self.undo_inflight_longterm = 0.0
        self.idle_restart = False
        self.extra_acked_interval_start, self.extra_acked_delivered = 0.0, 0
        self.full_bw_reached = False
        self.inflight_longterm = self.probe_up_acked_per_inc = INFINITY
        self.bw_probe_up_acked = self.bw_probe_up_rounds = self.rounds_since_probe_up = 0
        self.is_bw_probe_sample = self.prev_probe_too_high = self.prev_probe_precautionary = False
        self.ack_phase = "INIT"
        self.cycle_stamp, self.bw_probe_wait, self.cycle_count = 0.0, 0.0, 0
        self.loss_round_delivered, self.loss_round_start = 0, False
        self.next_round_delivered, self.round_start, self.round_count, self.drain_start_round = 0, False, 0, 0
        self.reset_congestion_signals()
        self.reset_short_term_model()
        self.reset_full_bw()
        self.pacing_rate, self.has_seen_rtt = 2.77 * INITIAL / 0.001, False
        self.state = "Startup"
        self.recovery, self.recovery_delivered = OPEN, 0
        self.lost_ranges, self.lost_until = 0, 0
        self.drawn = 0

    def rate(self) -> float:
        return self.pacing_rate

    def draw(self) -> int:
        """The next random number, 64 bits."""
        self.drawn += 1
        return NUMBERS[(self.drawn - 1) % len(NUMBERS)]

    # Section 5.2.3.

    def update_on_ack(self, now: float, delivered: int, rs: dict[str, float], recovery: int) -> None:
        self.now, self.delivered, self.rs = now, delivered, rs
        self.init_pacing_rate(rs["srtt"])
        self.follow_recovery(recovery)
        self.update_latest_delivery_signals()
        self.update_congestion_signals()
        self.update_ack_aggregation()
        self.check_full_bw_reached()
        self.check_startup_done()
        if self.state == "Drain" and (
            rs["inflight"] <= self.inflight(self.bw, 1.0) or self.round_count > self.drain_start_round + 3
        ):
            self.start_probe_bw_down()
        self.update_probe_bw_cycle_phase()
        self.update_min_rtt()
        self.check_probe_rtt()
        if self.loss_round_start:  # AdvanceLatestDeliverySignals
            self.bw_latest, self.inflight_latest = rs["rate"], rs["delivered"]
        self.bw = min(self.max_bw, self.bw_shortterm)  # BoundBWForModel
        self.set_pacing_rate(GAINS[self.state][0])
        self.set_cwnd()
        self.seen[self.state] += 1

    # Section 5.3.1: Startup; section 5.3.2: Drain.

    def reset_full_bw(self, full_bw: float = 0.0) -> None:
        self.full_bw, self.full_bw_count, self.full_bw_now = full_bw, 0, False

    def check_full_bw_reached(self) -> None:
        if self.full_bw_now or not self.round_start or self.rs["limited"]:
            return
        if self.rs["rate"] >= self.full_bw * 1.25:
            self.reset_full_bw(self.rs["rate"])
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= 3
        if self.full_bw_now:
            self.full_bw_reached = True

    def check_startup_done(self) -> None:
        self.check_startup_high_loss()
        if self.state == "Startup" and self.full_bw_reached:
            self.state, self.drain_start_round = "Drain", self.round_count

    def check_startup_high_loss(self) -> None:
        """Section 5.3.1.3."""
        if not self.loss_round_start:
            return
        ranges, self.lost_ranges = self.lost_ranges, 0
        for_a_round = self.recovery == FAST and self.rs["prior"] >= self.recovery_delivered
        if self.state == "Startup" and for_a_round and ranges >= 6 and self.too_high(self.rs["lostby"], self.rs["tx"]):
            self.seen["Startup ends by losses"] += 1
            self.undo_state, self.full_bw_reached = "Startup", True
            self.inflight_longterm = max(self.bdp_multiple(self.bw, 1.0), self.inflight_latest)

    # Section 5.3.3: ProbeBW.

    def is_time_to_probe_bw(self) -> bool:
        rounds = min(self.target_inflight() // MSS, 63)
        return self.now > self.cycle_stamp + self.bw_probe_wait or self.rounds_since_probe_up >= rounds

    def target_inflight(self) -> float:
        return min(self.bdp_multiple(self.bw, 1.0), self.cwnd)

    def start_probe_bw_down(self) -> None:
        self.reset_congestion_signals()
        self.probe_up_acked_per_inc = INFINITY
        # PickProbeWait
        self.rounds_since_probe_up = self.draw() * 2 >> 64
        self.bw_probe_wait = 2 + (self.draw() >> 11) / 2**53
        self.cycle_stamp = self.now
        self.ack_phase = "PROBE_STOPPING"
        self.next_round_delivered = self.delivered
        self.state = "DOWN"

    def start_probe_bw_refill(self) -> None:
        self.reset_short_term_model()
        self.bw_probe_up_rounds = self.bw_probe_up_acked = 0
        self.prev_probe_precautionary = False
        self.ack_phase = "REFILLING"
        self.next_round_delivered = self.delivered
        self.state = "REFILL"

    def start_probe_bw_up(self) -> None:
        self.ack_phase = "PROBE_STARTING"
        self.next_round_delivered = self.delivered
        self.reset_full_bw(self.rs["rate"])
        self.state = "UP"
        self.raise_inflight_longterm_slope()

    def update_probe_bw_cycle_phase(self) -> None:
        if not self.full_bw_reached or self.adapt_long_term_model():
            return
        if self.state in ("DOWN", "CRUISE") and self.is_time_to_probe_bw():
            self.start_probe_bw_refill()
        elif self.state == "DOWN" and self.is_time_to_cruise():
            self.state = "CRUISE"
        elif self.state == "REFILL" and self.round_start:
            self.is_bw_probe_sample = True
            self.start_probe_bw_up()
        elif self.state == "UP" and self.is_time_to_go_down():
            self.prev_probe_too_high = False
            self.start_probe_bw_down()

    def is_time_to_cruise(self) -> bool:
        inflight = self.rs["inflight"]
        return inflight <= self.inflight_with_headroom() and inflight <= self.inflight(self.max_bw, 1.0)

    def is_time_to_go_down(self) -> bool:
        if self.prev_probe_too_high and self.rs["before"] + MSS > self.inflight_longterm:
            self.seen["precautionary"] += 1
            self.prev_probe_precautionary = True
            return True
        if self.rs["full"] and self.cwnd >= self.inflight_longterm:
            self.seen["limited by the bound"] += 1
            self.reset_full_bw(self.rs["rate"])
            return False
        return self.full_bw_now

    def inflight_with_headroom(self) -> float:
        if self.inflight_longterm == INFINITY:
            return INFINITY
        headroom = max(MSS, int(HEADROOM * self.inflight_longterm))
        return max(self.inflight_longterm - headroom, MIN_PIPE)

    def raise_inflight_longterm_slope(self) -> None:
        growth_this_round = 1 << self.bw_probe_up_rounds
        self.bw_probe_up_rounds = min(self.bw_probe_up_rounds + 1, 30)
        self.probe_up_acked_per_inc = max(self.cwnd // growth_this_round, MSS)

    def probe_inflight_longterm_upward(self) -> None:
        if not self.rs["full"] or self.cwnd < self.inflight_longterm:
            return
        self.bw_probe_up_acked += self.rs["acked"]
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc:
            self.seen["slope"] += 1
            delta = self.bw_probe_up_acked // self.probe_up_acked_per_inc
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc
            self.inflight_longterm += delta * MSS
        if self.round_start:
            self.raise_inflight_longterm_slope()

    def adapt_long_term_model(self) -> bool:
        if self.ack_phase == "PROBE_STARTING" and self.round_start:
            self.ack_phase = "PROBE_FEEDBACK"
        if self.ack_phase == "PROBE_STOPPING" and self.round_start:
            self.is_bw_probe_sample = False
            self.ack_phase = "INIT"
            if self.state in PROBE_BW and not self.rs["limited"]:
                self.cycle_count += 1  # AdvanceMaxBwFilter
            if self.state in PROBE_BW and self.prev_probe_precautionary and not self.prev_probe_too_high:
                self.seen["acceleration"] += 1
                self.start_probe_bw_refill()
                return True
        if not self.too_high(self.rs["lostby"], self.rs["tx"]):
            if self.inflight_longterm == INFINITY:
                return False
            self.inflight_longterm = max(self.inflight_longterm, self.rs["tx"])
            if self.state == "UP":
                self.probe_inflight_longterm_upward()
        return False

    # Section 5.3.4: ProbeRTT.

    def update_min_rtt(self) -> None:
        known = self.min_rtt < INFINITY
        self.probe_rtt_expired = known and self.now > self.probe_rtt_min_stamp + 5
        if self.rs["rtt"] < self.probe_rtt_min_delay or self.probe_rtt_expired:
            self.probe_rtt_min_delay, self.probe_rtt_min_stamp = self.rs["rtt"], self.now
        min_rtt_expired = known and self.now > self.min_rtt_stamp + 10
        if self.probe_rtt_min_delay < self.min_rtt or min_rtt_expired:
            self.min_rtt, self.min_rtt_stamp = self.probe_rtt_min_delay, self.probe_rtt_min_stamp

    def check_probe_rtt(self) -> None:
        if self.state != "ProbeRTT" and self.probe_rtt_expired and not self.idle_restart:
            self.state = "ProbeRTT"
            self.save_cwnd()
            self.probe_rtt_done_stamp = 0.0
            self.ack_phase = "PROBE_STOPPING"
            self.next_round_delivered = self.delivered
        if self.state == "ProbeRTT":
            self.handle_probe_rtt()
        if self.rs["delivered"] > 0:
            self.idle_restart = False

    def handle_probe_rtt(self) -> None:
        if self.probe_rtt_done_stamp == 0 and self.rs["inflight"] <= self.probe_rtt_cwnd():
            self.probe_rtt_done_stamp = self.now + 0.2
            self.probe_rtt_round_done = False
            self.next_round_delivered = self.delivered
        elif self.probe_rtt_done_stamp != 0:
            if self.round_start:
                self.probe_rtt_round_done = True
            if self.probe_rtt_round_done:
                self.check_probe_rtt_done()

    def check_probe_rtt_done(self) -> None:
        if self.probe_rtt_done_stamp == 0 or self.now <= self.probe_rtt_done_stamp:
            return
        self.probe_rtt_min_stamp = self.now
        self.restore_cwnd()
        # ExitProbeRTT
        self.reset_short_term_model()
        if self.full_bw_reached:
            self.start_probe_bw_down()
            self.state = "CRUISE"
        else:
            self.state = "Startup"

    # Section 5.4.1.

    def restart(self, now: float, srtt: float) -> None:
        self.seen["restart"] += 1
        self.now = now
        self.init_pacing_rate(srtt)
        self.idle_restart = True
        self.extra_acked_interval_start = now
        if self.state in PROBE_BW:
            self.set_pacing_rate(1.0)
        elif self.state == "ProbeRTT":
            self.check_probe_rtt_done()

    # Section 5.5: the model.

    def update_max_bw(self) -> None:
        self.round_start = self.rs["prior"] >= self.next_round_delivered  # UpdateRound
        if self.round_start:
            self.next_round_delivered = self.delivered
            self.round_count += 1
            self.rounds_since_probe_up += 1
        if self.rs["rate"] > 0 and (self.rs["rate"] >= self.max_bw or not self.rs["limited"]):
            self.max_bw = self.max_bw_filter.update(self.rs["rate"], self.cycle_count, 2)

    def update_ack_aggregation(self) -> None:
        expected_delivered = self.bw * (self.now - self.extra_acked_interval_start)
        if self.extra_acked_delivered <= expected_delivered:
            self.extra_acked_delivered, self.extra_acked_interval_start = 0, self.now
            expected_delivered = 0.0
        self.extra_acked_delivered += self.rs["acked"]
        extra = min(self.extra_acked_delivered - expected_delivered, self.cwnd)
        filter_len = 10 if self.full_bw_reached else 1
        self.extra_acked = self.extra_acked_filter.update(extra, self.round_count, filter_len)

    @staticmethod
    def too_high(lost: float, tx_in_flight: float) -> bool:
        """IsInflightTooHigh, with selective acknowledgments."""
        return lost > tx_in_flight * LOSS_THRESH

    def handle_lost_packet(self, now: float, start: int, length: int, lost: dict[str, int]) -> None:
        """Section 5.5.10.2."""
        self.now = now
        if not self.is_loss_in_round:  # NoteLoss
            self.loss_round_delivered = self.delivered
            self.save_state_upon_loss()
        self.is_loss_in_round = True
        self.lost_ranges += start != self.lost_until
        self.lost_until = start + length
        if not self.is_bw_probe_sample or not self.too_high(lost["lostby"], lost["tx"]):
            return
        # InflightAtLoss
        inflight_prev, lost_prev = lost["tx"] - length, lost["lostby"] - length
        inflight_at_loss = inflight_prev + (LOSS_THRESH * inflight_prev - lost_prev) / (1 - LOSS_THRESH)
        # HandleInflightTooHigh
        self.seen["probe too high"] += 1
        self.prev_probe_too_high, self.is_bw_probe_sample = True, False
        if not lost["limited"]:
            self.inflight_longterm = int(max(inflight_at_loss, self.target_inflight() * BETA))
        if self.state == "UP":
            self.undo_state = "UP"
            self.start_probe_bw_down()

    def update_latest_delivery_signals(self) -> None:
        self.loss_round_start = False
        self.bw_latest = max(self.bw_latest, self.rs["rate"])
        self.inflight_latest = max(self.inflight_latest, self.rs["delivered"])
        if self.rs["prior"] >= self.loss_round_delivered:
            self.loss_round_delivered, self.loss_round_start = self.delivered, True

    def reset_congestion_signals(self) -> None:
        self.is_loss_in_round, self.bw_latest, self.inflight_latest = False, 0.0, 0.0

    def update_congestion_signals(self) -> None:
        self.update_max_bw()
        if not self.loss_round_start:
            return
        if self.state not in ("Startup", "REFILL", "UP") and self.is_loss_in_round:
            self.seen["bound in the short term"] += 1
            if self.bw_shortterm == INFINITY:
                self.bw_shortterm = self.max_bw
            if self.inflight_shortterm == INFINITY:
                self.inflight_shortterm = self.cwnd
            self.bw_shortterm = max(self.bw_latest, BETA * self.bw_shortterm)
            self.inflight_shortterm = max(self.inflight_latest, int(BETA * self.inflight_shortterm))
        self.is_loss_in_round = False

    def reset_short_term_model(self) -> None:
        self.bw_shortterm = self.inflight_shortterm = INFINITY

    def save_state_upon_loss(self) -> None:
        """Section 5.5.11.1."""
        self.save_cwnd()
        self.undo_state = None
        self.undo_bw_shortterm = self.bw_shortterm
        self.undo_inflight_shortterm = self.inflight_shortterm
        self.undo_inflight_longterm = self.inflight_longterm

    def spurious(self) -> None:
        """HandleSpuriousLossDetection of section 5.5.11.2."""
        self.seen["spurious"] += 1
        self.restore_cwnd()
        self.is_loss_in_round = False
        self.reset_full_bw()
        self.bw_shortterm = max(self.bw_shortterm, self.undo_bw_shortterm)
        self.inflight_shortterm = max(self.inflight_shortterm, self.undo_inflight_shortterm)
        self.inflight_longterm = max(self.inflight_longterm, self.undo_inflight_longterm)
        if self.undo_state == "Startup" and self.state != "Startup":
            self.seen["spurious from Startup"] += 1
            self.full_bw_reached = False
            if self.state != "ProbeRTT":
                self.state = "Startup"
        elif self.undo_state == "UP" and self.state not in ("UP", "ProbeRTT"):
            self.seen["spurious from UP"] += 1
            self.start_probe_bw_refill()
        self.undo_state = None

    # Section 5.6: rate and window.

    def init_pacing_rate(self, srtt: float) -> None:
        if not self.has_seen_rtt and srtt > 0:
            self.pacing_rate, self.has_seen_rtt = 2.77 * INITIAL / srtt, True

    def set_pacing_rate(self, gain: float) -> None:
        rate = gain * self.bw * 99 / 100
        if self.full_bw_reached or rate > self.pacing_rate:
            self.pacing_rate = rate

    def bdp_multiple(self, bw: float, gain: float) -> int:
        return INITIAL if self.min_rtt == INFINITY else int(gain * bw * self.min_rtt)

    def quantization_budget(self, inflight_cap: int) -> int:
        send_quantum = max(min(int(self.pacing_rate * 0.001), 64 * 1024), 2 * MSS)
        inflight_cap = max(inflight_cap, 3 * send_quantum, MIN_PIPE)
        return inflight_cap + (2 * MSS if self.state == "UP" else 0)

    def inflight(self, bw: float, gain: float) -> int:
        return self.quantization_budget(self.bdp_multiple(bw, gain))

    def follow_recovery(self, recovery: int) -> None:
        """Section 5.6.4.4: OnEnterFastRecovery, and the end of a recovery."""
        before = self.recovery
        if recovery == FAST and before != FAST:
            self.save_cwnd()
            self.recovery_delivered = self.delivered
        elif recovery == OPEN and before != OPEN:
            self.restore_cwnd()
        self.recovery = recovery

    def again(self) -> None:
        """OnEnterRTO of section 5.6.4.4."""
        self.save_state_upon_loss()
        self.recovery = TIMEOUT
        super().again()

    def save_cwnd(self) -> None:
        untouched = self.recovery == OPEN and self.state != "ProbeRTT"
        self.prior_cwnd = self.cwnd if untouched else max(self.prior_cwnd, self.cwnd)

    def restore_cwnd(self) -> None:
        self.cwnd = max(self.cwnd, self.prior_cwnd)

    def probe_rtt_cwnd(self) -> int:
        return max(self.bdp_multiple(self.bw, 0.5), MIN_PIPE)

    def set_cwnd(self) -> None:
        """Sections 5.6.4.6, 5.6.4.5 and 5.6.4.7."""
        inflight_cap = self.bdp_multiple(self.bw, GAINS[self.state][1]) + int(self.extra_acked)
        max_inflight = self.quantization_budget(inflight_cap)
        if self.full_bw_reached:
            self.cwnd = min(self.cwnd + self.rs["acked"], max_inflight)
        elif self.cwnd < max_inflight or self.delivered < INITIAL:
            self.cwnd += self.rs["acked"]
        self.cwnd = max(self.cwnd, MIN_PIPE)
        if self.state == "ProbeRTT":
            self.cwnd = min(self.cwnd, self.probe_rtt_cwnd())
        cap = INFINITY
        if self.state in PROBE_BW and self.state != "CRUISE":
            cap = self.inflight_longterm
        elif self.state in ("ProbeRTT", "CRUISE"):
            cap = self.inflight_with_headroom()
        self.cwnd = min(self.cwnd, max(min(cap, self.inflight_shortterm), MIN_PIPE))

    def happen(self, history: History, chance: random.Random) -> None:
        """Samples and losses of a path whose rate, round-trip time and losses change."""
        now, delivered, recovery, inflight, srtt, sent, place = SECOND, 0, OPEN, INITIAL, 0, [0], 0
        for _ in range(80):
            base = round(chance.choice((0.003, 0.02, 0.08)) * chance.uniform(0.5, 1.5) * SECOND)
            path = chance.choice((1e5, 1e6, 1e7))
            losses = chance.choice((0.0, 0.0, 0.05, 0.9))
            limited, full = int(chance.random() < 0.2), int(chance.random() < 0.6)
            for _ in range(chance.randrange(5, 60)):
                rtt = round(base * chance.choice((1.0, 1.0, 1.4, 2.0)) * chance.uniform(1, 1.02))
                now += chance.randrange(1, max(rtt // 2, 2))
                tx = round(chance.uniform(0.6, 1.2) * self.cwnd) + 2 * MSS
                lost = MSS * chance.randrange(1, 8) if chance.random() < losses else 0
                for number in range(lost // MSS):
                    place += MSS * chance.choice((1, 2, 3))
                    words = {"tx": tx, "lostby": MSS * (number + 1), "delivered": delivered, "limited": limited}
                    self.handle_lost_packet(now / SECOND, place, MSS, words)
                    history.note("lost", now, place, MSS, *(word for pair in words.items() for word in pair))
                acked = MSS * chance.choice((1, 2, 2, 8))
                delivered += acked
                prior = sent[-1 - chance.randrange(min(len(sent), 6))]
                before, inflight = inflight, 3 * MSS
                if chance.random() < 0.8:
                    inflight = round(chance.uniform(0, 1.2) * self.cwnd)
                if recovery == OPEN and lost:
                    recovery = FAST
                elif recovery != OPEN and chance.random() < 0.1:
                    recovery = OPEN
                srtt = rtt if not srtt else (7 * srtt + rtt) // 8
                rs = {"rate": round(path * chance.uniform(0.8, 1.1)) if chance.random() < 0.97 else 0, "prior": prior}
                rs |= {"acked": acked, "lostby": lost, "tx": tx, "rtt": rtt, "srtt": srtt, "limited": limited}
                rs |= {"inflight": inflight, "before": before, "full": full}
                times = {"rtt": rtt / SECOND, "srtt": srtt / SECOND, "delivered": delivered - prior}
                self.update_on_ack(now / SECOND, delivered, {**rs, **times}, recovery)
                words = [word for pair in rs.items() for word in pair]
                history.note("sample", now, delivered, *words, "recovery", recovery)
                sent.append(delivered)
                if self.undo_state and chance.random() < 0.5:
                    self.spurious()
                    history.note("spurious")
            event = chance.choices(("nothing", "timeout", "restart", "spurious", "long ago"), (5, 1, 1, 4, 1))[0]
            if event == "timeout":
                self.timeout(inflight)
                recovery = TIMEOUT
                history.note("timeout", inflight)
            elif event == "restart":
                now += round(chance.uniform(0.1, 20) * SECOND)
                self.restart(now / SECOND, srtt / SECOND)
                history.note("restart", now, "srtt", srtt)
            elif event == "spurious":
                self.spurious()
                history.note("spurious")
            elif event == "long ago":
                now += 6 * SECOND


CONTROLS: dict[str, Callable[[], Control]] = {"bbr3": Bbr3}
