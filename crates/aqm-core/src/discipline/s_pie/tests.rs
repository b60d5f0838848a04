//! Each assumption, computed by hand.

use super::super::testing::{Host, ms};
use crate::signal::DropReason;
use alloc::vec::Vec;

/// A queue of 60 packets of 1000 bytes for 500 ms, one leaving per millisecond: a delay of about 60 ms. Flow 1 sends
/// three packets of four, flow 2 the fourth.
fn congested(spec: &str) -> Host {
    let mut host = Host::new(spec);
    let flow = |cookie: u64| if cookie.is_multiple_of(4) { 2 } else { 1 };
    (0..60).for_each(|cookie| host.put(ms(0), cookie, flow(cookie), 1000));
    let mut cookie = 60;
    for at in 1..500 {
        host.get(ms(at));
        while host.qdisc.backlog().packets < 60 && cookie < 4000 {
            host.put(ms(at), cookie, flow(cookie), 1000);
            cookie += 1;
        }
    }
    assert!(host.probe("qdelay") > 0.02, "{}", host.probe("qdelay"));
    host
}

#[test]
fn under_congestion_the_flow_with_more_than_its_share_is_dropped() {
    let host = congested("s-pie limit 100p");
    let unfair: Vec<_> =
        host.log.dropped.iter().filter(|(_, reason)| *reason == DropReason::Unfair).collect();
    assert!(unfair.len() > 100, "{}", unfair.len());
    // Flow 2 is dropped only after flow 1's losses have made it the larger one.
    let large = unfair.iter().filter(|(cookie, _)| cookie % 4 != 0).count();
    assert!(large * 10 > unfair.len() * 9, "{large} of {}", unfair.len());
}

#[test]
fn algorithm_2_as_printed_drops_the_other_flow() {
    let host = congested("s-pie limit 100p rule algorithm2");
    let unfair = host.log.dropped.iter().filter(|(_, reason)| *reason == DropReason::Unfair);
    assert!(unfair.clone().count() > 10);
    assert!(unfair.clone().all(|(cookie, _)| cookie % 4 == 0));
}

#[test]
fn accepted_packets_are_counted_until_the_period_ends() {
    let mut host = Host::new("s-pie limit 3p clear_period 10ms");
    (0..4).for_each(|cookie| host.put(ms(1), cookie, cookie % 2, 1000));
    assert_eq!(host.log.dropped, [(3, DropReason::Overlimit)]);
    // Flow 0 has two packets, flow 1 one: (4 + 1) / 9.
    assert_eq!((host.probe("counted"), host.probe("share_threshold")), (3.0, 5.0 / 9.0));
    host.get(ms(2));
    host.put(ms(9), 4, 1, 1000);
    assert_eq!(host.probe("counted"), 4.0);
    host.get(ms(9));
    host.put(ms(10), 5, 1, 1000);
    assert_eq!((host.probe("counted"), host.probe("share_threshold")), (1.0, 1.0));
}

#[test]
fn without_congestion_no_share_is_too_large() {
    let mut host = Host::new("s-pie limit 100p");
    for at in 0..1000 {
        (0..3).for_each(|_| host.put(ms(at), at, 1, 1000));
        (0..3).for_each(|_| assert_eq!(host.get(ms(at)), Some(at)));
    }
    assert_eq!(host.dropped().len(), 0);
}

#[test]
fn two_queued_packets_cause_no_signal_unless_the_guard_is_off() {
    // The delay of the last period is used until the next one, 30 ms later.
    let after = |spec: &str| {
        let mut host = congested(&alloc::format!("{spec} gate_delay tick"));
        let at = ms(500);
        while host.get(at).is_some() {}
        let before = host.dropped().len();
        (9000..9003).for_each(|n| host.put(at, 4 * n + 1, 1, 1000));
        host.dropped().len() - before
    };
    assert_eq!(after("s-pie limit 100p clear_period 100s"), 0);
    assert!(after("s-pie limit 100p clear_period 100s noguard") > 0);
}

