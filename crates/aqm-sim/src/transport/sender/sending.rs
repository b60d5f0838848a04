//! Transmission of new data and retransmissions within the congestion window, the pipe, the receiver's window and the pacing rate.

use super::state::{Phase, Trial};
use super::{Sender, Transmission};
use crate::transport::flags;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;

impl Sender {
    /// The next segment that may be sent now, if any. Call until `None`, or the last, after every event.
    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Transmission> {
        debug_assert!(!self.is_settled || self.finds_settled());
        if !self.is_settled || self.pacer.is_some() || self.board.is_empty() {
            return self.poll_any(now);
        }
        // Nothing but window and data decide.
        let room = self.control.window.cwnd.saturating_sub(self.board.pipe());
        let Some(payload) = self.fresh(room) else {
            self.note_waiting(room);
            return None;
        };
        let (seq, room) = self.take_fresh(payload, room, now);
        self.last_sent = now;
        // RFC 6298 (5.1)
        if self.timer.deadline.is_none() {
            self.timer.start(now);
        }
        let mut sent = self.transmission(seq, payload, false);
        sent.is_last = self.fresh(room).is_none();
        Some(sent)
    }

    /// The same of any sender.
    #[inline(never)]
    fn poll_any(&mut self, now: Time) -> Option<Transmission> {
        if self.board.is_empty() {
            let ahead = self.stream.opening.is_some_and(|opening| opening.ahead);
            if self.stream.next == self.stream.written && !ahead {
                return None;
            }
            if let Some(opening) = &mut self.stream.opening {
                let (ecn, flags) = (Ecn::NotEct, flags::SYN);
                let syn = Transmission { seq: 0, payload: 0, ecn, cwr: false, flags, is_last: false };
                return opening.poll(now).then_some(syn);
            }
            // RFC 5681 section 4.1.
            let idle = now.since(self.last_sent);
            let restarts = self.settings.restarts && self.stream.next > 0;
            if restarts && idle > self.timer.rtt.rto() && self.fresh(u64::MAX).is_some() {
                self.control.on_idle();
            }
        }
        if self.paced_until(now).is_some() {
            return None;
        }
        if self.probe_window {
            return Some(self.window_probe());
        }
        if let Some(probe) = self.probe(now) {
            return Some(probe);
        }
        let cwnd =
            self.control.window.cwnd.saturating_add(self.duplicates.inflation + self.limited_transmit());
        let room = self.recovery.prr.map_or_else(|| cwnd.saturating_sub(self.board.pipe()), |prr| prr.room);
        let fresh = self.fresh(room);
        let mut holds = matches!(self.recovery.trial, Some((Trial::NewData, _)));
        if holds && fresh.is_none() && self.recovery.phase == (Phase::Loss { point: self.stream.next }) {
            (holds, self.recovery.trial) = (false, None); // RFC 5682 section 3 step 2b: nothing new can be sent
        }
        // RFC 6675 section 5 step 4.3: the first retransmission does not wait for room.
        let retransmission_room = if self.recovery.retransmit_now { u64::MAX } else { room };
        if self.recovery.phase != Phase::Open
            && !holds
            && let Some((seq, payload)) = self.board.next_retransmission(retransmission_room, now)
        {
            self.recovery.retransmit_now = false;
            self.losses.retransmissions += 1;
            if self.rack.is_some() && seq == self.stream.una {
                // RFC 6675 section 6; Linux (tcp_xmit_retransmit_queue).
                self.timer.start(now);
            }
            self.recovery.resent =
                (self.first_resent(now), self.recovery.resent.1.max(seq + u64::from(payload)));
            return Some(self.sent(seq, payload, true, now));
        }
        let Some(payload) = fresh else {
            self.note_waiting(room);
            if self.board.is_empty() {
                self.persist(now);
            }
            return None;
        };
        let (seq, room) = self.take_fresh(payload, room, now);
        self.note_limited_transmit(payload);
        let mut sent = self.sent(seq, payload, false, now);
        // Most acknowledgments let one segment go, and to ask again costs as much as to ask.
        if self.is_plain && self.is_open() && self.pacer.is_none() {
            sent.is_last = self.fresh(room).is_none();
        }
        Some(sent)
    }

    /// Nothing is sent: what waits, if anything does, may not fit into this `room`.
    #[inline]
    fn note_waiting(&mut self, room: u64) {
        if self.next_payload() > 0 && self.is_too_small(room) {
            self.usage.note(&self.stream, true);
        }
    }

    /// `payload` bytes of new data are sent, for which there is `room`. Returns where they begin, and the room that is left.
    #[inline]
    fn take_fresh(&mut self, payload: u32, room: u64, now: Time) -> (u64, u64) {
        let seq = self.stream.next;
        self.stream.next += u64::from(payload);
        self.board.on_sent(seq, payload, now);
        let room = room - u64::from(payload);
        self.usage.note(&self.stream, self.is_too_small(room));
        (seq, room)
    }

