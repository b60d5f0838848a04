//! How adaptive REDs move `max_p`: Floyd, Gummadi and Shenker (2001, "Adaptive RED: An Algorithm for Increasing the
//! Robustness of RED's Active Queue Management") and Feng, Kandlur, Saha and Shin (1999, "A Self-Configuring RED
//! Gateway"). No random numbers.

use super::red::Params;
use crate::units::{Span, Time};

/// A rule.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Once per interval, towards an average in the middle of the thresholds.
    Floyd(Floyd),
    /// Whenever the average leaves the range between the thresholds.
    Feng(Feng),
}

/// Settings of Floyd, Gummadi and Shenker's rule (figure 2).
#[derive(Clone, Copy, Debug)]
pub struct Floyd {
    /// Time between two steps.
    pub interval: Span,
    /// Largest step up; never more than a quarter of `max_p`.
    pub alpha: f64,
    /// Factor of a step down.
    pub beta: f64,
    /// No step down from below this.
    pub bottom: f64,
    /// No step up from above this.
    pub top: f64,
}

/// Settings of Feng's rule (figure 4).
#[derive(Clone, Copy, Debug)]
pub struct Feng {
    /// What `max_p` is divided by when the average falls below `min`.
    pub alpha: f64,
    /// What `max_p` is multiplied by when the average rises above `max`.
    pub beta: f64,
    /// Smallest value of `max_p`.
    pub bottom: f64,
    /// Whether the average counts as above `max`, not below `min`, before the first packet.
    pub starts_above: bool,
}

/// The state beside `max_p` itself, which is in RED's parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adaptation {
    /// When the average was last checked (Floyd).
    last: Time,
    region: Region,
}

/// The last position of the average (Feng).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Region {
    #[default]
    Below,
    Between,
    Above,
}

impl Rule {
    /// The state before the first packet.
    pub fn start(&self) -> Adaptation {
        let above = matches!(self, Rule::Feng(Feng { starts_above: true, .. }));
        Adaptation { last: Time::ZERO, region: if above { Region::Above } else { Region::Below } }
    }

    /// Moves `red.max_p` for a new `average`.
    #[inline]
    pub fn adapt(&self, state: &mut Adaptation, red: &mut Params, average: f64, now: Time) {
        match self {
            Rule::Floyd(floyd) => {
                if now.since(state.last) >= floyd.interval {
                    state.last = now;
                    floyd.step(red, average);
                }
            }
            Rule::Feng(feng) => feng.step(&mut state.region, red, average),
        }
    }
}

impl Floyd {
    /// The constants of figure 2, which Linux's adaptive RED has too (red_adaptative_algo()).
    pub const ADAPTIVE_RED: Floyd =
        Floyd { interval: Span::from_millis(500), alpha: 0.01, beta: 0.9, bottom: 0.01, top: 0.5 };

    fn step(&self, red: &mut Params, average: f64) {
        // The target is the middle fifth of the range.
        let part = 0.4 * (red.max - red.min);
        if average > red.max - part && red.max_p <= self.top {
            red.max_p += self.alpha.min(red.max_p / 4.0);
        } else if average < red.min + part && red.max_p >= self.bottom {
            red.max_p *= self.beta;
        }
    }
}

