//! QCN (IEEE 802.1Qau), which P4QCN (Geng, Yan, Zhang 2019) carries over IP: the reaction point, which sends, and the
//! congestion point of a switch.
//!
//! The switch compares its queue with a set point each time enough bytes have come in, and notifies the sender of the packet
//! that came last how much too long it is. The sender cuts its rate in proportion and recovers by a byte counter and a timer.

use super::control::{Bounds, Feedback, RateControl};
use super::declaration::{Info, bits, rate, span};
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Span, Time};

/// The registry entry.
pub(super) static INFO: Info = Info {
    name: "qcn",
    summary: "QCN: a rate, lowered by what switches say about their queues",
    reference: "IEEE 802.1Qau",
    params: PARAMS,
    sets: &[],
    least: |line| STANDARD.scaled(line).bounds.least,
    read: |[fb, ..]| Feedback::Quantised(fb),
    receiver: |_| None,
    build: |values, bounds, _| {
        let usual = STANDARD.scaled(bounds.most);
        let or = |name: &str, usual: f64| match bits(values, name) {
            given if given.is_finite() => given,
            _ => usual,
        };
        Box::new(Sender::new(Settings {
            gain: values.number("gain"),
            cycles: values.count("cycles"),
            bytes: values.bytes("bytecounter").map_or(u64::MAX, Bytes::as_u64),
            timer: values.span("timer"),
            active: or("additive", usual.active),
            hyper: or("hyper", usual.hyper),
            bounds,
        }))
    },
};

const STANDARD: Settings = Settings::STANDARD;
const SOURCE: &str = "IEEE 802.1Qau";

const PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "gain",
        Kind::Fraction,
        Value::Fraction(STANDARD.gain),
        (0.0, 1.0 / 63.0),
        "G_d, what one unit of feedback takes of the rate",
        SOURCE,
    ),
    ParamSpec::new("cycles", Kind::Count, Value::Count(5), (1.0, 1000.0), "cycles of fast recovery", SOURCE),
    ParamSpec::new(
        "bytecounter",
        Kind::Bytes,
        Value::Bytes(Bytes::new(STANDARD.bytes)),
        (2.0, 1e15),
        "bytes of a cycle of fast recovery; of active increase half as many",
        SOURCE,
    ),
    span("timer", STANDARD.timer, "time of a cycle of fast recovery; of active increase half of it", SOURCE),
    rate("additive", None, "R_AI, step of the active increase", "5 Mbit/s at 10 Gbit/s: IEEE 802.1Qau")
        .or_auto("in proportion to the line"),
    rate("hyper", None, "R_HAI, step of the hyper-active increase", "50 Mbit/s at 10 Gbit/s: IEEE 802.1Qau")
        .or_auto("in proportion to the line"),
];

/// The largest quantised feedback: six bits.
pub const LARGEST_FB: u64 = 63;

/// The parameters of a reaction point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// G_d, what one unit of feedback takes of the rate.
    pub gain: f64,
    /// Cycles of fast recovery, of the byte counter and of the timer alike.
    pub cycles: u32,
    /// Bytes of a cycle of fast recovery; of one of active increase, half as many.
    pub bytes: u64,
    /// Time of a cycle of fast recovery; of one of active increase, half of it.
    pub timer: Span,
    /// R_AI, bit/s.
    pub active: f64,
    /// R_HAI, bit/s.
    pub hyper: f64,
    /// Within which the rate stays. A flow starts at the upper bound.
    pub bounds: Bounds,
}

impl Settings {
    /// The standard's, for 10 Gbit/s.
    pub const STANDARD: Settings = Settings {
        gain: 1.0 / 128.0,
        cycles: 5,
        bytes: 150_000,
        timer: Span::from_millis(15),
        active: 5e6,
        hyper: 50e6,
        bounds: Bounds { least: 10e6, most: 10e9 },
    };

