//! `prio-queue-disc` and `pfifo-fast-queue-disc`: which band a packet is put in, and that the first one goes first.

use super::common::rig::{Rig, What};
use super::played::{overflow, probe, rig};
use aqm_core::packet::Ecn;

/// Packets of 100 bytes.
const LENGTH: u32 = 100;

/// Four bands, and a map that repeats.
const PRIO: &str = "prio bands 4 priomap 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3 priority class";

/// A packet with a socket's priority.
fn arrive(rig: &mut Rig, priority: u16) {
    // Packets of a priority are a flow.
    rig.arrive_with(u64::from(priority), LENGTH, Ecn::NotEct, |packet| packet.class = priority);
}

/// The order in which the packets of a queue leave.
fn drain(rig: &mut Rig) -> Vec<u64> {
    std::iter::from_fn(|| rig.serve()).collect()
}

pub(crate) fn the_map_is_taken() {
    let spec = super::common::parse(PRIO);
    assert_eq!(spec.params.get("priomap").to_string(), "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3");
}

pub(crate) fn the_map_chooses_the_band() {
    let mut rig = rig(PRIO, 1);
    // Priorities from the last to the first: a packet each, in bands 3, 2, 1, 0, 3, 2, 1, 0.
    (0..8).rev().for_each(|priority| arrive(&mut rig, priority));
    assert_eq!(probe(&rig, "busy_classes"), 4.0);
    assert_eq!(drain(&mut rig), [3, 7, 2, 6, 1, 5, 0, 4]);
}

pub(crate) fn bands_are_emptied_in_turn() {
    let mut rig = rig(PRIO, 1);
    // As test 5 leaves the bands: seven packets in the first, three in each other.
    let priorities = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0, 0];
    priorities.into_iter().for_each(|priority| arrive(&mut rig, priority));
    let first = [0, 4, 8, 12, 13, 14, 15];
    let rest = (1..4).flat_map(|band| [band, band + 4, band + 8]);
    assert_eq!(drain(&mut rig), first.into_iter().chain(rest).collect::<Vec<_>>());
}

/// The band in which a packet with this DS field waits.
fn band(tos: u8) -> usize {
    let mut rig = rig("pfifo_fast:ns3", 1);
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(tos & 3)];
    rig.arrive_with(1, LENGTH, ecn, |packet| packet.dscp = tos >> 2);
    let bands: Vec<f64> = (0..3).map(|number| probe(&rig, &format!("band_{number}"))).collect();
    assert_eq!(bands.iter().sum::<f64>(), 1.0);
    assert_eq!(rig.serve(), Some(0));
    bands.iter().position(|packets| *packets == 1.0).unwrap()
}

pub(crate) fn types_of_service() {
    // RFC 1349's, in steps of two; the lowest bit ("minimise monetary cost") is ECT(0) today and chooses nothing.
    let found: Vec<usize> = (0..0x20).step_by(2).map(band).collect();
    assert_eq!(found, [1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1]);
}

pub(crate) fn code_points() {
    // Default and EF; AFx1, AFx2 and AFx3 (RFC 2597: 8 x + 2 y); CS1 to CS7.
    let dscp = |code: u8| band(code << 2);
    assert_eq!([0, 46].map(dscp), [1, 1]);
    for class in 1..=4 {
        assert_eq!([1, 2, 3].map(|drop| dscp(8 * class + 2 * drop)), [2, 0, 1]);
    }
    (1..=7).for_each(|class| assert_eq!(dscp(8 * class), 1));
}

/// Six packets fill the queue, two of each band; a third of each is dropped.
pub(crate) fn all_bands_share_the_limit() {
    let mut rig = rig("pfifo_fast:ns3 limit 6p", 1);
    let code_points = [36, 14, 10]; // AF42, AF13, AF11: bands 0, 1, 2
    for _ in 0..2 {
        for dscp in code_points {
            rig.arrive_with(u64::from(dscp), LENGTH, Ecn::NotEct, |packet| packet.dscp = dscp);
        }
    }
    let depths = |rig: &Rig| [0, 1, 2].map(|number| probe(rig, &format!("band_{number}")));
    assert_eq!(depths(&rig), [2.0; 3]);
    for dscp in code_points {
        rig.arrive_with(u64::from(dscp), LENGTH, Ecn::NotEct, |packet| packet.dscp = dscp);
    }
    assert_eq!((depths(&rig), overflow(&rig)), ([2.0; 3], 3));
    let dropped = rig.events().iter().filter_map(|event| match event.what {
        What::Dropped(number, ..) => Some(number),
        _ => None,
    });
    assert_eq!(dropped.collect::<Vec<_>>(), [6, 7, 8]);
}
