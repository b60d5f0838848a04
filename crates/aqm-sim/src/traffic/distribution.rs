//! Distributions of lengths of time, sizes and rates.
//!
//! Every draw inverts the distribution function (the lognormal one uses Box and Muller's method) with functions that
//! give the same bits on every machine.

use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::units::Span;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Largest draw in any unit: 104 days, 9 petabytes. A heavy tail has no bound of its own.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// A distribution over whole numbers: nanoseconds, bytes or bit/s, depending on the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// A constant.
    Constant {
        /// The value.
        value: u64,
    },
    /// Uniform between two bounds, both included.
    Uniform {
        /// Smallest value.
        low: u64,
        /// Largest value.
        high: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: u64,
    },
    /// Pareto: P(X > x) = (scale/x)^shape from `scale` upwards.
    Pareto {
        /// Smallest value.
        scale: u64,
        /// Tail index; the mean is finite above 1.
        shape: f64,
    },
    /// Weibull: P(X > x) = exp(-(x/scale)^shape).
    Weibull {
        /// Scale: 63 % of the values lie below it.
        scale: u64,
        /// Shape; 1 is the exponential distribution, less has a heavier tail.
        shape: f64,
    },
    /// Lognormal: the logarithm is normal around that of the median.
    Lognormal {
        /// Median.
        median: u64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Empirical: points of the distribution function, joined by straight lines.
    Empirical {
        /// Its name, for messages.
        name: String,
        /// Values, ascending, each with the share of draws at or below it; the last share is 1.
        points: Vec<(f64, f64)>,
    },
}

impl Distribution {
    /// One draw.
    pub(crate) fn sample(&self, random: &mut Random) -> u64 {
        let value = match *self {
            Distribution::Constant { value } => return value,
            Distribution::Uniform { low, high } => return low + random.below(high - low + 1),
            Distribution::Exponential { mean } => exponential(random) * mean as f64,
            Distribution::Pareto { scale, shape } => scale as f64 * libm::exp(exponential(random) / shape),
            Distribution::Weibull { scale, shape } => {
                scale as f64 * libm::pow(exponential(random), 1.0 / shape)
            }
            Distribution::Lognormal { median, sigma } => median as f64 * libm::exp(sigma * normal(random)),
            Distribution::Empirical { ref points, .. } => quantile(points, random.uniform()),
        };
        value.min(LARGEST) as u64
    }

    /// One draw of a length of time.
    pub(crate) fn span(&self, random: &mut Random) -> Span {
        Span::from_nanos(self.sample(random))
    }

