//! From recorded instants to times fit for replay: from zero, never decreasing, without the years between
//! recordings that were joined in one file.

use super::oddities::Oddities;
use aqm_core::units::{Span, Time};

/// Farther back than this the clock was set, or another recording begins; less far, packets were overtaken on
/// their way into the file.
const FARTHEST_BACK: Span = Span::from_secs(1);
/// Farther ahead than this another recording begins.
const FARTHEST_AHEAD: Span = Span::from_secs(60 * 60);
/// How long after the last packet of one recording the next begins.
const PAUSE: Span = Span::from_secs(1);

/// Turns the instants of successive packets into time since the first.
#[derive(Default)]
pub(super) struct Clock {
    /// Start of the current recording, as recorded and in the result.
    start: Option<(Time, Span)>,
    /// The result for the packet before.
    before: Span,
}

impl Clock {
    /// Time of the next packet; a packet without a time gets that of the packet before.
    pub(super) fn relative(&mut self, recorded: Option<Time>, oddities: &mut Oddities) -> Span {
        let Some(recorded) = recorded else {
            oddities.untimed += 1;
            return self.before;
        };
        let (start, offset) = *self.start.get_or_insert((recorded, self.before));
        // Where the packet before lies on the recorded clock.
        let expected = start + self.before.saturating_sub(offset);
        let (back, ahead) = (expected.since(recorded), recorded.since(expected));
        if back > FARTHEST_BACK || ahead > FARTHEST_AHEAD {
            oddities.leaps += 1;
            self.before += PAUSE;
            self.start = Some((recorded, self.before));
        } else if back > Span::ZERO {
            oddities.backward += 1;
        } else {
            self.before += ahead;
        }
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(recorded_ms: &[u64]) -> (Vec<f64>, Oddities) {
        let mut clock = Clock::default();
        let mut oddities = Oddities::default();
        let times = recorded_ms.iter().map(|ms| Some(Time::from_nanos(ms * 1_000_000)));
        (times.map(|time| clock.relative(time, &mut oddities).as_millis_f64()).collect(), oddities)
    }

    #[test]
    fn time_counts_from_the_first_packet() {
        assert_eq!(relative(&[7_000, 7_001, 9_000]), (vec![0.0, 1.0, 2_000.0], Oddities::default()));
    }

    #[test]
    fn packets_that_were_overtaken_wait_for_the_one_in_front() {
        let (times, oddities) = relative(&[5_000, 4_000, 5_010, 5_005, 5_020]);
        assert_eq!(times, [0.0, 0.0, 10.0, 10.0, 20.0]);
        assert_eq!(oddities, Oddities { backward: 2, ..Oddities::default() });
    }

    #[test]
    fn another_recording_follows_a_second_later() {
        const HOUR: u64 = 3_600_000;
        let (times, oddities) =
            relative(&[5_000, 5_010, 5_010 + HOUR, 5_011 + 2 * HOUR, 5_012 + 2 * HOUR, 3_000, 3_001]);
        let hour = HOUR as f64;
        let second = hour + 1_010.0;
        assert_eq!(times, [0.0, 10.0, 10.0 + hour, second, second + 1.0, second + 1_001.0, second + 1_002.0]);
        assert_eq!(oddities, Oddities { leaps: 2, ..Oddities::default() });
    }
}
