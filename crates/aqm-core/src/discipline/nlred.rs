//! # What it does
//! RED with a probability that rises with the square of the average queue: lower at light load, higher near `max`.
//!
//! # Reference
//! K. Zhou, K. Yeung and V. Li, "Nonlinear RED: A simple yet efficient active queue management scheme" (Computer
//! Networks 50, 2006).
//!
//! # Parameters
//! See `aqmlab aqm show nlred`.
//!
//! # Deviations
//! The paper drops every packet from `max` on (`nogentle`); with `gentle` the probability rises from the curve's end
//! to 1 (ns-3: from `max_p`, which is below the curve's end). ECN, byte mode and the full queue: as in `red`. The
//! factor of 1.5 is the paper's section 3.1 as ns-3 cites it.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet while the average is on the curve.

use super::red::{self, Red, Settings};
use super::{Blueprint, Built, Group, Info, LIMIT};
use crate::law::red::{Params as Law, Shape};
use crate::link::Link;
use crate::params::{ParamError, Params, Preset, Value};
use crate::units::{Bytes, Size};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "nlred",
    group: Group::QueueLength,
    summary: "Nonlinear RED: the probability rises with the square of the average queue",
    reference: "Zhou, Yeung and Li 2006",
    params: &[
        LIMIT,
        red::MIN,
        red::MAX,
        red::PROBABILITY
            .with_help("max_p of a straight curve with the same mean: the square ends at 1.5 times this")
            .with_reference("Zhou 2006: 1.5 times RED's; Floyd 1997: 0.1"),
        red::W,
        red::BURST,
        red::GENTLE.with_default(Value::Flag(false), "Zhou 2006: off"),
        red::ECN,
        red::HARDDROP,
        red::WAIT,
        red::AVPKT,
        red::BANDWIDTH,
        red::CODE,
    ],
    presets: &[
        Preset {
            name: "zhou2006",
            source: "Zhou, Yeung and Li 2006; other values as red:floyd",
            values: &[],
        },
        Preset {
            name: "ns3",
            source: "ns-3.27 src/traffic-control/model/red-queue-disc.cc with NLRED true (defaults, LinkBandwidth apart)",
            values: &[
                ("limit", Value::Size(Size::Packets(25))),
                ("min", Value::Size(Size::Packets(5))),
                ("max", Value::Size(Size::Packets(15))),
                ("probability", Value::Fraction(0.02)), // LInterm 50
                ("gentle", Value::Flag(true)),
                ("wait", Value::Flag(true)),
                ("avpkt", Value::Bytes(Bytes::new(500))),
                ("code", Value::Choice(red::Code::Ns3.word())),
            ],
        },
    ],
    probes: &[red::AVERAGE_QUEUE, red::DROP_PROBABILITY],
    traits: red::TRAITS,
    deviations: "with gentle the curve is continuous at max (ns-3: it falls back to max_p)",
    build,
};

fn settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    let settings = red::settings(params, link)?;
    Ok(Settings { law: Law { shape: Shape::Square, ..settings.law }, ..settings })
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(Red::new(params, link, settings)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn the_probability_rises_with_the_square_of_the_distance_from_min() {
        // Weight 1: the fourth packet finds 3 of 2 .. 6, a quarter of the way: 1.5 * 0.4 / 16 = 0.0375.
        let mut host = Host::scripted("nlred limit 100p min 2p max 6p probability 0.4 w 1", &[0.999]);
        (0..4).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert!((host.probe("drop_probability") - 0.0375).abs() < 1e-12);
        (4..6).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        assert!((host.probe("drop_probability") - 0.6 * 9.0 / 16.0).abs() < 1e-12); // finds 5
        // The third packet on the curve after min: 3 * 0.3375 > 1, so it went, and the queue stays at 5.
        assert_eq!(host.dropped(), [5]);
        (6..8).for_each(|cookie| host.put(ms(1), cookie, 0, 1000)); // the second finds 6: every packet goes
        assert_eq!(host.dropped(), [5, 7]);
    }
}