/// `spec` after flow 1 has sent `first` packets and flow 2 `second`, and then a queue of 40 packets of flow 3 that
/// has lasted so long that the delay is about 40 ms; counts are never cleared.
fn standing(spec: &str, first: u64, second: u64) -> Host {
    let mut host = Host::new(&alloc::format!("{spec} limit 100p clear_period 1000s"));
    let mut number = 0;
    let mut put = |host: &mut Host, at, flow| {
        host.put(ms(at), number, flow, 1000);
        number += 1;
    };
    for (flow, count) in [(1, first), (2, second)] {
        (0..count).for_each(|_| {
            put(&mut host, 0, flow);
            host.get(ms(0));
        });
    }
    (0..90).for_each(|_| put(&mut host, 1, 3));
    (1..=50).for_each(|at| {
        host.get(ms(at));
    });
    assert_eq!(host.qdisc.backlog().packets, 40);
    // The rate of 1 Mbyte/s was measured, and 40 to 60 packets waited at the update at 30 ms.
    assert!((0.03..0.07).contains(&host.probe("qdelay")), "{}", host.probe("qdelay"));
    host
}

/// Whether a packet of `flow` is dropped as unfair.
fn is_dropped(host: &mut Host, flow: u64) -> bool {
    let before = host.log.dropped.len();
    host.put(ms(51), 9999, flow, 1000);
    host.log.dropped.len() > before && host.log.dropped[before].1 == DropReason::Unfair
}

#[test]
fn an_equal_share_passes_unless_it_is_to_be_dropped() {
    // 90 packets in three flows of 30, and then of flow 3 alone: every share is the threshold.
    for (spec, dropped) in [
        ("s-pie", false),
        ("s-pie equal_share drop", true),
        ("s-pie rule algorithm2", false),
        ("s-pie rule algorithm2 equal_share drop", true),
    ] {
        assert_eq!(is_dropped(&mut standing(spec, 90, 90), 1), dropped, "{spec}");
        assert_eq!(is_dropped(&mut standing(spec, 90, 90), 3), dropped, "{spec}");
    }
}

#[test]
fn without_counts_no_flow_reaches_the_threshold() {
    for spec in ["s-pie", "s-pie equal_share drop", "s-pie rule algorithm2 equal_share drop"] {
        let mut host = standing(spec, 10, 10);
        host.qdisc.change(&[("clear_period", "999s")], ms(51), &mut host.log).unwrap();
        assert_eq!(host.probe("counted"), 0.0);
        assert!(!is_dropped(&mut host, 3), "{spec}");
    }
}

#[test]
fn packets_can_be_counted_when_they_leave() {
    let counted = |spec: &str| standing(spec, 10, 20).probe("counted");
    assert_eq!((counted("s-pie"), counted("s-pie count_at dequeue")), (120.0, 80.0));
    // Flow 3 has sent 90 packets of 120, but only 50 of 80 have left: 0.625 against (100 + 400 + 2500) / 6400 = 0.47.
    assert_eq!(standing("s-pie count_at dequeue", 10, 20).probe("share_threshold"), 3000.0 / 6400.0);
    let mut host = Host::new("s-pie count_at dequeue clear_period 10ms");
    (0..4).for_each(|cookie| host.put(ms(1), cookie, 1, 1000));
    (8..=11).for_each(|at| {
        host.get(ms(at));
    });
    assert_eq!(host.probe("counted"), 2.0);
}

#[test]
fn shares_can_be_of_bytes() {
    let mut host = Host::new("s-pie count_unit bytes");
    [(1, 1000), (1, 500), (2, 500)].into_iter().for_each(|(flow, length)| host.put(ms(1), 0, flow, length));
    // (1500^2 + 500^2) / 2000^2.
    assert_eq!((host.probe("counted"), host.probe("share_threshold")), (2000.0, 0.625));
}

#[test]
fn alpha_can_compare_the_delay_of_the_last_period_with_the_target() {
    // The first update that knows a delay d comes after one without: current weighs d - 20 ms, old 0 - 20 ms.
    let changes = |spec: &str| {
        let mut host = standing(&alloc::format!("{spec} max_burst 0ms beta 0hz gate_delay tick"), 0, 0);
        host.wake_until(ms(59));
        host.probe("drop_probability")
    };
    let mut known = standing("s-pie max_burst 0ms beta 0hz gate_delay tick", 0, 0);
    known.wake_until(ms(59));
    // One update so far that knows: alpha (d - target) / 32 while the probability is below 0.001.
    let expected = 0.125 * (known.probe("qdelay") - 0.015) / 32.0;
    assert!((changes("s-pie target 15ms") - expected).abs() < 1e-12, "{expected}");
    assert_eq!(changes("s-pie target 15ms alpha_delay old"), 0.0);
}

