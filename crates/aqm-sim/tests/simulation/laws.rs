//! TCP against the laws of the literature.
//!
//! Senders count bytes (RFC 3465), so delayed acknowledgments do not slow the additive increase: the factor b of the
//! formulas is 1.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, run, tcp};
use aqm_sim::scenario::{Capacity, CongestionControl, Scenario, Source};

const MSS: f64 = 1448.0;
const RTT: f64 = 0.08;
const FLOWS: f64 = 10.0;

/// Ten NewReno flows that never meet a queue, and lose packets at random.
fn lossy(loss: f64, sack: bool) -> Scenario {
    let mut scenario = bottleneck("fifo limit 100000p");
    scenario.capacity = Capacity::RateBps(10_000_000_000);
    scenario.rtt_ns = 80 * MS;
    scenario.loss = loss;
    scenario.duration_ns = 320 * SECOND;
    scenario.warmup_ns = 20 * SECOND;
    let mut newreno = tcp(CongestionControl::Newreno);
    newreno.sack = sack;
    scenario.flows.push(bulk("newreno", 10, newreno));
    scenario
}

/// Mean goodput of one flow in segments per round trip.
fn segments_per_rtt(scenario: &Scenario) -> f64 {
    run(scenario, 1).metrics["goodput_mbit"] * 1e6 / 8.0 / MSS * RTT / FLOWS
}

#[test]
fn a_fixed_window_gives_window_over_round_trip_time() {
    for (window_segments, delack_segments) in [(10, 2), (40, 1), (100, 2)] {
        let mut scenario = bottleneck("fifo limit 1000p");
        let mut fixed = tcp(CongestionControl::Fixed);
        fixed.window_bytes = Some(window_segments * 1448);
        fixed.delack_segments = delack_segments;
        scenario.flows.push(bulk("fixed", 1, fixed));
        scenario.capacity = Capacity::RateBps(1_000_000_000);
        let report = run(&scenario, 1);
        let rtt = report.metrics["rtt_mean_ms"] / 1e3;
        // Serialisation on six links adds a few microseconds to the 40 ms.
        assert!((rtt / 0.04 - 1.0).abs() < 0.01, "{rtt}");
        let expected = (window_segments * 1448 * 8) as f64 / 0.04 / 1e6;
        let goodput = report.metrics["goodput_mbit"];
        assert!(
            (goodput / expected - 1.0).abs() < 0.01,
            "{window_segments}: {goodput} instead of {expected}"
        );
    }
}

#[test]
fn newreno_follows_the_square_root_law() {
    // Ott, Kemperman, Mathis 1996: W = 1.31 / sqrt(p) for independent losses (1.22 for periodic ones).
    for loss in [0.001, 0.003, 0.01] {
        let measured = segments_per_rtt(&lossy(loss, true));
        let constant = measured * loss.sqrt();
        println!("p = {loss}: W sqrt(p) = {constant:.3}");
        assert!((constant / 1.31 - 1.0).abs() < 0.10, "p = {loss}: {constant}");
    }
}

#[test]
fn newreno_follows_pftk_with_timeouts() {
    // Padhye, Firoiu, Towsley, Kurose 1998, equation 30 with b = 1. Its p counts loss indications (windows with loss),
    // as the authors did in their measurements; T0 is the smallest timeout, 200 ms here.
    let (b, t0) = (1.0_f64, 0.2_f64);
    for loss in [0.001_f64, 0.005, 0.01, 0.02, 0.03] {
        let report = run(&lossy(loss, true), 1);
        let indications: u64 = report.flows.iter().map(|flow| flow.recoveries + flow.timeouts).sum();
        let p = indications as f64 / report.metrics["packets_arrived"];
        let measured = report.metrics["goodput_mbit"] * 1e6 / 8.0 / MSS * RTT / FLOWS;
        let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * t0 * p * (1.0 + 32.0 * p * p);
        let expected = RTT / (RTT * (2.0 * b * p / 3.0).sqrt() + timeouts);
        println!(
            "loss {loss}, p = {p:.5}: {measured:.2} segments per RTT, PFTK {expected:.2}, ratio {:.3}",
            measured / expected
        );
        assert!((measured / expected - 1.0).abs() < 0.15, "p = {p}: {measured} instead of {expected}");
    }
}

#[test]
fn a_finite_flow_delivers_exactly_its_size_and_completes() {
    for sack in [true, false] {
        let mut scenario = bottleneck("fifo limit 20p");
        scenario.capacity = Capacity::RateBps(5_000_000);
        scenario.loss = 0.02;
        scenario.warmup_ns = 0;
        let mut newreno = tcp(CongestionControl::Newreno);
        newreno.sack = sack;
        let mut flow = bulk("file", 3, newreno);
        flow.source = Source::Bulk { size_bytes: Some(500_001) };
        scenario.flows.push(flow);
        let report = run(&scenario, 3);
        assert_eq!(report.metrics["completed_flows"], 3.0);
        let delivered = report.metrics["goodput_mbit"] * 1e6 / 8.0 * 30.0;
        assert!((delivered - 1_500_003.0).abs() < 1.0, "{delivered}");
    }
}
