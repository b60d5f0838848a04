//! # What it does
//! Classes in turn, one packet each, of any length; each class has a discipline of its own.
//!
//! # Reference
//! RFC 970 (Nagle 1985), whose sources are the classes here.
//!
//! # Parameters
//! See `aqmlab aqm show rr`.
//!
//! # Deviations
//! RFC 970 drops the last packet of the longest queue; here its oldest goes, as in the other schedulers.
//!
//! # Promises
//! Order kept within a class; children decide on drops and marks, except at the limit of all classes. A class
//! that holds no more than its part of the limit loses no packet to another.

use super::classful::{CHILD, CLASSES, Classful, LIMIT_OF_ALL, PROBES, TRAITS};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::Preset;
use crate::scheduler::Rr;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "rr",
    group: Group::Class,
    summary: "Round robin among classes by packets, each with a discipline of its own",
    reference: "RFC 970",
    params: &[LIMIT_OF_ALL, SHARING, CLASSES, CHILD],
    presets: &[Preset {
        name: "plain",
        source: "RFC 970; four classes, for it gives no number",
        values: &[],
    }],
    probes: PROBES,
    traits: TRAITS,
    deviations: "the longest class loses its oldest packet; in RFC 970 its last",
    build,
};

fn build(blueprint: Blueprint<'_>) -> Built {
    let scheduler = Rr::new(alloc::vec![1; blueprint.params.count("classes") as usize]);
    Ok(Box::new(Classful::new(blueprint, scheduler, |_, _| {})?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn classes_send_one_packet_each_in_turn() {
        let mut host = Host::new("rr");
        for (cookie, class, length) in
            [(0, 0, 1500), (1, 0, 1500), (2, 1, 64), (3, 3, 64), (4, 3, 64), (5, 3, 64)]
        {
            put_class(&mut host, cookie, class, length);
        }
        assert_eq!(rest(&mut host), [0, 2, 3, 1, 4, 5]);
        assert_eq!(host.get(ms(2)), None);
    }
}
