//! # What it does
//! Bands under strict priority, chosen by the type of service or the priority of a packet; each band has a discipline of
//! its own.
//!
//! # Reference
//! Linux `sch_prio`, tc-prio(8); RFC 1349 for the types of service.
//!
//! # Parameters
//! See `aqmlab aqm show prio`. `sp` is the same for classes that the host gives.
//!
//! # Deviations
//! No filters. A limit for all bands beside that of each child: the longest band gives way (see `sharing`); Linux has only
//! those of the children, as here with `limit auto`.
//!
//! # Promises
//! Order kept within a band, and so within a flow that keeps its DSCP; children decide on drops and marks, except at the
//! limit of all bands. A band that holds no more than its part of the limit loses no packet to another.

use super::classful::{self, CHILD, Classful, LIMIT_OF_ALL, Layout, PROBES, TRAITS};
use super::priomap::{PRIOMAP, PRIORITY, Priomap};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::{Kind, ParamSpec, Preset, Value};
use crate::scheduler::Sp;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "prio",
    group: Group::Class,
    summary: "Strict priority among bands by type of service, each with a discipline of its own",
    reference: "Linux prio; tc-prio(8)",
    params: &[
        LIMIT_OF_ALL.with_help("Limit of all bands together, in packets or bytes"),
        SHARING,
        BANDS,
        PRIOMAP,
        PRIORITY,
        CHILD.with_help("Discipline of each band; its limit is that of all bands unless given"),
    ],
    presets: &[Preset {
        name: "linux",
        source: "prio_init() of Linux 6.1 net/sched/sch_prio.c, tc-prio(8): a pfifo of txqueuelen (1000) packets in each band",
        values: &[("limit", Value::Auto)],
    }],
    probes: PROBES,
    traits: TRAITS,
    deviations: "no filters; a limit for all bands beside that of each child",
    build,
};

const BANDS: ParamSpec = ParamSpec::new(
    "bands",
    Kind::Count,
    Value::Count(3),
    (2.0, 16.0),
    "Number of bands",
    "tc-prio(8): 3, from 2 to 16",
);

const LAYOUT: Layout = Layout {
    classes: |params| classful::each(params, "bands", "band"),
    counted: "bands",
    priomap: Some(Priomap::new),
    by_class: false,
    by_station: false,
};

fn build(blueprint: Blueprint<'_>) -> Built {
    let scheduler = Sp::new(blueprint.params.count("bands") as usize);
    Ok(Box::new(Classful::of(LAYOUT, blueprint, scheduler, |_, _| {})?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, rest};
    use crate::packet::Packet;
    use alloc::string::ToString;

    /// Packets with types of service, and the class of a socket's priority.
    fn put(host: &mut Host, packets: &[(u64, u8, u16)]) {
        for &(cookie, tos, class) in packets {
            let mut packet = Packet::new(cookie, 0, 1000);
            (packet.dscp, packet.class) = (tos >> 2, class);
            host.enqueue(ms(0), packet);
        }
    }

    #[test]
    fn types_of_service_have_linux_s_bands() {
        // tc-prio(8): 0x10 and 0x14 band 0; 0x00, 0x04, 0x18 and 0x1c band 1; 0x08 and 0x0c band 2.
        let mut host = Host::new("prio");
        let packets = [0x08, 0x00, 0x10, 0x1c, 0x0c, 0x14, 0x04, 0x18].into_iter();
        let packets = packets.enumerate().map(|(cookie, tos)| (cookie as u64, tos, 9));
        put(&mut host, &packets.collect::<alloc::vec::Vec<_>>());
        assert_eq!(rest(&mut host), [2, 5, 1, 3, 6, 7, 0, 4]);
    }

    #[test]
    fn a_map_gives_each_priority_its_band() {
        // Bulk is priority 2, interactive 6: `priomap 3 3 0 3 3 3 1 3` and 3 for all others.
        let mut host = Host::new("prio bands 4 priomap 3,3,0,3,3,3,1,3");
        put(&mut host, &[(0, 0x00, 0), (1, 0x10, 0), (2, 0x08, 0), (3, 0x18, 0)]);
        assert_eq!(rest(&mut host), [2, 1, 0, 3]);
        let mut host = Host::new("prio priority class");
        put(&mut host, &[(0, 0x10, 2), (1, 0x10, 0), (2, 0x00, 6), (3, 0x08, 22)]);
        assert_eq!(rest(&mut host), [2, 3, 1, 0]);
        host.qdisc.change(&[("priomap", "0,1,2"), ("priority", "tos")], ms(1), &mut host.log).unwrap();
        put(&mut host, &[(4, 0x08, 0), (5, 0x00, 0)]);
        let error = host.qdisc.change(&[("priority", "class")], ms(1), &mut host.log).unwrap_err();
        assert!(error.to_string().ends_with("'0,1,2' cannot change the bands of packets while some wait"));
        assert_eq!(rest(&mut host), [5, 4]);
    }

    #[test]
    fn each_band_has_its_child_and_its_limit() {
        let mut host =
            Host::new("prio bands 2 priomap 0,0,1 child [fifo limit 1p] child [fifo:head limit 2p]");
        put(&mut host, &[(0, 0, 0), (1, 0, 0), (2, 0x08, 0), (3, 0x08, 0), (4, 0x08, 0)]);
        assert_eq!(host.dropped(), [1, 2]);
        assert_eq!(host.qdisc.total().unwrap().to_string(), "3p");
        assert_eq!(Host::new("prio bands 4").qdisc.total().unwrap().to_string(), "4000p");
        assert_eq!(Host::new("prio bands 4 limit 100p").qdisc.total().unwrap().to_string(), "100p");
    }

    #[test]
    fn a_map_to_a_band_that_there_is_not_is_refused() {
        let refusal = |text: &str| {
            let spec = crate::spec::Spec::parse(text).unwrap();
            let link = crate::link::Link::new(crate::units::Rate::from_mbit(1));
            spec.build(link, crate::random::Random::seeded(1)).err().unwrap().to_string()
        };
        assert_eq!(
            refusal("prio bands 2"),
            "prio: parameter 'priomap': '1,2,2,2,1,2,0,0,1' names band 2: the last of 2 bands is 1"
        );
        let seventeen = ["0"; 17].join(",");
        assert!(
            refusal(&["prio priomap ", &*seventeen].concat())
                .ends_with("has 17 bands: there are 16 priorities")
        );
        let mut host = Host::new("prio");
        let error = host.qdisc.change(&[("bands", "4")], ms(0), &mut host.log).unwrap_err();
        assert_eq!(error.to_string(), "parameter 'bands': '4' cannot change while packets may wait");
    }
}
