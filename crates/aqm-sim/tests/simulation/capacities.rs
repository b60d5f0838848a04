//! A link is used wholly or in part, never by more than all of it: also where a packet takes longer than the run, where the
//! device holds many, and where a link trace has few opportunities.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, run, run_with, tcp};
use aqm_io::link_trace::LinkTrace;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario};

/// A bottleneck of `rate_bps` that is measured from `warmup_ns` to `duration_ns`.
fn link(aqm: &str, rate_bps: u64, warmup_ns: u64, duration_ns: u64, flows: Vec<FlowGroup>) -> Scenario {
    Scenario {
        capacity: Capacity::RateBps(rate_bps),
        overhead_bytes: 0,
        warmup_ns,
        duration_ns,
        sample_ns: duration_ns / 10,
        flows,
        ..bottleneck(aqm)
    }
}

fn used(scenario: &Scenario) -> f64 {
    run(scenario, 1).metrics["utilization"]
}

#[test]
fn of_a_packet_on_the_wire_the_part_within_the_window_counts() {
    // A byte takes a microsecond, a packet 1000, and twice as many come as fit: the link never rests. Whatever lies at the
    // edges of the window, all of it is used.
    let flows = vec![cbr("cbr", 16_000_000, 1000)];
    for (from, to) in [(100_000, 100_001), (100_500, 101_250), (100_000, 103_999), (100_250, 100_750)] {
        let mut scenario = link("fifo limit 100p", 8_000_000, from * 1000, to * 1000, flows.clone());
        for ring in [1, 2, 50] {
            scenario.device_ring_packets = ring;
            let share = used(&scenario);
            assert!((share - 1.0).abs() < 1e-9, "{from} to {to} us, ring {ring}: {share}");
        }
    }
    // One packet alone is sent after 100 us on an access link of ten times the rate and what propagation the dumbbell puts
    // before the bottleneck. The parts of its millisecond before and after any time are a millisecond together.
    let flows = vec![cbr("cbr", 8_000, 1000)];
    let part = |from: u64, to: u64| {
        used(&link("fifo limit 100p", 8_000_000, from * 1000, to * 1000, flows.clone())) * (to - from) as f64
    };
    assert!((part(0, 100_000) - 1000.0).abs() < 1e-6);
    let mut split = 0;
    for at in (50..40_000).step_by(400) {
        let (before, after) = (part(0, at), part(at, 100_000));
        assert!((before + after - 1000.0).abs() < 1e-6, "at {at} us: {before} and {after}");
        split += u32::from(before > 0.5 && after > 0.5);
    }
    assert!((2..=3).contains(&split), "a millisecond has two or three of these times: {split}");
}

#[test]
fn slow_links_and_deep_rings_are_used_by_no_more_than_all_of_them() {
    let flows = vec![bulk("cubic", 1, tcp("cubic"))];
    for aqm in ["fifo limit 20p", "codel", "pie"] {
        for (rate, duration) in [(100_000, 5), (10_000, 30), (1_000, 30)] {
            for ring in [1, 1000] {
                let mut scenario = link(aqm, rate, 0, duration * SECOND, flows.clone());
                scenario.device_ring_packets = ring;
                let share = used(&scenario);
                assert!((0.0..=1.0 + 1e-9).contains(&share), "{aqm} at {rate} bit/s, ring {ring}: {share}");
            }
        }
    }
}

#[test]
fn the_opportunities_of_a_short_link_trace_are_used_at_most_once() {
    for text in ["1\n", "500\n2000\n", "10\n10\n10\n10\n300\n1000\n"] {
        let mut inputs = Inputs::default();
        inputs.add_link_trace("trace", LinkTrace::parse("trace", text.as_bytes()).unwrap());
        for (warmup, duration) in [(0, 3 * SECOND), (499 * MS, 501 * MS), (500 * MS, 2000 * MS)] {
            for ring in [1, 16] {
                let mut scenario =
                    link("fifo limit 100p", 1, warmup, duration, vec![cbr("cbr", 16_000_000, 1500)]);
                scenario.capacity = Capacity::Trace("trace".to_owned());
                scenario.device_ring_packets = ring;
                let report = run_with(&scenario, &inputs, 1);
                let share = report.metrics.get("utilization").copied().unwrap_or(0.0);
                assert!(
                    (0.0..=1.0).contains(&share),
                    "{text:?}, {warmup} to {duration} ns, ring {ring}: {share}"
                );
            }
        }
    }
}