    /// The mean, infinite if there is none.
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Constant { value } => value as f64,
            Distribution::Uniform { low, high } => (low as f64 + high as f64) / 2.0,
            Distribution::Exponential { mean } => mean as f64,
            Distribution::Pareto { shape, .. } if shape <= 1.0 => f64::INFINITY,
            Distribution::Pareto { scale, shape } => scale as f64 * shape / (shape - 1.0),
            Distribution::Weibull { scale, shape } => scale as f64 * libm::tgamma(1.0 + 1.0 / shape),
            Distribution::Lognormal { median, sigma } => median as f64 * libm::exp(sigma * sigma / 2.0),
            Distribution::Empirical { ref points, .. } => {
                let pieces = points.windows(2).map(|pair| {
                    let ((low, before), (high, share)) = (pair[0], pair[1]);
                    (share - before) * (low + high) / 2.0
                });
                let (smallest, at_once) = points[0];
                smallest * at_once + pieces.sum::<f64>()
            }
        }
    }

    /// The mean of a draw where what exceeds `limit` counts as that: the integral of P(X > x) from zero to it. It is
    /// finite for every tail.
    pub(crate) fn mean_up_to(&self, limit: f64) -> f64 {
        if let Distribution::Constant { value } = self {
            return (*value as f64).min(limit);
        }
        let limit = limit.min(LARGEST);
        let (mut sum, mut low, mut share) = (0.0, 0.0, self.share_above(0.0));
        while low < limit && share > 0.0 {
            // Trapezoids that widen: heavy tails have many scales.
            let high = (low * 1.01 + 1.0).min(limit);
            let next = self.share_above(high);
            sum += (high - low) * (share + next) / 2.0;
            (low, share) = (high, next);
        }
        sum
    }

    /// P(X > x).
    fn share_above(&self, x: f64) -> f64 {
        match *self {
            Distribution::Constant { value } => f64::from(u8::from(x < value as f64)),
            Distribution::Uniform { low, high } => {
                ((high as f64 - x) / ((high - low) as f64).max(1.0)).clamp(0.0, 1.0)
            }
            Distribution::Exponential { mean } => libm::exp(-x / mean as f64),
            Distribution::Pareto { scale, shape } => libm::pow(scale as f64 / x, shape).min(1.0),
            Distribution::Weibull { scale, shape } => libm::exp(-libm::pow(x / scale as f64, shape)),
            Distribution::Lognormal { median, sigma } => {
                libm::erfc(libm::log(x / median as f64) / (sigma * std::f64::consts::SQRT_2)) / 2.0
            }
            Distribution::Empirical { ref points, .. } => {
                let above = points.partition_point(|(value, _)| *value <= x);
                match (above.checked_sub(1).and_then(|below| points.get(below)), points.get(above)) {
                    (Some((low, before)), Some((high, after))) => {
                        1.0 - before - (after - before) * (x - low) / (high - low)
                    }
                    (None, Some(_)) => 1.0,
                    (_, None) => 0.0,
                }
            }
        }
    }

    /// Refuses an invalid distribution; `key` is its key.
    pub(crate) fn check(&self, key: &str) -> Result<(), InputError> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(InputError::field(name, value, "it must be greater than zero").within(key))
            }
        };
        match self {
            Distribution::Uniform { low, high } if high < low => {
                Err(InputError::new(format!("high, {high}, is below low, {low}")).within(key))
            }
            Distribution::Uniform { high: u64::MAX, .. } => {
                Err(InputError::new("high is too large").within(key))
            }
            Distribution::Pareto { shape, .. } | Distribution::Weibull { shape, .. } => {
                positive("shape", *shape)
            }
            Distribution::Lognormal { sigma, .. } => positive("sigma", *sigma),
            Distribution::Empirical { name, points } => {
                check_points(points).map_err(|error| error.within(name).within(key))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an invalid distribution, and one whose values are all zero.
    pub(crate) fn check_positive(&self, key: &str) -> Result<(), InputError> {
        self.check(key)?;
        let is_zero = match self {
            Distribution::Constant { value } => *value == 0,
            Distribution::Uniform { high, .. } => *high == 0,
            Distribution::Exponential { mean } => *mean == 0,
            Distribution::Pareto { scale, .. } | Distribution::Weibull { scale, .. } => *scale == 0,
            Distribution::Lognormal { median, .. } => *median == 0,
            Distribution::Empirical { points, .. } => points.last().is_none_or(|(value, _)| *value < 1.0),
        };
        if is_zero { Err(InputError::field(key, 0, "it must be greater than zero")) } else { Ok(()) }
    }
}

/// Exponential with mean 1; 1 - u lies in (0, 1].
fn exponential(random: &mut Random) -> f64 {
    -libm::log(1.0 - random.uniform())
}

/// Standard normal: Box and Muller 1958, the first of the pair.
fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * exponential(random)).sqrt();
    radius * libm::cos(2.0 * PI * random.uniform())
}

/// The value that a share `share` of the draws does not exceed.
fn quantile(points: &[(f64, f64)], share: f64) -> f64 {
    let above = points.partition_point(|(_, cumulated)| *cumulated < share);
    match (above.checked_sub(1).and_then(|below| points.get(below)), points.get(above)) {
        (Some((low, before)), Some((high, after))) => {
            low + (high - low) * (share - before) / (after - before)
        }
        (None, Some((value, _))) | (Some((value, _)), None) => *value,
        (None, None) => 0.0,
    }
}

