//! # What it does
//! RED that tunes itself: thresholds and weight follow from the link's rate, and `max_p` moves so that the average
//! stays in the middle between the thresholds.
//!
//! # Reference
//! S. Floyd, R. Gummadi and S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active
//! Queue Management" (2001).
//!
//! # Parameters
//! See `aqmlab aqm show ared`.
//!
//! # Deviations
//! `max_p` is adjusted when a packet arrives at least an interval after the last check, not by a timer (ns-2 and ns-3
//! also adjust it at arrivals, an interval after the last change). The packet size in which the link's capacity is
//! counted is `avpkt`, 1000 bytes (ns-2 and ns-3: 500).
//! `ared:ns3`: parameters and the idle time. ECN, byte mode and the full queue: as in `red`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet while the average is on the curve.

use super::red::{self, Red, Settings};
use super::{Blueprint, Built, Group, Info, LIMIT};
use crate::law::exponential::one_minus_exp;
use crate::law::max_p::{Floyd, Rule};
use crate::link::Link;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::units::{Bytes, Size, Span};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "ared",
    group: Group::QueueLength,
    summary: "Adaptive RED: moves max_p to hold the average between the thresholds",
    reference: "Floyd, Gummadi and Shenker 2001",
    params: &[
        LIMIT,
        ParamSpec::new(
            "target",
            Kind::Span,
            Value::Span(Span::from_millis(5)),
            (1e3, 1e10),
            "Queue delay that min is derived from",
            "Floyd 2001 section 5.3: 5 ms",
        ),
        red::MIN
            .with_default(Value::Auto, "Floyd 2001 section 5.3")
            .or_auto("half of what the link carries in target, at least 5 packets"),
        red::MAX.with_default(Value::Auto, "Floyd 2001 section 5.3").or_auto("three times min"),
        red::PROBABILITY,
        red::W
            .with_default(Value::Auto, "Floyd 2001 section 5.2")
            .or_auto("1 - e^(-1/C), C packets of avpkt per second on the link"),
        ParamSpec::new(
            "interval",
            Kind::Span,
            Value::Span(Span::from_millis(500)),
            (1e6, 1e11),
            "Time between two steps of max_p",
            "Floyd 2001 figure 2: 0.5 s",
        ),
        ParamSpec::new(
            "alpha",
            Kind::Fraction,
            Value::Fraction(0.01),
            (0.0, 1.0),
            "Largest step of max_p upwards; never more than a quarter of it",
            "Floyd 2001 figure 2: min(0.01, max_p / 4)",
        ),
        ParamSpec::new(
            "beta",
            Kind::Fraction,
            Value::Fraction(0.9),
            (0.0, 1.0),
            "Factor of a step of max_p downwards",
            "Floyd 2001 figure 2: 0.9",
        ),
        ParamSpec::new(
            "bottom",
            Kind::Fraction,
            Value::Fraction(0.01),
            (0.0, 1.0),
            "max_p is not lowered from below this",
            "Floyd 2001 figure 2: 0.01",
        )
        .or_auto("as in ns-3, 0.01, or a tenth over C on links of more than ten packets of avpkt per second"),
        ParamSpec::new(
            "top",
            Kind::Fraction,
            Value::Fraction(0.5),
            (0.0, 1.0),
            "max_p is not raised from above this",
            "Floyd 2001 figure 2: 0.5",
        ),
        red::GENTLE,
        red::ECN,
        red::HARDDROP,
        red::WAIT,
        red::AVPKT,
        red::BANDWIDTH,
        red::CODE,
    ],
    presets: &[
        Preset {
            name: "floyd2001",
            source: "Floyd, Gummadi and Shenker 2001, figure 2 and section 5",
            values: &[],
        },
        Preset {
            name: "ns3",
            source: "ns-3.27 src/traffic-control/model/red-queue-disc.cc with ARED true (defaults, LinkBandwidth apart)",
            values: &[
                ("limit", Value::Size(Size::Packets(25))),
                ("probability", Value::Fraction(0.02)), // LInterm 50
                ("wait", Value::Flag(true)),
                ("avpkt", Value::Bytes(Bytes::new(500))),
                ("bottom", Value::Auto),
                ("code", Value::Choice(red::Code::Ns3.word())),
            ],
        },
    ],
    probes: &[red::AVERAGE_QUEUE, red::DROP_PROBABILITY, red::MAX_P],
    traits: red::TRAITS,
    deviations: "max_p moves at arrivals, not by a timer; capacity in packets of 1000 bytes",
    build,
};

