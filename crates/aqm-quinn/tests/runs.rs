//! Runs of quinn in virtual time: what arrives, that nothing is lost on the way of payloads, and that a seed says all.

use aqm_quinn::Quinn;
use aqm_sim::report::{Monitor, Report, RunError};
use aqm_sim::scenario::Scenario;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::wire::Loss;
use serde_json::{Value, json};
use std::sync::Arc;

fn scenario(aqm: &str, seconds: u64, flows: Value) -> Scenario {
    serde_json::from_value(json!({
        "aqm": aqm, "capacity": {"rate_bps": 10_000_000}, "rtt_ns": 40_000_000, "duration_ns": seconds * 1_000_000_000,
        "warmup_ns": seconds * 100_000_000, "sample_ns": 100_000_000, "flows": flows,
    }))
    .expect("it is a scenario")
}

fn quinn(count: u32, keys: Value, size: Option<u64>) -> Value {
    let mut stack = json!({"stack": "quinn"});
    stack.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    json!({
        "name": "quinn", "count": count, "start_ns": [0, 100_000_000], "transport": {"stack": stack},
        "source": {"bulk": {"size_bytes": size}},
    })
}

fn run(scenario: &Scenario, seed: u64) -> Result<Report, RunError> {
    let mut inputs = Inputs::default();
    inputs.add_stack(Arc::new(Quinn)).expect("its declaration is whole");
    aqm_sim::run(scenario, &inputs, seed, &Monitor::default())
}

/// Everything that a run says.
fn printed(report: &Report) -> String {
    let metrics: Vec<_> = report.metrics.iter().collect();
    format!("{metrics:?} {:?} {:?} {:?}", report.flows, report.series.columns, report.queues)
}

#[test]
fn one_flow_fills_the_link_under_each_congestion_control() {
    for cc in ["cubic", "newreno"] {
        let report = run(&scenario("fq_codel", 8, json!([quinn(1, json!({"cc": cc}), None)])), 1).unwrap();
        let goodput = report.metrics["goodput_mbit"];
        println!(
            "{cc}: {goodput} Mbit/s, rtt {} ms, lost {}",
            report.metrics["rtt_mean_ms"], report.metrics["retransmissions"]
        );
        assert!((8.0..9.6).contains(&goodput), "{cc}: {goodput} Mbit/s");
        assert!(report.metrics["rtt_mean_ms"] > 40.0, "{cc}");
        assert_eq!(report.warnings, Vec::<String>::new(), "{cc}");
    }
}

#[test]
fn the_same_seed_gives_the_same_packets_and_another_seed_others() {
    let flows =
        json!([quinn(2, json!({"cc": "newreno"}), None), quinn(1, json!({"streams": 3}), Some(400_000))]);
    let scenario = scenario("codel", 3, flows);
    let first = printed(&run(&scenario, 1).unwrap());
    assert_eq!(first, printed(&run(&scenario, 1).unwrap()));
    assert_ne!(first, printed(&run(&scenario, 2).unwrap()));
}

#[test]
fn finite_flows_end_when_the_last_byte_of_their_last_stream_has_come() {
    let flows = json!([quinn(3, json!({"streams": 4}), Some(300_001))]);
    let report = run(&scenario("fifo limit 20p", 6, flows), 3).unwrap();
    assert_eq!(report.metrics["completed_flows"], 3.0);
    assert!(report.flows.iter().all(|flow| flow.fct_s > 0.24), "{:?}", report.flows);
}

#[test]
fn marks_slow_a_flow_down_without_loss_and_a_host_without_ecn_gets_drops() {
    let with = |ecn: &str| {
        run(&scenario("codel ecn", 8, json!([quinn(1, json!({"ecn": ecn, "cc": "newreno"}), None)])), 1)
            .unwrap()
    };
    let (marked, dropped) = (with("classic"), with("off"));
    assert!(marked.metrics["marks"] > 3.0, "{} marks", marked.metrics["marks"]);
    assert!(marked.flows[0].recoveries > 3, "{} reactions", marked.flows[0].recoveries);
    assert_eq!(dropped.metrics["marks"], 0.0);
    assert!(dropped.flows[0].retransmissions > 3);
}

#[test]
fn a_connection_that_hears_nothing_is_reported_in_the_result() {
    // Nothing comes through: the handshake is never over.
    let mut scenario = scenario("fifo", 40, json!([quinn(1, json!({}), None)]));
    scenario.loss = Loss::Random(0.9999);
    let report = run(&scenario, 1).unwrap();
    assert_eq!(report.warnings, ["1 of the flows 'quinn' ended too soon: timed out"]);
}

#[test]
fn a_flow_that_was_asked_to_stop_has_not_ended_too_soon() {
    // Within the handshake; and while congestion control holds the packet back that would close it, so that the server is
    // reset, or hears nothing for 30 s.
    for stop_ms in [30_u64, 100, 700] {
        let mut flow = quinn(1, json!({}), None);
        flow["start_ns"] = json!([0, 0]);
        flow["source"] = json!({"bulk": {"stop_ns": stop_ms * 1_000_000}});
        let report = run(&scenario("fifo limit 50p", 40, json!([flow])), 1).unwrap();
        assert_eq!(report.warnings, Vec::<String>::new(), "stopped after {stop_ms} ms");
    }
}

#[test]
fn what_is_wrong_in_a_scenario_is_named() {
    let refused = |transport: Value| {
        let mut flow = quinn(1, json!({}), None);
        flow["transport"]["stack"] = transport;
        match run(&scenario("fifo", 1, json!([flow])), 1) {
            Err(RunError::Input(error)) => error.to_string(),
            other => panic!("{:?}", other.map(|_| "a result")),
        }
    };
    let problem = refused(json!({"stack": "qiunn"}));
    assert_eq!(problem, "flows: 'quinn': unknown stack 'qiunn', did you mean 'quinn'?; known are quinn");
    let problem = refused(json!({"stack": "quinn", "cc": "vegas"}));
    assert!(problem.contains("cc is \"vegas\""), "{problem}");
    let problem = refused(json!({"stack": "quinn", "stremas": 2}));
    assert!(problem.contains("unknown field 'stremas', did you mean 'streams'?"), "{problem}");
}
