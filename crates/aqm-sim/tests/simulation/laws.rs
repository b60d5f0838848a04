//! TCP against published formulas.
//!
//! Senders count bytes (RFC 3465), so delayed acknowledgments do not slow the additive increase: the factor b of the
//! formulas is 1.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, run, tcp};
use aqm_sim::scenario::wire::Loss;
use aqm_sim::scenario::{Capacity, Scenario, Source};

const MSS: f64 = 1448.0;
const RTT: f64 = 0.08;
const FLOWS: f64 = 10.0;

/// Ten NewReno flows without queueing, with random losses.
fn lossy(loss: f64, sack: bool) -> Scenario {
    let mut scenario = bottleneck("fifo limit 100000p");
    scenario.capacity = Capacity::RateBps(10_000_000_000);
    scenario.rtt_ns = 80 * MS;
    scenario.loss = Loss::Random(loss);
    scenario.duration_ns = 320 * SECOND;
    scenario.warmup_ns = 20 * SECOND;
    scenario.flows.push(bulk("newreno", 10, tcp(&format!("newreno sack {sack}"))));
    scenario
}

/// Mean goodput of one flow in segments per round trip.
fn segments_per_rtt(scenario: &Scenario) -> f64 {
    run(scenario, 1).metrics["goodput_mbit"] * 1e6 / 8.0 / MSS * RTT / FLOWS
}

/// What is left of a formula's window when the round trip of each recovery counts, which has half of the window and does
/// not grow: a cycle of 3/8 w^2 segments in w/2 round trips becomes one of 3/8 w^2 + w/2 in w/2 + 1. The formulas leave it
/// out, as their windows are large; of ten segments it takes a tenth.
fn with_recovery(p: f64) -> f64 {
    let w = ((0.25 + 1.5 / p).sqrt() - 0.5) / 0.75;
    1.0 / p / (w / 2.0 + 1.0) / (1.5 / p).sqrt()
}

#[test]
fn a_fixed_window_gives_window_over_round_trip_time() {
    for (window_segments, delack) in [(10, "40ms"), (40, "off"), (100, "40ms")] {
        let mut scenario = bottleneck("fifo limit 1000p");
        let fixed = format!("fixed window {window_segments}p delack {delack}");
        scenario.flows.push(bulk("fixed", 1, tcp(&fixed)));
        scenario.capacity = Capacity::RateBps(1_000_000_000);
        let report = run(&scenario, 1);
        let rtt = report.metrics["rtt_mean_ms"] / 1e3;
        // Serialisation on six links adds a few microseconds to the 40 ms.
        assert!((rtt / 0.04 - 1.0).abs() < 0.01, "{rtt}");
        let expected = f64::from(window_segments * 1448 * 8) / 0.04 / 1e6;
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
        assert!((constant / (1.31 * with_recovery(loss)) - 1.0).abs() < 0.10, "p = {loss}: {constant}");
    }
}

#[test]
fn newreno_follows_pftk_with_timeouts() {
    // Padhye, Firoiu, Towsley, Kurose 1998, equation 30 with b = 1. Its p counts loss indications (windows with
    // loss), as in the authors' measurements; T0 is the smallest timeout, 200 ms here.
    let (b, t0) = (1.0_f64, 0.2_f64);
    for loss in [0.001_f64, 0.005, 0.01, 0.02, 0.03] {
        let report = run(&lossy(loss, true), 1);
        let indications: u64 = report.flows.iter().map(|flow| flow.recoveries + flow.timeouts).sum();
        let p = indications as f64 / report.metrics["packets_arrived"];
        let measured = report.metrics["goodput_mbit"] * 1e6 / 8.0 / MSS * RTT / FLOWS;
        let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * t0 * p * (1.0 + 32.0 * p * p);
        let expected = RTT / (RTT * (2.0 * b * p / 3.0).sqrt() + timeouts) * with_recovery(p);
        println!(
            "loss {loss}, p = {p:.5}: {measured:.2} segments per RTT, PFTK {expected:.2}, ratio {:.3}",
            measured / expected
        );
        assert!((measured / expected - 1.0).abs() < 0.15, "p = {p}: {measured} instead of {expected}");
    }
}

