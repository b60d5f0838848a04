//! The senders in whole simulations, registered as a host does.

use aqm_core::units::Span;
use aqm_papers::{EXTENSION, RATE_CONTROLS};
use aqm_sim::rate_control::{Info, RATE_CONTROLS as OF_THE_SIMULATOR, RateSender};
use aqm_sim::report::{Monitor, Report, RunError};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::wire::Loss;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Source, Transport};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// Flows of one rate control that start at once, over 1 Gbit/s and 40 us.
fn scenario(control: &str, count: u32, size_bytes: Option<u64>) -> Scenario {
    let sender = RateSender::parse_among(control, RATE_CONTROLS).unwrap();
    let group = FlowGroup {
        name: "all".to_owned(),
        count,
        start_ns: (0, 0),
        spacing_ns: 0,
        socket: None,
        rtt_ns: None,
        from: Vec::new(),
        to: Vec::new(),
        transport: Transport::Rate(sender.spec()),
        source: Source::Bulk { size_bytes, stop_ns: None },
        class: 0,
        dscp: 0,
    };
    let rate = Capacity::RateBps(1_000_000_000);
    Scenario {
        duration_ns: 200 * MS,
        warmup_ns: 0,
        sample_ns: MS,
        flow_series: true,
        flows: vec![group],
        ..Scenario::new("ecn_ramp", &rate, Span::from_micros(40))
    }
}

fn run(scenario: &Scenario) -> Report {
    let mut inputs = Inputs::default();
    inputs.add_extension(&EXTENSION);
    aqm_sim::run(scenario, &inputs, 1, &Monitor::default()).expect("the scenario runs")
}

#[test]
fn a_host_that_does_not_register_them_does_not_know_them() {
    let run = aqm_sim::run(&scenario("pmqecn", 1, None), &Inputs::default(), 1, &Monitor::default());
    let Err(RunError::Input(problem)) = run else { panic!("it runs") };
    let problem = problem.to_string();
    assert_eq!(problem, "flows: 'all': unknown rate control 'pmqecn'; known are dcqcn, qcn");
}

#[test]
fn names_differ_from_each_other_and_from_those_of_the_simulator() {
    let all: Vec<&Info> = OF_THE_SIMULATOR.iter().chain(RATE_CONTROLS).copied().collect();
    for (number, info) in all.iter().enumerate() {
        assert!(all[..number].iter().all(|other| other.name != info.name), "{}", info.name);
    }
}

#[test]
fn finite_flows_of_every_sender_complete_over_a_link_that_loses_packets() {
    for info in RATE_CONTROLS {
        let mut scenario = scenario(&format!("{} first 100mbit", info.name), 3, Some(300_000));
        scenario.loss = Loss::Random(0.02);
        let report = run(&scenario);
        assert_eq!(report.metrics["completed_flows"], 3.0, "{}", info.name);
        let lossy = |flow: &aqm_sim::report::FlowRow| flow.retransmissions > 0 && flow.slowdown > 1.0;
        assert!(report.flows.iter().all(lossy), "{}", info.name);
    }
}

#[test]
fn pmqecn_senders_without_feedback_rise_by_the_papers_steps() {
    // 1, 3, 6.5 Mbit/s after each cycle; then the target, 15, is cut to the line's 10.
    let mut scenario = scenario("pmqecn line 10mbit packet 86b", 1, None);
    (scenario.aqm, scenario.duration_ns, scenario.sample_ns) =
        ("fifo limit 1000p".to_owned(), 5 * SECOND, SECOND / 2);
    let report = run(&scenario);
    let rate = |at: f64| {
        let index = report.series.time_s.iter().position(|time| *time == at).unwrap();
        report.series.columns["flow.0.rate_mbit"][index]
    };
    assert_eq!([0.5, 1.5, 2.5, 3.5].map(rate), [1.0, 3.0, 6.5, 8.25]);
}

#[test]
fn dcqcn_as_run_halves_its_rate_by_marks() {
    let report = run(&scenario("dcqcn_as_run first 400mbit", 4, None));
    assert!(report.metrics["feedback_delivered"] > 4.0);
    assert_eq!(report.metrics["feedback_ignored"], 0.0);
    let rates = (0..4).map(|flow| &report.series.columns[&format!("flow.{flow}.rate_mbit")]);
    rates.for_each(|rates| assert!(rates.iter().any(|rate| *rate <= 200.0), "{rates:?}"));
}