    /// Whether no full segment fits into this `room`.
    #[inline]
    fn is_too_small(&self, room: u64) -> bool {
        room < u64::from(self.settings.mss)
    }

    /// `payload` bytes of new data were sent: what of them is beyond the window left it by limited transmit.
    #[inline]
    fn note_limited_transmit(&mut self, payload: u32) {
        if self.duplicates.count > 0 && self.recovery.phase == Phase::Open {
            let beyond = self.stream.flight().saturating_sub(self.control.window.cwnd);
            self.duplicates.limited += beyond.min(u64::from(payload));
        }
    }

    /// Payload of the segment that would be sent next, 0 if nothing waits.
    pub(super) fn next_payload(&self) -> u32 {
        (self.stream.written - self.stream.next).min(u64::from(self.settings.mss)) as u32
    }

    /// The same, if the receiver's window and `room` let it be sent now.
    fn fresh(&self, room: u64) -> Option<u32> {
        let room = room.min(self.settings.window_cap.saturating_sub(self.stream.flight()));
        Some(self.next_payload()).filter(|&payload| payload > 0 && u64::from(payload) <= room)
    }

    /// The tail loss probe, if one is due: new data, or else the newest segment again (RFC 8985 section 7.3).
    fn probe(&mut self, now: Time) -> Option<Transmission> {
        let rack = self.rack.as_mut().filter(|rack| rack.probe_due)?;
        let fresh = (self.stream.written - self.stream.next).min(u64::from(self.settings.mss)) as u32;
        if fresh > 0 && self.stream.flight() + u64::from(fresh) <= self.settings.window_cap {
            let seq = self.stream.next;
            self.stream.next += u64::from(fresh);
            rack.on_probe(self.stream.next, false);
            self.board.on_sent(seq, fresh, now);
            return Some(self.sent(seq, fresh, false, now));
        }
        rack.on_probe(self.stream.next, true);
        let (seq, payload) = self.board.probe_newest(now)?;
        self.losses.retransmissions += 1;
        Some(self.sent(seq, payload, true, now))
    }

    /// RFC 3042: the first two duplicate acknowledgments each release a new segment. With SACK the pipe does that.
    fn limited_transmit(&self) -> u64 {
        if self.settings.sack || self.recovery.phase != Phase::Open {
            return 0;
        }
        self.duplicates.count.min(2) as u64 * u64::from(self.settings.mss)
    }

    #[inline(always)]
    fn sent(&mut self, seq: u64, payload: u32, retransmission: bool, now: Time) -> Transmission {
        self.last_sent = now;
        // RFC 6298 (5.1)
        if self.timer.deadline.is_none() {
            self.timer.start(now);
        }
        if let Some(prr) = &mut self.recovery.prr {
            prr.on_sent(u64::from(payload));
        }
        self.on_segment_sent(seq, payload, now);
        if let Some(mut pacer) = self.pacer {
            let rate = self.control.rate().unwrap_or_else(|| self.window_rate());
            pacer.on_sent(u64::from(payload), rate, now);
            self.pacer = Some(pacer);
        }
        if let Some(rack) = &mut self.rack
            && !retransmission
            && self.recovery.phase == Phase::Open
            && self.board.sacked_bytes() == 0
        {
            rack.arm_probe(now, self.timer.rtt.smoothed(), self.board.len() == 1, self.timer.deadline);
        }
        self.transmission(seq, payload, retransmission)
    }

    /// The segment as it is sent.
    #[inline(always)]
    fn transmission(&mut self, seq: u64, payload: u32, retransmission: bool) -> Transmission {
        let plain = retransmission && self.settings.feedback.codepoint != Ecn::Ect1;
        let ecn = if plain { Ecn::NotEct } else { self.settings.feedback.codepoint };
        let cwr = ecn != Ecn::NotEct && std::mem::take(&mut self.reduction.cwr_due);
        let last = self.stream.closed && seq + u64::from(payload) == self.stream.written;
        let flags = if last { flags::ACK | flags::FIN } else { flags::ACK };
        Transmission { seq, payload, ecn, cwr, flags, is_last: false }
    }

    /// The rate that spreads a window over a round trip, times a margin, so that the window remains the limit:
    /// Linux's 2 in slow start and 1.2 afterwards (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). Bytes per second; zero
    /// (no pacing) before the first sample.
    pub(super) fn window_rate(&self) -> f64 {
        let rtt = self.timer.rtt.smoothed().as_secs_f64();
        let window = &self.control.window;
        let margin = if window.cwnd < window.ssthresh / 2 { 2.0 } else { 1.2 };
        if rtt > 0.0 { margin * window.cwnd as f64 / rtt } else { 0.0 }
    }
}
