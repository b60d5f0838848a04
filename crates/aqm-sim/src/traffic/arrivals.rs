//! Sources: when an application has how much to send.

use super::Distribution;
use crate::scenario::Source;
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Rate, Span};

/// A source that sends pieces of equal size at a rate while ON.
#[derive(Clone, Debug)]
pub(crate) struct Paced {
    interval: Span,
    periods: Option<Periods>,
    random: Random,
}

#[derive(Clone, Debug)]
struct Periods {
    on: Distribution,
    off: Distribution,
    /// What is left of the current ON period.
    left: Span,
}

impl Paced {
    /// The source that sends `piece` bytes at a time, or `None` for a bulk source.
    pub(crate) fn new(source: &Source, piece: u32, mut random: Random) -> Option<Paced> {
        let (rate_bps, periods) = match source {
            Source::Bulk { .. } => return None,
            Source::Cbr { rate_bps } => (*rate_bps, None),
            Source::OnOff { rate_bps, on, off } => {
                let left = on.span(&mut random);
                (*rate_bps, Some(Periods { on: on.clone(), off: off.clone(), left }))
            }
        };
        let interval = Rate::from_bits_per_sec(rate_bps).time_for(Bytes::new(u64::from(piece)));
        Some(Paced { interval, periods, random })
    }

    /// How long after one piece the next is due. Sending takes ON time only; what an ON period leaves unfinished
    /// goes on in the next.
    pub(crate) fn next_gap(&mut self) -> Span {
        let Some(periods) = &mut self.periods else { return self.interval };
        let (mut gap, mut needed) = (Span::ZERO, self.interval);
        loop {
            if needed <= periods.left {
                periods.left = periods.left.saturating_sub(needed);
                return gap + needed;
            }
            needed = needed.saturating_sub(periods.left);
            gap = gap + periods.left + periods.off.span(&mut self.random);
            periods.left = periods.on.span(&mut self.random);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_piece_goes_on_in_the_next_on_period() {
        // 1000 bytes at 1 Mbit/s take 8 ms. ON 20 ms, OFF 100 ms: after two pieces 4 ms are left, the third needs
        // 4 ms of the next period: 4 + 100 + 4.
        let second = |ms: u64| Distribution::Constant { value: ms * 1_000_000 };
        let source = Source::OnOff { rate_bps: 1_000_000, on: second(20), off: second(100) };
        let mut paced = Paced::new(&source, 1000, Random::seeded(1)).unwrap();
        let gaps: Vec<_> = (0..4).map(|_| paced.next_gap().as_millis_f64()).collect();
        assert_eq!(gaps, [8.0, 8.0, 108.0, 8.0]);
    }
}
