//! Probes: exactly those declared, always numbers, and reading them changes nothing.

use crate::common::rig::Rig;
use crate::common::workload::{EVERYTHING, WORKLOADS};
use crate::common::{every_preset, values};
use aqm_core::spec::Spec;
use std::collections::BTreeSet;

#[test]
fn probes_report_exactly_what_is_declared() {
    for spec in every_preset() {
        let declared: Vec<&str> = spec.info.probes.iter().map(|probe| probe.name).collect();
        let mut rig = Rig::new(&spec, 1);
        for (number, op) in EVERYTHING.ops(1).iter().enumerate() {
            rig.apply(op);
            if number % 50 == 0 {
                let mut reported = Vec::new();
                rig.qdisc().probe(rig.now(), &mut |name, value| {
                    assert!(value.is_finite(), "{spec}: {name} is {value}");
                    reported.push(name.to_owned());
                });
                // Those of a child stand behind its name and a dot; its own page declares them.
                reported.retain(|name| !name.contains('.'));
                assert_eq!(reported, declared, "{spec}");
            }
        }
    }
}

#[test]
fn every_probe_moves_under_some_traffic_and_some_parameters() {
    for spec in every_preset() {
        let mut still: BTreeSet<&str> = spec.info.probes.iter().map(|probe| probe.name).collect();
        settle(&spec, &mut still);
        let mut params: Vec<_> = spec.info.params.iter().collect();
        // Most often a switch must be on.
        params.sort_by_key(|declared| !values::is_switch(declared));
        for declared in params {
            for value in values::allowed(declared) {
                let mut changed = spec.clone();
                changed.params.set(declared.name, value).unwrap();
                if !still.is_empty() {
                    settle(&changed, &mut still);
                }
            }
        }
        assert!(still.is_empty(), "{spec}: {still:?} never change");
    }
}

/// Removes the probes that change under any traffic from `still`.
fn settle(spec: &Spec, still: &mut BTreeSet<&str>) {
    for workload in WORKLOADS.iter().chain([&EVERYTHING]) {
        let Ok(mut rig) = Rig::try_new(spec, 1) else { return };
        let mut first = None;
        for op in workload.ops(1) {
            rig.apply(&op);
            let mut values = Vec::new();
            rig.qdisc().probe(rig.now(), &mut |_, value| values.push(value.to_bits()));
            let first = first.get_or_insert_with(|| values.clone());
            for ((probe, value), before) in spec.info.probes.iter().zip(&values).zip(first.iter()) {
                if value != before {
                    still.remove(probe.name);
                }
            }
        }
    }
}

#[test]
fn declarations_of_probes_are_complete() {
    for spec in every_preset() {
        for probe in spec.info.probes {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(!probe.name.is_empty() && probe.name.chars().all(plain), "{spec}: {}", probe.name);
            assert!(!probe.help.is_empty() && !probe.unit.is_empty(), "{spec}: {}", probe.name);
        }
        let names: BTreeSet<&str> = spec.info.probes.iter().map(|probe| probe.name).collect();
        assert_eq!(names.len(), spec.info.probes.len(), "{spec}: a name is used twice");
    }
}
