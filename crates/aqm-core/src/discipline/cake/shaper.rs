//! A shaper in deficit mode: a packet may be sent when the transmission time of all previous ones has passed. There
//! are no tokens to accumulate, so no burst follows idle time; but time that the host loses is made up for.

use crate::units::{Bytes, Rate, Time};

/// Paces packets at a rate, or not at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    /// The rate; `None`: unlimited.
    pub(super) rate: Option<Rate>,
    /// Until when previous packets take the link.
    next: Time,
    /// When a packet may go all the same: what is sent alone, at two thirds of the rate. Otherwise drops that count as sent
    /// (ingress mode) could leave nothing for the rest (cake_advance_shaper()).
    failsafe: Time,
}

impl Shaper {
    /// A shaper that may send at once.
    pub(super) const fn new(rate: Option<Rate>) -> Shaper {
        Shaper { rate, next: Time::ZERO, failsafe: Time::ZERO }
    }

    /// When the next packet may go, if not now.
    #[inline]
    pub(super) fn not_before(&self, now: Time) -> Option<Time> {
        let next = self.next.min(self.failsafe);
        (next > now).then_some(next)
    }

    /// An empty queue gets a packet: unused time is lost.
    #[inline]
    pub(super) fn start(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// `bytes` were sent.
    #[inline]
    pub(super) fn charge(&mut self, bytes: u64) {
        if let Some(rate) = self.rate {
            let span = rate.time_for(Bytes::new(bytes));
            self.next += span;
            self.failsafe += span + span / 2;
        }
    }

    /// `bytes` were dropped, after they had taken the link.
    pub(super) fn waste(&mut self, bytes: u64) {
        if let Some(rate) = self.rate {
            self.next += rate.time_for(Bytes::new(bytes));
        }
    }
}

/// Whether a tin is within its threshold: the shaper's arithmetic, but a tin that waited does not make up for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    /// The threshold; `None`: unlimited.
    pub(super) rate: Option<Rate>,
    /// Until when the tin has used its threshold.
    pub(super) next: Time,
}

impl Threshold {
    /// A threshold that is not used.
    pub(super) const fn new(rate: Option<Rate>) -> Threshold {
        Threshold { rate, next: Time::ZERO }
    }

    /// A tin that was empty gets a packet.
    #[inline]
    pub(super) fn start(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// `bytes` of the tin were sent at `now`. A tin far ahead of its threshold does not get further ahead.
    #[inline]
    pub(super) fn charge(&mut self, bytes: u64, now: Time) {
        let Some(rate) = self.rate else { return };
        let span = rate.time_for(Bytes::new(bytes));
        if self.next < now {
            self.next += span;
        } else {
            self.next = self.next.max(now + span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    const MEGABIT: Rate = Rate::from_mbit(1);

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn packets_are_paid_for_one_after_the_other() {
        // 1000 bytes take 8 ms.
        let mut shaper = Shaper::new(Some(MEGABIT));
        shaper.start(at(5));
        assert_eq!(shaper.not_before(at(5)), None);
        shaper.charge(1000);
        assert_eq!((shaper.not_before(at(12)), shaper.not_before(at(13))), (Some(at(13)), None));
        // Asked late, at 20 ms: the time is made up for.
        shaper.charge(1000);
        assert_eq!(shaper.not_before(at(20)), Some(at(21)));
        // Empty until 100 ms: that time is gone.
        shaper.start(at(100));
        shaper.charge(1000);
        assert_eq!(shaper.not_before(at(100)), Some(at(108)));
    }

    #[test]
    fn what_is_dropped_leaves_two_thirds_of_the_rate() {
        let mut shaper = Shaper::new(Some(MEGABIT));
        shaper.start(at(0));
        shaper.charge(1000); // until 8 ms, at two thirds until 12 ms
        assert_eq!(shaper.not_before(at(0)), Some(at(8)));
        shaper.waste(250); // 10 ms
        assert_eq!(shaper.not_before(at(0)), Some(at(10)));
        shaper.waste(1000); // 18 ms
        assert_eq!(shaper.not_before(at(0)), Some(at(12)));
    }

    #[test]
    fn an_unlimited_shaper_never_waits() {
        let mut shaper = Shaper::new(None);
        shaper.charge(1_000_000);
        assert_eq!(shaper.not_before(Time::ZERO), None);
    }

    #[test]
    fn a_tin_beyond_its_threshold_is_one_packet_ahead_at_most() {
        let mut threshold = Threshold::new(Some(MEGABIT));
        threshold.start(at(10));
        threshold.charge(1000, at(10));
        assert_eq!(threshold.next, at(18));
        threshold.charge(1000, at(11)); // 18 is more than 11, and less than 11 + 8
        assert_eq!(threshold.next, at(19));
        threshold.charge(250, at(11)); // 19 is more than 11 + 2
        assert_eq!(threshold.next, at(19));
        threshold.charge(1000, at(40)); // behind: by its own time
        assert_eq!(threshold.next, at(27));
        assert_eq!(at(27).since(at(19)), Span::from_millis(8));
    }
}
