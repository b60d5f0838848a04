//! Goodput under random loss.
//!
//! Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: Congestion-Based Congestion Control", CACM 2017, figure 8: one flow over
//! 100 Mbit/s and 100 ms for 60 s. BBR fills what loss leaves of the link up to 5 %, most of it up to 15 %, and nearly nothing
//! from 20 % on, where probing by a quarter no longer makes up for what is lost; CUBIC has a tenth of the link at 0.1 %.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, run, tcp};
use aqm_sim::report::Report;
use aqm_sim::scenario::Capacity;
use aqm_sim::scenario::wire::Loss;

fn under_loss(control: &str, loss: f64) -> Report {
    let mut scenario = bottleneck("fifo limit 1000p");
    scenario.capacity = Capacity::RateBps(100_000_000);
    scenario.rtt_ns = 100 * MS;
    scenario.loss = Loss::Random(loss);
    scenario.duration_ns = 60 * SECOND;
    scenario.warmup_ns = 0;
    scenario.flows.push(bulk("one", 1, tcp(control)));
    run(&scenario, 1)
}

/// Goodput as a share of what the loss leaves of the link.
fn share(control: &str, loss: f64) -> f64 {
    let report = under_loss(control, loss);
    // 1448 of 1538 bytes on the wire are payload.
    let share = report.metrics["goodput_mbit"] / (100.0 * 1448.0 / 1538.0 * (1.0 - loss));
    let flow = &report.flows[0];
    println!("{control} {loss}: {share:.2} of the rest, {} timeouts", flow.timeouts);
    share
}

#[test]
fn bbr1_has_the_shape_that_its_authors_published() {
    for (loss, least, most) in
        [(0.01, 0.92, 1.0), (0.05, 0.90, 1.0), (0.1, 0.85, 1.0), (0.15, 0.75, 1.0), (0.2, 0.0, 0.1)]
    {
        let share = share("bbr1", loss);
        assert!((least..=most).contains(&share), "{loss}: {share}");
    }
}

#[test]
fn bbr3_bears_loss_below_its_threshold_alone() {
    // draft-ietf-ccwg-bbr: BBR.LossThresh is 2 %.
    for (loss, least, most) in [(0.001, 0.85, 1.0), (0.01, 0.8, 1.0), (0.05, 0.0, 0.1)] {
        let share = share("bbr3", loss);
        assert!((least..=most).contains(&share), "{loss}: {share}");
    }
}

#[test]
fn retransmissions_that_are_lost_cost_no_timeout_with_rack() {
    // At one loss in ten every tenth retransmission is lost, too, and one in a hundred twice: round trips of a repair, in
    // which nothing is acknowledged in order, and after which losses are known that the repair was not for.
    for control in ["bbr1", "newreno recovery.rack on", "cubic recovery.rack on"] {
        let report = under_loss(control, 0.1);
        let (timeouts, recoveries) = (report.flows[0].timeouts, report.flows[0].recoveries);
        println!("{control}: {timeouts} timeouts, {recoveries} recoveries");
        // Windows of two or three segments have none behind them that would show a loss.
        assert!(timeouts * 20 <= recoveries, "{control}: {timeouts} timeouts, {recoveries} recoveries");
    }
}
