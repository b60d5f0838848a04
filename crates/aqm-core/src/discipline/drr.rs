//! # What it does
//! Classes in turn, each for its quantum of bytes plus the remainder of earlier turns; each class has a discipline of
//! its own.
//!
//! # Reference
//! Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM ToN 4(3), 1996; Linux
//! `sch_drr`, tc-drr(8).
//!
//! # Parameters
//! See `aqmlab aqm show drr`.
//!
//! # Deviations
//! The host sets the class of a packet; the paper hashes flows to queues. The head of a class is taken from its child
//! at the start of its turn, and waits there if the deficit is too small, as in Linux: so a law at the head decides a
//! round early. Classes share a limit, as in the paper, whose buffer stealing takes the room for a packet from the longest
//! queue; `linux` has only that of each child.
//!
//! # Promises
//! Order kept within a class; children decide on drops and marks, except at the limit of all classes. A class
//! that holds no more than its part of the limit loses no packet to another.

use super::classful::{self, CHILD, CLASSES, Classful, LIMIT_OF_ALL, PROBES, TRAITS};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::{Each, Kind, ParamSpec, Params, PerClass, Preset, Value};
use crate::scheduler::Drr;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "drr",
    group: Group::Class,
    summary: "Deficit round robin among classes by bytes, each with a discipline of its own",
    reference: "Shreedhar and Varghese 1996; Linux drr",
    params: &[LIMIT_OF_ALL, SHARING, CLASSES, CHILD, QUANTUM],
    presets: &[
        Preset {
            name: "linux",
            source: "drr_dequeue() of Linux 6.1 net/sched/sch_drr.c, the quantum is the MTU; a pfifo of txqueuelen (1000) packets in each class",
            values: &[("limit", Value::Auto)],
        },
        Preset {
            name: "tcn",
            source: "Bai 2016, HKUST-SING/TCN-NS2: quantum 1500 bytes",
            values: &[("quantum", Value::PerClass(PerClass::of(Each::Bytes, &[1500])))],
        },
    ],
    probes: PROBES,
    traits: TRAITS,
    deviations: "the host gives the class; a head may wait outside its child for its turn, as in Linux; a limit for all classes beside that of each child",
    build,
};

const QUANTUM: ParamSpec = ParamSpec::new(
    "quantum",
    Kind::PerClass(Each::Bytes),
    Value::PerClass(PerClass::of(Each::Bytes, &[1514])),
    (64.0, 1e6),
    "Bytes of each class in one round",
    "tc-drr(8): the MTU of the interface",
);

fn quanta(params: &Params) -> alloc::vec::Vec<u32> {
    classful::per_class(params, params.per_class("quantum"))
}

fn build(blueprint: Blueprint<'_>) -> Built {
    let scheduler = Drr::new(quanta(blueprint.params));
    Ok(Box::new(Classful::new(blueprint, scheduler, |drr, params| {
        drr.set_quanta(&quanta(params));
    })?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn classes_share_bytes_and_a_change_takes_effect() {
        let mut host = Host::new("drr quantum 1500b");
        (0..6).for_each(|cookie| put_class(&mut host, cookie, 0, 1500));
        (10..22).for_each(|cookie| put_class(&mut host, cookie, 1, 500));
        assert_eq!([0; 4].map(|_| host.get(ms(1)).unwrap()), [0, 10, 11, 12]);
        host.qdisc.change(&[("quantum", "3000b,500b")], ms(1), &mut host.log).unwrap();
        assert_eq!(rest(&mut host), [1, 2, 13, 3, 4, 14, 5, 15, 16, 17, 18, 19, 20, 21]);
    }

    #[test]
    fn a_head_that_waits_for_its_turn_is_counted_trimmed_and_purged() {
        let mut host = Host::new("drr quantum 500b");
        (0..3).for_each(|cookie| put_class(&mut host, cookie, 0, 1500));
        (10..13).for_each(|cookie| put_class(&mut host, cookie, 1, 500));
        assert_eq!(host.get(ms(1)), Some(10)); // packet 0 has been taken from its child, and waits
        assert_eq!(host.qdisc.backlog().packets, 5);
        host.qdisc.change(&[("limit", "3p")], ms(1), &mut host.log).unwrap();
        assert_eq!(host.dropped(), [1, 11]); // a head that waits outside goes last
        host.qdisc.reset(ms(2), &mut host.log);
        assert_eq!((host.dropped().len(), host.get(ms(2))), (5, None));
    }
}
