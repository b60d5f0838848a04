//! # What it does
//! Classes in turn, each for as many packets as its weight says; each class has a discipline of its own.
//!
//! # Reference
//! Katevenis, Sidiropoulos and Courcoubetis, "Weighted round-robin cell multiplexing in a general-purpose ATM
//! switch chip", IEEE JSAC 9(8), 1991.
//!
//! # Parameters
//! See `aqmlab aqm show wrr`.
//!
//! # Deviations
//! A class sends its packets of one round together; the paper's switch chip spreads them. Weights count packets,
//! which in the paper are cells of equal size. Classes share a limit.
//!
//! # Promises
//! Order kept within a class; children decide on drops and marks, except at the limit of all classes. A class
//! that holds no more than its part of the limit loses no packet to another.

use super::classful::{CHILD, CLASSES, Classful, HALVING, LIMIT_OF_ALL, PROBES, TRAITS, weights};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::{Each, Kind, ParamSpec, PerClass, Preset, Value};
use crate::scheduler::Rr;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "wrr",
    group: Group::Class,
    summary: "Weighted round robin among classes by packets, each with a discipline of its own",
    reference: "Katevenis, Sidiropoulos and Courcoubetis 1991",
    params: &[LIMIT_OF_ALL, SHARING, CLASSES, CHILD, WEIGHT],
    presets: &[
        Preset {
            name: "even",
            source: "the same weight for all; the paper leaves weights to the user",
            values: &[],
        },
        HALVING,
    ],
    probes: PROBES,
    traits: TRAITS,
    deviations: "a class's packets of one round leave together (the paper: spread); classes share a limit",
    build,
};

const WEIGHT: ParamSpec = ParamSpec::new(
    "weight",
    Kind::PerClass(Each::Count),
    Value::PerClass(PerClass::of(Each::Count, &[1])),
    (1.0, 1e6),
    "Packets of each class in one round",
    "Katevenis 1991 leaves it to the user",
);

fn build(blueprint: Blueprint<'_>) -> Built {
    let scheduler = Rr::new(weights(blueprint.params));
    Ok(Box::new(Classful::new(blueprint, scheduler, |rr, params| rr.reweigh(weights(params)))?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn a_class_sends_its_weight_in_packets_and_a_change_takes_effect() {
        let mut host = Host::new("wrr weight 2,1");
        (0..6).for_each(|cookie| put_class(&mut host, cookie, 0, 64));
        (10..16).for_each(|cookie| put_class(&mut host, cookie, 1, 1500));
        assert_eq!([0; 4].map(|_| host.get(ms(1)).unwrap()), [0, 1, 10, 2]);
        host.qdisc.change(&[("weight", "1,3")], ms(1), &mut host.log).unwrap();
        assert_eq!(rest(&mut host), [3, 11, 12, 13, 4, 14, 15, 5]);
    }
}