#[test]
fn cubic_follows_its_response_function_and_reno_s_where_that_is_larger() {
    // RFC 9438 section 5.1: W = 1.054 (RTT / p)^(3/4), for losses at equal distances; section 4.3: at least Reno's
    // window, sqrt(3 / 2p). Independent losses leave a tenth more, as with Reno (1.31 for 1.22).
    let window = |rtt_ms: u64, loss: f64| {
        let mut scenario = lossy(loss, true);
        scenario.rtt_ns = rtt_ms * MS;
        scenario.flows = vec![bulk("cubic", 5, tcp("cubic"))];
        run(&scenario, 1).metrics["goodput_mbit"] * 1e6 / 8.0 / MSS * rtt_ms as f64 / 1e3 / 5.0
    };
    for (rtt_ms, losses) in [(100, [0.0001, 0.0003]), (10, [0.001, 0.01])] {
        let mut exponent = 0.0;
        for loss in losses {
            let rtt = rtt_ms as f64 / 1e3;
            let cubic = 1.054 * (rtt / loss).powf(0.75);
            let reno = (1.5_f64 / loss).sqrt();
            let measured = window(rtt_ms, loss);
            println!("{rtt_ms} ms, p = {loss}: {measured:.1} segments; CUBIC {cubic:.1}, Reno {reno:.1}");
            assert!(
                (0.95..1.25).contains(&(measured / cubic.max(reno))),
                "{rtt_ms} ms, p = {loss}: {measured}"
            );
            exponent = measured.ln() - exponent;
        }
        exponent /= (losses[1] / losses[0]).ln();
        let expected = if rtt_ms == 100 { -0.75 } else { -0.5 };
        assert!((exponent - expected).abs() < 0.06, "{rtt_ms} ms: exponent {exponent}");
    }
}

/// `flows` DCTCP flows over a step at `threshold` packets; the path holds 330.
fn dctcp(flows: u32, threshold: u32) -> Scenario {
    let mut scenario = bottleneck(&format!("dctcp_step threshold {threshold}p limit 1000p"));
    scenario.duration_ns = 60 * SECOND;
    scenario.warmup_ns = 20 * SECOND;
    scenario.sample_ns = 10 * MS;
    scenario.flows.push(bulk("dctcp", flows, tcp("dctcp delack off")));
    scenario
}

#[test]
fn dctcp_s_queue_has_the_amplitude_and_period_of_its_analysis() {
    // Alizadeh et al. 2010 section 3.3, equations 8 to 10: amplitude A = sqrt(2 N (C RTT + K)) / 2, period A / N
    // round trips, maximum K + N. The formulas assume synchronised flows, and many are not.
    for (flows, threshold) in [(1, 32), (1, 94), (2, 47), (8, 94)] {
        let scenario = dctcp(flows, threshold);
        let report = run(&scenario, 1);
        let queue = &report.series.columns["queue_packets"][2000..];
        let mean = queue.iter().sum::<f64>() / queue.len() as f64;
        let (n, k) = (f64::from(flows), f64::from(threshold));
        let path = 100e6 * 0.04 / 8.0 / 1514.0;
        let amplitude = (2.0 * n * (path + k)).sqrt() / 2.0;
        let (lowest, highest) =
            queue.iter().fold((f64::MAX, 0.0_f64), |(low, high), &q| (low.min(q), high.max(q)));
        println!("N = {n}, K = {k}: {lowest} to {highest}, formula {amplitude:.1} down from {}", k + n);
        assert!(((highest - lowest) / amplitude - 1.0).abs() < 0.15, "{flows} flows, K = {k}");
        assert!((report.metrics["queue_max_packets"] - (k + n)).abs() <= 2.0, "{flows} flows, K = {k}");
        if flows <= 2 {
            // A period has one rise through the middle; the threshold for it, half of the amplitude, is above the
            // noise.
            let (mut above, mut rises) = (true, 0.0);
            for &q in queue {
                rises += f64::from(u8::from(!above && q > mean + amplitude / 6.0));
                above = q > if above { mean - amplitude / 6.0 } else { mean + amplitude / 6.0 };
            }
            let period = 40.0 / rises / (report.metrics["rtt_mean_ms"] / 1e3);
            println!("period {period:.1} round trips, formula {:.1}", amplitude / n);
            assert!((period / (amplitude / n) - 1.0).abs() < 0.15, "{flows} flows, K = {k}: {period}");
        }
    }
}