    /// For another link: increases and bounds in proportion to its rate.
    fn scaled(self, line: f64) -> Settings {
        let scale = line / self.bounds.most;
        Settings {
            active: self.active * scale,
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
    rate: f64,
    target: f64,
    limited: bool,
    byte_cycle: u32,
    timer_cycle: u32,
    /// Bytes until the byte counter expires.
    bytes_left: u64,
    timer_end: Time,
}

impl Sender {
    /// A flow that starts at line rate.
    pub fn new(settings: Settings) -> Sender {
        Sender {
            settings,
            rate: settings.bounds.most,
            target: settings.bounds.most,
            limited: false,
            byte_cycle: 0,
            timer_cycle: 0,
            bytes_left: settings.bytes,
            timer_end: Time::MAX,
        }
    }

    /// After one of the counters has expired.
    fn increase(&mut self) {
        let Settings { cycles, active, hyper, bounds, .. } = self.settings;
        let (most, least) = (self.byte_cycle.max(self.timer_cycle), self.byte_cycle.min(self.timer_cycle));
        if least > cycles {
            self.target += hyper * f64::from(least - cycles);
        } else if most > cycles {
            self.target += active;
        } else if most == 1 && self.target > 10.0 * self.rate {
            // A first cycle does not jump back to a target that is far off.
            self.target /= 8.0;
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
        self.limited.then_some(self.timer_end)
    }

    fn on_timer(&mut self, now: Time) {
        if now < self.timer_end {
            return;
        }
        self.timer_cycle += 1;
        let fast = self.timer_cycle < self.settings.cycles;
        // Half of a nanosecond would be none: the timer would stand still.
        let cycle =
            if fast { self.settings.timer } else { (self.settings.timer / 2).max(Span::from_nanos(1)) };
        self.timer_end = now + cycle;
        self.increase();
    }

    fn on_sent(&mut self, bytes: u64) {
        if !self.limited {
            return;
        }
        if bytes < self.bytes_left {
            self.bytes_left -= bytes;
            return;
        }
        self.byte_cycle += 1;
        let fast = self.byte_cycle < self.settings.cycles;
        self.bytes_left = if fast { self.settings.bytes } else { self.settings.bytes / 2 };
        self.increase();
    }

    fn on_feedback(&mut self, feedback: Feedback, now: Time, _random: &mut Random) -> bool {
        let Feedback::Quantised(fb @ 1..=LARGEST_FB) = feedback else { return false };
        // Within the first cycle the target stays: several messages about one congestion count once.
        if !self.limited || self.byte_cycle > 0 || self.timer_cycle > 0 {
            self.target = self.rate;
            self.bytes_left = self.settings.bytes;
        }
        self.limited = true;
        (self.byte_cycle, self.timer_cycle) = (0, 0);
        let share = (1.0 - self.settings.gain * fb as f64).max(0.5);
        self.rate = self.settings.bounds.clamp(self.rate * share);
        self.timer_end = now + self.settings.timer;
        true
    }
}

/// The congestion point of a queue.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    /// Q_eq, the set point, bytes.
    set_point: u64,
    /// w, the weight of the queue's growth.
    weight: f64,
    /// Bytes from one sample to the next where there is no congestion.
    interval: u64,
    queue_before: u64,
    bytes_left: f64,
}

impl CongestionPoint {
    /// For a set point of `set_point` bytes and a sample each `interval` bytes; the standard has 26 KB and 150 KB, w = 2.
    pub fn new(set_point: u64, weight: f64, interval: u64) -> CongestionPoint {
        CongestionPoint { set_point, weight, interval, queue_before: 0, bytes_left: interval as f64 }
    }

    /// `bytes` have come in, and `queue` bytes wait with them; returns the notification of its sender, if any.
    pub fn on_arrival(&mut self, bytes: u64, queue: u64, random: &mut Random) -> Option<Feedback> {
        self.bytes_left -= bytes as f64;
        if self.bytes_left > 0.0 {
            return None;
        }
        let fb = self.quantised(queue);
        self.queue_before = queue;
        // The next sample is up to 15 % early or late, so that flows in step are all sampled.
        let jitter = 0.85 + 0.3 * random.uniform();
        // With each eighth of the largest feedback it comes sooner: a half, a third, ... an eighth of the interval.
        self.bytes_left = jitter * self.interval as f64 / (fb / 8 + 1) as f64;
        (fb > 0).then_some(Feedback::Quantised(fb))
    }

    /// -Fb = (q - Q_eq) + w (q - q_old), as a share of the largest in 63 steps.
    fn quantised(&self, queue: u64) -> u64 {
        let (q, old, set_point) = (queue as f64, self.queue_before as f64, self.set_point as f64);
        let fb = (q - set_point) + self.weight * (q - old);
        let largest = set_point * (2.0 * self.weight + 1.0);
        (fb / largest * LARGEST_FB as f64).clamp(0.0, LARGEST_FB as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: f64 = 1e6;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn notified(fb: u64) -> Sender {
        let mut sender = Sender::new(Settings::STANDARD);
        assert!(sender.on_feedback(Feedback::Quantised(fb), ms(0), &mut Random::seeded(1)));
        sender
    }

    #[test]
    fn feedback_takes_its_share_and_at_most_half() {
        assert_eq!(notified(32).rate(), 7_500.0 * MBIT);
        assert_eq!(notified(1).rate(), 10_000.0 * MBIT * 127.0 / 128.0);
        let steep = Settings { gain: 0.5, ..Settings::STANDARD };
        let mut sender = Sender::new(steep);
        sender.on_feedback(Feedback::Quantised(63), ms(0), &mut Random::seeded(1));
        assert_eq!(sender.rate(), 5_000.0 * MBIT);
    }

    #[test]
    fn messages_about_one_congestion_keep_its_target() {
        let mut sender = notified(32);
        sender.on_feedback(Feedback::Quantised(32), ms(1), &mut Random::seeded(1));
        assert_eq!((sender.rate(), sender.target()), (5_625.0 * MBIT, 10_000.0 * MBIT));
        sender.on_timer(ms(16));
        assert_eq!(sender.rate(), 7_812.5 * MBIT);
        sender.on_feedback(Feedback::Quantised(32), ms(17), &mut Random::seeded(1));
        assert_eq!(sender.target(), 7_812.5 * MBIT);
    }

    #[test]
    fn half_of_the_shortest_timer_is_not_none() {
        let mut sender = notified(32);
        sender.settings.timer = Span::from_nanos(1);
        for _ in 0..10 {
            let due = sender.deadline().unwrap();
            sender.on_timer(due);
            assert!(sender.deadline().unwrap() > due);
        }
    }

    #[test]
    fn bytes_and_time_recover_then_probe() {
        let mut sender = notified(32);
        sender.settings.bounds.most = 20_000.0 * MBIT;
        (0..5).for_each(|_| sender.on_sent(150_000));
        assert_eq!(sender.rate(), 10_000.0 * MBIT - 2_500.0 * MBIT / 32.0);
        sender.on_sent(74_999);
        assert_eq!(sender.target(), 10_000.0 * MBIT);
        sender.on_sent(1);
        assert_eq!(sender.target(), 10_005.0 * MBIT);
        for cycle in 0..5 {
            assert_eq!(sender.deadline(), Some(ms(15 * (cycle + 1))));
            sender.on_timer(ms(15 * (cycle + 1)));
        }
        assert_eq!(sender.target(), 10_030.0 * MBIT);
        assert_eq!(sender.deadline(), Some(Time::from_nanos(82_500_000)));
        sender.on_timer(ms(83));
        assert_eq!(sender.target(), 10_080.0 * MBIT, "hyper: both are one cycle past recovery");
    }

    #[test]
    fn what_cannot_be_meant_changes_nothing_and_the_rate_keeps_its_bounds() {
        let mut sender = notified(63);
        let before = format!("{sender:?}");
        for fb in [0, 64, u64::MAX] {
            assert!(!sender.on_feedback(Feedback::Quantised(fb), ms(1), &mut Random::seeded(1)));
        }
        assert!(!sender.on_feedback(Feedback::Notification, ms(1), &mut Random::seeded(1)));
        assert_eq!(format!("{sender:?}"), before);
        for _ in 0..100 {
            sender.on_feedback(Feedback::Quantised(63), ms(1), &mut Random::seeded(1));
        }
        assert_eq!(sender.rate(), 10.0 * MBIT);
        sender.on_timer(ms(16));
        assert_eq!(sender.target(), 1_250.0 * MBIT, "an eighth of a target that is far off");
        (2..50_000).for_each(|at| sender.on_timer(ms(15 * at)));
        assert_eq!(sender.rate(), 10_000.0 * MBIT);
    }

    #[test]
    fn a_switch_samples_its_queue_and_says_how_much_too_long_it_is() {
        let mut point = CongestionPoint::new(26_000, 2.0, 150_000);
        let mut random = Random::script(vec![u64::MAX / 2]);
        assert_eq!(point.on_arrival(149_999, 100_000, &mut random), None);
        // (39 000 - 26 000) + 2 (39 000 - 0) = 91 000 of 130 000.
        assert_eq!(point.on_arrival(1, 39_000, &mut random), Some(Feedback::Quantised(44)));
        // 44 units: samples come six times as often. The queue has shrunk enough: nothing.
        assert_eq!(point.on_arrival(24_999, 20_000, &mut random), None);
        assert_eq!(point.on_arrival(1, 30_000, &mut random), None);
        assert_eq!(point.on_arrival(150_000, 1_000_000, &mut random), Some(Feedback::Quantised(63)));
    }

    #[test]
    fn samples_come_up_to_15_percent_early_or_late() {
        for (draw, least) in [(0, 127_500), (u64::MAX, 172_500)] {
            let mut point = CongestionPoint::new(26_000, 2.0, 150_000);
            let mut random = Random::script(vec![draw]);
            assert_eq!(point.on_arrival(150_000, 0, &mut random), None);
            // The queue has grown: the next sender is notified, as soon as enough bytes have come.
            assert_eq!(point.on_arrival(least - 1, 60_000, &mut random), None);
            assert!(point.on_arrival(1, 60_000, &mut random).is_some(), "{draw}");
        }
    }
}
