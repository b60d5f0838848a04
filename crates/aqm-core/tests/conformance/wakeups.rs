//! Wake-ups: requested only by disciplines that declare it, harmless if not requested.

use crate::common::every_preset;
use crate::common::rig::Rig;
use crate::common::workload::EVERYTHING;
use aqm_core::units::Span;

#[test]
fn spurious_wakeups_change_nothing() {
    for spec in every_preset() {
        let (mut woken, mut plain) = (Rig::new(&spec, 8), Rig::new(&spec, 8));
        for (number, op) in EVERYTHING.ops(8).iter().enumerate() {
            if number % 3 == 0 {
                woken.wake();
            }
            woken.apply(op);
            plain.apply(op);
        }
        woken.wake();
        assert!(woken.events() == plain.events(), "{spec}");
    }
}

#[test]
fn a_discipline_wakes_exactly_if_its_traits_say_so() {
    for mut spec in every_preset() {
        // A shaper has nothing to wait for unless it has a rate.
        for (name, rate) in [("bandwidth", "5mbit"), ("maxrate", "1mbit")] {
            if spec.info.traits.wakes && spec.params.names().any(|known| known == name) {
                spec.set_text(name, rate).unwrap();
            }
        }
        let mut rig = Rig::new(&spec, 1);
        let mut asked = rig.qdisc().next_wakeup().is_some();
        for op in EVERYTHING.ops(1) {
            rig.apply(&op);
            asked |= rig.qdisc().next_wakeup().is_some();
        }
        assert_eq!(asked, spec.info.traits.wakes, "{spec}");
    }
}

#[test]
fn a_long_silence_does_no_harm() {
    // A host may sleep for a month: missed periods are caught up with, and nothing overflows.
    for spec in every_preset() {
        let mut rig = Rig::new(&spec, 1);
        let ops = EVERYTHING.ops(1);
        rig.run(&ops);
        rig.drain();
        if !spec.info.traits.wakes {
            rig.advance(Span::from_secs(30 * 86_400));
        } else {
            rig.advance(Span::from_secs(60));
        }
        rig.run(&ops).drain();
    }
}
