//! PMQECN's sender (Liu et al. 2024, algorithm 3, equations 15 to 18).
//!
//! Feedback lowers the rate; some cycles of fast recovery then halve the distance to the former rate, and after them
//! the target rises by a constant each cycle. The paper leaves open how long a cycle lasts, and never sets its count
//! back: here feedback restarts both. Algorithm 3 leaves the target where it was, equation 18 raises it: here
//! equation 18. Feedback never raises the rate.
//!
//! The authors' DCQCN and P4QCN are this machine with other [`Cut`]s (`dcqcn_as_run`, `p4qcn_as_run`), not what
//! is published under these names.

use aqm_core::choices;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use aqm_sim::rate_control::declaration::{bits, rate, span};
use aqm_sim::rate_control::qcn::LARGEST_FB;
use aqm_sim::rate_control::receiver::Thinning;
use aqm_sim::rate_control::{Bounds, Feedback, Info, NOTIFICATION, RateControl};
use aqm_sim::transport::Values;

/// The registry entry.
pub(crate) static INFO: Info = Info {
    name: "pmqecn",
    summary: "PMQECN: a rate, lowered by what switches say should arrive of its class",
    reference: "Liu et al., PeerJ CS 2024, algorithm 3",
    params: PARAMS,
    sets: &[],
    least: |_| UNBOUNDED.least,
    read: |[_, arriving, optimal]| Feedback::Rates { arriving: arriving as f64, optimal: optimal as f64 },
    receiver: |_| None,
    build,
};

/// What the authors ran as PMQECN.
pub(crate) static AS_RUN: Info = Info {
    name: "pmqecn_as_run",
    summary: "PMQECN as its authors ran it: one message in 50 acts, and never by half or more",
    reference: "YXY-1998/OUR-ECN, scene1/my",
    sets: &[("cut", "ratio-as-run"), ("of", "50")],
    ..INFO
};

/// An assumption between text and code.
pub(crate) static BOUNDED: Info = Info {
    name: "pmqecn_bounded",
    summary: "PMQECN where one message in 50 acts and takes at most half of the rate",
    reference: "Liu et al., PeerJ CS 2024, equation 16; YXY-1998/OUR-ECN; the half is QCN's and DCQCN's",
    sets: &[("of", "50"), ("floor", "50%")],
    ..INFO
};

/// What the authors ran as DCQCN.
pub(crate) static DCQCN_AS_RUN: Info = Info {
    name: "dcqcn_as_run",
    summary: "What PMQECN's authors ran as DCQCN: half the rate for every 51 marks",
    reference: "YXY-1998/OUR-ECN, scene1/my-dcqcn",
    sets: &[("cut", "half")],
    read: |values| {
        if values == NOTIFICATION { Feedback::Notification } else { Feedback::Quantised(values[0]) }
    },
    receiver: |_| Some(Thinning::Every(51)),
    ..INFO
};

/// What the authors ran behind TCN's marks: the same.
pub(crate) static TCN_AS_RUN: Info = Info {
    name: "tcn_as_run",
    summary: "What PMQECN's authors ran behind TCN's marks: half the rate for every 51 marks",
    reference: "YXY-1998/OUR-ECN, scene1/my-tcn",
    ..DCQCN_AS_RUN
};

/// What the authors ran as P4QCN.
pub(crate) static P4QCN_AS_RUN: Info = Info {
    name: "p4qcn_as_run",
    summary: "What PMQECN's authors ran as P4QCN: a random cut for every 26 messages of switches",
    reference: "YXY-1998/OUR-ECN, scene1/my-p4qcn",
    sets: &[("cut", "random"), ("of", "26")],
    // It does not look at how long the queue is.
    read: |[queue, ..]| Feedback::Quantised(queue.clamp(1, LARGEST_FB)),
    ..INFO
};

const SOURCE: &str = "Liu et al. 2024, algorithm 3";

choices! {
    /// What a message makes of the rate.
    enum CutName {
        Ratio = "ratio",
        RatioAsRun = "ratio-as-run",
        Half = "half",
        Random = "random",
    }
}

