//! Faults of a Wi-Fi device, one at a time: the checks of a run find what breaks its books.

use super::wifi_tests::{SECOND, run_with, scenario, tcp, udp};
use crate::extension::Extension;
use crate::report::RunError;
use crate::scenario::inputs::Inputs;
use aqm_core::input_error::InputError;
use aqm_core::params::Params;
use aqm_path::device::burst::Device;
use aqm_path::kind::{LinkKind, Service, Site};
use aqm_path::mac::link::KIND;
use aqm_path::mac::link::sabotaged::{self, Defect};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Which of all defects is built in, and whether it has struck: one test uses both.
static DEFECT: AtomicUsize = AtomicUsize::new(0);
static STRUCK: AtomicBool = AtomicBool::new(false);

static FAULTY: LinkKind = LinkKind {
    name: "faulty",
    summary: "Wi-Fi with a fault",
    reference: "none",
    params: KIND.params,
    of_link: KIND.of_link,
    capacity: KIND.capacity,
    stations: KIND.stations,
    usual: KIND.usual,
    service: Service::Bursts(build),
};
static EXTENSION: Extension = Extension { link_kinds: &[&FAULTY], ..Extension::NOTHING };

fn build(params: &Params, site: Site<'_>) -> Result<Box<dyn Device>, InputError> {
    let defect = Defect::all().nth(DEFECT.load(Ordering::Relaxed)).expect("it is one of them");
    sabotaged::build(params, site, defect, || STRUCK.store(true, Ordering::Relaxed))
}

#[test]
fn the_checks_of_a_run_find_the_faults_of_a_medium() {
    let kind =
        "faulty stations [a=ht-mcs7 loss 0.2, b=ht-mcs15-400ns loss 0.2, c=ht-mcs3 loss 0.2] driver 60";
    let flows = [tcp("a"), udp("b", 40_000_000), tcp("c")];
    let mut inputs = Inputs::default();
    inputs.add_extension(&EXTENSION);
    let (mut missed, mut found) = (Vec::new(), 0);
    for (number, defect) in Defect::all().enumerate() {
        DEFECT.store(number, Ordering::Relaxed);
        STRUCK.store(false, Ordering::Relaxed);
        let mut faulty = scenario("fifo limit 200p", None, kind, &flows, 4);
        faulty["warmup_ns"] = json!(SECOND / 2);
        let ended = catch_unwind(AssertUnwindSafe(|| run_with(&faulty, 7, &inputs)));
        assert!(STRUCK.load(Ordering::Relaxed), "{}: it never found its place", defect.name());
        let says = match ended {
            Ok(Err(RunError::Check(what))) => what,
            Ok(Err(other)) => panic!("{}: {other}", defect.name()),
            // An assertion of the law, which stops the run, too.
            Err(panic) => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| {
                panic.downcast_ref::<&str>().map_or_else(String::new, |text| (*text).to_owned())
            }),
            Ok(Ok(_)) => {
                missed.push(defect.name());
                continue;
            }
        };
        found += 1;
        println!("| {} | {says} |", defect.name());
    }
    println!("{found} found");
    assert_eq!(missed, [""; 0]);
}
