//! BBR against published results.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, run, tcp};
use aqm_sim::report::Report;
use aqm_sim::scenario::{Capacity, Scenario};

/// 10 Mbit/s and 40 ms: a bandwidth-delay product of 33 packets. The buffer holds `bdps` of them.
fn path(bdps: f64) -> Scenario {
    let mut scenario = bottleneck(&format!("fifo limit {}p", (33.0 * bdps) as u32));
    scenario.capacity = Capacity::RateBps(10_000_000);
    scenario.rtt_ns = 40 * MS;
    scenario.duration_ns = 60 * SECOND;
    scenario.warmup_ns = 10 * SECOND;
    scenario
}

fn alone(control: &str, flows: u32, bdps: f64) -> Report {
    let mut scenario = path(bdps);
    scenario.flows.push(bulk("bbr", flows, tcp(control)));
    run(&scenario, 1)
}

/// The share of a flow of `control` in the goodput of itself and one CUBIC flow, with a buffer of `bdps`.
fn share_beside_cubic(control: &str, bdps: f64, seed: u64) -> f64 {
    let mut scenario = path(bdps);
    scenario.duration_ns = 120 * SECOND;
    scenario.flows.push(bulk("bbr", 1, tcp(control)));
    scenario.flows.push(bulk("cubic", 1, tcp("cubic")));
    let metrics = run(&scenario, seed).metrics;
    metrics["class.bbr.goodput_mbit"] / metrics["goodput_mbit"]
}

#[test]
fn bbr1_alone_fills_the_link_with_a_queue_far_below_a_deep_buffer() {
    let metrics = alone("bbr1", 1, 10.0).metrics;
    assert!(metrics["utilization"] > 0.97, "{}", metrics["utilization"]);
    // Three quanta of two segments are 7 ms, as long as ProbeBW cruises.
    assert!((metrics["qdelay_mean_ms"] - 7.0).abs() < 1.0, "{}", metrics["qdelay_mean_ms"]);
    assert_eq!(metrics["loss_ratio"], 0.0);
}

#[test]
fn two_flows_of_bbr1_share_and_hold_a_queue_of_one_bandwidth_delay_product() {
    let metrics = alone("bbr1", 2, 10.0).metrics;
    assert!(metrics["jain_index"] > 0.95, "{}", metrics["jain_index"]);
    // Each estimates more than half of the bandwidth: together they have twice the product in flight, and the quanta.
    assert!((40.0..60.0).contains(&metrics["qdelay_mean_ms"]), "{}", metrics["qdelay_mean_ms"]);
}

#[test]
fn bbr1_starves_cubic_in_shallow_buffers_and_not_in_deep_ones() {
    // Hock, Bless, Zitterbart 2017; Ware, Mukerjee, Seshan, Sherry 2019: in a deep buffer BBR gets what its inflight
    // cap allows; in a shallow one CUBIC backs off and BBR does not.
    for seed in 1..=3 {
        let share = |bdps| share_beside_cubic("bbr1", bdps, seed);
        for bdps in [0.5, 1.0] {
            assert!(share(bdps) > 0.85, "{bdps}: {}", share(bdps));
        }
        for bdps in [8.0, 16.0] {
            assert!(share(bdps) < 0.45, "{bdps}: {}", share(bdps));
        }
    }
}

#[test]
fn bbr3_alone_fills_the_link_in_deep_and_shallow_buffers_with_a_short_queue() {
    let metrics = alone("bbr3", 1, 10.0).metrics;
    assert!(metrics["utilization"] > 0.96, "{}", metrics["utilization"]);
    assert!(metrics["qdelay_mean_ms"] < 8.0, "{}", metrics["qdelay_mean_ms"]);
    assert_eq!(metrics["loss_ratio"], 0.0);
    let metrics = alone("bbr3", 1, 0.2).metrics;
    assert!(metrics["utilization"] > 0.95 && metrics["loss_ratio"] < 0.01, "{metrics:?}");
}

#[test]
fn two_flows_of_bbr3_share_with_a_quarter_of_the_loss_of_bbr1_in_a_shallow_buffer() {
    let metrics = |control, bdps| alone(control, 2, bdps).metrics;
    for bdps in [0.5, 10.0] {
        let jain = metrics("bbr3", bdps)["jain_index"];
        assert!(jain > 0.95, "{bdps}: {jain}");
    }
    let loss = |control| metrics(control, 0.5)["loss_ratio"];
    let (first, third) = (loss("bbr1"), loss("bbr3"));
    assert!(third < first / 4.0, "{third} {first}");
}

#[test]
fn bbr3_leaves_cubic_a_share_in_buffers_of_any_depth() {
    for bdps in [0.5, 1.0, 2.0, 4.0, 8.0] {
        let share = share_beside_cubic("bbr3", bdps, 1);
        assert!((0.3..0.7).contains(&share), "{bdps}: {share}");
    }
}