const PARAMS: &[ParamSpec] = &[
    rate("first", Some(1_000_000), "rate at the start", SOURCE),
    rate("additive", Some(5_000_000), "R_A, step of the active increase", SOURCE),
    ParamSpec::new(
        "cycles",
        Kind::Count,
        Value::Count(5),
        (0.0, 1000.0),
        "N_C, cycles of fast recovery",
        SOURCE,
    ),
    span(
        "cycle",
        Span::from_secs(1),
        "time of a cycle",
        "not in the paper; one batch of the authors' RP2.py",
    ),
    ParamSpec::new(
        "of",
        Kind::Count,
        Value::Count(1),
        (1.0, 1e6),
        "of so many messages one acts",
        "the authors' RP2.py: 50",
    ),
    ParamSpec::choice::<CutName>(
        "cut",
        "what a message makes of the rate: ratio is equation 16, the others are the authors' programs",
        "Liu et al. 2024, equations 15 and 16",
    ),
    ParamSpec::new(
        "floor",
        Kind::Fraction,
        Value::Fraction(0.0),
        (0.0, 1.0),
        "least share of the rate that equation 16 leaves",
        "not in the paper",
    ),
];

fn build(values: &Values, bounds: Bounds, start: Time) -> Box<dyn RateControl> {
    let cut = match values.choice("cut") {
        CutName::RatioAsRun => Cut::RatioAsRun,
        CutName::Half => Cut::Half,
        CutName::Random => Cut::Random,
        CutName::Ratio => Cut::Ratio { least: values.number("floor") },
    };
    let settings = Settings {
        start: bits(values, "first"),
        increase: bits(values, "additive"),
        cycles: values.count("cycles"),
        cycle: values.span("cycle"),
        every: values.count("of"),
        cut,
        bounds,
    };
    Box::new(Sender::new(settings, start))
}

/// What feedback makes of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// Equation 16: by lambda* / lambda, but to no less than `least` of what it was; never up.
    Ratio {
        /// 0 is the paper's; QCN and DCQCN never take more than half.
        least: f64,
    },
    /// The authors' code: by the ratio, but not at all where that is a half or less; by chance where it says no less.
    RatioAsRun,
    /// By half.
    Half,
    /// By a random share of up to a half.
    Random,
}

/// How a sender behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Rate at the start, bit/s.
    pub start: f64,
    /// R_A, bit/s.
    pub increase: f64,
    /// N_C, cycles of fast recovery.
    pub cycles: u32,
    /// How long a cycle lasts.
    pub cycle: Span,
    /// Of so many messages one acts.
    pub every: u32,
    /// What that one does.
    pub cut: Cut,
    /// Within which the rate stays.
    pub bounds: Bounds,
}

/// No upper bound: the authors' senders have none.
const UNBOUNDED: Bounds = Bounds { least: 1e3, most: f64::INFINITY };

impl Settings {
    /// Algorithm 3, with the increase of equation 18.
    pub const PAPER: Settings = Settings {
        start: 1e6,
        increase: 5e6,
        cycles: 5,
        cycle: Span::from_secs(1),
        every: 1,
        cut: Cut::Ratio { least: 0.0 },
        bounds: UNBOUNDED,
    };
}

/// The sender.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    /// R_c.
    rate: f64,
    /// R_t.
    target: f64,
    /// Cycles of fast recovery that are left; none in active increase.
    recovery: u32,
    /// Messages since one acted.
    heard: u32,
    cycle_end: Time,
}

impl Sender {
    /// Begins to send at `now`.
    pub fn new(settings: Settings, now: Time) -> Sender {
        let rate = settings.bounds.clamp(settings.start);
        Sender { settings, rate, target: 0.0, recovery: 0, heard: 0, cycle_end: now + settings.cycle }
    }

    /// The new rate after a message that acts.
    fn cut(&self, feedback: Feedback, random: &mut Random) -> f64 {
        let by_chance = |random: &mut Random| 1.0 - random.uniform() / 2.0;
        let ratio = match feedback {
            Feedback::Rates { arriving, optimal } => optimal / arriving,
            _ => 1.0,
        };
        let share = match self.settings.cut {
            Cut::Ratio { least } => ratio.clamp(least, 1.0), // eqs. 15 and 16
            Cut::RatioAsRun if ratio >= 1.0 || ratio.is_nan() || ratio == 0.0 => by_chance(random),
            Cut::RatioAsRun if ratio <= 0.5 => 1.0,
            Cut::RatioAsRun => ratio,
            Cut::Half => 0.5,
            Cut::Random => by_chance(random),
        };
        self.settings.bounds.clamp(self.rate * share)
    }