impl Feng {
    fn step(&self, region: &mut Region, red: &mut Params, average: f64) {
        // Figure 4 has strict comparisons: at a threshold the average keeps its position.
        let is = if average < red.min {
            Region::Below
        } else if average > red.max {
            Region::Above
        } else if red.min < average && average < red.max {
            Region::Between
        } else {
            *region
        };
        if is != *region {
            *region = is;
            match is {
                Region::Below => red.max_p = (red.max_p / self.alpha).max(self.bottom),
                Region::Above => red.max_p = (red.max_p * self.beta).min(1.0),
                Region::Between => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::idle::Idle;
    use super::super::red::Shape;
    use super::*;

    const RED: Params = Params {
        min: 10.0,
        max: 30.0,
        max_p: 0.1,
        weight: 0.002,
        shape: Shape::Linear,
        gentle: true,
        wait: false,
        mean_packet: None,
        packet_time: Span::from_millis(1),
        idle: Idle::Ns3,
    };

    const FLOYD: Floyd = Floyd::ADAPTIVE_RED;

    fn stepped(max_p: f64, average: f64) -> f64 {
        let mut red = Params { max_p, ..RED };
        FLOYD.step(&mut red, average);
        red.max_p
    }

    #[test]
    fn floyd_steps_up_above_the_target_range_and_down_below_it() {
        // The range is 18 to 22: 10 + 0.4 * 20 and 30 - 0.4 * 20.
        assert_eq!([18.0, 20.0, 22.0].map(|average| stepped(0.1, average)), [0.1; 3]);
        assert_eq!(stepped(0.1, 22.1), 0.11);
        assert_eq!(stepped(0.02, 22.1), 0.025); // a quarter of 0.02 is less than 0.01
        assert_eq!(stepped(0.1, 17.9), 0.1 * 0.9);
        // The bounds are checked before the step.
        assert_eq!((stepped(0.5, 25.0), stepped(0.51, 25.0)), (0.51, 0.51));
        assert_eq!((stepped(0.01, 5.0), stepped(0.0099, 5.0)), (0.01 * 0.9, 0.0099));
    }

    #[test]
    fn floyd_waits_an_interval_between_checks() {
        let (mut red, mut state) = (RED, Adaptation::default());
        let rule = Rule::Floyd(FLOYD);
        for (millis, max_p) in [(499, 0.1), (500, 0.09), (999, 0.09), (1000, 0.081)] {
            rule.adapt(&mut state, &mut red, 5.0, Time::from_nanos(millis * 1_000_000));
            assert!((red.max_p - max_p).abs() < 1e-12, "{millis}: {}", red.max_p);
        }
    }

    #[test]
    fn feng_reacts_once_to_each_crossing() {
        let (mut red, mut state) = (RED, Adaptation::default());
        let feng = Feng { alpha: 3.0, beta: 2.0, bottom: 0.01, starts_above: false };
        let rule = Rule::Feng(feng);
        let averages = [5.0, 20.0, 31.0, 35.0, 20.0, 31.0, 9.0, 8.0, 11.0, 9.0, 11.0];
        let expected = [0.1, 0.1, 0.2, 0.2, 0.2, 0.4, 0.4 / 3.0, 0.4 / 3.0, 0.4 / 3.0, 0.4 / 9.0, 0.4 / 9.0];
        for (average, max_p) in averages.into_iter().zip(expected) {
            rule.adapt(&mut state, &mut red, average, Time::ZERO);
            assert!((red.max_p - max_p).abs() < 1e-12, "{average}: {} for {max_p}", red.max_p);
        }
        // 0.4 / 27 = 0.0148, then 0.0049 is held at the bottom.
        for (average, max_p) in [(9.0, 0.4 / 27.0), (11.0, 0.4 / 27.0), (9.0, 0.01)] {
            rule.adapt(&mut state, &mut red, average, Time::ZERO);
            assert!((red.max_p - max_p).abs() < 1e-12, "{average}: {} for {max_p}", red.max_p);
        }
        // At a threshold nothing is crossed: neither from below, nor from above.
        let (mut red, mut state) = (RED, Adaptation::default());
        for average in [9.0, 10.0, 9.0, 20.0, 30.0] {
            rule.adapt(&mut state, &mut red, average, Time::ZERO);
            assert_eq!(red.max_p, 0.1, "{average}");
        }
        for average in [31.0, 30.0, 31.0] {
            rule.adapt(&mut state, &mut red, average, Time::ZERO);
            assert_eq!(red.max_p, 0.2, "{average}");
        }
        let above = Rule::Feng(Feng { starts_above: true, ..feng });
        let (mut red, mut state) = (RED, above.start());
        for (average, max_p) in [(31.0, 0.1), (0.0, 0.1 / 3.0)] {
            above.adapt(&mut state, &mut red, average, Time::ZERO);
            assert!((red.max_p - max_p).abs() < 1e-12, "{average}: {}", red.max_p);
        }
        let mut red = Params { max_p: 0.7, ..RED };
        rule.adapt(&mut Adaptation::default(), &mut red, 31.0, Time::ZERO);
        assert_eq!(red.max_p, 1.0);
    }
}
