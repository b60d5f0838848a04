//! The rate of an upstream link, estimated from packet arrivals: within bursts they arrive as fast as it sends them.

use crate::units::{Rate, Span, Time};

/// Longest time between packets that counts.
const LONGEST: Span = Span::from_secs(1);
/// Shortest time between two uses of the estimate.
const PAUSE: Span = Span::from_millis(250);
/// No rate is below 64 bytes per second.
const LEAST: u64 = 64;

/// The estimator. It counts bytes over windows that end with an unusually long gap, and follows the rates of the
/// windows quickly upwards and slowly downwards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Autorate {
    /// When the last packet arrived.
    last: Time,
    /// Usual gap between packets, nanoseconds.
    gap: u64,
    /// Start of the window, and its bytes so far.
    begin: Time,
    bytes: u64,
    /// Bytes per second.
    peak: u64,
    /// When the estimate was last used.
    used: Time,
}

impl Autorate {
    /// A packet of `length` bytes arrives. If it is time, returns the new rate of the shaper: 15/16 of the estimate,
    /// so that the queue builds up here and not upstream.
    pub(super) fn arrive(&mut self, length: u32, now: Time) -> Option<Rate> {
        self.bytes += u64::from(length);
        let gap = now.since(self.last).min(LONGEST).as_nanos();
        self.last = now;
        self.gap = follow(self.gap, gap);
        if gap <= self.gap {
            return None;
        }
        let window = u128::from(now.since(self.begin).as_nanos());
        let rate = u128::from(self.bytes) * 1_000_000_000 / window;
        self.peak = follow(self.peak, rate as u64);
        (self.begin, self.bytes) = (now, 0);
        if now.since(self.used) <= PAUSE {
            return None;
        }
        self.used = now;
        Some(Rate::from_bits_per_sec((self.peak * 15 / 16).max(LEAST) * 8))
    }

    /// The estimate.
    pub(super) fn capacity(&self) -> Rate {
        Rate::from_bits_per_sec(self.peak * 8)
    }
}

/// Moves `average` towards `sample`: by a quarter upwards, by 1/256 downwards.
fn follow(average: u64, sample: u64) -> u64 {
    let parts = if sample > average { 4 } else { 256 };
    average - average / parts + sample / parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn averages_rise_faster_than_they_fall() {
        assert_eq!((follow(1000, 2000), follow(1000, 1000), follow(51_200, 0)), (1250, 1000 - 3 + 3, 51_000));
    }

    #[test]
    fn a_window_ends_with_a_long_pause_and_the_estimate_is_used_every_quarter_of_a_second() {
        let mut autorate = Autorate::default();
        // Gap 1 s, of which a quarter is usual; 1000 bytes in a second, of which a quarter is believed: 250 bytes/s.
        assert_eq!(autorate.arrive(1000, at(1_000_000)), Some(Rate::from_bits_per_sec(250 * 15 / 16 * 8)));
        assert_eq!(autorate.capacity(), Rate::from_bits_per_sec(2000));
        // 9 packets, 1 ms apart: a burst within the window.
        for millis in 1001..1010 {
            assert_eq!(autorate.arrive(1000, at(millis * 1000)), None);
        }
        assert_eq!((autorate.bytes, autorate.begin), (9000, at(1_000_000)));
        // A pause of 491 ms is longer than usual: 10 000 bytes in 500 ms, 250 - 62 + 5000 = 5188 bytes/s.
        let rate = autorate.arrive(1000, at(1_500_000));
        assert_eq!(rate, Some(Rate::from_bits_per_sec(5188 * 15 / 16 * 8)));
        // The next pause comes too soon to use the estimate again, which falls: 5188 - 20 + (1000 bytes in 250 ms) / 256.
        autorate.gap = 1_000_000;
        assert_eq!(autorate.arrive(1000, at(1_750_000)), None);
        assert_eq!(autorate.capacity(), Rate::from_bits_per_sec((5188 - 20 + 15) * 8));
    }
}
