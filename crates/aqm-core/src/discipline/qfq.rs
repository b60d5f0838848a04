//! # What it does
//! Classes share bytes in proportion to their weights, each within a few packets of its ideal share at any time; each
//! class has a discipline of its own.
//!
//! # Reference
//! F. Checconi, L. Rizzo and P. Valente, "QFQ: Efficient Packet Scheduling With Tight Guarantees", IEEE/ACM ToN 21(3),
//! 2013; Linux `sch_qfq` for the ranges of weights and packets.
//!
//! # Parameters
//! See `aqmlab aqm show qfq`.
//!
//! # Deviations
//! The paper's QFQ, not QFQ+ of Linux since 3.8, which combines up to eight classes of similar parameters under
//! deficit round robin. A group's classes are in one ordered list instead of a ring of buckets: the order is the
//! same, and there are at most 64. A packet larger than `maxpkt` moves its class to a group of larger slots
//! permanently (Linux refuses or raises it, depending on its version). New weights or packet sizes restart virtual
//! time. The head of a class waits outside its child for its turn: so a law at the head decides early. Classes
//! share a limit; Linux has only that of each child.
//!
//! # Promises
//! Order kept within a class; B-WFI of a class at most 3 phi sigma + 2 phi L bytes (the paper's theorem 3; sigma is
//! the slot of the class, phi its share, L the largest packet); children decide on drops and marks, except at the
//! limit of all classes. A class that holds no more than its part of the limit loses no packet to another.

use super::classful::{self, CHILD, CLASSES, Classful, HALVING, LIMIT_OF_ALL, PROBES, TRAITS};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::{Each, Kind, ParamSpec, Params, PerClass, Preset, Value};
use crate::scheduler::Qfq;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "qfq",
    group: Group::Class,
    summary: "Quick fair queueing among classes, within a few packets of the ideal shares",
    reference: "Checconi, Rizzo and Valente 2013",
    params: &[LIMIT_OF_ALL, SHARING, CLASSES, CHILD, WEIGHT, MAXPKT],
    presets: &[
        Preset { name: "even", source: "Linux sch_qfq: weight 1, the MTU as largest packet", values: &[] },
        HALVING,
    ],
    probes: PROBES,
    traits: TRAITS,
    deviations: "QFQ, not Linux's QFQ+; a packet beyond maxpkt moves its class; heads wait outside their children; a limit for all classes beside that of each child",
    build,
};

const WEIGHT: ParamSpec = ParamSpec::new(
    "weight",
    Kind::PerClass(Each::Count),
    Value::PerClass(PerClass::of(Each::Count, &[1])),
    (1.0, 1024.0),
    "Share of each class, relative to the others",
    "Linux 6.12 net/sched/sch_qfq.c: 1, up to 1024",
);

const MAXPKT: ParamSpec = ParamSpec::new(
    "maxpkt",
    Kind::PerClass(Each::Bytes),
    Value::PerClass(PerClass::of(Each::Bytes, &[1514])),
    (64.0, 65_536.0),
    "Bytes of the largest packet of each class",
    "Linux 6.12 net/sched/sch_qfq.c: the MTU, up to 65536",
);

/// Weight and largest packet of each class.
fn shares(params: &Params) -> [Vec<u32>; 2] {
    ["weight", "maxpkt"].map(|name| classful::per_class(params, params.per_class(name)))
}

fn build(blueprint: Blueprint<'_>) -> Built {
    let [weights, max_packets] = shares(blueprint.params);
    let adopt = |qfq: &mut Qfq, params: &Params| {
        let [weights, max_packets] = shares(params);
        qfq.set(&weights, &max_packets);
    };
    Ok(Box::new(Classful::new(blueprint, Qfq::new(&weights, &max_packets), adopt)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn classes_share_by_weight_and_a_change_takes_effect() {
        let mut host = Host::new("qfq classes 2 weight 4,1 maxpkt 1000b");
        (0..9).for_each(|cookie| put_class(&mut host, cookie, 0, 1000));
        (10..14).for_each(|cookie| put_class(&mut host, cookie, 1, 1000));
        assert_eq!([0; 6].map(|_| host.get(ms(1)).unwrap()), [0, 1, 2, 3, 4, 10]);
        host.qdisc.change(&[("weight", "1,1")], ms(1), &mut host.log).unwrap();
        // Both are in one group now, with slots of 1024 bytes: S = 0 and 1000 share the first.
        assert_eq!(rest(&mut host), [5, 11, 6, 12, 7, 13, 8]);
    }
}
