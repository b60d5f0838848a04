//! DCQCN (Zhu et al., SIGCOMM 2015): the reaction point, which sends, and the notification point, which receives. The
//! congestion point is the discipline `ecn_ramp`.
//!
//! Written from the paper's algorithm 1 and figure 7. Where it leaves an order open: a notification lowers the rate by the alpha
//! that held before it; the first F expiries of a counter are fast recovery, as in QCN.

use super::control::{Bounds, Feedback, NOTIFICATION, RateControl};
use super::declaration::{Info, bits, rate, span};
use super::receiver::Thinning;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Span, Time};

/// The registry entry.
pub(super) static INFO: Info = Info {
    name: "dcqcn",
    summary: "DCQCN: a rate, lowered by notifications of the receiver about marks",
    reference: "Zhu et al., SIGCOMM 2015",
    params: PARAMS,
    sets: &[],
    least: |line| PAPER.scaled(line).bounds.least,
    read: |values| match values {
        NOTIFICATION => Feedback::Notification,
        [fb, ..] => Feedback::Quantised(fb),
    },
    receiver: |values| Some(Thinning::Interval(values.span("cnp"))),
    build: |values, bounds, _| {
        let usual = PAPER.scaled(bounds.most);
        let or = |name: &str, usual: f64| match bits(values, name) {
            given if given.is_finite() => given,
            _ => usual,
        };
        Box::new(Sender::new(Settings {
            gain: values.number("gain"),
            alpha_period: values.span("alphatime"),
            timer: values.span("timer"),
            bytes: values.bytes("bytecounter").map_or(u64::MAX, Bytes::as_u64),
            stages: values.count("stages"),
            additive: or("additive", usual.additive),
            hyper: or("hyper", usual.hyper),
            bounds,
        }))
    },
};

const PAPER: Settings = Settings::SIGCOMM_2015;
const SOURCE: &str = "Zhu et al., SIGCOMM 2015, section 5.2";

const PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "gain",
        Kind::Fraction,
        Value::Fraction(PAPER.gain),
        (0.0, 1.0),
        "g, weight of a period in alpha",
        SOURCE,
    ),
    span("alphatime", PAPER.alpha_period, "K, time without notifications until alpha falls", SOURCE),
    span("timer", PAPER.timer, "T, timer of the rate increase", SOURCE),
    ParamSpec::new(
        "bytecounter",
        Kind::Bytes,
        Value::Bytes(Bytes::new(PAPER.bytes)),
        (1.0, 1e15),
        "B, byte counter of the rate increase",
        SOURCE,
    ),
    ParamSpec::new(
        "stages",
        Kind::Count,
        Value::Count(5),
        (1.0, 1000.0),
        "F, stages of fast recovery",
        SOURCE,
    ),
    rate(
        "additive",
        None,
        "R_AI, step of the additive increase",
        "40 Mbit/s at 40 Gbit/s: the paper's section 5.2",
    )
    .or_auto("in proportion to the line"),
    rate(
        "hyper",
        None,
        "R_HAI, step of the hyper increase",
        "200 Mbit/s at 40 Gbit/s: the authors' ns-3 code",
    )
    .or_auto("in proportion to the line"),
    span("cnp", Span::from_micros(50), "least time from one notification to the next", SOURCE),
];

/// The parameters of a reaction point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// g, the weight of a period in alpha.
    pub gain: f64,
    /// K, how long without a notification until alpha falls.
    pub alpha_period: Span,
    /// T, the timer of the rate increase.
    pub timer: Span,
    /// B, bytes of the byte counter.
    pub bytes: u64,
    /// F, stages of fast recovery.
    pub stages: u32,
    /// R_AI, bit/s.
    pub additive: f64,
    /// R_HAI, bit/s.
    pub hyper: f64,
    /// Within which the rate stays. A flow starts at the upper bound.
    pub bounds: Bounds,
}