fn check_points(points: &[(f64, f64)]) -> Result<(), InputError> {
    let Some(&(first, first_share)) = points.first() else { return Err(InputError::new("it has no points")) };
    let (mut value, mut share) = (first, first_share);
    if !(first >= 0.0 && first_share >= 0.0) {
        return Err(InputError::new(format!("its first point, {first} {first_share}, is below zero")));
    }
    for &(next_value, next_share) in points {
        if !(next_value >= value && next_value <= LARGEST && next_share >= share) {
            return Err(InputError::new(format!(
                "{next_value} {next_share} does not ascend from {value} {share}"
            )));
        }
        (value, share) = (next_value, next_share);
    }
    if share == 1.0 {
        Ok(())
    } else {
        Err(InputError::new(format!("its last share is {share}: it must be 1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 100_000;
    /// The unit of the draws below, large enough that rounding to whole numbers does not show.
    const UNIT: f64 = 1e6;

    fn draws(distribution: &Distribution, seed: u64) -> Vec<f64> {
        let mut random = Random::seeded(seed);
        (0..DRAWS).map(|_| distribution.sample(&mut random) as f64 / UNIT).collect()
    }

    fn units(count: u64) -> u64 {
        count * UNIT as u64
    }

    /// The normal distribution function, from libm's complementary error function.
    fn phi(x: f64) -> f64 {
        libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
    }

    fn empirical() -> Distribution {
        // A fifth at 10, then straight to 20 at 0.6 and to 100 at 1.
        let points = vec![(10.0 * UNIT, 0.2), (20.0 * UNIT, 0.6), (100.0 * UNIT, 1.0)];
        Distribution::Empirical { name: "made up".to_owned(), points }
    }

    type Cdf = fn(f64) -> f64;

    /// Distributions with their closed forms: mean, variance, distribution function.
    fn closed_forms() -> Vec<(Distribution, f64, f64, Cdf)> {
        let gamma = libm::tgamma;
        vec![
            (Distribution::Uniform { low: units(10), high: units(30) }, 20.0, 400.0 / 12.0, |x| {
                (x - 10.0) / 20.0
            }),
            (Distribution::Exponential { mean: units(20) }, 20.0, 400.0, |x| 1.0 - (-x / 20.0).exp()),
            // Mean 10 * 5/4, variance 10^2 * 5 / (4^2 * 3).
            (Distribution::Pareto { scale: units(10), shape: 5.0 }, 12.5, 500.0 / 48.0, |x| {
                1.0 - (10.0 / x).powf(5.0)
            }),
            (
                Distribution::Weibull { scale: units(10), shape: 1.5 },
                10.0 * gamma(1.0 + 1.0 / 1.5),
                100.0 * (gamma(1.0 + 2.0 / 1.5) - gamma(1.0 + 1.0 / 1.5).powi(2)),
                |x| 1.0 - (-(x / 10.0).powf(1.5)).exp(),
            ),
            (
                Distribution::Lognormal { median: units(10), sigma: 0.5 },
                10.0 * 0.125_f64.exp(),
                100.0 * (0.25_f64.exp() - 1.0) * 0.25_f64.exp(),
                |x| phi((x / 10.0).ln() / 0.5),
            ),
            // 0.2 at 10, then two uniform pieces: E = 2 + 0.4 * 15 + 0.4 * 60; E[X^2] by the same pieces.
            (
                empirical(),
                32.0,
                0.2 * 100.0 + 0.4 * (225.0 + 100.0 / 12.0) + 0.4 * (3600.0 + 6400.0 / 12.0) - 1024.0,
                |x| if x < 20.0 { 0.2 + (x - 10.0) * 0.04 } else { 0.6 + (x - 20.0) * 0.005 },
            ),
        ]
    }

    #[test]
    fn a_mean_up_to_a_limit_is_that_of_draws_and_finite_for_every_tail() {
        let distributions = [
            Distribution::Constant { value: 700 },
            Distribution::Uniform { low: 100, high: 2000 },
            Distribution::Exponential { mean: 1000 },
            Distribution::Pareto { scale: 300, shape: 0.9 },
            Distribution::Weibull { scale: 800, shape: 0.5 },
            Distribution::Lognormal { median: 500, sigma: 2.0 },
            Distribution::Empirical {
                name: "steps".to_owned(),
                points: vec![(10.0, 0.2), (10.0, 0.5), (3000.0, 1.0)],
            },
        ];
        for distribution in distributions {
            let mut random = Random::seeded(1);
            for limit in [1_000.0, 100_000.0] {
                let draws = (0..200_000).map(|_| (distribution.sample(&mut random) as f64).min(limit));
                let mean = draws.sum::<f64>() / 200_000.0;
                let ratio = distribution.mean_up_to(limit) / mean;
                assert!((ratio - 1.0).abs() < 0.02, "{distribution:?} up to {limit}: {ratio}");
            }
        }
    }

    #[test]
    fn moments_are_those_of_the_closed_forms() {
        for (distribution, mean, variance, _) in closed_forms() {
            let values = draws(&distribution, 7);
            let n = values.len() as f64;
            let sample_mean = values.iter().sum::<f64>() / n;
            let sample_variance = values.iter().map(|x| (x - sample_mean).powi(2)).sum::<f64>() / n;
            // Four standard errors of the mean.
            let allowed = 4.0 * (variance / n).sqrt();
            assert!((sample_mean - mean).abs() < allowed, "{distribution:?}: mean {sample_mean}, not {mean}");
            assert!((sample_variance / variance - 1.0).abs() < 0.05, "{distribution:?}: {sample_variance}");
            assert!((distribution.mean() / UNIT / mean - 1.0).abs() < 1e-9, "{distribution:?}");
        }
    }

    #[test]
    fn draws_pass_the_kolmogorov_smirnov_test_against_the_closed_forms() {
        for (distribution, _, _, cdf) in closed_forms() {
            for seed in [1, 2, 3] {
                let mut values = draws(&distribution, seed);
                values.sort_by(f64::total_cmp);
                let n = values.len() as f64;
                // Where the law has an atom, many draws are equal: the supremum is then over the last of them.
                let distance = values
                    .iter()
                    .enumerate()
                    .filter(|(index, x)| values.get(index + 1) != Some(x))
                    .map(|(index, x)| (cdf(*x) - (index as f64 + 1.0) / n).abs())
                    .fold(0.0, f64::max);
                // 1.95 is the 0.1 % point of Kolmogorov's distribution.
                assert!(distance * n.sqrt() < 1.95, "{distribution:?}, seed {seed}: {}", distance * n.sqrt());
            }
        }
    }

    #[test]
    fn the_kolmogorov_smirnov_test_finds_a_parameter_that_is_off_by_two_percent() {
        let mut values = draws(&Distribution::Exponential { mean: units(20) }, 1);
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let distances =
            values.iter().zip(1..).map(|(x, rank)| (1.0 - (-x / 20.4_f64).exp() - f64::from(rank) / n).abs());
        assert!(distances.fold(0.0, f64::max) * n.sqrt() > 1.95);
    }

    #[test]
    fn constants_are_constant_and_a_tail_without_mean_stays_within_bounds() {
        let mut random = Random::seeded(1);
        assert_eq!(Distribution::Constant { value: 5 }.sample(&mut random), 5);
        let wild = Distribution::Pareto { scale: u64::MAX / 4, shape: 0.1 };
        assert_eq!(wild.sample(&mut random), LARGEST as u64);
        assert_eq!(wild.mean(), f64::INFINITY);
    }

    #[test]
    fn an_invalid_distribution_is_refused_by_name() {
        let points = |points: &[(f64, f64)]| {
            let points = points.to_vec();
            Distribution::Empirical { name: "sizes.cdf".to_owned(), points }
                .check("size")
                .unwrap_err()
                .to_string()
        };
        assert_eq!(points(&[]), "size: sizes.cdf: it has no points");
        assert!(points(&[(1.0, 0.5), (0.5, 1.0)]).contains("0.5 1 does not ascend from 1 0.5"));
        assert!(points(&[(1.0, 0.5), (2.0, 0.4)]).contains("does not ascend"));
        assert!(points(&[(1.0, 0.0), (2.0, 0.9)]).contains("its last share is 0.9"));
        assert!(points(&[(f64::NAN, 0.0), (2.0, 1.0)]).contains("below zero"));
        let shape = Distribution::Weibull { scale: 1, shape: -1.0 }.check("off").unwrap_err().to_string();
        assert_eq!(shape, "off: shape is -1: it must be greater than zero");
        assert!(
            Distribution::Uniform { low: 2, high: 1 }
                .check("on")
                .unwrap_err()
                .to_string()
                .contains("below low, 2")
        );
        assert!(
            Distribution::Exponential { mean: 0 }
                .check_positive("on")
                .unwrap_err()
                .to_string()
                .contains("on is 0")
        );
        assert_eq!(empirical().check_positive("size"), Ok(()));
    }
}
