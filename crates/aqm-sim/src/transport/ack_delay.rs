//! How long the acknowledgment of a single segment waits for a second one, as in Linux.
//!
//! The rule is from what kernel 7.2 did in traced runs (FIFOs of four packets at 100 to 500 kbit/s; the validation's
//! m1): after segments that were acknowledged at once the first wait is one of 40 ms. Where the next segment comes later
//! than that, the second wait is 80 ms and the third 160 ms; where it comes before, every second one is acknowledged
//! from then on. No wait is longer than the connection's first round trip: behind one of 53 ms all but the first are
//! 53 ms.
//!
//! Deviation: from 64 ms on the kernel's timers are late by up to an eighth.

use aqm_core::units::Span;

/// The delay, and between what it moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckDelay {
    now: Span,
    least: Span,
    /// No more than the least if it does not adapt.
    most: Span,
    /// What no wait exceeds, if it is known.
    round_trip: Option<Span>,
}

impl AckDelay {
    /// Between these two, the least first; `most` counts if it is larger.
    pub(super) fn new(least: Span, most: Span) -> AckDelay {
        AckDelay { now: least, least, most: most.max(least), round_trip: None }
    }

    /// How long the next acknowledgment waits.
    pub(super) fn span(&self) -> Span {
        self.round_trip.map_or(self.now, |bound| self.now.min(bound.max(self.least)))
    }

    /// The first round trip took so long.
    pub(super) fn bound(&mut self, round_trip: Span) {
        self.round_trip = Some(round_trip);
    }

    /// Whether it ever changes but for the bound.
    pub(super) fn adapts(&self) -> bool {
        self.least < self.most
    }

    /// A segment came in order, so long after the one before: twice that is the delay in the long run.
    #[inline]
    pub(super) fn on_segment(&mut self, apart: Span) {
        if self.adapts() && apart < self.now {
            self.now = (self.now / 2 + apart.max(self.least / 2)).clamp(self.least, self.most);
        }
    }

    /// It has passed, and no second segment came.
    pub(super) fn on_timer(&mut self) {
        self.now = (self.now * 2).min(self.most);
    }

    /// A segment is acknowledged at once.
    pub(super) fn restart(&mut self) {
        self.now = self.least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn a_delay_that_passes_in_vain_is_doubled_up_to_its_bound_and_begins_again_after_quick_acknowledgments() {
        let mut delay = AckDelay::new(ms(40), ms(200));
        let mut next = || {
            delay.on_timer();
            delay.span()
        };
        assert_eq!([next(), next(), next(), next()], [ms(80), ms(160), ms(200), ms(200)]);
        delay.restart();
        assert_eq!(delay.span(), ms(40));
    }

    #[test]
    fn it_goes_to_twice_the_time_between_segments_if_that_is_shorter() {
        let mut delay = AckDelay::new(ms(40), ms(200));
        delay.on_timer();
        delay.on_timer();
        let mut after = |apart| {
            (0..50).for_each(|_| delay.on_segment(ms(apart)));
            delay.span().as_nanos().div_ceil(1_000_000)
        };
        assert_eq!([after(300), after(48), after(5), after(48)], [160, 96, 40, 40]);
    }

    #[test]
    fn it_is_no_longer_than_a_round_trip() {
        let mut delay = AckDelay::new(ms(40), ms(200));
        delay.on_timer();
        let mut within = |round_trip| {
            delay.bound(ms(round_trip));
            delay.span()
        };
        assert_eq!([within(20), within(53), within(150)], [ms(40), ms(53), ms(80)]);
    }

    #[test]
    fn without_a_larger_bound_it_stays_as_it_is() {
        let mut delay = AckDelay::new(ms(40), Span::ZERO);
        delay.on_timer();
        delay.on_segment(ms(10));
        assert_eq!(delay.span(), ms(40));
    }
}