fn settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    let avpkt = params.bytes("avpkt").expect("avpkt has no auto").as_u64();
    let rate = params.rate("bandwidth").unwrap_or(link.rate).as_bits_per_sec() as f64;
    let capacity = rate / (8.0 * avpkt as f64);
    let min = params.size("min").unwrap_or_else(|| {
        let packets = (params.span("target").as_secs_f64() * capacity / 2.0).max(5.0);
        // `RedQueueDisc::InitializeParams()`: thresholds have the unit of the limit.
        match params.size("limit") {
            Some(Size::Bytes(_)) if params.choice::<red::Code>("code") == red::Code::Ns3 => {
                Size::Bytes((packets * avpkt as f64) as u64)
            }
            _ => Size::Packets(packets as u64),
        }
    });
    let max = params.size("max").unwrap_or(min.with_count((3 * min.count()).max(1)));
    let weight = match params.get("w") {
        Value::Fraction(weight) => *weight,
        _ => one_minus_exp(1.0 / capacity),
    };
    let rule = Rule::Floyd(Floyd {
        interval: params.span("interval"),
        alpha: params.number("alpha"),
        beta: params.number("beta"),
        bottom: match params.get("bottom") {
            Value::Fraction(bottom) => *bottom,
            // `RedQueueDisc::InitializeParams()`: by an Rtt of 0.1 s.
            _ => (0.1 / capacity).min(0.01),
        },
        top: params.number("top"),
    });
    let settings = red::settings_between(params, link, min, max, weight)?;
    Ok(Settings { rule: Some(rule), ..settings })
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(Red::new(params, link, settings)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use crate::units::Rate;

    fn law(text: &str, rate: u64) -> crate::law::red::Params {
        let spec = crate::spec::Spec::parse(text).unwrap();
        settings(&spec.params, &Link::new(Rate::from_bits_per_sec(rate)))
            .unwrap_or_else(|error| panic!("{error}"))
            .law
    }

    #[test]
    fn thresholds_and_weight_follow_from_the_link() {
        // 80 Mbit/s are 10000 packets of 1000 bytes per second: half of 5 ms of them are 25.
        let fast = law("ared", 80_000_000);
        assert_eq!((fast.min, fast.max), (25.0, 75.0));
        assert!((fast.weight - 9.999_500_016_666e-5).abs() < 1e-15, "{}", fast.weight); // 1 - e^-0.0001
        // 8 Mbit/s: half of 5 ms are 2.5 packets, and five are the least.
        let slow = law("ared", 8_000_000);
        assert_eq!((slow.min, slow.max), (5.0, 15.0));
        assert_eq!((law("ared min 8p", 1).max, law("ared w 0.5", 1).weight), (24.0, 0.5));
        assert_eq!(law("ared bandwidth 80mbit", 1).min, 25.0);
        // ns-3's, in packets of 500 bytes, have the unit of the limit: half of 5 ms of 15 Mbit/s are 9.375 packets.
        assert_eq!(law("ared:ns3", 15_000_000).min, 9.0);
        let bytes = law("ared:ns3 limit 150000b", 15_000_000);
        assert_eq!((bytes.min, bytes.max), (4687.0, 14_061.0));
        assert_eq!(law("ared limit 150000b", 80_000_000).min, 25.0);
    }

    #[test]
    fn max_p_follows_the_average_twice_a_second() {
        // Weight 1: the average is the queue that a packet finds. min 5, max 15: up above 11, down below 9.
        let mut host = Host::scripted("ared limit 100p w 1", &[0.999]);
        (0..12).for_each(|cookie| host.put(ms(499), cookie, 0, 1000));
        assert_eq!(host.probe("max_p"), 0.1);
        host.put(ms(500), 12, 0, 1000); // finds 12
        assert_eq!(host.probe("max_p"), 0.11);
        host.put(ms(999), 13, 0, 1000);
        assert_eq!(host.probe("max_p"), 0.11);
        (0..14).for_each(|_| assert!(host.get(ms(999)).is_some()));
        host.put(ms(1000), 14, 0, 1000); // finds none
        assert_eq!(host.probe("max_p"), 0.11 * 0.9);
    }

    #[test]
    fn a_change_of_other_parameters_keeps_what_was_learned() {
        let mut host = Host::scripted("ared limit 100p w 1", &[0.999]);
        (0..13).for_each(|cookie| host.put(ms(500), cookie, 0, 1000));
        let learned = host.probe("max_p");
        assert_eq!(learned, 0.1 * 0.9); // at the first packet, which found the queue empty
        host.qdisc.change(&[("limit", "50p")], ms(501), &mut host.log).unwrap();
        assert_eq!(host.probe("max_p"), learned);
        host.qdisc.change(&[("probability", "0.3")], ms(502), &mut host.log).unwrap();
        assert_eq!(host.probe("max_p"), 0.3);
    }
}
