//! Sources: when an application has how much to send.

use crate::scenario::{Distribution, Source};
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
        let (rate_bps, periods) = match *source {
            Source::Bulk { .. } => return None,
            Source::Cbr { rate_bps } => (rate_bps, None),
            Source::OnOff { rate_bps, on, off } => {
                let left = sample(on, &mut random);
                (rate_bps, Some(Periods { on, off, left }))
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
            gap = gap + periods.left + sample(periods.off, &mut self.random);
            periods.left = sample(periods.on, &mut self.random);
        }
    }
}

/// One length of time.
pub(crate) fn sample(distribution: Distribution, random: &mut Random) -> Span {
    match distribution {
        Distribution::Constant { value_ns } => Span::from_nanos(value_ns),
        Distribution::Uniform { low_ns, high_ns } => {
            Span::from_nanos(low_ns + random.below(high_ns.saturating_sub(low_ns) + 1))
        }
        // Inverse of the distribution function; 1 - u lies in (0, 1].
        Distribution::Exponential { mean_ns } => {
            Span::from_nanos((-libm::log(1.0 - random.uniform()) * mean_ns as f64) as u64)
        }
        Distribution::Pareto { scale_ns, shape } => {
            Span::from_nanos((scale_ns as f64 / libm::pow(1.0 - random.uniform(), 1.0 / shape)) as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_ms(distribution: Distribution) -> f64 {
        let mut random = Random::seeded(7);
        let draws = 200_000;
        (0..draws).map(|_| sample(distribution, &mut random).as_millis_f64()).sum::<f64>() / f64::from(draws)
    }

    #[test]
    fn means_are_those_of_the_closed_forms() {
        let ms = |ms: u64| ms * 1_000_000;
        assert!((mean_ms(Distribution::Uniform { low_ns: ms(10), high_ns: ms(30) }) - 20.0).abs() < 0.1);
        assert!((mean_ms(Distribution::Exponential { mean_ns: ms(20) }) - 20.0).abs() < 0.2);
        // Pareto: scale * shape / (shape - 1) = 10 * 3 / 2
        assert!((mean_ms(Distribution::Pareto { scale_ns: ms(10), shape: 3.0 }) - 15.0).abs() < 0.15);
    }

    #[test]
    fn an_unfinished_piece_goes_on_in_the_next_on_period() {
        // 1000 bytes at 1 Mbit/s take 8 ms. ON 20 ms, OFF 100 ms: after two pieces 4 ms are left, the third needs
        // 4 ms of the next period: 4 + 100 + 4.
        let second = |ms: u64| Distribution::Constant { value_ns: ms * 1_000_000 };
        let source = Source::OnOff { rate_bps: 1_000_000, on: second(20), off: second(100) };
        let mut paced = Paced::new(&source, 1000, Random::seeded(1)).unwrap();
        let gaps: Vec<_> = (0..4).map(|_| paced.next_gap().as_millis_f64()).collect();
        assert_eq!(gaps, [8.0, 8.0, 108.0, 8.0]);
    }
}
