//! From recorded times to times for replay: from zero, never decreasing, and without long gaps between recordings
//! that were joined in one file.

use super::oddities::Oddities;
use aqm_core::units::{Span, Time};

/// A larger step back means that the clock was set or another recording begins. A smaller one means that packets were
/// stored out of order.
const FARTHEST_BACK: Span = Span::from_secs(1);
/// A larger step ahead means that another recording begins.
const FARTHEST_AHEAD: Span = Span::from_secs(60 * 60);
/// Time from the last packet of one recording to the first of the next.
const PAUSE: Span = Span::from_secs(1);

/// Turns the times of successive packets into times since the first.
#[derive(Default)]
pub(super) struct Clock {
    /// Start of the current recording: recorded time and resulting time.
    start: Option<(Time, Span)>,
    /// Resulting time of the previous packet.
    before: Span,
}

impl Clock {
    /// Time of the next packet; a packet without a time gets that of the previous packet.
    pub(super) fn relative(&mut self, recorded: Option<Time>, oddities: &mut Oddities) -> Span {
        let Some(recorded) = recorded else {
            oddities.untimed += 1;
            return self.before;
        };
        let (start, offset) = *self.start.get_or_insert((recorded, self.before));
        // The previous packet's time on the recorded clock.
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
    fn packets_out_of_order_get_the_time_of_the_previous_packet() {
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
