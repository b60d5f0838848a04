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
//! Drops beyond the limit of all classes are drops of the arriving packet.
//!
//! # Promises
//! Order kept within a class; children decide on drops and marks, except at the limit of all classes.

use super::classful::{CHILD, CLASSES, Classful, LIMIT_OF_ALL, PROBES, TRAITS};
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
    params: &[LIMIT_OF_ALL, CLASSES, CHILD],
    presets: &[Preset {
        name: "plain",
        source: "RFC 970; four classes, for it gives no number",
        values: &[],
    }],
    probes: PROBES,
    traits: TRAITS,
    deviations: "one limit for all classes, with tail drop; RFC 970 drops from the longest queue",
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
