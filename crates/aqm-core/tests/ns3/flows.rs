//! `fq-codel-queue-disc`, `fq-cobalt-queue-disc` and `fq-pie-queue-disc`: flows apart, deficits, and what a full queue drops.
//! Packets have 100 bytes and an IPv4 header; the host says which flow one belongs to.

use super::common::rig::What;
use super::played::{at_once, probe, rig, waiting};
use aqm_core::packet::Ecn;

const LENGTH: u32 = 120;

/// Three packets of a flow and two of another at a queue for four: two of the fat flow's three go, half of it.
fn fat_flow(name: &str) {
    let mut rig = rig(&format!("{name} limit 4p quantum 1500b"), 1);
    [(3, 1), (1, 2)]
        .into_iter()
        .for_each(|(count, flow)| at_once(&mut rig, count, flow, LENGTH, Ecn::NotEct));
    assert_eq!((waiting(&rig), probe(&rig, "active_flows")), (4, 2.0));
    rig.arrive(2, LENGTH, Ecn::NotEct);
    assert_eq!(waiting(&rig), 3);
    let dropped = rig.events().iter().filter_map(|event| match event.what {
        What::Dropped(number, ..) => Some(number),
        _ => None,
    });
    assert_eq!(dropped.collect::<Vec<_>>(), [0, 1], "{name}");
    assert_eq!([rig.serve(), rig.serve(), rig.serve()], [Some(2), Some(3), Some(4)], "{name}");
}

pub(crate) fn fq_codel_fat_flow() {
    fat_flow("fq_codel:rfc8290");
}

pub(crate) fn fq_cobalt_fat_flow() {
    fat_flow("fq_cobalt:ns3");
}

pub(crate) fn fq_pie_fat_flow() {
    fat_flow("fq_pie:ns3");
}

/// A quantum of 90 bytes, less than a packet: who has sent owes, and waits for the other.
fn deficits(name: &str) {
    let mut rig = rig(&format!("{name} quantum 90b"), 1);
    rig.arrive(1, LENGTH, Ecn::NotEct);
    assert_eq!(rig.serve(), Some(0));
    // The first flow owes 30 bytes now, so that the second goes before it, and both in turn from then on.
    [1, 2].into_iter().for_each(|flow| at_once(&mut rig, 2, flow, LENGTH, Ecn::NotEct));
    let out: Vec<_> = (0..5).map(|_| rig.serve()).collect();
    assert_eq!(out, [Some(3), Some(1), Some(4), Some(2), None], "{name}");
    assert_eq!(probe(&rig, "active_flows"), 0.0, "{name}: the last call finds both empty");
}

pub(crate) fn fq_codel_deficits() {
    deficits("fq_codel:rfc8290");
}

pub(crate) fn fq_cobalt_deficits() {
    deficits("fq_cobalt:ns3");
}

pub(crate) fn fq_pie_deficits() {
    deficits("fq_pie:ns3");
}

/// Four flows with 3, 1, 1 and 2 packets: each has a queue, of these sizes.
fn apart(name: &str) {
    let mut rig = rig(&format!("{name} limit 10p quantum 1500b"), 1);
    let flows = [7, 7, 7, 8, 9, 10, 10];
    for (number, flow) in flows.into_iter().enumerate() {
        rig.arrive(flow, LENGTH, Ecn::NotEct);
        let apart = flows[..=number].iter().collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!((waiting(&rig), probe(&rig, "active_flows")), (number as u64 + 1, apart as f64), "{name}");
    }
    // With a quantum of a dozen packets each flow empties its own queue in one turn.
    assert_eq!((0..7).map(|_| rig.serve().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6], "{name}");
}

pub(crate) fn fq_codel_apart() {
    apart("fq_codel:rfc8290");
}

pub(crate) fn fq_cobalt_apart() {
    apart("fq_cobalt:ns3");
}

pub(crate) fn fq_pie_apart() {
    apart("fq_pie:ns3");
}
