//! Time series agree with the metrics of the whole run.

use super::scenarios::{SECOND, bottleneck, bulk, run, tcp};
use aqm_sim::report::Report;
use aqm_sim::scenario::Scenario;

/// Ten flows for six seconds that end with a sample, measured from the start.
fn ended_by_a_sample(change: impl FnOnce(&mut Scenario)) -> Report {
    let mut scenario = bottleneck("red limit 30p min 5p max 15p");
    scenario.flows = vec![bulk("reno", 10, tcp("newreno"))];
    (scenario.duration_ns, scenario.warmup_ns) = (6 * SECOND + 1, 0);
    change(&mut scenario);
    run(&scenario, 1)
}

#[test]
fn sums_and_last_values_are_those_of_the_run() {
    let report = ended_by_a_sample(|_| ());
    let (series, metrics) = (&report.series.columns, &report.metrics);
    let sum = |name: &str| series[name].iter().sum::<f64>();
    assert!(metrics["drops_early"] > 0.0 && metrics["drops_overflow"] > 0.0);
    assert_eq!(sum("drops_early"), metrics["drops_early"]);
    assert_eq!(sum("drops") - sum("drops_early"), metrics["drops_overflow"]);
    assert!((series["jain_index"].last().unwrap() - metrics["jain_index"]).abs() < 1e-3);
}

#[test]
fn rtt_samples_are_averaged_over_their_period_only() {
    let report = ended_by_a_sample(|_| ());
    let rtts: Vec<f64> =
        report.series.columns["rtt_ms"].iter().copied().filter(|rtt| rtt.is_finite()).collect();
    let (low, high) =
        rtts.iter().fold((f64::MAX, 0.0f64), |(low, high), rtt| (low.min(*rtt), high.max(*rtt)));
    // 40 ms of propagation, at most 4 ms of queue, at most 40 ms of delayed acknowledgment.
    assert!(low >= 40.0 && high <= 92.0, "{low} to {high}");
    let mean = report.metrics["rtt_mean_ms"];
    assert!(low < mean && mean < high, "{low} < {mean} < {high}");
}

#[test]
fn flows_have_series_only_if_wanted() {
    let has = |report: &Report| report.series.columns.contains_key("flow.4.delivered_bytes");
    assert!(has(&ended_by_a_sample(|_| ())));
    assert!(!has(&ended_by_a_sample(|scenario| scenario.flow_series = false)));
}
