//! The controller of section VII: it watches one queue, and changes the configuration while running.
//!
//! The paper says that there should be one, not what it does. This one goes a configuration up, to the stricter, when
//! the packets that left in a period waited longer than a target on average, and one down when less than half of it.

use aqm_core::law::daqm::CONFIGURATIONS;
use aqm_core::units::{Span, Time};

/// Which configuration is in force, and what was seen of the queue since the period began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Controller {
    level: usize,
    ends: Time,
    waited: Span,
    packets: u64,
}

impl Controller {
    /// The number of the configuration in force, from zero, in the order of [`CONFIGURATIONS`].
    pub(super) fn level(&self) -> usize {
        self.level
    }

    /// A packet leaves after `sojourn`; answers whether another configuration is in force from here on.
    pub(super) fn departing(&mut self, period: Span, target: Span, now: Time, sojourn: Span) -> bool {
        let before = self.level;
        if now >= self.ends {
            if self.waited > target * self.packets {
                self.level = (self.level + 1).min(CONFIGURATIONS.len() - 1);
            } else if self.waited * 2 < target * self.packets {
                self.level = self.level.saturating_sub(1);
            }
            *self = Controller { level: self.level, ends: now + period, ..Controller::default() };
        }
        self.waited += sojourn;
        self.packets += 1;
        self.level != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::from_millis(100);
    const TARGET: Span = Span::from_millis(20);

    /// The configuration after each departure, one per 50 ms.
    fn levels<const N: usize>(waits_ms: [u64; N]) -> [usize; N] {
        let (mut controller, mut now) = (Controller::default(), Time::ZERO);
        waits_ms.map(|wait| {
            controller.departing(PERIOD, TARGET, now, Span::from_millis(wait));
            now += Span::from_millis(50);
            controller.level()
        })
    }

    #[test]
    fn it_goes_up_above_the_target_and_down_below_half_of_it() {
        // Periods begin at 0, 100, 200 ms ...: two departures each, whose mean counts.
        assert_eq!(levels([30, 11, 0, 0, 0]), [0, 0, 1, 1, 0]);
        assert_eq!(levels([20, 20, 0]), [0, 0, 0]);
        assert_eq!(levels([30, 30, 10, 10, 9, 10, 0]), [0, 0, 1, 1, 1, 1, 0]);
        assert_eq!(levels([99; 9]), [0, 0, 1, 1, 2, 2, 2, 2, 2]);
    }
}
