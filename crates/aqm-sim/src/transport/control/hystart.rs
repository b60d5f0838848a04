//! HyStart++ (RFC 9406): leaves slow start when the round-trip time rises, before packets are lost.

use super::hystart_classic::Classic;
use crate::transport::rules::{HyStartRule, SlowStartRules};
use crate::transport::values::Values;
use crate::transport::window::{Acked, Window};
use aqm_core::units::Span;

/// RFC 9406 section 4.3.
const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// Segments that one acknowledgment may grow the window by; without limit if the sender paces.
const L: u64 = 8;

/// Slow start, and what ends it beside congestion.
#[derive(Clone, Debug)]
pub(crate) enum SlowStart {
    /// RFC 5681: nothing.
    Plain,
    /// The first slow start with HyStart++.
    PlusPlus(Box<HyStart>),
    /// Every slow start with the classic HyStart.
    Classic(Box<Classic>),
}

impl SlowStart {
    pub(crate) fn new(tcp: &Values) -> SlowStart {
        let paced = tcp.flag("pacing");
        let classic = |late_rounds| SlowStart::Classic(Box::new(Classic::new(paced, late_rounds)));
        match SlowStartRules::of(tcp).hystart {
            HyStartRule::Off => SlowStart::Plain,
            HyStartRule::PlusPlus => SlowStart::PlusPlus(Box::new(HyStart::new(paced))),
            HyStartRule::Classic => classic(true),
            HyStartRule::ClassicFirst => classic(false),
        }
    }

    /// New data was acknowledged in slow start, by a sender that uses its window.
    pub(crate) fn grow(&mut self, window: &mut Window, acked: &Acked) {
        match self {
            SlowStart::Plain | SlowStart::Classic(_) => window.slow_start(acked.bytes),
            SlowStart::PlusPlus(hystart) => {
                hystart.grow(window, acked.bytes);
                hystart.observe(window, acked);
            }
        }
    }

    /// New data was acknowledged in slow start, and the window may grow next if it was `used`. Round-trip times say as much of
    /// the path if it was not. The classic HyStart judges before growth, so that none may follow; HyStart++ after it.
    pub(crate) fn judge(&mut self, window: &mut Window, acked: &Acked, used: bool) {
        match self {
            SlowStart::Classic(hystart) => hystart.observe(window, acked),
            SlowStart::PlusPlus(hystart) if !used => hystart.observe(window, acked),
            SlowStart::Plain | SlowStart::PlusPlus(_) => {}
        }
    }

    /// Congestion: section 4.2 is for the first slow start only.
    pub(crate) fn end_first(&mut self) {
        if let SlowStart::PlusPlus(_) = self {
            *self = SlowStart::Plain;
        }
    }

    /// The retransmission timer expired.
    pub(crate) fn on_timeout(&mut self) {
        if let SlowStart::Classic(hystart) = self {
            hystart.forget();
        }
    }
}

/// State of the first slow start.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    last_round: Span,
    this_round: Span,
    samples: u32,
    /// Where the round ends; zero before the first.
    window_end: u64,
    /// In conservative slow start: the round-trip time to fall back to, and the rounds spent in it.
    conservative: Option<(Span, u32)>,
    paced: bool,
}

impl HyStart {
    fn new(paced: bool) -> HyStart {
        HyStart {
            last_round: Span::MAX,
            this_round: Span::MAX,
            samples: 0,
            window_end: 0,
            conservative: None,
            paced,
        }
    }

    /// `bytes` were acknowledged in slow start: section 4.2.
    fn grow(&mut self, window: &mut Window, bytes: u64) {
        let unlimited = self.paced || window.slow_start_limit == u64::MAX;
        let limit = if unlimited { u64::MAX } else { L * window.mss };
        let growth = bytes.min(limit);
        let growth = if self.conservative.is_some() { growth / CSS_GROWTH_DIVISOR } else { growth };
        window.cwnd = (window.cwnd + growth).min(window.ssthresh.max(window.cwnd));
    }

