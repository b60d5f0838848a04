//! # What it does
//! RED whose `max_p` is divided when the average queue falls below `min`, and multiplied when it rises above `max`.
//!
//! # Reference
//! W. Feng, D. Kandlur, D. Saha and K. Shin, "A Self-Configuring RED Gateway" (INFOCOM 1999).
//!
//! # Parameters
//! See `aqmlab aqm show feng_ared`.
//!
//! # Deviations
//! The paper does not bound `max_p`: here it stays between `bottom` and 1, or light load would make it vanish. The paper
//! does not say either where the average is before the first packet: below `min`, or, as in ns-3, above `max`, so that an
//! empty queue divides `max_p` at once (`start`). ECN, byte mode and the full queue: as in `red`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet while the average is on the curve.

use super::red::{self, Red, Settings};
use super::{Blueprint, Built, Group, Info, LIMIT};
use crate::choices;
use crate::law::max_p::{Feng, Rule};
use crate::link::Link;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::units::{Bytes, Size};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "feng_ared",
    group: Group::QueueLength,
    summary: "Self-configuring RED: moves max_p when the average leaves the thresholds",
    reference: "Feng, Kandlur, Saha and Shin 1999",
    params: &[
        LIMIT,
        red::MIN,
        red::MAX,
        red::PROBABILITY,
        red::W,
        red::BURST,
        ParamSpec::new(
            "alpha",
            Kind::Number,
            Value::Number(3.0),
            (1.0, 1e3),
            "What max_p is divided by when the average falls below min",
            "Feng 1999: 3",
        ),
        ParamSpec::new(
            "beta",
            Kind::Number,
            Value::Number(2.0),
            (1.0, 1e3),
            "What max_p is multiplied by when the average rises above max",
            "Feng 1999: 2",
        ),
        ParamSpec::new(
            "bottom",
            Kind::Fraction,
            Value::Fraction(0.01),
            (1e-6, 1.0),
            "Smallest value of max_p",
            "Floyd 2001: 0.01; Feng 1999: none",
        ),
        ParamSpec::choice::<Start>(
            "start",
            "Where the average counts as before the first packet: above max, an empty queue divides max_p at once",
            "Feng 1999: without one; ns-3 red-queue-disc.cc: above",
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
            name: "feng1999",
            source: "Feng et al. 1999 (factors); thresholds and weight as red:floyd",
            values: &[],
        },
        Preset {
            name: "ns3",
            source: "ns-3.27 src/traffic-control/model/red-queue-disc.cc with FengAdaptive true (defaults, LinkBandwidth apart)",
            values: &[
                ("limit", Value::Size(Size::Packets(25))),
                ("min", Value::Size(Size::Packets(5))),
                ("max", Value::Size(Size::Packets(15))),
                ("probability", Value::Fraction(0.02)), // LInterm 50
                ("bottom", Value::Fraction(1e-6)),      // none: the least of the range
                ("start", Value::Choice(Start::Above.word())),
                ("wait", Value::Flag(true)),
                ("avpkt", Value::Bytes(Bytes::new(500))),
                ("code", Value::Choice(red::Code::Ns3.word())),
            ],
        },
    ],
    probes: &[red::AVERAGE_QUEUE, red::DROP_PROBABILITY, red::MAX_P],
    traits: red::TRAITS,
    deviations: "max_p stays between bottom and 1",
    build,
};

choices! {
    /// Where the average counts as before the first packet.
    enum Start {
        Below = "below",
        Above = "above",
    }
}

fn settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    let rule = Rule::Feng(Feng {
        alpha: params.number("alpha"),
        beta: params.number("beta"),
        bottom: params.number("bottom"),
        starts_above: params.choice::<Start>("start") == Start::Above,
    });
    Ok(Settings { rule: Some(rule), ..red::settings(params, link)? })
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(Red::new(params, link, settings)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn max_p_doubles_above_and_falls_to_a_third_below() {
        // Weight 1: the average is the queue that a packet finds.
        let mut host = Host::scripted("feng_ared limit 100p min 2p max 4p probability 0.1 w 1", &[0.999]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert_eq!(host.probe("max_p"), 0.1); // the fifth found four, which is not above max
        host.put(ms(1), 5, 0, 1000);
        assert_eq!(host.probe("max_p"), 0.2);
        host.put(ms(1), 6, 0, 1000);
        assert_eq!(host.probe("max_p"), 0.2);
        while host.get(ms(1)).is_some() {}
        host.put(ms(10), 7, 0, 1000); // finds none for some time
        assert_eq!(host.probe("max_p"), 0.2 / 3.0);
    }

    #[test]
    fn where_the_average_starts_decides_whether_an_empty_queue_divides_max_p() {
        for (spec, max_p) in [("feng_ared probability 0.3", 0.3), ("feng_ared:ns3 probability 0.3", 0.1)] {
            let mut host = Host::scripted(spec, &[0.999]);
            host.put(ms(1), 0, 0, 1000);
            assert!((host.probe("max_p") - max_p).abs() < 1e-12, "{spec}");
        }
    }
}