impl Settings {
    /// The paper's section 5.2, for 40 Gbit/s; hyper increase as in its authors' ns-3 code, which has no other value.
    pub const SIGCOMM_2015: Settings = Settings {
        gain: 1.0 / 256.0,
        alpha_period: Span::from_micros(55),
        timer: Span::from_micros(55),
        bytes: 10_000_000,
        stages: 5,
        additive: 40e6,
        hyper: 200e6,
        bounds: Bounds { least: 100e6, most: 40e9 },
    };

    /// For another link: increases and bounds in proportion to its rate.
    fn scaled(self, line: f64) -> Settings {
        let scale = line / self.bounds.most;
        Settings {
            additive: self.additive * scale,
            hyper: self.hyper * scale,
            bounds: Bounds { least: self.bounds.least * scale, most: line },
            ..self
        }
    }
}

/// The reaction point of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    /// R_C.
    rate: f64,
    /// R_T.
    target: f64,
    /// How congested the path is thought to be; there is none before the first notification.
    alpha: f64,
    limited: bool,
    alpha_end: Time,
    timer_end: Time,
    /// Expiries of the timer since the last notification.
    timer_stage: u32,
    /// Expiries of the byte counter.
    byte_stage: u32,
    bytes: u64,
}

impl Sender {
    /// A flow that starts at line rate.
    pub fn new(settings: Settings) -> Sender {
        Sender {
            settings,
            rate: settings.bounds.most,
            target: settings.bounds.most,
            alpha: 1.0,
            limited: false,
            alpha_end: Time::MAX,
            timer_end: Time::MAX,
            timer_stage: 0,
            byte_stage: 0,
            bytes: 0,
        }
    }

    /// Algorithm 1, after one of the counters has expired.
    fn increase(&mut self) {
        let Settings { stages, additive, hyper, bounds, .. } = self.settings;
        let (most, least) = (self.timer_stage.max(self.byte_stage), self.timer_stage.min(self.byte_stage));
        if least > stages {
            self.target += f64::from(least - stages) * hyper;
        } else if most > stages {
            self.target += additive;
        }
        self.target = bounds.clamp(self.target);
        self.rate = bounds.clamp((self.rate + self.target) / 2.0);
    }
}

impl RateControl for Sender {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn target(&self) -> f64 {
        self.target
    }

    fn deadline(&self) -> Option<Time> {
        self.limited.then_some(self.alpha_end.min(self.timer_end))
    }

    fn on_timer(&mut self, now: Time) {
        if now >= self.alpha_end {
            self.alpha *= 1.0 - self.settings.gain; // eq. 2
            self.alpha_end = now + self.settings.alpha_period;
        }
        if now >= self.timer_end {
            self.timer_stage += 1;
            self.timer_end = now + self.settings.timer;
            self.increase();
        }
    }

    fn on_sent(&mut self, bytes: u64) {
        if !self.limited {
            return;
        }
        self.bytes += bytes;
        if self.bytes >= self.settings.bytes {
            self.bytes -= self.settings.bytes;
            self.byte_stage += 1;
            self.increase();
        }
    }

