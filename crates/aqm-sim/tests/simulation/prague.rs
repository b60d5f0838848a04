//! TCP Prague beside others, and with queues of all kinds.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, run, tcp};
use aqm_sim::report::Report;
use aqm_sim::scenario::{Capacity, Scenario, Tcp};

fn prague() -> Tcp {
    tcp("prague")
}

fn link(aqm: &str, mbit: u64) -> Scenario {
    let mut scenario = bottleneck(aqm);
    scenario.capacity = Capacity::RateBps(mbit * 1_000_000);
    scenario.duration_ns = 60 * SECOND;
    scenario.warmup_ns = 20 * SECOND;
    scenario
}

/// Goodput of the first group over that of the second.
fn ratio(report: &Report, first: &str, second: &str) -> f64 {
    let goodput = |name: &str| report.metrics[&format!("class.{name}.goodput_mbit")];
    goodput(first) / goodput(second)
}

#[test]
fn beside_cubic_under_dualpi2_prague_gets_a_similar_share_with_a_tenth_of_the_delay() {
    for mbit in [10, 20, 50, 100] {
        let mut scenario = link("dualpi2 limit 10000p", mbit);
        // CUBIC's period is many seconds at 100 Mbit/s.
        scenario.duration_ns = 140 * SECOND;
        scenario.flows = vec![bulk("prague", 1, prague()), bulk("cubic", 1, tcp("cubic"))];
        let reports = [1, 2, 3].map(|seed| run(&scenario, seed));
        let mean = |name: &str| reports.iter().map(|report| report.metrics[name]).sum::<f64>() / 3.0;
        let shares = mean("class.prague.goodput_mbit") / mean("class.cubic.goodput_mbit");
        let (low, classic) = (mean("class.prague.qdelay_p99_ms"), mean("class.cubic.qdelay_mean_ms"));
        println!(
            "{mbit} Mbit/s: prague over cubic {shares:.2}, L queue p99 {low:.2} ms, classic mean {classic:.1} ms, used {:.3}",
            mean("utilization")
        );
        assert!((0.5..2.0).contains(&shares), "{mbit} Mbit/s: {shares}");
        assert!(low < 2.0, "{mbit} Mbit/s: {low}");
        // The target is 15 ms (RFC 9332 appendix A.1).
        assert!((7.5..22.5).contains(&classic), "{mbit} Mbit/s: {classic}");
        assert!(mean("utilization") > 0.95);
    }
}

#[test]
fn alone_under_dualpi2_it_fills_the_link_at_a_delay_of_a_millisecond() {
    for ms in [5, 20, 80] {
        let mut scenario = link("dualpi2 limit 10000p", 50);
        scenario.rtt_ns = ms * MS;
        scenario.flows = vec![bulk("prague", 1, prague())];
        let m = run(&scenario, 1).metrics;
        println!("{ms} ms: p99 {:.2} ms, used {:.3}", m["qdelay_p99_ms"], m["utilization"]);
        assert!(m["qdelay_p99_ms"] < 2.0 && m["utilization"] > 0.9, "{ms} ms: {m:?}");
        assert_eq!(m["loss_ratio"], 0.0);
    }
}

#[test]
fn two_round_trips_below_25_ms_share_equally_where_dctcp_favours_the_shorter() {
    let shares = |tcp: Tcp| {
        let mut scenario = link("dualpi2 limit 10000p", 50);
        for (name, ms) in [("near", 5), ("far", 20)] {
            let mut flow = bulk(name, 1, tcp.clone());
            flow.rtt_ns = Some(ms * MS);
            scenario.flows.push(flow);
        }
        ratio(&run(&scenario, 1), "near", "far")
    };
    let prague = shares(prague());
    println!("{prague:.2}");
    assert!((0.7..1.4).contains(&prague), "{prague}");
}

#[test]
fn under_other_marking_disciplines_the_delay_stays_near_their_target() {
    // Twice the target of the discipline; RED's upper threshold is 60 packets of 0.6 ms.
    for (aqm, most_ms) in [
        ("codel ecn limit 1000p", 10.0),
        ("fq_codel ecn limit 1000p", 10.0),
        ("pie ecn limit 1000p", 30.0),
        ("red ecn limit 100p min 20p max 60p", 36.0),
    ] {
        let mut scenario = link(aqm, 20);
        scenario.flows = vec![bulk("prague", 2, prague())];
        let m = run(&scenario, 1).metrics;
        println!("{aqm}: {:.2} ms, used {:.3}, marks {}", m["qdelay_mean_ms"], m["utilization"], m["marks"]);
        assert!(m["marks"] > 100.0 && m["utilization"] > 0.9, "{aqm}: {m:?}");
        assert!(m["qdelay_mean_ms"] < most_ms, "{aqm}: {}", m["qdelay_mean_ms"]);
    }
}

#[test]
fn without_marks_it_reacts_to_losses_as_reno_does() {
    let mut scenario = link("fifo limit 100p", 20);
    scenario.flows = vec![bulk("prague", 1, prague()), bulk("newreno", 1, tcp("newreno"))];
    let report = run(&scenario, 1);
    let shares = ratio(&report, "prague", "newreno");
    println!("{shares:.2}");
    assert!((0.5..2.0).contains(&shares), "{shares}");
    assert!(report.metrics["utilization"] > 0.95);
}
