//! What wires do to packets, seen from the ends: every run passes the simulator's own checks.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, run, tcp};
use aqm_sim::report::Report;
use aqm_sim::scenario::wire::{Impairments, Loss, Reorder, Slots};
use aqm_sim::scenario::{Capacity, Scenario};
use proptest::prelude::*;

fn over(wire: Impairments, seconds: u64) -> Scenario {
    let mut scenario = bottleneck("fifo limit 1000p");
    scenario.capacity = Capacity::RateBps(100_000_000);
    scenario.duration_ns = seconds * SECOND;
    scenario.warmup_ns = 0;
    (scenario.jitter_ns, scenario.jitter_correlation) = (wire.jitter_ns, wire.jitter_correlation);
    (scenario.loss, scenario.reorder) = (wire.loss, wire.reorder);
    (scenario.duplicate, scenario.slots) = (wire.duplicate, wire.slots);
    scenario
}

/// A steady stream of packets over a wire.
fn stream(wire: Impairments, seconds: u64) -> Report {
    let mut scenario = over(wire, seconds);
    scenario.flows.push(cbr("stream", 40_000_000, 200));
    run(&scenario, 1)
}

#[test]
fn packets_are_lost_as_the_stationary_distributions_say() {
    for loss in [
        Loss::Random(0.02),
        Loss::Gemodel { p: 0.01, r: 0.1, bad: 1.0, good: 0.0 },
        Loss::Gemodel { p: 0.02, r: 0.2, bad: 0.5, good: 0.01 },
        Loss::State { p13: 0.01, p31: 0.2, p32: 0.3, p23: 0.5, p14: 0.02 },
    ] {
        let report = stream(Impairments { loss, ..Impairments::default() }, 10);
        let found = report.metrics["path_loss_ratio"];
        println!("{loss}: lost {found:.5}, by the formula {:.5}", loss.mean());
        assert!((found / loss.mean() - 1.0).abs() < 0.04, "{loss}: lost {found}, not {}", loss.mean());
    }
}

#[test]
fn bursts_of_loss_cost_tcp_less_than_the_same_loss_alone() {
    // One reduction answers a whole burst: the model that loses as much in bursts of ten leaves more goodput.
    let goodput = |loss| {
        let mut scenario = over(Impairments { loss, ..Impairments::default() }, 60);
        scenario.flows.push(bulk("one", 1, tcp("newreno")));
        run(&scenario, 1).metrics["goodput_mbit"]
    };
    let bursts = Loss::Gemodel { p: 0.001, r: 0.1, bad: 1.0, good: 0.0 };
    let (alone, together) = (goodput(Loss::Random(bursts.mean())), goodput(bursts));
    assert!(together > 1.5 * alone, "{together} Mbit/s in bursts, {alone} alone");
}

#[test]
fn a_share_of_packets_arrives_twice() {
    let report = stream(Impairments { duplicate: 0.1, ..Impairments::default() }, 2);
    let goodput = report.metrics["goodput_mbit"];
    // 172 of the 200 bytes are payload.
    assert!((goodput / (40.0 * 172.0 / 200.0 * 1.1) - 1.0).abs() < 0.01, "{goodput}");
}

#[test]
fn packets_that_overtake_are_earlier_by_the_delay_and_slots_gather_packets() {
    let plain = stream(Impairments::default(), 2).metrics["owd_mean_ms"];
    let reorder = Some(Reorder { share: 0.25, gap: 1 });
    let early = stream(Impairments { reorder, ..Impairments::default() }, 2).metrics["owd_mean_ms"];
    // The bottleneck has half of the one-way delay of 20 ms: a quarter of the packets does without it.
    assert!((plain - early - 2.5).abs() < 0.1, "{plain} {early}");
    let slots = Some(Slots { min_ns: 4 * MS, max_ns: 4 * MS, packets: None, bytes: None });
    let late = stream(Impairments { slots, ..Impairments::default() }, 2).metrics["owd_mean_ms"];
    assert!((late - plain - 2.0).abs() < 0.1, "{plain} {late}");
}

fn chains() -> impl Strategy<Value = Loss> {
    let share = || 0.0..0.3_f64;
    prop_oneof![
        share().prop_map(Loss::Random),
        (share(), 0.1..1.0_f64, share(), share()).prop_map(|(p, r, bad, good)| Loss::Gemodel {
            p,
            r,
            bad,
            good
        }),
        (share(), 0.1..0.5_f64, share(), 0.1..1.0_f64, share())
            .prop_map(|(p13, p31, p32, p23, p14)| Loss::State { p13, p31, p32, p23, p14 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]

    /// Whatever wires do, the checks of a run see it balance.
    #[test]
    fn every_combination_passes_the_checks_of_a_run(
        loss in chains(),
        jitter_ns in prop_oneof![Just(0), 1..10 * MS],
        jitter_correlation in prop_oneof![Just(0.0), 0.0..0.95_f64],
        reorder in proptest::option::of((0.0..1.0_f64, 1..6_u32).prop_map(|(share, gap)| Reorder { share, gap })),
        duplicate in prop_oneof![Just(0.0), 0.0..0.5_f64],
        slots in proptest::option::of((1..5 * MS, 1..40_u64).prop_map(|(max_ns, packets)|
            Slots { min_ns: max_ns / 2, max_ns, packets: Some(packets), bytes: None })),
        transport in prop::sample::select(&["newreno", "cubic ecn classic", "bbr1", "dctcp"][..]),
        aqm in prop::sample::select(&["fifo limit 100p", "codel ecn limit 100p", "fq_codel limit 100p"][..]),
        seed in 1..1000_u64,
    ) {
        let wire = Impairments { jitter_ns, jitter_correlation, loss, reorder, duplicate, slots };
        let mut scenario = over(wire, 2);
        (scenario.aqm, scenario.capacity) = (aqm.to_owned(), Capacity::RateBps(10_000_000));
        scenario.warmup_ns = 500 * MS;
        scenario.flows.push(bulk("tcp", 2, tcp(transport)));
        scenario.flows.push(cbr("stream", 2_000_000, 500));
        run(&scenario, seed);
    }
}
