//! Sources: what they offer, and what their users see.

use crate::scenarios::{MS, bottleneck, cbr, run};
use aqm_sim::scenario::{Distribution, Source};

#[test]
fn a_message_takes_as_many_datagrams_as_it_needs() {
    let mut scenario = bottleneck("fifo");
    let mut frames = cbr("frames", 1, 1000);
    let gap = Distribution::Constant { value: 10 * MS };
    frames.source = Source::Arrivals { gap, size: Some(Distribution::Constant { value: 3000 }) };
    scenario.flows.push(frames);
    let report = run(&scenario, 1);
    // 100 messages a second for 25 s: three datagrams of 972 bytes of payload and one of 84.
    assert!((report.metrics["packets_arrived"] - 4.0 * 2500.0).abs() <= 4.0);
    assert!((report.metrics["goodput_mbit"] - 2.4).abs() < 0.001);
}

#[test]
fn a_stepping_rate_and_poisson_arrivals_offer_their_mean_rate() {
    let mut scenario = bottleneck("fifo");
    let mut steps = cbr("steps", 1, 1000);
    let rate = Distribution::Uniform { low: 0, high: 10_000_000 };
    steps.source = Source::Steps { rate, every: Distribution::Exponential { mean: 50 * MS } };
    let mut poisson = cbr("poisson", 1, 1000);
    let gap = Distribution::Exponential { mean: 2 * MS };
    poisson.source = Source::Arrivals { gap, size: None };
    scenario.flows.extend([steps, poisson]);
    let report = run(&scenario, 1);
    // IP bytes and 14 of overhead for each 1000.
    let offered = |name: &str| report.metrics[&format!("class.{name}.throughput_mbit")] / 1.014;
    assert!((offered("steps") / 5.0 - 1.0).abs() < 0.1, "{}", offered("steps"));
    assert!((offered("poisson") / 4.0 - 1.0).abs() < 0.05, "{}", offered("poisson"));
}
