//! Paths of all kinds: rings, traces, loss, jitter, small queues, IPv6, ECN.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, run, run_with, tcp};
use aqm_io::link_trace::LinkTrace;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, EcnMode, Transport};

#[test]
fn an_uncongested_datagram_flow_arrives_completely_after_propagation_and_serialisation() {
    let mut scenario = bottleneck("fifo");
    scenario.flows.push(cbr("steady", 10_000_000, 1000));
    let report = run(&scenario, 1);
    // 1014 bytes at 100 Mbit/s once and at 1 Gbit/s twice, beside 20 ms of propagation.
    let expected = 20.0 + 1014.0 * 8.0 / 1e5 + 2.0 * 1014.0 * 8.0 / 1e6;
    assert!((report.metrics["owd_mean_ms"] - expected).abs() < 0.001, "{}", report.metrics["owd_mean_ms"]);
    assert_eq!(report.metrics["loss_ratio"], 0.0);
    assert_eq!(report.metrics["jitter_pdv_p99_ms"], report.metrics["qdelay_p99_ms"]);
    // 1250 packets of 972 bytes of payload a second.
    assert!((report.metrics["goodput_mbit"] - 1250.0 * 972.0 * 8.0 / 1e6).abs() < 0.01);
}

#[test]
fn an_overloaded_queue_fills_to_its_limit_and_loses_the_excess() {
    let mut scenario = bottleneck("fifo limit 50p");
    scenario.capacity = Capacity::RateBps(10_000_000);
    scenario.overhead_bytes = 0;
    scenario.flows.push(cbr("flood", 20_000_000, 1000));
    let report = run(&scenario, 1);
    assert!((report.metrics["loss_ratio"] - 0.5).abs() < 0.001);
    assert_eq!(report.metrics["queue_max_packets"], 50.0);
    assert!((report.metrics["utilization"] - 1.0).abs() < 0.001);
    // 50 packets of 0.8 ms, less the half of one that is being sent on average.
    assert!((report.metrics["qdelay_mean_ms"] - 39.6).abs() < 0.5, "{}", report.metrics["qdelay_mean_ms"]);
}

#[test]
fn a_deeper_device_ring_hides_packets_from_the_discipline() {
    let mean = |ring| {
        let mut scenario = bottleneck("fifo limit 50p");
        scenario.capacity = Capacity::RateBps(10_000_000);
        scenario.device_ring_packets = ring;
        scenario.flows.push(cbr("flood", 20_000_000, 1000));
        let metrics = run(&scenario, 1).metrics;
        (metrics["qdelay_mean_ms"], metrics["owd_mean_ms"])
    };
    let ((shallow, short), (deep, long)) = (mean(1), mean(31));
    assert!((shallow - deep).abs() < 1.0, "the discipline's own queue is full either way");
    // Thirty packets of 1014 bytes at 10 Mbit/s wait in the ring.
    assert!((long - short - 30.0 * 0.8112).abs() < 1.0, "{short} {long}");
}

#[test]
fn a_trace_of_regular_opportunities_equals_a_link_of_that_rate() {
    // One opportunity of 1500 bytes a millisecond: 12 Mbit/s.
    let text: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
    let mut inputs = Inputs::default();
    inputs.add_link_trace("regular.down", LinkTrace::parse("regular.down", text.as_bytes()).unwrap());
    let mut scenario = bottleneck("fifo limit 50p");
    scenario.capacity = Capacity::Trace("regular.down".to_owned());
    scenario.flows.push(cbr("flood", 20_000_000, 1000));
    let report = run_with(&scenario, &inputs, 1);
    assert!((report.metrics["utilization"] - 1.0).abs() < 0.01, "{}", report.metrics["utilization"]);
    let ip_rate = report.metrics["throughput_mbit"] * 1000.0 / 1014.0;
    assert!((ip_rate - 12.0).abs() < 0.05, "{ip_rate}");
}

#[test]
fn jitter_reorders_and_tcp_still_delivers() {
    let mut scenario = bottleneck("fifo");
    scenario.jitter_ns = 5 * MS;
    scenario.flows.push(bulk("newreno", 2, tcp("newreno")));
    let report = run(&scenario, 1);
    assert!(report.flows.iter().map(|flow| flow.retransmissions).sum::<u64>() > 0, "nothing was reordered");
    assert!(report.metrics["goodput_mbit"] > 1.0);
}

#[test]
fn ecn_marks_instead_of_dropping_and_the_senders_react() {
    let mut scenario = bottleneck("codel ecn limit 1000p");
    scenario.capacity = Capacity::RateBps(20_000_000);
    scenario.flows.push(bulk("ecn", 4, tcp("newreno ecn classic")));
    let report = run(&scenario, 1);
    assert!(report.metrics["marks"] > 10.0);
    assert_eq!(report.metrics["loss_ratio"], 0.0);
    assert!(report.metrics["qdelay_mean_ms"] < 15.0, "{}", report.metrics["qdelay_mean_ms"]);
    assert!(report.metrics["utilization"] > 0.9);
    assert_eq!(report.flows.iter().map(|flow| flow.retransmissions).sum::<u64>(), 0);
}

#[test]
fn ipv6_costs_twenty_bytes_a_packet() {
    let share = |ipv6: &str| {
        let mut scenario = bottleneck("fifo limit 300p");
        scenario.flows.push(bulk("cubic", 2, tcp(&format!("cubic ipv6 {ipv6}"))));
        let metrics = run(&scenario, 1).metrics;
        metrics["goodput_mbit"] / metrics["throughput_mbit"]
    };
    assert!((share("off") - 1448.0 / 1514.0).abs() < 0.005);
    assert!((share("on") - 1448.0 / 1534.0).abs() < 0.005);
}

#[test]
fn a_queue_of_one_packet_still_passes_traffic() {
    let mut scenario = bottleneck("fifo limit 1p");
    scenario.flows.push(bulk("newreno", 3, tcp("newreno")));
    assert!(run(&scenario, 1).metrics["goodput_mbit"] > 1.0);
}

#[test]
fn flows_with_their_own_round_trip_times_have_them() {
    let mut scenario = bottleneck("fifo");
    scenario.duration_ns = 10 * SECOND;
    for (name, ms) in [("near", 10), ("far", 171)] {
        let mut flow = cbr(name, 1_000_000, 500);
        flow.rtt_ns = Some(ms * MS);
        flow.transport = Transport::Udp { packet_bytes: 500, ecn: EcnMode::Off };
        scenario.flows.push(flow);
    }
    let metrics = run(&scenario, 1).metrics;
    assert!((metrics["class.near.owd_mean_ms"] - 5.0).abs() < 0.1);
    assert!((metrics["class.far.owd_mean_ms"] - 85.5).abs() < 0.1);
}