    /// Whether a message can be meant. A share of the smallest Ethernet frames that the link carries cannot be exceeded.
    fn believes(&self, feedback: Feedback) -> bool {
        match (self.settings.cut, feedback) {
            (Cut::Half, Feedback::Notification) | (Cut::Random, Feedback::Quantised(1..=63)) => true,
            // In the authors' code zeros say that there is no solution, and the cut is by chance.
            (Cut::RatioAsRun, Feedback::Rates { arriving, optimal }) if arriving == 0.0 || optimal == 0.0 => {
                true
            }
            (Cut::Ratio { .. } | Cut::RatioAsRun, Feedback::Rates { arriving, optimal }) => {
                let fits = |rate: f64| rate > 0.0 && rate.is_finite();
                fits(arriving) && fits(optimal) && optimal * SMALLEST_FRAME_BITS <= self.settings.bounds.most
            }
            _ => false,
        }
    }
}

/// 64 bytes.
const SMALLEST_FRAME_BITS: f64 = 512.0;

impl RateControl for Sender {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn target(&self) -> f64 {
        self.target
    }

    fn deadline(&self) -> Option<Time> {
        Some(self.cycle_end)
    }

    fn on_timer(&mut self, now: Time) {
        if now < self.cycle_end {
            return;
        }
        self.cycle_end = now + self.settings.cycle;
        let bounds = self.settings.bounds;
        if self.recovery > 0 {
            self.recovery -= 1;
        } else {
            self.target = bounds.clamp(self.target + self.settings.increase); // eq. 18
        }
        self.rate = bounds.clamp((self.rate + self.target) / 2.0); // eq. 17
    }

