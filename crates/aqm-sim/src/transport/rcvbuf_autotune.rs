//! Receive-buffer auto-tuning as in Linux: the window grows with what arrives.
//!
//! The rule is from what kernel 7.2 did in traced runs of one flow (a FIFO of 2 to 50 Mbit/s, 20 to 100 ms): which
//! of its first thousand segments were acknowledged at once. `tcp_rmem` in Documentation/networking/ip-sysctl.rst
//! names what the kernel starts with and ends at.
//!
//! Deviation: a round trip has the least time that was seen; the kernel's estimate is longer where a queue stands, so
//! that more arrives in one.

use aqm_core::units::{Span, Time};

/// The share of a buffer that is payload; packets of 1500 bytes take 2.3 kB of memory.
const PAYLOAD_SHARE: f64 = 0.625;
/// Timestamps (RFC 7323), which the first window of whole segments does not reckon with.
const OPTIONS: u64 = 12;
/// The largest buffer (tcp_rmem).
const LARGEST: f64 = 6_291_456.0;
/// What arrives in a round trip before it is measured: an initial window (RFC 6928).
const FIRST_ROUND: u64 = 10;

/// The window and what bounds it, in bytes.
#[derive(Clone, Debug)]
pub(super) struct RcvbufAutotune {
    window: u64,
    bound: u64,
    /// The most that came in a round trip so far.
    most: u64,
    /// When this round trip began, and what had come before it.
    began: Option<Time>,
    before: u64,
    /// The least round-trip time.
    round_trip: Option<Span>,
}

impl RcvbufAutotune {
    /// With a buffer of `buffer` bytes at first.
    pub(super) fn new(buffer: u64, mss: u32) -> RcvbufAutotune {
        let mss = u64::from(mss);
        let segment = mss + OPTIONS;
        RcvbufAutotune {
            window: buffer / 2 / segment * segment,
            bound: (buffer as f64 * PAYLOAD_SHARE) as u64,
            most: FIRST_ROUND * mss,
            began: None,
            before: 0,
            round_trip: None,
        }
    }

    /// A round-trip time is known: the smallest counts.
    pub(super) fn time(&mut self, round_trip: Span) {
        if round_trip > Span::ZERO {
            self.round_trip = Some(self.round_trip.map_or(round_trip, |least| least.min(round_trip)));
        }
    }

    /// Data came in order, and everything below `next` has come. Answers whether the window grows with it: by twice as
    /// much as came, up to its bound.
    pub(super) fn on_segment(&mut self, payload: u32, next: u64, now: Time) -> bool {
        let grows = self.window < self.bound;
        if grows {
            self.window = (self.window + 2 * u64::from(payload)).min(self.bound);
        }
        let began = *self.began.get_or_insert(now);
        if self.round_trip.is_some_and(|least| now.since(began) >= least) {
            self.end_round(next - self.before);
            (self.began, self.before) = (Some(now), next);
        }
        grows
    }

    /// A round trip brought `came` bytes. If none brought more, the window shall hold twice that, and twice what growth
    /// like this adds until it is seen.
    fn end_round(&mut self, came: u64) {
        if came <= self.most {
            return;
        }
        let growth = (came - self.most) as f64 / self.most as f64;
        let wanted = 2.0 * came as f64 * (1.0 + 2.0 * growth);
        self.bound = self.bound.max(wanted.min(LARGEST * PAYLOAD_SHARE) as u64);
        self.most = came;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which segments of rounds that begin every 100 ms let the window grow, numbered from one.
    fn growing(rounds: &[u64]) -> Vec<u64> {
        let mut window = RcvbufAutotune::new(131_072, 1448);
        window.time(Span::from_millis(100));
        let (mut number, mut found) = (0, vec![]);
        for (round, &segments) in rounds.iter().enumerate() {
            let now = Time::ZERO + Span::from_millis(100 * round as u64);
            for _ in 0..segments {
                number += 1;
                if window.on_segment(1448, number * 1448, now) {
                    found.push(number);
                }
            }
        }
        found
    }

    #[test]
    fn it_grows_with_the_first_seven_segments_and_then_with_what_a_round_trip_brings() {
        // In the kernel, slow start at 50 Mbit/s and 100 ms: the segments 1 to 23 (7 and quickack's 16), 32 to 56, 72
        // to 139 and 152 to 271 were acknowledged at once.
        let found = growing(&[10, 20, 40, 80]);
        let runs: Vec<_> =
            found.chunk_by(|one, next| one + 1 == *next).map(|run| (run[0], run.len())).collect();
        assert_eq!(runs, [(1, 7), (32, 25), (72, 68)]);
    }

    #[test]
    fn rounds_that_bring_no_more_than_an_earlier_one_let_it_be() {
        assert_eq!(growing(&[10, 10, 10, 10, 10]).len(), 7);
    }
}
