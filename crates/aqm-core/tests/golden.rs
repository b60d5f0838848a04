//! Golden runs: the behaviour of every discipline under named traffic, kept as text.
//!
//! A change of behaviour appears as a difference in `snapshots/<discipline>__<workload>.snap`. If it is intended, or
//! a discipline is new, update the files with `INSTA_UPDATE=always cargo test -p aqm-core --test golden` and read the
//! difference before committing it.

mod common;

use aqm_core::signal::Emission;
use aqm_core::spec::Spec;
use aqm_core::units::Span;
use common::rig::{Event, Rig, What};
use common::workload::{WORKLOADS, Workload};
use common::{every_discipline, parse, with_ecn};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

const STEP: Span = Span::from_millis(100);
const SHOWN: usize = 40;

/// Other parameters of a discipline, with bursts.
const VARIANTS: [(&str, &str); 14] = [
    ("pie_linux", "pie:linux"),
    ("fq_pie_linux", "fq_pie:linux"),
    ("daqm_strict", "daqm:daqm3 drop_duration 50ms"),
    ("daqm_jerk", "daqm:only_s3 noagain smoothing 5ms"),
    ("s-pie_narrow", "s-pie:consistent width 4 depth 2"),
    ("s-pie_conservative", "s-pie:consistent sketch conservative width 4 depth 2"),
    ("s-pie_count_sketch", "s-pie:consistent sketch count_sketch width 4 depth 2"),
    ("s-pie_algorithm2", "s-pie:consistent rule algorithm2"),
    ("s-pie_equal_share", "s-pie:consistent equal_share drop"),
    ("s-pie_count_at_dequeue", "s-pie:consistent count_at dequeue count_unit bytes"),
    ("s-pie_eq_3", "s-pie:printed alpha_delay old small_flows_use_p"),
    ("s-pie_gate_delay", "s-pie:consistent gate_delay tick"),
    ("s-pie_quiet_rate", "s-pie:consistent quiet_rate keep"),
    ("s-pie_algorithm1", "s-pie:consistent updates above_dq_threshold small_flows_use_p"),
];

#[test]
fn every_discipline_does_what_it_did() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _guard = settings.bind_to_scope();
    for spec in every_discipline() {
        for workload in WORKLOADS {
            let name = snapshot(&spec, workload);
            // ECN only if the traffic has it: the other runs show the law's drops.
            let spec = if workload.name == "ecn" { with_ecn(spec.clone()) } else { spec.clone() };
            insta::assert_snapshot!(name, story(&spec, workload));
        }
    }
}

#[test]
fn every_variant_does_what_it_did() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _guard = settings.bind_to_scope();
    for (name, spec) in VARIANTS {
        insta::assert_snapshot!(variant(name), story(&parse(spec), bursts()));
    }
}

#[test]
fn no_snapshot_is_left_behind() {
    let expected: BTreeSet<String> = every_discipline()
        .flat_map(|spec| WORKLOADS.iter().map(move |workload| snapshot(&spec, workload)))
        .chain(VARIANTS.iter().map(|(name, _)| variant(name)))
        .map(|name| name + ".snap")
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let found: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    // Missing files fail the test above, which may be writing them at this moment.
    let left: Vec<_> = found.difference(&expected).collect();
    assert!(left.is_empty(), "{left:?} belong to no discipline and workload");
}

fn bursts() -> &'static Workload {
    WORKLOADS.iter().find(|workload| workload.name == "bursts").unwrap()
}

fn variant(name: &str) -> String {
    format!("{name}__{}", bursts().name)
}

fn snapshot(spec: &Spec, workload: &Workload) -> String {
    format!("{}__{}", spec.info.name, workload.name)
}

/// Counts per tenth of a second, the order of departure once the law signals, the first signals, the delay.
fn story(spec: &Spec, workload: &Workload) -> String {
    let mut rig = Rig::new(spec, 1);
    rig.run(&workload.ops(1)).drain();
    let mut text = format!("{spec}\n\n   ms  departed  dropped  marked\n");
    let mut rest = rig.events();
    let mut from = Span::ZERO;
    while !rest.is_empty() {
        let until = from + STEP;
        let (now, later) =
            rest.split_at(rest.partition_point(|event| event.at.as_nanos() < until.as_nanos()));
        let count = |kind: fn(&What) -> bool| now.iter().filter(|event| kind(&event.what)).count();
        writeln!(
            text,
            "{:5}  {:8}  {:7}  {:6}",
            from.as_nanos() / 1_000_000,
            count(|what| matches!(what, What::Departed(_))),
            count(|what| matches!(what, What::Dropped(..))),
            count(|what| matches!(what, What::Marked(..)))
        )
        .unwrap();
        (rest, from) = (later, until);
    }
    let is_signal = |event: &&Event| !matches!(event.what, What::Departed(_));
    let first = rig.events().iter().find(is_signal).map_or(rig.now(), |event| event.at);
    let departures =
        rig.events().iter().filter(|event| event.at >= first).filter_map(|event| match event.what {
            What::Departed(packet) => Some(packet.to_string()),
            _ => None,
        });
    let departures: Vec<String> = departures.take(SHOWN).collect();
    text.push_str("\ndeparted from the first signal on\n");
    for row in departures.chunks(10) {
        writeln!(text, "  {}", row.join(" ")).unwrap();
    }
    text.push('\n');
    for event in rig.events().iter().filter(is_signal).take(SHOWN) {
        let micros = event.at.as_nanos() / 1000;
        match event.what {
            What::Dropped(packet, reason, _) => {
                writeln!(text, "{micros:9} us  {packet:5}  {}", reason.name())
            }
            What::Marked(packet, _) => writeln!(text, "{micros:9} us  {packet:5}  marked"),
            What::Emitted(Emission { flow, values, .. }) => {
                writeln!(text, "{micros:9} us  flow {flow} gets {values:?}")
            }
            What::Departed(_) => Ok(()),
        }
        .unwrap();
    }
    let counters = rig.qdisc().counters();
    let mean = counters.sojourn_sum.as_nanos() / counters.departed.max(1) / 1000;
    let max = counters.sojourn_max.as_nanos() / 1000;
    write!(text, "\nsojourn: mean {mean} us, max {max} us\n").unwrap();
    text
}