    fn on_feedback(&mut self, feedback: Feedback, now: Time, _random: &mut Random) -> bool {
        if feedback != Feedback::Notification {
            return false;
        }
        // Equation 1.
        self.target = self.rate;
        self.rate = self.settings.bounds.clamp(self.rate * (1.0 - self.alpha / 2.0));
        self.alpha = (1.0 - self.settings.gain) * self.alpha + self.settings.gain;
        self.limited = true;
        (self.timer_stage, self.byte_stage, self.bytes) = (0, 0, 0);
        self.alpha_end = now + self.settings.alpha_period;
        self.timer_end = now + self.settings.timer;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GBIT: f64 = 1e9;

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn notified() -> Sender {
        let mut sender = Sender::new(Settings::SIGCOMM_2015);
        assert!(sender.on_feedback(Feedback::Notification, us(0), &mut Random::seeded(1)));
        sender
    }

    #[test]
    fn a_flow_starts_at_line_rate_and_the_first_notification_halves_it() {
        let sender = Sender::new(Settings::SIGCOMM_2015);
        assert_eq!((sender.rate(), sender.deadline()), (40.0 * GBIT, None));
        let sender = notified();
        assert_eq!((sender.rate(), sender.target(), sender.alpha), (20.0 * GBIT, 40.0 * GBIT, 1.0));
        assert_eq!(sender.deadline(), Some(us(55)));
    }

    #[test]
    fn five_stages_recover_then_the_target_rises_and_with_both_counters_faster() {
        let settings =
            Settings { bounds: Bounds { least: GBIT, most: 80.0 * GBIT }, ..Settings::SIGCOMM_2015 };
        let mut sender = Sender { settings, ..notified() };
        for stage in 1..=5 {
            sender.on_timer(us(55 * stage));
        }
        assert_eq!(sender.rate(), 40.0 * GBIT - 20.0 * GBIT / 32.0);
        sender.on_timer(us(55 * 6));
        assert_eq!(sender.target(), 40.04 * GBIT, "additive");
        for _ in 0..5 {
            sender.on_sent(10_000_000);
        }
        assert_eq!(
            sender.target(),
            40.24 * GBIT,
            "the bytes' fast recovery adds too, since the timer is past it"
        );
        sender.on_sent(10_000_000);
        assert_eq!(sender.target(), 40.44 * GBIT, "hyper: both are one stage past it");
        sender.on_timer(us(55 * 7));
        assert_eq!(sender.target(), 40.64 * GBIT);
    }

    #[test]
    fn alpha_falls_without_notifications_and_rises_with_them() {
        let mut sender = notified();
        sender.on_timer(us(55));
        assert_eq!(sender.alpha, 255.0 / 256.0);
        sender.on_feedback(Feedback::Notification, us(60), &mut Random::seeded(1));
        assert_eq!(sender.alpha, 255.0 / 256.0 * (255.0 / 256.0) + 1.0 / 256.0);
        assert_eq!(sender.deadline(), Some(us(115)));
    }

    #[test]
    fn whatever_comes_the_rate_keeps_its_bounds() {
        let mut sender = notified();
        for _ in 0..200 {
            sender.on_feedback(Feedback::Notification, us(1), &mut Random::seeded(1));
        }
        assert_eq!(sender.rate(), 0.1 * GBIT);
        assert!(!sender.on_feedback(Feedback::Quantised(63), us(1), &mut Random::seeded(1)));
        (1..10_000).for_each(|stage| sender.on_timer(us(1 + 55 * stage)));
        assert_eq!((sender.rate(), sender.target()), (40.0 * GBIT, 40.0 * GBIT));
    }

    #[test]
    fn alpha_and_the_increase_have_timers_of_their_own() {
        let settings = Settings {
            alpha_period: Span::from_micros(40),
            timer: Span::from_micros(100),
            ..Settings::SIGCOMM_2015
        };
        let mut sender = Sender::new(settings);
        sender.on_feedback(Feedback::Notification, us(0), &mut Random::seeded(1));
        let mut seen = Vec::new();
        while let Some(due) = sender.deadline().filter(|due| *due <= us(120)) {
            sender.on_timer(due);
            seen.push((due, sender.rate() / GBIT));
        }
        assert_eq!(seen, [(us(40), 20.0), (us(80), 20.0), (us(100), 30.0), (us(120), 30.0)]);
        assert!((sender.alpha - (255.0_f64 / 256.0).powi(3)).abs() < 1e-12);
    }

    #[test]
    fn on_another_link_all_rates_are_in_proportion() {
        let settings = Settings::SIGCOMM_2015.scaled(10.0 * GBIT);
        assert_eq!((settings.additive, settings.hyper), (10e6, 50e6));
        assert_eq!((settings.bounds.least, settings.bounds.most), (25e6, 10.0 * GBIT));
    }
}