    fn on_feedback(&mut self, feedback: Feedback, now: Time, random: &mut Random) -> bool {
        if !self.believes(feedback) {
            return false;
        }
        self.heard += 1;
        if self.heard == self.settings.every {
            self.heard = 0;
            self.target = self.rate;
            self.rate = self.cut(feedback, random);
            self.recovery = self.settings.cycles;
            self.cycle_end = now + self.settings.cycle;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RATE_CONTROLS;
    use aqm_core::units::Rate;
    use aqm_sim::rate_control::RateSender;

    const MBIT: f64 = 1e6;

    fn second(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn rates(optimal: f64) -> Feedback {
        Feedback::Rates { arriving: 400.0, optimal }
    }

    #[test]
    fn without_feedback_the_rate_goes_as_in_the_authors_log() {
        let mut sender = Sender::new(Settings::PAPER, Time::ZERO);
        let mut seen = Vec::new();
        for at in 1..=4 {
            sender.on_timer(second(at));
            seen.push(sender.rate() / MBIT);
            assert_eq!(sender.deadline(), Some(second(at + 1)));
        }
        assert_eq!(seen, [3.0, 6.5, 10.75, 15.375]);
    }

    #[test]
    fn feedback_cuts_by_the_ratio_then_five_cycles_halve_the_way_back() {
        let mut sender = Sender::new(Settings { start: 8.0 * MBIT, ..Settings::PAPER }, Time::ZERO);
        assert!(sender.on_feedback(rates(100.0), second(3), &mut Random::seeded(1)));
        assert_eq!((sender.rate(), sender.target()), (2.0 * MBIT, 8.0 * MBIT));
        assert_eq!(sender.deadline(), Some(second(4)));
        let mut seen = Vec::new();
        for at in 4..=9 {
            sender.on_timer(second(at));
            seen.push(sender.rate() / MBIT);
        }
        assert_eq!(seen, [5.0, 6.5, 7.25, 7.625, 7.8125, (7.8125 + 13.0) / 2.0]);
    }

    #[test]
    fn what_cannot_be_meant_changes_nothing() {
        let bounds = Bounds { least: MBIT / 10.0, most: 10.0 * MBIT };
        let mut sender = Sender::new(Settings { bounds, ..Settings::PAPER }, Time::ZERO);
        let before = format!("{sender:?}");
        let forged = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let mut refused = 0;
        for value in forged {
            for feedback in [rates(value), Feedback::Rates { arriving: value, optimal: 10.0 }] {
                refused += u32::from(!sender.on_feedback(feedback, second(1), &mut Random::seeded(1)));
            }
        }
        // 10 Mbit/s are at most 19 531 smallest frames per second.
        for feedback in [rates(19_532.0), Feedback::Notification, Feedback::Quantised(5)] {
            refused += u32::from(!sender.on_feedback(feedback, second(1), &mut Random::seeded(1)));
        }
        assert_eq!(refused, 13);
        assert_eq!(format!("{sender:?}"), before);
    }

    #[test]
    fn the_authors_senders_cut_by_chance_for_zeros_and_refuse_what_is_no_rate() {
        let settings = Settings { cut: Cut::RatioAsRun, ..Settings::PAPER };
        let heard = |feedback| {
            let mut sender = Sender::new(settings, Time::ZERO);
            let acted = sender.on_feedback(feedback, second(1), &mut Random::seeded(1));
            (acted, sender.rate() / MBIT)
        };
        for feedback in [rates(0.0), Feedback::Rates { arriving: 0.0, optimal: 300.0 }] {
            let (acted, rate) = heard(feedback);
            assert!(acted && (0.5..1.0).contains(&rate), "{feedback:?}: {rate}");
        }
        for feedback in [rates(f64::NAN), rates(-1.0), Feedback::Rates { arriving: f64::NAN, optimal: 300.0 }]
        {
            assert_eq!(heard(feedback), (false, 1.0), "{feedback:?}");
        }
        assert_eq!([heard(rates(300.0)), heard(rates(200.0))], [(true, 0.75), (true, 1.0)]);
    }

    #[test]
    fn no_feedback_moves_the_rate_out_of_its_bounds() {
        let bounds = Bounds { least: MBIT / 10.0, most: 10.0 * MBIT };
        let mut sender = Sender::new(Settings { bounds, ..Settings::PAPER }, Time::ZERO);
        assert!(sender.on_feedback(rates(1e-300), second(1), &mut Random::seeded(1)));
        assert_eq!(sender.rate(), MBIT / 10.0);
        assert!(sender.on_feedback(rates(19_000.0), second(1), &mut Random::seeded(1)));
        assert_eq!(sender.rate(), MBIT / 10.0, "never up");
        (2..60).for_each(|at| sender.on_timer(second(at)));
        assert_eq!(sender.target(), 10.0 * MBIT);
        assert!((9.99..=10.0).contains(&(sender.rate() / MBIT)));
    }

    #[test]
    fn as_run_one_message_in_fifty_acts_and_deep_cuts_are_not_made() {
        let mut random = Random::seeded(1);
        let mut after = |control: &str, every: u32, feedback: Feedback| {
            let rated = RateSender::parse_among(&format!("{control} first 8mbit"), RATE_CONTROLS).unwrap();
            let mut sender = rated.build(Rate::from_mbit(1000), Time::ZERO);
            for _ in 1..every {
                sender.on_feedback(feedback, Time::ZERO, &mut random);
            }
            assert_eq!(sender.rate(), 8.0 * MBIT, "{control}");
            sender.on_feedback(feedback, Time::ZERO, &mut random);
            sender.rate() / (8.0 * MBIT)
        };
        let rates = |optimal| Feedback::Rates { arriving: 400.0, optimal };
        assert_eq!(after("pmqecn_as_run", 50, rates(300.0)), 0.75);
        assert_eq!(after("pmqecn_as_run", 50, rates(200.0)), 1.0);
        assert!((0.5..1.0).contains(&after("pmqecn_as_run", 50, rates(500.0))));
        let unsolved = Feedback::Rates { arriving: 0.0, optimal: 0.0 };
        assert!((0.5..1.0).contains(&after("pmqecn_as_run", 50, unsolved)));
        assert_eq!(after("dcqcn_as_run", 1, Feedback::Notification), 0.5);
        assert!((0.5..1.0).contains(&after("p4qcn_as_run", 26, Feedback::Quantised(9))));
    }
}
