//! Marks: only on ECN-capable packets, never removed. The rig checks each packet.

use crate::common::rig::Rig;
use crate::common::values::with_room;
use crate::common::workload::{EVERYTHING, Phase, Workload};
use crate::common::{every_preset, with_ecn};
use aqm_core::packet::Ecn;
use aqm_core::units::Span;

/// Little, at which no law gives marks up, and much, which CHOKe's drops of matches do not end.
const OVERLOADS: [&[Phase]; 2] = [&[(Span::from_secs(4), 1.2)], &[(Span::from_secs(4), 2.0)]];

fn marks(spec: &aqm_core::spec::Spec, ecn: &'static [Ecn]) -> u64 {
    let under = |phases| {
        let workload = Workload { name: "overload", phases, flows: 8, ecn };
        let mut rig = Rig::new(spec, 1);
        rig.run(&workload.ops(1)).drain();
        rig.qdisc().counters().marked
    };
    OVERLOADS.into_iter().map(under).sum()
}

#[test]
fn disciplines_that_can_mark_do_and_the_others_never_do() {
    for spec in every_preset().map(with_ecn).map(with_room) {
        let (capable, marked) = (spec.info.traits.ecn, marks(&spec, &[Ecn::Ect0, Ecn::Ect1]));
        assert_eq!(marked > 0, capable, "{spec}: {marked} marks under overload, traits.ecn is {capable}");
    }
}

#[test]
fn packets_without_ect_or_with_ce_are_not_marked() {
    for spec in every_preset().map(with_ecn) {
        assert_eq!(marks(&spec, &[Ecn::NotEct, Ecn::Ce]), 0, "{spec}");
    }
}

#[test]
fn a_mix_of_all_fields_comes_through_unharmed() {
    for spec in every_preset().map(with_ecn) {
        Rig::new(&spec, 9).run(&EVERYTHING.ops(9)).drain();
    }
}
