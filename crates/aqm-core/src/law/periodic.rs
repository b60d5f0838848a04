//! Work that is done once per period, by wake-ups that may be late.

use crate::units::{Span, Time};

/// Missed periods that a late wake-up makes up for; after that the period restarts from now.
const CATCH_UP: u32 = 16;

/// The next time at which something is due.
#[derive(Clone, Copy, Debug)]
pub struct Periodic {
    next: Time,
}

impl Periodic {
    /// Due first after one `period`.
    pub fn new(period: Span) -> Periodic {
        Periodic::at(Time::ZERO + period)
    }

    /// Due first at `next`.
    pub const fn at(next: Time) -> Periodic {
        Periodic { next }
    }

    /// When it is due next.
    pub const fn due(&self) -> Time {
        self.next
    }

    /// Does `step` for every period that has ended by now.
    #[inline]
    pub fn catch_up(&mut self, period: Span, now: Time, mut step: impl FnMut()) {
        for _ in 0..CATCH_UP {
            if self.next > now {
                return;
            }
            step();
            self.next += period;
        }
        if self.next <= now {
            self.next = now + period;
        }
    }

    /// The period has changed to `period`: the next time is at most that far from now.
    pub fn adopt(&mut self, period: Span, now: Time) {
        self.next = self.next.min(now + period);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn every_period_is_made_up_for_until_there_are_too_many() {
        let period = Span::from_millis(10);
        let mut timer = Periodic::new(period);
        let mut steps = |now| {
            let mut steps = 0;
            timer.catch_up(period, at(now), || steps += 1);
            (steps, timer.due())
        };
        assert_eq!(steps(9), (0, at(10)));
        assert_eq!(steps(10), (1, at(20)));
        assert_eq!(steps(10), (0, at(20)));
        assert_eq!(steps(45), (3, at(50)));
        assert_eq!(steps(205), (16, at(210))); // 50 .. 200
        assert_eq!(steps(1000), (16, at(1010))); // 210 .. 360, and no more
    }

    #[test]
    fn a_shorter_period_takes_effect_at_once() {
        let mut timer = Periodic::new(Span::from_millis(100));
        timer.adopt(Span::from_millis(10), at(20));
        assert_eq!(timer.due(), at(30));
        timer.adopt(Span::from_millis(500), at(25));
        assert_eq!(timer.due(), at(30));
    }
}
