//! Laws signal under lasting congestion and are silent on a short queue.

use crate::common::rig::Rig;
use crate::common::values::with_room;
use crate::common::workload::{Phase, Workload};
use crate::common::{every_preset, with_ecn};
use aqm_core::packet::Ecn;
use aqm_core::spec::Spec;
use aqm_core::units::Span;

#[test]
fn no_law_signals_on_a_queue_as_short_as_its_traits_say() {
    // What never signals by itself has a threshold of its own, if one is given.
    let is_law = |spec: &Spec| spec.info.traits.quiet_packets < u64::MAX;
    for spec in every_preset().map(|spec| if is_law(&spec) { with_ecn(spec) } else { spec }) {
        let quiet = spec.info.traits.quiet_packets.min(12);
        for pause in [1, 20, 300].map(Span::from_millis) {
            let mut rig = Rig::new(&spec, 1);
            for number in 0..600 {
                if rig.qdisc().backlog().packets > quiet {
                    rig.serve();
                }
                rig.arrive(number % 3, 1514, [Ecn::NotEct, Ecn::Ect0][number as usize % 2]);
                if quiet == 0 {
                    rig.serve(); // the queue must stay empty: the packet leaves at the time of its arrival
                }
                rig.advance(pause);
            }
            rig.drain();
            let counters = rig.qdisc().counters();
            let signals = counters.dropped_total() + counters.marked;
            assert_eq!(signals, 0, "{spec}: at most {quiet} packets wait, {pause} between arrivals");
        }
    }
}

#[test]
fn every_law_drops_early_under_lasting_overload_and_a_plain_queue_never_does() {
    const OVERLOAD: &[Phase] = &[(Span::from_secs(4), 1.2)];
    let workload = Workload { name: "overload", phases: OVERLOAD, flows: 8, ecn: &[Ecn::NotEct] };
    for spec in every_preset().map(with_room) {
        let mut rig = Rig::new(&spec, 2);
        rig.run(&workload.ops(2));
        let early = rig.qdisc().counters().dropped_early();
        if spec.info.traits.quiet_packets == u64::MAX {
            assert_eq!(early, 0, "{spec}: {early} early drops, and by its quiet_packets it never signals");
        } else {
            assert!(
                early > 0,
                "{spec}: no early drop, and its quiet_packets do not say that it never signals"
            );
        }
    }
}
