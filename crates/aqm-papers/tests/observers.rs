//! The observers in whole simulations, registered as a host does.

use aqm_core::units::Span;
use aqm_papers::{EXTENSION, OBSERVERS};
use aqm_sim::metrics::registry::METRICS;
use aqm_sim::report::{Monitor, Report, RunError};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, EcnMode, FlowGroup, Scenario, Source, Transport};

const MS: u64 = 1_000_000;

/// 10 Mbit/s of datagrams of 1000 bytes into 2 Mbit/s and room for 20 of them.
fn scenario(observe: &[&str]) -> Scenario {
    let group = FlowGroup {
        name: "all".to_owned(),
        count: 1,
        start_ns: (0, 0),
        spacing_ns: 0,
        socket: None,
        rtt_ns: None,
        from: Vec::new(),
        to: Vec::new(),
        transport: Transport::Udp { packet_bytes: 1000, ecn: EcnMode::Off },
        source: Source::Cbr { rate_bps: 10_000_000 },
        class: 0,
        dscp: 0,
    };
    Scenario {
        overhead_bytes: 0,
        duration_ns: 10_000 * MS,
        warmup_ns: 1_000 * MS,
        sample_ns: 100 * MS,
        observe: observe.iter().map(|name| (*name).to_owned()).collect(),
        measure: vec!["bottleneck".to_owned(), "back".to_owned()],
        flows: vec![group],
        ..Scenario::new("fifo limit 20p", &Capacity::RateBps(2_000_000), Span::from_millis(10))
    }
}

fn run(scenario: &Scenario) -> Result<Report, RunError> {
    let mut inputs = Inputs::default();
    inputs.add_extension(&EXTENSION);
    aqm_sim::run(scenario, &inputs, 1, &Monitor::default())
}

#[test]
fn flow_monitor_counts_each_drop_twice_and_all_queues_together() {
    let report = run(&scenario(&["flow_monitor"])).unwrap();
    let (lost, counted) = (report.metrics["path_loss_ratio"], report.metrics["flowmon_loss_ratio"]);
    // Means over the flow's life so far: the first 20 packets were not lost.
    assert!((lost - 0.8).abs() < 0.01 && (1.95..2.0).contains(&(counted / lost)), "{lost} {counted}");
    let (all, one) = (report.metrics["all_queues_mean_packets"], report.metrics["queue_mean_packets"]);
    assert!((all / one - 1.0).abs() < 0.02, "{all} {one}");
    assert!(!report.metrics.contains_key("queue_ewma_packets"));
}

#[test]
fn the_weighted_queue_is_a_metric_and_a_column_of_every_measured_port() {
    let report = run(&scenario(&["queue_ewma", "flow_monitor"])).unwrap();
    // The queue is full, or has one packet less when the next comes.
    let average = report.metrics["queue_ewma_packets"];
    assert!((19.0..=20.0).contains(&average), "{average}");
    assert_eq!(report.metrics["port.bottleneck.queue_ewma_packets"], average);
    assert!(!report.metrics.contains_key("port.back.queue_ewma_packets"), "nothing arrived there");
    let column = &report.series.columns["queue_ewma_packets"];
    assert_eq!(column.len(), report.series.time_s.len());
    assert!(column[0] > 0.0 && column[0] < 19.0 && *column.last().unwrap() > 19.0, "{column:?}");
    assert_eq!(&report.series.columns["port.bottleneck.queue_ewma_packets"], column);
    assert!(report.metrics.contains_key("flowmon_delay_ms"));
}

#[test]
fn what_is_observed_changes_nothing_else() {
    let [plain, observed] =
        [&[][..], &["queue_ewma", "flow_monitor"]].map(|names| run(&scenario(names)).unwrap());
    assert_eq!(format!("{:?}", plain.flows), format!("{:?}", observed.flows));
    for (name, value) in plain.metrics.iter() {
        assert_eq!(observed.metrics[name], *value, "{name}");
    }
}

#[test]
fn what_the_authors_program_destroys_is_logged_and_counted_as_an_early_drop() {
    let mut scenario = scenario(&["flow_monitor"]);
    scenario.log = true;
    let aqm = aqm_papers::spec("daqm_artifact limit 100p").unwrap().unwrap();
    let mut inputs = Inputs::default();
    inputs.add_extension(&EXTENSION);
    let report = aqm_sim::run_under(&aqm, &scenario, &inputs, 1, &Monitor::default()).unwrap();
    let text = b"\"reason\":\"other\"";
    let logged: usize = report
        .logs
        .iter()
        .map(|log| log.events.windows(text.len()).filter(|window| window == text).count())
        .sum();
    assert!(logged > 0 && logged.is_multiple_of(5), "{logged}");
    let queue = report.queues.iter().find(|queue| queue.dropped_early > 0).unwrap();
    assert!(
        queue.discipline.starts_with("daqm_artifact") && queue.dropped_early >= logged as u64,
        "{queue:?}"
    );
    // What vanishes counts once, ten seconds after it was sent, which is after the end here.
    assert!(report.metrics["flowmon_loss_ratio"] < 2.0 * report.metrics["path_loss_ratio"]);
}

#[test]
fn an_unknown_observer_is_refused_with_the_nearest_and_those_that_there_are() {
    let Err(RunError::Input(problem)) = run(&scenario(&["flow_minotor"])) else { panic!("it runs") };
    let problem = problem.to_string();
    assert_eq!(
        problem,
        "observe: unknown observer 'flow_minotor', did you mean 'flow_monitor'?; known are queue_ewma, flow_monitor"
    );
    let alone = aqm_sim::run(&scenario(&["queue_ewma"]), &Inputs::default(), 1, &Monitor::default());
    let Err(RunError::Input(problem)) = alone else { panic!("it runs") };
    let problem = problem.to_string();
    assert_eq!(problem, "observe: unknown observer 'queue_ewma'; known are none");
}

#[test]
fn names_of_metrics_differ_from_each_other_and_from_those_of_the_simulator() {
    let own = OBSERVERS.iter().flat_map(|info| info.metrics).copied();
    let names: Vec<&str> = METRICS.iter().copied().chain(own).map(|metric| metric.name()).collect();
    for (number, name) in names.iter().enumerate() {
        assert!(!names[..number].contains(name), "{name}");
    }
}
