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
//! The paper does not bound `max_p`: here it stays between `bottom` and 1, or light load would make it vanish. At the
//! start the average counts as below `min`, so that an empty queue does not divide at once (in ns-3 it does). ECN,
//! byte mode and the full queue: as in `red`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet while the average is on the curve.

use super::red::{self, Red, Settings};
use super::{Blueprint, Built, Group, Info, LIMIT};
use crate::law::max_p::{Feng, Rule};
use crate::link::Link;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
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
        red::GENTLE,
        red::ECN,
        red::HARDDROP,
        red::WAIT,
        red::AVPKT,
        red::BANDWIDTH,
        red::CODE,
    ],
    presets: &[Preset {
        name: "feng1999",
        source: "Feng et al. 1999 (factors, as ns-2 and ns-3 give them too); thresholds and weight as red:floyd",
        values: &[],
    }],
    probes: &[red::AVERAGE_QUEUE, red::DROP_PROBABILITY, red::MAX_P],
    traits: red::TRAITS,
    deviations: "max_p stays between bottom and 1; at the start the average counts as below min",
    build,
};

fn settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    let rule = Rule::Feng(Feng {
        alpha: params.number("alpha"),
        beta: params.number("beta"),
        bottom: params.number("bottom"),
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
}
