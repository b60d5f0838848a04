//! Same scenario and seed: same bytes. Another AQM: same traffic.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, run, tcp};
use aqm_core::spec::Spec;
use aqm_core::units::Span;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Distribution, FlowGroup, Scenario, Source};
use aqm_sim::stepped::Stepped;

fn mixed(aqm: &str) -> Scenario {
    let mut scenario = bottleneck(aqm);
    scenario.duration_ns = 8 * SECOND;
    scenario.warmup_ns = 2 * SECOND;
    scenario.flows =
        vec![bulk("cubic", 3, tcp("cubic")), bulk("newreno", 2, tcp("newreno")), onoff("bursts")];
    scenario
}

/// Datagrams in random bursts of 60 Mbit/s.
fn onoff(name: &str) -> FlowGroup {
    let mut flow = cbr(name, 60_000_000, 1000);
    flow.start_ns = (0, SECOND);
    flow.count = 4;
    flow.source = Source::OnOff {
        rate_bps: 60_000_000,
        on: Distribution::Exponential { mean: 50 * MS },
        off: Distribution::Pareto { scale: 30 * MS, shape: 1.5 },
    };
    flow
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_seed_another() {
    let scenario = mixed("codel");
    let text = |seed| format!("{:?}", run(&scenario, seed));
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn a_run_in_steps_of_any_length_gives_the_report_of_the_whole_run() {
    let scenario = mixed("pie");
    let spec = Spec::parse(&scenario.aqm).unwrap();
    let mut stepped = Stepped::new(&spec, &scenario, &Inputs::default(), 3).unwrap();
    let (mut seen, mut columns) = (0, Vec::new());
    for micros in [1, 700_003, 0, 49_999, 2_500_000, 20_000_000] {
        stepped.advance(Span::from_micros(micros)).unwrap();
        let new = stepped.series_after(seen);
        seen += new.time_s.len();
        columns.extend(new.columns.get("queue_packets").cloned().unwrap_or_default());
    }
    assert!(stepped.is_over());
    let stepped = stepped.report().unwrap();
    assert_eq!(columns, stepped.series.columns["queue_packets"]);
    // Not compared as they are: not a number is not equal to itself.
    assert_eq!(format!("{stepped:?}"), format!("{:?}", run(&scenario, 3)));
}

#[test]
fn a_run_in_steps_shorter_than_its_links_gives_the_report_of_the_whole_run() {
    let mut scenario = bottleneck("fifo limit 30p");
    (scenario.duration_ns, scenario.warmup_ns) = (SECOND, 200 * MS);
    scenario.flows = vec![bulk("cubic", 20, tcp("cubic delack 0s"))];
    let spec = Spec::parse(&scenario.aqm).unwrap();
    let mut stepped = Stepped::new(&spec, &scenario, &Inputs::default(), 3).unwrap();
    while !stepped.is_over() {
        stepped.advance(Span::from_micros(50)).unwrap();
    }
    assert_eq!(format!("{:?}", stepped.report().unwrap()), format!("{:?}", run(&scenario, 3)));
}

#[test]
fn changing_the_aqm_leaves_the_arrivals_of_open_loop_sources_unchanged() {
    let arrivals = |aqm: &str| {
        let mut scenario = mixed(aqm);
        scenario.flows = vec![onoff("bursts"), cbr("steady", 20_000_000, 500)];
        let report = run(&scenario, 5);
        assert!(report.metrics["loss_ratio"] > 0.0, "{aqm} is not congested");
        report.flows.iter().map(|flow| (flow.start_s, flow.packets_arrived)).collect::<Vec<_>>()
    };
    let fifo = arrivals("fifo limit 100p");
    assert_eq!(fifo, arrivals("codel limit 100p"));
    assert_eq!(fifo, arrivals("red limit 100p"));
}

#[test]
fn adding_a_group_of_flows_leaves_the_others_traffic_unchanged() {
    let mut scenario = mixed("fifo limit 100p");
    scenario.flows = vec![onoff("bursts")];
    let alone: Vec<_> = run(&scenario, 5).flows.iter().map(|flow| flow.packets_arrived).collect();
    scenario.flows.push(cbr("more", 5_000_000, 1000));
    let beside: Vec<_> = run(&scenario, 5).flows.iter().map(|flow| flow.packets_arrived).collect();
    assert_eq!(alone[..], beside[..4]);
}
