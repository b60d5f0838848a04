//! Parameters: accepted if declared, otherwise refused by name, readable, changeable with queued packets.

use crate::common::rig::Rig;
use crate::common::workload::{EVERYTHING, Op};
use crate::common::{every_discipline, every_preset, parse, values};
use aqm_core::params::{Each, Kind, ParamSpec, TcNumber, Value};
use aqm_core::spec::read_child;

/// Half a second of everything.
fn glimpse(seed: u64) -> Vec<Op> {
    let mut ops = EVERYTHING.ops(seed);
    ops.drain(..3000);
    ops.truncate(1500);
    ops
}

#[test]
fn every_allowed_value_builds_and_works_or_breaks_a_named_relation() {
    let ops = glimpse(1);
    for spec in every_preset() {
        for declared in spec.info.params {
            let mut built = 0;
            for value in values::allowed(declared) {
                let mut spec = spec.clone();
                spec.params.set(declared.name, value).unwrap_or_else(|error| panic!("{spec}: {error}"));
                match Rig::try_new(&spec, 1) {
                    Ok(mut rig) => {
                        rig.run(&ops).drain();
                        built += 1;
                    }
                    Err(error) => assert!(
                        spec.info.params.iter().any(|param| param.name == error.param),
                        "{spec}: the refusal '{error}' names no parameter"
                    ),
                }
            }
            assert!(built > 0, "{spec}: no value of {} can be used alone", declared.name);
        }
    }
}

#[test]
fn values_out_of_range_are_refused_by_name_as_values_and_as_text() {
    for spec in every_discipline() {
        for declared in spec.info.params {
            for value in values::forbidden(declared) {
                let mut params = spec.params.clone();
                let error = params.set(declared.name, value.clone()).expect_err(&format!("{spec}: {value}"));
                assert_eq!(error.param, declared.name, "{spec}");
                let error =
                    params.set_text(declared.name, &value.to_string(), read_child).expect_err(declared.name);
                assert_eq!(error.param, declared.name, "{spec}");
                assert_eq!(params.get(declared.name), spec.params.get(declared.name), "{spec}");
            }
        }
    }
}

#[test]
fn nonsense_is_refused_by_name() {
    for spec in every_discipline() {
        for declared in spec.info.params {
            for text in
                ["", "-1", "nonsense", "1e3", "NaN", "inf", "99999999999999999999999999s", "1 2", "[", "[]"]
            {
                let Err(error) = spec.clone().set_text(declared.name, text) else {
                    let number = matches!(declared.kind, Kind::Number);
                    assert!(number, "{spec}: {} takes '{text}'", declared.name);
                    continue;
                };
                assert_eq!(error.param, declared.name, "{spec}");
            }
            for text in
                ["[codel target 0s]", "[fifo] [codel limit]", "[fifo speed 1]", "[codell]", "codel,fifo"]
            {
                for declared in spec.info.params {
                    let error = spec.clone().set_text(declared.name, text).unwrap_err();
                    assert_eq!(error.param, declared.name, "{spec}: {text}");
                }
            }
            let known = spec.clone().set_text("no such parameter", "1").unwrap_err();
            assert!(known.problem.contains(declared.name), "{spec}: {known}");
        }
    }
}

/// A value's text without its unit, if it has one.
fn bare(declared: &ParamSpec, value: &Value) -> Option<String> {
    let has_unit = match value {
        Value::Span(_) | Value::Rate(_) | Value::Bytes(_) | Value::SignedBytes(_) | Value::Size(_) => true,
        Value::Frequency(_) => declared.tc_number != TcNumber::Hertz,
        Value::PerClass(_) => declared.kind != Kind::PerClass(Each::Count),
        _ => false,
    };
    has_unit.then(|| value.to_string().replace(|letter: char| letter.is_ascii_alphabetic(), ""))
}

