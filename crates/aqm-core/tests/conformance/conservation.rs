//! Packets and bytes are neither lost nor duplicated.

use crate::common::every_preset;
use crate::common::rig::{Rig, What};
use crate::common::workload::{EVERYTHING, WORKLOADS};

#[test]
fn every_packet_departs_or_is_dropped_under_every_traffic() {
    for spec in every_preset() {
        for workload in WORKLOADS.iter().chain([&EVERYTHING]) {
            let mut rig = Rig::new(&spec, 1);
            rig.run(&workload.ops(1)).drain();
            let departed =
                rig.events().iter().filter(|event| matches!(event.what, What::Departed(_))).count();
            let dropped = rig.events().iter().filter(|event| matches!(event.what, What::Dropped(..))).count();
            let counters = rig.qdisc().counters();
            assert_eq!(counters.arrived, (departed + dropped) as u64, "{spec}: {}", workload.name);
            assert_eq!(counters.departed, departed as u64, "{spec}: {}", workload.name);
            assert_eq!(counters.dropped_total(), dropped as u64, "{spec}: {}", workload.name);
        }
    }
}

#[test]
fn an_empty_discipline_has_nothing_to_send() {
    for spec in every_preset() {
        let mut rig = Rig::new(&spec, 1);
        assert_eq!((rig.peek(), rig.serve()), (None, None), "{spec}");
    }
}

#[test]
fn a_single_packet_passes_unharmed() {
    for spec in every_preset() {
        for length in [1, 64, 1514] {
            let mut rig = Rig::new(&spec, 1);
            let packet = rig.arrive(7, length, aqm_core::packet::Ecn::NotEct);
            rig.drain();
            assert!(
                matches!(rig.events().last(), Some(event) if event.what == What::Departed(packet)),
                "{spec}: {length} bytes: {:?}",
                rig.events()
            );
        }
    }
}