#[test]
fn congestion_is_judged_by_the_last_period_or_by_the_last_departure() {
    for (spec, delay, dropped) in
        [("s-pie gate_delay tick", 0.031, true), ("s-pie gate_delay departure", 0.006, false)]
    {
        let mut host = standing(spec, 10, 10);
        // 31 packets wait at the update at 60 ms, and one leaves per millisecond. After that at 84 ms there are 6, which
        // take less than a third of 20 ms.
        (51..=84).for_each(|at| {
            host.get(ms(at));
        });
        assert!((host.probe("qdelay") - delay).abs() < 0.0003, "{spec}: {}", host.probe("qdelay"));
        let before = host.dropped().len();
        host.put(ms(84), 0, 3, 1000);
        assert_eq!(host.dropped().len() > before, dropped, "{spec}");
    }
}

#[test]
fn a_burst_between_two_periods_is_congestion_only_by_the_last_departure() {
    for (spec, dropped) in [("s-pie gate_delay tick", false), ("s-pie gate_delay departure", true)] {
        let mut host = standing(spec, 10, 10);
        // Empty at the update at 60 ms; then 40 packets at once, of which one leaves.
        (51..=59).for_each(|at| while host.get(ms(at)).is_some() {});
        host.wake_until(ms(61));
        (0..40).for_each(|_| host.put(ms(62), 0, 3, 1000));
        host.get(ms(63));
        let before = host.dropped().len();
        host.put(ms(63), 0, 3, 1000);
        assert_eq!(host.dropped().len() > before, dropped, "{spec}: {}", host.probe("qdelay"));
    }
}

#[test]
fn a_kept_departure_rate_judges_the_first_packets_after_a_quiet_period() {
    for (spec, congested) in [("s-pie max_burst 0ms", false), ("s-pie max_burst 0ms quiet_rate keep", true)] {
        let mut host = standing(spec, 10, 10);
        // Empty for a second: the probability is zero again, and all periods are quiet.
        (51..=100).for_each(|at| {
            host.get(ms(at));
        });
        host.wake_until(ms(1100));
        assert_eq!(host.probe("drop_probability"), 0.0);
        // Nine packets, less than a measurement takes, and a delay above a third of the target by the old rate.
        (0..10).for_each(|_| host.put(ms(1101), 0, 3, 1000));
        host.get(ms(1101));
        assert_eq!(host.probe("qdelay") > 0.02 / 3.0, congested, "{spec}: {}", host.probe("qdelay"));
        let before = host.dropped().len();
        host.put(ms(1101), 0, 3, 1000);
        assert_eq!(host.dropped().len() > before, congested, "{spec}");
    }
}

#[test]
fn until_a_packet_leaves_the_delay_of_the_last_period_is_used() {
    let mut host = standing("s-pie gate_delay tick", 10, 10);
    let before = host.probe("qdelay");
    host.qdisc.change(&[("gate_delay", "departure")], ms(51), &mut host.log).unwrap();
    assert_eq!(host.probe("qdelay"), before);
    host.get(ms(52));
    assert!(host.probe("qdelay") < before);
}

#[test]
fn below_the_threshold_the_controller_can_stand_still() {
    let after = |spec: &str| {
        let mut host = standing(&alloc::format!("{spec} gate_delay tick"), 0, 0);
        // Ten packets, 10 000 bytes, are left: as much as the threshold, not more.
        (51..=80).for_each(|at| {
            host.get(ms(at));
        });
        assert_eq!(host.qdisc.backlog().bytes, 10_000);
        let before = host.probe("qdelay");
        host.wake_until(ms(1000));
        (before, host.probe("qdelay"), host.qdisc.next_wakeup())
    };
    let (before, later, due) = after("s-pie");
    assert!(later < 0.011 && before > 0.011, "{before} {later}");
    let (before, later, still_due) = after("s-pie updates above_dq_threshold");
    assert!(before == later && before > 0.011, "{before} {later}");
    assert_eq!(due, still_due);
}

