//! Round-trip time and retransmission timeout (RFC 6298).

use aqm_core::units::Span;

/// Clock granularity G of RFC 6298.
const GRANULARITY: Span = Span::from_millis(1);
/// RFC 6298 section 2.5 allows a maximum of at least 60 s.
const MAX_RTO: Span = Span::from_secs(60);
/// RFC 6298 section 2.1, before the first sample.
const INITIAL_RTO: Span = Span::from_secs(1);

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    smoothed: Span,
    variation: Span,
    min_rto: Span,
    /// Whether the least is that of the variation's part, rather than of the whole timeout.
    bounds_variation: bool,
    backoff: u32,
    sum: Span,
    samples: u64,
}

impl RttEstimator {
    pub(crate) fn new(min_rto: Span) -> RttEstimator {
        RttEstimator {
            smoothed: Span::ZERO,
            variation: Span::ZERO,
            min_rto,
            bounds_variation: false,
            backoff: 0,
            sum: Span::ZERO,
            samples: 0,
        }
    }

    /// `min_rto` bounds the part of the timeout that the variation adds, as in Linux (tcp_rtt_estimator).
    pub(crate) fn bounding_variation(self, bounds_variation: bool) -> RttEstimator {
        RttEstimator { bounds_variation, ..self }
    }

    /// Adds a sample. Timestamps make samples of retransmitted segments unambiguous (RFC 7323 section 4).
    pub(crate) fn sample(&mut self, rtt: Span) {
        let r = rtt.as_nanos();
        if self.smoothed == Span::ZERO {
            // RFC 6298 (2.2)
            self.smoothed = rtt;
            self.variation = rtt / 2;
        } else {
            // RFC 6298 (2.3): beta = 1/4 before alpha = 1/8, since the first uses the old SRTT.
            let (srtt, rttvar) = (self.smoothed.as_nanos(), self.variation.as_nanos());
            self.variation = Span::from_nanos((3 * rttvar + srtt.abs_diff(r)) / 4);
            self.smoothed = Span::from_nanos((7 * srtt + r) / 8);
        }
        self.sum.accumulate(rtt);
        self.samples += 1;
    }

    /// The timeout, with back-off.
    pub(crate) fn rto(&self) -> Span {
        let base = if self.smoothed == Span::ZERO {
            INITIAL_RTO
        } else {
            // RFC 6298 (2.3), (2.4)
            let least = if self.bounds_variation { self.min_rto } else { GRANULARITY };
            (self.smoothed + (self.variation * 4).max(least)).max(self.min_rto)
        };
        (base * (1 << self.backoff.min(16))).min(MAX_RTO)
    }

    /// Makes the next timeout at least this long; samples reduce it again.
    pub(crate) fn at_least(&mut self, timeout: Span) {
        self.variation = self.variation.max(timeout.saturating_sub(self.smoothed) / 4);
    }

    /// The timer expired: RFC 6298 (5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Whether the timer expired since new data was acknowledged.
    pub(crate) fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// How often the timer expired since new data was acknowledged.
    pub(crate) fn expiries(&self) -> u32 {
        self.backoff
    }

    /// New data was acknowledged: the back-off ends.
    pub(crate) fn restart(&mut self) {
        self.backoff = 0;
    }

    /// SRTT, zero before the first sample.
    pub(crate) fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// Sum and number of the samples since the last [`forget`](Self::forget).
    pub(crate) fn total(&self) -> (Span, u64) {
        (self.sum, self.samples)
    }

    /// Starts a new mean (end of the warm-up); the estimate stays.
    pub(crate) fn forget(&mut self) {
        (self.sum, self.samples) = (Span::ZERO, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_timeout_is_the_sample_plus_four_times_half_of_it() {
        let mut rtt = RttEstimator::new(Span::from_millis(200));
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.sample(Span::from_millis(100));
        // SRTT 100, RTTVAR 50: 100 + 4 * 50 = 300 ms
        assert_eq!(rtt.rto(), Span::from_millis(300));
        rtt.sample(Span::from_millis(140));
        // RTTVAR (3*50 + 40)/4 = 47.5, SRTT (7*100 + 140)/8 = 105: 105 + 190 = 295 ms
        assert_eq!(rtt.rto(), Span::from_millis(295));
    }

    #[test]
    fn the_least_timeout_is_of_the_whole_or_of_what_the_variation_adds() {
        for (bounds_variation, timeout) in [(false, 200), (true, 300)] {
            let mut rtt = RttEstimator::new(Span::from_millis(200)).bounding_variation(bounds_variation);
            (0..30).for_each(|_| rtt.sample(Span::from_millis(100)));
            // 100 ms again and again: RTTVAR falls to nothing.
            assert_eq!(rtt.rto().as_nanos() / 1_000_000, timeout);
        }
    }

    #[test]
    fn the_timeout_doubles_up_to_a_minute_and_falls_back_on_new_data() {
        let mut rtt = RttEstimator::new(Span::from_millis(200));
        rtt.sample(Span::from_millis(10));
        assert_eq!(rtt.rto(), Span::from_millis(200));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_millis(800));
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::from_secs(60));
        rtt.restart();
        assert_eq!(rtt.rto(), Span::from_millis(200));
    }
}
