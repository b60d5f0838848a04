//! Spaces segments in time, for congestion controls that have a rate.

use aqm_core::units::{Span, Time};

/// When the next segment may go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    next: Time,
}

impl Pacer {
    /// How long the sender has to wait, if it has to.
    pub(crate) fn blocked_until(&self, now: Time) -> Option<Time> {
        (self.next > now).then_some(self.next)
    }

    /// A segment of `bytes` leaves; the next one follows at `rate` bytes per second. Unused time does not add up to a
    /// burst.
    pub(crate) fn on_sent(&mut self, bytes: u64, rate: f64, now: Time) {
        let gap = if rate > 0.0 { (bytes as f64 * 1e9 / rate).min(1e10) as u64 } else { 0 };
        self.next = self.next.max(now) + Span::from_nanos(gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_a_segment_time_apart_and_a_pause_is_followed_by_no_burst() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut pacer = Pacer::default();
        assert_eq!(pacer.blocked_until(at(0)), None);
        pacer.on_sent(1000, 100_000.0, at(0)); // 10 ms
        assert_eq!(pacer.blocked_until(at(4)), Some(at(10)));
        assert_eq!(pacer.blocked_until(at(10)), None);
        pacer.on_sent(1000, 100_000.0, at(50));
        assert_eq!(pacer.blocked_until(at(51)), Some(at(60)));
    }
}
