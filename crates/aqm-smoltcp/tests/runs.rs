//! Runs of smoltcp in virtual time: what arrives, and that a seed says all.

use aqm_sim::report::{Monitor, Report};
use aqm_sim::scenario::Scenario;
use aqm_sim::scenario::inputs::Inputs;
use aqm_smoltcp::Smoltcp;
use serde_json::{Value, json};
use std::sync::Arc;

fn run(aqm: &str, cc: &str, count: u32, size: Value, seed: u64) -> Report {
    let scenario: Scenario = serde_json::from_value(json!({
        "aqm": aqm, "capacity": {"rate_bps": 10_000_000}, "rtt_ns": 40_000_000, "duration_ns": 8_000_000_000_u64,
        "warmup_ns": 1_000_000_000, "sample_ns": 100_000_000, "flows": [{
            "name": "smoltcp", "count": count, "start_ns": [0, 100_000_000],
            "transport": {"stack": {"stack": "smoltcp", "cc": cc}}, "source": {"bulk": {"size_bytes": size}},
        }],
    }))
    .expect("it is a scenario");
    let mut inputs = Inputs::default();
    inputs.add_stack(Arc::new(Smoltcp)).expect("its declaration is whole");
    aqm_sim::run(&scenario, &inputs, seed, &Monitor::default()).expect("the scenario runs")
}

#[test]
fn one_flow_fills_a_link_that_loses_nothing_and_gets_through_one_that_does() {
    for cc in ["cubic", "reno", "none"] {
        let [roomy, tight] =
            ["fifo limit 1000p", "fifo limit 50p"].map(|aqm| run(aqm, cc, 1, Value::Null, 1));
        let [roomy, tight] = [roomy, tight].map(|report| report.metrics["goodput_mbit"]);
        println!("{cc}: {roomy} and {tight} Mbit/s");
        assert!(roomy > 9.4, "{cc}: {roomy} Mbit/s");
        // Without congestion control it sends its whole buffer again and again.
        assert_eq!(tight < 1.0, cc == "none", "{cc}: {tight} Mbit/s");
    }
}

#[test]
fn the_same_seed_gives_the_same_packets_and_another_seed_others() {
    let printed = |seed| {
        let report = run("codel", "reno", 3, Value::Null, seed);
        format!("{:?} {:?}", report.metrics.iter().collect::<Vec<_>>(), report.flows)
    };
    assert_eq!(printed(1), printed(1));
    assert_ne!(printed(1), printed(2));
}

#[test]
fn finite_flows_end_when_their_last_byte_has_come() {
    let report = run("fifo limit 20p", "cubic", 3, json!(300_001), 3);
    assert_eq!(report.metrics["completed_flows"], 3.0);
}