#[test]
fn dctcp_starves_the_link_below_a_threshold_of_a_seventh_of_the_path() {
    // Section 3.4: K > C RTT / 7 keeps the queue from emptying whatever the number of flows; 40 is about the worst.
    let used = |threshold| run(&dctcp(40, threshold), 1).metrics["utilization"];
    let (below, at, above) = (used(8), used(47), used(94));
    println!("{below:.4} {at:.4} {above:.4}");
    assert!(below < 0.96 && at > 0.98 && above > 0.999);
}

#[test]
fn under_pie_the_rate_of_reno_is_inverse_to_the_rtt_and_that_of_cubic_less_so() {
    // The same loss probability for all: W is the same for Reno, so the rate goes as 1 / RTT; CUBIC's W grows with
    // RTT^(3/4) once it is beyond Reno's.
    let exponent = |control, mbit: u64| {
        let mut scenario = bottleneck("pie limit 10000p");
        scenario.capacity = Capacity::RateBps(mbit * 1_000_000);
        scenario.duration_ns = 100 * SECOND;
        scenario.warmup_ns = 30 * SECOND;
        for (name, rtt_ms) in [("near", 20), ("far", 160)] {
            let mut flows = bulk(name, 4, tcp(control));
            flows.rtt_ns = Some(rtt_ms * MS);
            scenario.flows.push(flows);
        }
        let m = run(&scenario, 1).metrics;
        let share = m["class.near.goodput_mbit"] / m["class.far.goodput_mbit"];
        share.ln() / (m["class.far.rtt_mean_ms"] / m["class.near.rtt_mean_ms"]).ln()
    };
    let reno = exponent("newreno", 100);
    let (slow, fast) = (exponent("cubic", 100), exponent("cubic", 400));
    println!("Reno {reno:.2}, CUBIC {slow:.2} and {fast:.2}");
    assert!((0.85..1.2).contains(&reno), "{reno}");
    assert!(fast < slow && slow < reno && (0.1..0.7).contains(&fast), "{reno} {slow} {fast}");
}

#[test]
fn ledbat_fills_an_idle_link_at_its_target_delay_and_yields_on_a_busy_one() {
    // RFC 6817 section 2.2: a target of 100 ms at most.
    let beside = |other: Option<&str>| {
        let mut scenario = bottleneck("fifo limit 660p");
        scenario.capacity = Capacity::RateBps(20_000_000);
        scenario.duration_ns = 120 * SECOND;
        scenario.warmup_ns = 40 * SECOND;
        scenario.flows = vec![bulk("ledbat", 1, tcp("ledbat"))];
        scenario.flows.extend(other.map(|control| bulk("other", 1, tcp(control))));
        run(&scenario, 1).metrics
    };
    let alone = beside(None);
    println!("alone: {:.1} ms, used {:.3}", alone["qdelay_mean_ms"], alone["utilization"]);
    assert!((90.0..105.0).contains(&alone["qdelay_mean_ms"]) && alone["utilization"] > 0.99);
    for other in ["newreno", "cubic"] {
        let m = beside(Some(other));
        println!("beside {other:?}: {:.2} Mbit/s", m["class.ledbat.goodput_mbit"]);
        assert!(m["class.ledbat.goodput_mbit"] < 1.0 && m["class.other.goodput_mbit"] > 18.0, "{other:?}");
    }
}

#[test]
fn a_finite_flow_delivers_exactly_its_size_and_completes() {
    for sack in [true, false] {
        let mut scenario = bottleneck("fifo limit 20p");
        scenario.capacity = Capacity::RateBps(5_000_000);
        scenario.loss = Loss::Random(0.02);
        scenario.warmup_ns = 0;
        let mut flow = bulk("file", 3, tcp(&format!("newreno sack {sack}")));
        flow.source = Source::Bulk { size_bytes: Some(500_001), stop_ns: None };
        scenario.flows.push(flow);
        let report = run(&scenario, 3);
        assert_eq!(report.metrics["completed_flows"], 3.0);
        let delivered = report.metrics["goodput_mbit"] * 1e6 / 8.0 * 30.0;
        assert!((delivered - 1_500_003.0).abs() < 1.0, "{delivered}");
    }
}
