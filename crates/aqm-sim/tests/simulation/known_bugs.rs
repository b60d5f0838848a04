//! Bugs that ns-3's TCP once had, as whole simulations. Numbers are those of ns-3's issues (`#`) and merge requests
//! (`!`).

use crate::scenarios::{MS, SECOND, bottleneck, bulk, run, tcp};
use aqm_sim::report::Report;
use aqm_sim::scenario::{Capacity, Scenario, Tcp};

/// One endless flow through 20 Mbit/s and 40 ms: a bandwidth-delay product of 66 full packets.
fn alone(aqm: &str, tcp: Tcp) -> Scenario {
    Scenario { capacity: Capacity::RateBps(20_000_000), flows: vec![bulk("bulk", 1, tcp)], ..bottleneck(aqm) }
}

/// Early drops, overflow drops and marks at the bottleneck.
fn signals(report: &Report) -> (u64, u64) {
    let bottleneck = &report.queues[0];
    (bottleneck.dropped_early + bottleneck.dropped_overflow, bottleneck.marked)
}

// !2863: over IPv6 an endpoint without ECN still reacted to the field.
#[test]
fn ecn_works_alike_over_ipv4_and_ipv6_and_only_where_it_is_on() {
    for ipv6 in ["off", "on"] {
        for ecn in ["off", "classic"] {
            let tcp = tcp(&format!("cubic ecn {ecn} ipv6 {ipv6}"));
            let report = run(&alone("codel ecn limit 1000p", tcp), 1);
            let (drops, marks) = signals(&report);
            let on = ecn == "classic";
            assert_eq!((drops > 0, marks > 0), (!on, on), "IPv6 {ipv6}, {ecn}: {drops} drops, {marks} marks");
        }
    }
}

// #1319: some congestion controls were not notified of window reductions by marks.
#[test]
fn every_congestion_control_reacts_to_marks_without_drops() {
    for control in ["newreno", "cubic", "dctcp", "ledbat"] {
        let tcp = tcp(&format!("{control} ecn classic"));
        let report = run(&alone("codel ecn limit 5000p", tcp), 1);
        let (drops, delay) = (signals(&report).0, report.metrics["qdelay_mean_ms"]);
        assert!(drops == 0 && delay < 12.0, "{control}: {drops} drops, {delay} ms");
        assert!(report.metrics["utilization"] > 0.8, "{control}");
    }
}

// #407: CUBIC's slow start threshold was not 0.7 of the window.
#[test]
fn cubic_keeps_a_link_busy_with_half_a_bandwidth_delay_product_of_buffer() {
    // A window of 1.5 bandwidth-delay products falls to 1.05 (RFC 9438 section 4.6), Reno's to 0.75.
    let utilization = |control| {
        let report = run(&alone("fifo limit 33p", tcp(control)), 1);
        report.metrics["utilization"]
    };
    let (cubic, reno) = (utilization("cubic"), utilization("newreno"));
    assert!(cubic > 0.985 && reno < 0.97, "cubic {cubic}, reno {reno}");
}

// !2624: LEDBAT's window grew by a wrong amount.
#[test]
fn ledbat_alone_settles_at_its_target_delay() {
    let scenario = Scenario {
        duration_ns: 120 * SECOND,
        warmup_ns: 60 * SECOND,
        sample_ns: 100 * MS,
        flow_series: true,
        ..alone("fifo limit 1000p", tcp("ledbat"))
    };
    let report = run(&scenario, 1);
    let delay = report.metrics["qdelay_mean_ms"];
    // RFC 6817 section 2.4.2: growth stops where the queuing delay equals TARGET, 100 ms at most.
    assert!((80.0..=105.0).contains(&delay), "{delay} ms");
    assert_eq!(signals(&report).0, 0);
}