#[test]
fn with_ecn_unfair_flows_are_marked_up_to_the_threshold_and_counted() {
    let mut host = standing("s-pie ecn", 10, 10);
    let counted = host.probe("counted");
    host.put_ect(ms(51), 7, 3, 1000);
    assert_eq!((host.marked(), host.dropped()), (Vec::from([7]), Vec::new()));
    assert_eq!(host.probe("counted"), counted + 1.0);
    // A packet that is not ECN-capable is dropped, and not counted.
    host.put(ms(51), 8, 3, 1000);
    assert_eq!(
        (host.log.dropped.as_slice(), host.probe("counted")),
        (&[(8, DropReason::Unfair)][..], counted + 1.0)
    );
    // Without `ecn`, and beyond the threshold, ECT is no help.
    for spec in ["s-pie", "s-pie ecn mark_threshold 0"] {
        let mut host = standing(&alloc::format!("{spec} max_burst 0ms"), 10, 10);
        assert!(host.probe("drop_probability") > 0.0);
        host.put_ect(ms(51), 7, 3, 1000);
        assert_eq!(host.log.dropped, [(7, DropReason::Unfair)], "{spec}");
    }
}

#[test]
fn every_kind_of_sketch_works_and_cannot_change_while_running() {
    for kind in ["count_min", "conservative", "count_sketch"] {
        let mut host = standing(&alloc::format!("s-pie sketch {kind}"), 10, 10);
        assert_eq!(host.probe("counted"), 110.0);
        assert!(is_dropped(&mut host, 3) && !is_dropped(&mut host, 1), "{kind}");
        let other = if kind == "count_min" { "conservative" } else { "count_min" };
        let refusal = host.qdisc.change(&[("sketch", other)], ms(52), &mut host.log).unwrap_err();
        assert!(alloc::format!("{refusal}").contains("cannot change while running"), "{refusal}");
    }
}

#[test]
fn counts_are_cleared_when_their_unit_or_event_changes() {
    for (name, value, anew) in [
        ("width", "512", true),
        ("depth", "3", true),
        ("count_unit", "bytes", true),
        ("count_at", "dequeue", true),
        ("clear_period", "2s", true),
        ("rule", "algorithm2", false),
        ("limit", "90p", false),
    ] {
        let mut host = standing("s-pie", 10, 10);
        host.qdisc.change(&[(name, value)], ms(51), &mut host.log).unwrap();
        assert_eq!(host.probe("counted"), if anew { 0.0 } else { 110.0 }, "{name}");
    }
}

#[test]
fn the_size_of_the_sketch_can_change() {
    let mut host = standing("s-pie", 10, 10);
    let before = host.qdisc.discipline().state_bytes();
    host.qdisc.change(&[("width", "512")], ms(51), &mut host.log).unwrap();
    // 512 columns less, in four rows of four bytes.
    assert_eq!(before - host.qdisc.discipline().state_bytes(), 512 * 4 * 4);
}

#[test]
fn a_shorter_period_of_the_controller_takes_effect_at_once() {
    let mut host = Host::new("s-pie tupdate 10s");
    host.put(ms(1), 0, 1, 1000);
    let next = |host: &Host| host.qdisc.next_wakeup().expect("the controller runs");
    assert!(next(&host) > ms(1000));
    host.qdisc.change(&[("tupdate", "20ms")], ms(51), &mut host.log).unwrap();
    assert_eq!(next(&host), ms(71));
}

#[test]
fn a_delay_of_exactly_a_third_of_the_reference_is_congestion() {
    // 40 packets of 1000 bytes at the measured rate; the reference is chosen as three times that delay.
    for gate_delay in ["departure", "tick"] {
        let dropped = |more: f64| {
            let mut host = standing(&alloc::format!("s-pie gate_delay {gate_delay}"), 10, 10);
            let reference = alloc::format!("{}ns", (3e9 * host.probe("qdelay") + more).floor());
            host.qdisc.change(&[("target", &reference)], ms(51), &mut host.log).unwrap();
            is_dropped(&mut host, 3)
        };
        assert!(dropped(0.0) && !dropped(6.0), "{gate_delay}");
    }
}