#[test]
fn times_rates_and_bytes_need_their_unit_wherever_they_are() {
    for spec in every_discipline() {
        for declared in spec.info.params {
            for value in values::allowed(declared) {
                let Some(text) = bare(declared, &value) else { continue };
                let error =
                    spec.clone().set_text(declared.name, &text).expect_err(&format!("{spec}: {value}"));
                assert_eq!(error.param, declared.name, "{spec}");
                assert!(error.problem.starts_with("has no unit: "), "{spec}: {error}");
            }
        }
    }
}

#[test]
fn what_is_declared_without_a_unit_is_no_number_of_bytes_and_no_time() {
    for spec in every_discipline() {
        for declared in spec.info.params {
            if matches!(declared.kind, Kind::Number | Kind::Count | Kind::PerClass(Each::Count)) {
                let help = declared.help.to_ascii_lowercase();
                let named = ["bytes", "millisecond", "bit/s"].into_iter().find(|unit| help.contains(unit));
                assert_eq!(named, None, "{spec}: {}: {help}", declared.name);
            }
        }
    }
}

#[test]
fn a_value_that_was_set_is_read_back_and_its_text_means_the_same() {
    for spec in every_preset() {
        for declared in spec.info.params {
            for value in values::allowed(declared) {
                let mut rig = Rig::new(&spec, 1);
                let text = value.to_string();
                assert_eq!(
                    declared.parse(&text, read_child).as_ref(),
                    Ok(&value),
                    "{spec}: {} {text}",
                    declared.name
                );
                if rig.change(declared.name, &text).is_ok() {
                    assert_eq!(rig.qdisc().params().get(declared.name), &value, "{spec}: {}", declared.name);
                }
            }
        }
    }
}

#[test]
fn a_spec_reads_back_what_it_writes() {
    for spec in every_preset() {
        for declared in spec.info.params {
            for value in values::allowed(declared) {
                let mut spec = spec.clone();
                spec.params.set(declared.name, value).unwrap();
                let text = spec.to_string();
                let again = parse(&text);
                assert_eq!(again.to_string(), text);
                assert!(spec.params.iter().eq(again.params.iter()), "{text}");
            }
        }
    }
}

#[test]
fn parameters_change_while_packets_wait_without_losing_any() {
    for spec in every_preset() {
        let mut rig = Rig::new(&spec, 4);
        for (number, op) in EVERYTHING.ops(4).iter().enumerate() {
            if number % 25 == 0 {
                rig.apply(&Op::Change { param: number / 25, value: number / 50 });
            }
            rig.apply(op);
        }
        rig.drain();
    }
}

#[test]
fn a_change_to_the_current_value_changes_no_decision() {
    for spec in every_preset() {
        let (mut changed, mut plain) = (Rig::new(&spec, 6), Rig::new(&spec, 6));
        for (number, op) in EVERYTHING.ops(6).iter().enumerate() {
            if number % 40 == 0 && !spec.info.params.is_empty() {
                let (declared, value) =
                    spec.params.iter().nth(number / 40 % spec.info.params.len()).expect("modulo the count");
                changed.change(declared.name, &value.to_string()).unwrap();
            }
            changed.apply(op);
            plain.apply(op);
        }
        assert!(changed.events() == plain.events(), "{spec}");
    }
}

#[test]
fn a_refused_change_changes_no_decision() {
    for spec in every_preset() {
        let (mut refused, mut plain) = (Rig::new(&spec, 7), Rig::new(&spec, 7));
        for (number, op) in EVERYTHING.ops(7).iter().enumerate() {
            if number % 40 == 0 && !spec.info.params.is_empty() {
                let declared = &spec.info.params[number / 40 % spec.info.params.len()];
                for value in values::forbidden(declared) {
                    refused.change(declared.name, &value.to_string()).unwrap_err();
                }
            }
            refused.apply(op);
            plain.apply(op);
        }
        assert!(refused.events() == plain.events(), "{spec}");
    }
}