    /// The round-trip time of an acknowledgment in slow start: section 4.2. Ends slow start by setting ssthresh.
    fn observe(&mut self, window: &mut Window, acked: &Acked) {
        if acked.sample == Span::ZERO {
            return;
        }
        self.this_round = self.this_round.min(acked.sample);
        self.samples += 1;
        let enough = self.samples >= N_RTT_SAMPLE && self.last_round < Span::MAX;
        match &mut self.conservative {
            None if enough => {
                let margin = (self.last_round / MIN_RTT_DIVISOR).max(MIN_RTT_THRESH).min(MAX_RTT_THRESH);
                if self.this_round >= self.last_round + margin {
                    self.conservative = Some((self.this_round, 0));
                }
            }
            // The rise did not last: back to slow start.
            Some((baseline, _)) if self.samples >= N_RTT_SAMPLE && self.this_round < *baseline => {
                self.conservative = None;
            }
            _ => {}
        }
        if self.window_end == 0 {
            self.window_end = acked.next;
        }
        if acked.una >= self.window_end {
            self.next_round(window, acked.next);
        }
    }

    fn next_round(&mut self, window: &mut Window, next: u64) {
        self.window_end = next;
        self.last_round = self.this_round;
        (self.this_round, self.samples) = (Span::MAX, 0);
        if let Some((_, rounds)) = &mut self.conservative {
            // The round in which it started counts, though it is incomplete.
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                window.ssthresh = window.cwnd;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::Time;

    /// A round of ten acknowledgments of a segment each, with this round-trip time.
    fn round(hystart: &mut HyStart, window: &mut Window, number: u64, rtt_ms: u64) {
        for ack in 1..=10 {
            let una = number * 10_000 + ack * 1000;
            let (now, rtt) = (Time::ZERO, Span::from_millis(rtt_ms));
            // The last one acknowledges everything sent in the round, and the next round has been sent.
            let next = (number + 1 + ack / 10) * 10_000;
            let acked = Acked { una, next, ..Acked::new(1000, now, rtt) };
            hystart.grow(window, acked.bytes);
            hystart.observe(window, &acked);
        }
    }

    #[test]
    fn a_higher_round_trip_slows_growth_to_a_quarter_and_five_rounds_end_slow_start() {
        let mut window = Window::new(1000, 10);
        let mut hystart = HyStart::new(false);
        round(&mut hystart, &mut window, 0, 40);
        round(&mut hystart, &mut window, 1, 44);
        assert_eq!(window.cwnd, 30_000); // 44 < 40 + 5: plain slow start
        round(&mut hystart, &mut window, 2, 50);
        // 50 >= 44 + 5.5 at the eighth sample: eight segments, then two quarters.
        assert_eq!(window.cwnd, 38_500);
        for number in 3..7 {
            assert!(window.in_slow_start(), "round {number}");
            round(&mut hystart, &mut window, number, 50);
        }
        assert!(!window.in_slow_start());
        assert_eq!(window.ssthresh, window.cwnd);
    }

    #[test]
    fn a_round_trip_that_falls_again_resumes_slow_start() {
        let mut window = Window::new(1000, 10);
        let mut hystart = HyStart::new(false);
        for (number, rtt) in [40, 60, 50].into_iter().enumerate() {
            round(&mut hystart, &mut window, number as u64, rtt);
        }
        assert!(hystart.conservative.is_none());
        let before = window.cwnd;
        hystart.grow(&mut window, 1000);
        assert_eq!(window.cwnd, before + 1000);
    }

    #[test]
    fn an_acknowledgment_counts_at_most_eight_segments_unless_the_sender_paces() {
        let grown = |paced| {
            let mut window = Window::new(1000, 10);
            HyStart::new(paced).grow(&mut window, 20_000);
            window.cwnd
        };
        assert_eq!((grown(false), grown(true)), (18_000, 30_000));
    }
}
