"""BBRv1 from the pseudocode of draft-cardwell-iccrg-bbr-congestion-control-00: names as there, rates in byte/s.

Assumptions shared with aqmlab:

- InitPacingRate takes the first round-trip time when there is one; before, one of a millisecond.
- A fast recovery conserves packets until data arrives that was sent after it began (section 4.2.3.4: one round trip).
- The filters hold the largest rate of ten rounds, this one included, and the smallest round-trip time of ten seconds.
- The send quantum is a matter of the window alone (section 4.2.3.2).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from control import MSS, NUMBERS, SECOND, Control, History

HIGH_GAIN = 2.89
CYCLE = (1.25, 0.75, 1, 1, 1, 1, 1, 1)
INITIAL, MIN_PIPE = 10 * MSS, 4 * MSS
OPEN, FAST, TIMEOUT = range(3)


class Bbr1(Control):
    """One connection."""

    rules = (
        *("Startup", "Drain", "ProbeBW", "ProbeRTT", "filled pipe", "application limited", "lost", "conserves"),
        *("recovery ends", "timeout", "restart", "gain 1.25 ends", "gain 0.75 ends", "gain 1 ends"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.cwnd = INITIAL
        self.state, self.pacing_gain, self.cwnd_gain = "Startup", HIGH_GAIN, HIGH_GAIN
        self.pacing_rate = HIGH_GAIN * INITIAL / 0.001
        self.has_seen_rtt = False
        self.rates: list[tuple[int, float]] = []
        self.btlbw, self.rtprop, self.rtprop_stamp = 0.0, float("inf"), 0.0
        self.next_round_delivered, self.round_count, self.round_start = 0, 0, False
        self.filled_pipe, self.full_bw, self.full_bw_count = False, 0.0, 0
        self.cycle_index, self.cycle_stamp = 0, 0.0
        self.probe_rtt_done_stamp: float | None = None
        self.probe_rtt_round_done = self.idle_restart = False
        self.prior_cwnd, self.recovery = 0, OPEN
        self.conserves_until: int | None = None
        self.drawn = 0

    def rate(self) -> float:
        return self.pacing_rate

    def on_ack(self, now: float, delivered: int, rs: dict[str, float], recovery: int) -> None:
        """BBRUpdateOnACK (section 3.5.2), with the recovery of section 4.2.3.4."""
        self.now, self.delivered, self.rs = now, delivered, rs
        if not self.has_seen_rtt and rs["srtt"] > 0:
            self.pacing_rate, self.has_seen_rtt = HIGH_GAIN * INITIAL / rs["srtt"], True
        self.follow_recovery(recovery)
        self.update_btlbw()
        if self.state == "ProbeBW" and self.is_next_cycle_phase():
            self.seen[f"gain {self.pacing_gain} ends"] += 1
            self.advance_cycle_phase()
        self.check_full_pipe()
        self.check_drain()
        self.update_rtprop()
        self.check_probe_rtt()
        self.set_pacing_rate(self.pacing_gain)
        self.set_cwnd()
        self.seen[self.state] += 1

    def follow_recovery(self, recovery: int) -> None:
        """Section 4.2.3.4."""
        before, self.recovery = self.recovery, recovery
        if recovery == FAST and before != FAST:
            self.save_cwnd(before)
            self.cwnd = self.rs["inflight"] + max(self.rs["acked"], MSS)
            self.conserves_until = self.delivered
        elif recovery == OPEN and before != OPEN:
            self.conserves_until = None
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            self.seen["recovery ends"] += 1
        elif self.conserves_until is not None and self.rs["prior"] >= self.conserves_until:
            self.conserves_until = None

    def save_cwnd(self, recovery: int) -> None:
        """BBRSaveCwnd."""
        if recovery == OPEN and self.state != "ProbeRTT":
            self.prior_cwnd = self.cwnd
        else:
            self.prior_cwnd = max(self.prior_cwnd, self.cwnd)

    def again(self) -> None:
        """The timer expires: section 4.2.3.4."""
        self.save_cwnd(self.recovery)
        self.recovery, self.conserves_until = TIMEOUT, None
        super().again()

    def update_btlbw(self) -> None:
        """BBRUpdateRound and BBRUpdateBtlBw (sections 4.1.1.3 and 4.1.1.5)."""
        self.round_start = self.rs["prior"] >= self.next_round_delivered
        if self.round_start:
            self.next_round_delivered = self.delivered
            self.round_count += 1
        self.seen["application limited"] += self.rs["limited"]
        if self.rs["rate"] > 0 and (self.rs["rate"] >= self.btlbw or not self.rs["limited"]):
            self.rates.append((self.round_count, self.rs["rate"]))
            self.rates = [(count, rate) for count, rate in self.rates if count > self.round_count - 10]
            self.btlbw = max(rate for _, rate in self.rates)

    def is_next_cycle_phase(self) -> bool:
        """BBRIsNextCyclePhase (section 4.3.4.3)."""
        is_full_length = self.now - self.cycle_stamp > self.rtprop
        if self.pacing_gain == 1:
            return is_full_length
        if self.pacing_gain > 1:
            return is_full_length and (self.rs["lost"] > 0 or self.rs["before"] >= self.inflight(self.pacing_gain))
        return is_full_length or self.rs["before"] <= self.inflight(1)

    def advance_cycle_phase(self) -> None:
        """BBRAdvanceCyclePhase."""
        self.cycle_stamp = self.now
        self.cycle_index = (self.cycle_index + 1) % len(CYCLE)
        self.pacing_gain = CYCLE[self.cycle_index]

    def enter_probe_bw(self) -> None:
        """BBREnterProbeBW."""
        self.state, self.cwnd_gain = "ProbeBW", 2
        self.cycle_index = len(CYCLE) - 1 - (NUMBERS[self.drawn % len(NUMBERS)] * 7 >> 64)
        self.drawn += 1
        self.advance_cycle_phase()

    def check_full_pipe(self) -> None:
        """BBRCheckFullPipe (section 4.3.2.2)."""
        if self.filled_pipe or not self.round_start or self.rs["limited"]:
            return
        if self.btlbw >= self.full_bw * 1.25:
            self.full_bw, self.full_bw_count = self.btlbw, 0
            return
        self.full_bw_count += 1
        if self.full_bw_count >= 3:
            self.filled_pipe = True
            self.seen["filled pipe"] += 1

    def check_drain(self) -> None:
        """BBRCheckDrain (section 4.3.3)."""
        if self.state == "Startup" and self.filled_pipe:
            self.state, self.pacing_gain, self.cwnd_gain = "Drain", 1 / HIGH_GAIN, HIGH_GAIN
        if self.state == "Drain" and self.rs["inflight"] <= self.inflight(1):
            self.enter_probe_bw()

    def update_rtprop(self) -> None:
        """BBRUpdateRTprop (section 4.1.2.3)."""
        self.rtprop_expired = self.rtprop < float("inf") and self.now > self.rtprop_stamp + 10
        if self.rs["rtt"] <= self.rtprop or self.rtprop_expired:
            self.rtprop, self.rtprop_stamp = self.rs["rtt"], self.now

    def check_probe_rtt(self) -> None:
        """BBRCheckProbeRTT and BBRHandleProbeRTT (section 4.3.5)."""
        if self.state != "ProbeRTT" and self.rtprop_expired and not self.idle_restart:
            self.state, self.pacing_gain, self.cwnd_gain = "ProbeRTT", 1, 1
            self.save_cwnd(self.recovery)
            self.probe_rtt_done_stamp = None
        if self.state == "ProbeRTT":
            if self.probe_rtt_done_stamp is None and self.rs["inflight"] <= MIN_PIPE:
                self.probe_rtt_done_stamp = self.now + 0.2
                self.probe_rtt_round_done = False
                self.next_round_delivered = self.delivered
            elif self.probe_rtt_done_stamp is not None:
                if self.round_start:
                    self.probe_rtt_round_done = True
                if self.probe_rtt_round_done and self.now > self.probe_rtt_done_stamp:
                    self.rtprop_stamp = self.now
                    self.cwnd = max(self.cwnd, self.prior_cwnd)
                    self.exit_probe_rtt()
        self.idle_restart = False

    def exit_probe_rtt(self) -> None:
        """BBRExitProbeRTT."""
        if self.filled_pipe:
            self.enter_probe_bw()
        else:
            self.state, self.pacing_gain, self.cwnd_gain = "Startup", HIGH_GAIN, HIGH_GAIN

    def restart(self) -> None:
        """BBRHandleRestartFromIdle (section 4.3.4.4)."""
        self.seen["restart"] += 1
        self.idle_restart = True
        if self.state == "ProbeBW":
            self.set_pacing_rate(1)

    def set_pacing_rate(self, gain: float) -> None:
        """BBRSetPacingRateWithGain (section 4.2.1)."""
        if self.filled_pipe or gain * self.btlbw > self.pacing_rate:
            self.pacing_rate = gain * self.btlbw

    def inflight(self, gain: float) -> int:
        """BBRInflight, with BBRSetSendQuantum (sections 4.2.3.2 and 4.2.2)."""
        if self.rtprop == float("inf"):
            return INITIAL
        if self.pacing_rate < 1.2e6 / 8:
            quantum = MSS
        elif self.pacing_rate < 24e6 / 8:
            quantum = 2 * MSS
        else:
            quantum = min(int(self.pacing_rate * 0.001), 64 * 1024)
        return int(gain * self.btlbw * self.rtprop) + 3 * quantum

    def set_cwnd(self) -> None:
        """BBRSetCwnd (section 4.2.3.6)."""
        target_cwnd = self.inflight(self.cwnd_gain)
        if self.rs["lost"] > 0:
            self.seen["lost"] += 1
            self.cwnd = max(self.cwnd - self.rs["lost"], MSS)
        if self.conserves_until is not None:
            self.seen["conserves"] += 1
            self.cwnd = max(self.cwnd, self.rs["inflight"] + self.rs["acked"])
        else:
            if self.filled_pipe:
                self.cwnd = min(self.cwnd + self.rs["acked"], target_cwnd)
            elif self.cwnd < target_cwnd or self.delivered < INITIAL:
                self.cwnd += self.rs["acked"]
            self.cwnd = max(self.cwnd, MIN_PIPE)
        if self.state == "ProbeRTT":
            self.cwnd = min(self.cwnd, MIN_PIPE)

    def happen(self, history: History, chance: random.Random) -> None:
        """Samples of a path whose rate and round-trip time change; the pipe is what they make of each other."""
        now, delivered, recovery, inflight = SECOND, 0, OPEN, INITIAL
        srtt, sent = 0, [0]
        for _ in range(60):
            base = round(chance.choice((0.003, 0.02, 0.08)) * chance.uniform(0.5, 1.5) * SECOND)
            path = chance.choice((1e5, 1e6, 1e7))
            limited = int(chance.random() < 0.2)
            for _ in range(chance.randrange(5, 60)):
                rtt = round(base * chance.choice((1.0, 1.0, 1.4, 2.0)) * chance.uniform(1, 1.02))
                acked = MSS * chance.choice((1, 2, 2, 8))
                now += chance.randrange(1, max(rtt // 2, 2))
                delivered += acked
                # Its segment was sent some samples ago, now and then after all others that were delivered.
                prior = sent[-1 - chance.randrange(min(len(sent), 6))]
                lost = MSS * chance.randrange(1, 4) if chance.random() < 0.03 else 0
                before, inflight = inflight, 3 * MSS
                if chance.random() < 0.9:
                    inflight = round(chance.uniform(0, 1.2) * self.cwnd)
                if recovery == OPEN and lost:
                    recovery = FAST
                elif recovery != OPEN and chance.random() < 0.2:
                    recovery = OPEN
                srtt = rtt if not srtt else (7 * srtt + rtt) // 8
                rate = round(path * chance.uniform(0.8, 1.1)) if chance.random() < 0.97 else 0
                rs = {"rate": rate, "prior": prior, "acked": acked, "lost": lost, "rtt": rtt, "srtt": srtt}
                rs |= {"inflight": inflight, "before": before, "limited": limited}
                times = {"rtt": rtt / SECOND, "srtt": srtt / SECOND}
                self.on_ack(now / SECOND, delivered, {**rs, **times}, recovery)
                words = [word for pair in rs.items() for word in pair]
                history.note("sample", now, delivered, *words, "recovery", recovery)
                sent.append(delivered)
            event = chance.choices(("nothing", "timeout", "restart", "long ago"), (6, 1, 1, 2))[0]
            if event == "timeout":
                self.timeout(inflight)
                recovery = TIMEOUT
                history.note("timeout", inflight)
            elif event == "restart":
                now += round(chance.uniform(0.1, 20) * SECOND)
                self.restart()
                history.note("restart", now, "srtt", srtt)
            elif event == "long ago":
                now += 11 * SECOND


CONTROLS: dict[str, Callable[[], Control]] = {"bbr1": Bbr1}
