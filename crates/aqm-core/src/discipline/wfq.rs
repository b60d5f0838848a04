//! # What it does
//! Classes share bytes in proportion to their weights, packet by packet; each class has a discipline of its own.
//!
//! # Reference
//! Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994; Demers, Keshav and
//! Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", SIGCOMM 1989.
//!
//! # Parameters
//! See `aqmlab aqm show wfq`.
//!
//! # Deviations
//! Self-clocked: virtual time is the tag of the packet in service, not that of a fluid server. A tag is given at the
//! head of its class, which gives the same values and needs none for packets that a child drops. The head of a class
//! waits outside its child for its turn: so a law at the head decides a round early. Classes share a limit, as
//! Demers' conversations share a buffer.
//!
//! # Promises
//! Order kept within a class; children decide on drops and marks, except at the limit of all classes. A class
//! that holds no more than its part of the limit loses no packet to another.

use super::classful::{CHILD, CLASSES, Classful, HALVING, LIMIT_OF_ALL, PROBES, TRAITS, weights};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::{Each, Kind, ParamSpec, PerClass, Preset, Value};
use crate::scheduler::Scfq;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "wfq",
    group: Group::Class,
    summary: "Weighted fair queueing among classes (self-clocked), each with a discipline of its own",
    reference: "Golestani 1994; Demers, Keshav and Shenker 1989",
    params: &[LIMIT_OF_ALL, SHARING, CLASSES, CHILD, WEIGHT],
    presets: &[Preset { name: "even", source: "Demers 1989: the same share for all", values: &[] }, HALVING],
    probes: PROBES,
    traits: TRAITS,
    deviations: "self-clocked; heads wait outside their children for their turn; classes share a limit",
    build,
};

const WEIGHT: ParamSpec = ParamSpec::new(
    "weight",
    Kind::PerClass(Each::Count),
    Value::PerClass(PerClass::of(Each::Count, &[1])),
    (1.0, 1e6),
    "Share of each class, relative to the others",
    "Demers 1989: the same for all",
);

fn build(blueprint: Blueprint<'_>) -> Built {
    let scheduler = Scfq::new(&weights(blueprint.params));
    Ok(Box::new(Classful::new(blueprint, scheduler, |scfq, params| {
        scfq.reweigh(&weights(params));
    })?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn classes_share_by_weight_and_a_change_takes_effect() {
        let mut host = Host::new("wfq weight 2,1");
        (0..6).for_each(|cookie| put_class(&mut host, cookie, 0, 1000)); // tags 500, 1000, 1500 ..
        (10..13).for_each(|cookie| put_class(&mut host, cookie, 1, 900)); // 900, 1800
        assert_eq!([0; 4].map(|_| host.get(ms(1)).unwrap()), [0, 10, 1, 2]);
        host.qdisc.change(&[("weight", "1,9")], ms(1), &mut host.log).unwrap();
        // Class 0 from 1500: 2500 ..; class 1 from 900: 1000, 1100.
        assert_eq!(rest(&mut host), [11, 12, 3, 4, 5]);
    }
}
