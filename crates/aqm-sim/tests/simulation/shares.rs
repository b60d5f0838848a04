//! Shares are of one population: what happens while measuring to packets that arrived before counts in none.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, run, tcp};
use aqm_core::units::Span;
use aqm_sim::report::Report;
use aqm_sim::scenario::wire::Loss;
use aqm_sim::scenario::{Capacity, EcnMode, Scenario, Source, Transport};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{from_value, json};

/// A second at four times the link's rate, then silence: AQMs signal while the queue drains, which is what is measured.
/// Beside it a trickle.
fn draining(aqm: &str, ecn: EcnMode) -> Report {
    let lasting = |seconds: u64| from_value(json!({"constant": {"value": seconds * SECOND}})).unwrap();
    let mut burst = cbr("burst", 0, 1000);
    burst.source = Source::OnOff { rate_bps: 40_000_000, on: lasting(1), off: lasting(99) };
    let mut flows = vec![burst, cbr("trickle", 100_000, 500)];
    flows.iter_mut().for_each(|group| group.transport = Transport::Udp { packet_bytes: 1000, ecn });
    run(
        &Scenario {
            capacity: Capacity::RateBps(10_000_000),
            warmup_ns: 1_000 * MS,
            duration_ns: 4 * SECOND,
            flows,
            ..bottleneck(&format!("{aqm} limit 10000p"))
        },
        1,
    )
}

#[test]
fn drops_of_packets_that_arrived_before_measuring_are_no_loss_of_those_that_arrived_since() {
    for aqm in ["codel", "fq_codel", "cobalt", "pie", "fq_pie"] {
        let report = draining(aqm, EcnMode::Off);
        let metric = |name: &str| report.metrics[name];
        let dropped = metric("drops_early") + metric("drops_overflow");
        let share = dropped / metric("packets_arrived");
        assert_eq!(metric("loss_ratio"), share, "{aqm}");
        assert!(share <= 1.0, "{aqm}: {dropped} packets of {}", metric("packets_arrived"));
        let rows: u64 = report.flows.iter().map(|flow| flow.packets_dropped).sum();
        assert_eq!(dropped, rows as f64, "{aqm}");
        // The series counts what happens, whenever it came.
        let (after, drops) = (&report.series.time_s, &report.series.columns["drops"]);
        let seen: f64 =
            after.iter().zip(drops).filter(|(time, _)| **time > 1.0).map(|(_, drops)| drops).sum();
        assert!(dropped <= seen, "{aqm}: {dropped} of {seen}");
    }
}

#[test]
fn marks_are_of_packets_that_arrived_while_measuring() {
    for aqm in ["codel ecn", "fq_codel ecn", "cobalt ecn"] {
        let report = draining(aqm, EcnMode::Classic);
        let (marks, arrived) = (report.metrics["marks"], report.metrics["packets_arrived"]);
        let marked = report.queues[0].marked as f64;
        assert!(marks <= arrived && arrived < marked, "{aqm}: {marks} of {arrived}, {marked} in all");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    /// Slow starts that overrun any buffer leave gaps when measuring begins, and what lies beyond them came before.
    #[test]
    fn goodput_is_never_above_the_capacity(
        control in select(&["newreno", "newreno sack off", "cubic", "cubic recovery.rack on", "bbr1", "bbr3", "ledbat", "prague"][..]),
        aqm in select(&["fifo", "pie", "codel", "fq_codel", "sfq"][..]),
        mbit in select(&[2, 10, 50][..]),
        rtt_ms in select(&[2, 40, 200][..]),
        limit in select(&[10, 100, 1000][..]),
        loss in select(&[0.0, 0.01][..]),
        count in 1..5_u32,
        warmup_ms in 100..2000_u64,
        measured_ms in 20..1000_u64,
        seed in 1..1000_u64,
    ) {
        let rate_bps = mbit * 1_000_000;
        let scenario = Scenario {
            warmup_ns: warmup_ms * MS,
            duration_ns: (warmup_ms + measured_ms) * MS,
            loss: Loss::Random(loss),
            flows: vec![bulk("tcp", count, tcp(control))],
            ..Scenario::new(&format!("{aqm} limit {limit}p"), &Capacity::RateBps(rate_bps), Span::from_millis(rtt_ms))
        };
        let report = run(&scenario, seed);
        // A packet may have been sent in part before.
        let most = rate_bps as f64 / 1e6 + 1500.0 * 8.0 / 1e3 / measured_ms as f64;
        prop_assert!(report.metrics["goodput_mbit"] <= most, "{} of {most}", report.metrics["goodput_mbit"]);
    }
}
