//! The same seed gives the same decisions; another seed other traffic.

use crate::common::every_preset;
use crate::common::rig::Rig;
use crate::common::workload::EVERYTHING;

#[test]
fn the_same_seed_gives_the_same_trace() {
    for spec in every_preset() {
        let trace = |seed| {
            let mut rig = Rig::new(&spec, seed);
            rig.run(&EVERYTHING.ops(1)).drain();
            rig.events().to_vec()
        };
        assert!(trace(11) == trace(11), "{spec}");
    }
}

#[test]
fn laws_with_random_numbers_depend_on_the_seed_and_the_others_do_not() {
    // A discipline may draw without consequence, but one that never draws cannot depend on the seed: at least the
    // two kinds must both occur in the registry, or the rig would be deaf to random numbers.
    let depends = |spec: &aqm_core::spec::Spec| {
        let trace = |seed| {
            let mut rig = Rig::new(spec, seed);
            rig.run(&EVERYTHING.ops(1)).drain();
            rig.events().to_vec()
        };
        trace(1) != trace(2)
    };
    let (drawing, fixed): (Vec<_>, Vec<_>) = every_preset().partition(depends);
    assert!(!drawing.is_empty() && !fixed.is_empty(), "draw: {drawing:?}; do not: {fixed:?}");
}
