//! DualPI2 as a whole, computed by hand.

use super::settings::controller;
use crate::discipline::testing::{Host, ms};
use crate::packet::{Ecn, Packet};
use crate::signal::{DropReason, MarkReason};
use crate::units::Time;
use alloc::string::ToString;
use alloc::vec::Vec;

fn put(host: &mut Host, at: Time, cookie: u64, ecn: Ecn) {
    let mut packet = Packet::new(cookie, cookie, 1514);
    packet.ecn = ecn;
    host.enqueue(at, packet);
}

/// Classic packets 0 to 9 and L4S packets 20 to 29 are queued since 0 ms; at 100 ms p' is `beta` / 10.
fn standing(beta: u32, more: &str, uniforms: &[f64]) -> Host {
    let spec = alloc::format!("dualpi2 tupdate 100ms alpha 0 beta {beta} step_thresh 1s signals lot {more}");
    let mut host = Host::scripted(&spec, uniforms);
    (0..10).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::NotEct));
    (20..30).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
    host.wake_until(ms(100));
    assert!((host.probe("base_probability") - f64::from(beta) / 10.0).abs() < 1e-12);
    host
}

#[test]
fn the_identifier_chooses_the_queue_and_l4s_goes_first_nine_times_in_ten() {
    let mut host = Host::new("dualpi2");
    for (cookie, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ce)] {
        put(&mut host, ms(0), cookie, ecn);
    }
    assert_eq!((host.probe("l4s_backlog"), host.probe("classic_backlog")), (2.0, 2.0));
    let mut host = standing(0, "", &[0.5]);
    // Tags of 1514 bytes: 1/90 each against 1/10: the ninth ties, and the L4S queue goes first.
    let order: Vec<_> = (0..12).filter_map(|_| host.get(ms(100))).collect();
    assert_eq!(order, [20, 21, 22, 23, 24, 25, 26, 27, 28, 0, 29, 1]);
}

#[test]
fn a_time_shifted_fifo_serves_the_older_head() {
    let mut host = Host::new("dualpi2 scheduler tsfifo tshift 20ms");
    put(&mut host, ms(0), 0, Ecn::NotEct);
    put(&mut host, ms(5), 1, Ecn::NotEct);
    put(&mut host, ms(20), 2, Ecn::Ect1); // as if come at 0 ms
    put(&mut host, ms(26), 3, Ecn::Ect1); // as if come at 6 ms
    assert_eq!([26; 4].map(|at| host.get(ms(at)).unwrap()), [2, 0, 1, 3]);
}

#[test]
fn with_any_ect_ect_0_goes_to_the_l4s_queue() {
    let mut host = Host::new("dualpi2 any_ect");
    for (cookie, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ce)] {
        put(&mut host, ms(0), cookie, ecn);
    }
    assert_eq!((host.probe("l4s_backlog"), host.probe("classic_backlog")), (3.0, 1.0));
}

#[test]
fn the_base_probability_is_squared_for_classic_packets_and_doubled_for_l4s() {
    // p' = 0.3: 0.09 and 0.6.
    let mut host = standing(3, "scheduler tsfifo tshift 0s", &[0.59, 0.61]);
    assert_eq!([host.get(ms(100)), host.get(ms(100))], [Some(20), Some(21)]);
    assert_eq!(host.log.marked, [(20, MarkReason::Congestion)]);
    let mut host = standing(3, "classic_protection 99%", &[0.08, 0.1]);
    assert_eq!(host.get(ms(100)), Some(1)); // 0.08 < 0.09 drops packet 0
    assert_eq!(host.log.dropped, [(0, DropReason::Congestion)]);
}

#[test]
fn classic_packets_are_marked_where_they_can_be_and_not_in_overload() {
    let run = |beta| {
        let mut host = standing(beta, "classic_protection 99%", &[0.0]);
        while host.qdisc.backlog().packets > 0 {
            host.get(ms(100));
        }
        (0..4).for_each(|cookie| put(&mut host, ms(101), 50 + cookie, Ecn::Ect0));
        host.get(ms(101));
        (host.marked().contains(&50), host.dropped().contains(&50))
    };
    assert_eq!(run(4), (true, false));
    assert_eq!(run(5), (false, true)); // k p' = 1
}

#[test]
fn in_overload_l4s_packets_are_dropped_by_the_square_and_the_others_marked() {
    let mut host = standing(6, "scheduler tsfifo tshift 0s", &[0.35, 0.37]);
    assert_eq!(host.get(ms(100)), Some(21)); // 0.35 < 0.36 drops packet 20; 0.37 spares 21, which is marked
    assert_eq!((host.dropped(), host.marked()), (alloc::vec![20], alloc::vec![21]));
}

#[test]
fn the_l4s_queue_marks_on_its_own_along_a_ramp_or_at_a_step() {
    let marked = |spec: &str, micros: u64| {
        let mut host = Host::scripted(spec, &[0.5]);
        (0..2).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
        host.get(Time::from_nanos(micros * 1000));
        host.marked().len()
    };
    // Halfway between 800 and 1200 us the probability is 0.5, which a lot of 0.5 does not meet.
    assert_eq!([800, 1000, 1001, 1200].map(|at| marked("dualpi2 signals lot", at)), [0, 0, 1, 1]);
    assert_eq!([1000, 1001].map(|at| marked("dualpi2:linux", at)), [0, 1]);
}

#[test]
fn likelihoods_add_up_to_signals_without_chance() {
    // p' = 0.3: k p' = 0.6 gives 0.6, 1.2 (one), 0.8, 1.4 (one).
    let mut host = standing(3, "scheduler tsfifo tshift 0s signals count", &[0.0]);
    (0..4).for_each(|_| _ = host.get(ms(100)));
    assert_eq!(host.marked(), [21, 23]);
    // p' = 0.6: 0.36, 0.72, 1.08 (one).
    let mut host = standing(6, "classic_protection 99% signals count", &[0.0]);
    assert_eq!([host.get(ms(100)), host.get(ms(100))], [Some(0), Some(1)]);
    assert_eq!(host.get(ms(100)), Some(3));
    assert_eq!(host.dropped(), [2]);
}

#[test]
fn with_a_weak_coupling_marks_last_until_the_square_is_one() {
    let run = |beta| {
        let mut host = standing(beta, "classic_protection 99% coupling_factor 0.5", &[0.0]); // every lot hits
        (50..56).for_each(|cookie| put(&mut host, ms(100), cookie, Ecn::Ect0));
        while host.get(ms(100)).is_some() {}
        (host.marked().contains(&50), host.dropped().contains(&50))
    };
    assert_eq!(run(9), (true, false)); // p' = 0.9
    assert_eq!(run(10), (false, true)); // p' = 1
}

#[test]
fn round_trip_times_set_the_controller_as_tc_does() {
    let found = |text: &str| {
        let spec = crate::spec::Spec::parse(text).unwrap();
        let (law, tupdate) = controller(&spec.params).unwrap();
        let near = |value: f64| (value * 1e6 + 0.5) as u64;
        (near(law.target), tupdate.as_nanos() / 1000, near(law.alpha), near(law.beta))
    };
    // RFC 9332 appendix A.1 with its own round-trip times, 15 and 100 ms: its own values.
    let own = (15_000, 15_000, 150_000, 3_000_000);
    assert_eq!(found("dualpi2 typical_rtt 15ms max_rtt 100ms"), own);
    assert_eq!(found("dualpi2"), own);
    // 0.1 * 0.02 / 0.2^2 and 0.3 / 0.2; then 50 ms follow from 300: 0.1 * 0.05 / 0.09.
    assert_eq!(found("dualpi2:linux typical_rtt 20ms max_rtt 200ms"), (20_000, 20_000, 50_000, 1_500_000));
    assert_eq!(found("dualpi2 max_rtt 300ms"), (50_000, 50_000, 55_556, 1_000_000));
    assert_eq!(found("dualpi2 typical_rtt 50ms"), (50_000, 50_000, 55_556, 1_000_000));
    let refused = |text: &str| {
        let spec = crate::spec::Spec::parse(text).unwrap();
        controller(&spec.params).unwrap_err().to_string()
    };
    let order = "parameter 'typical_rtt': '200ms' must be at most max_rtt, which is 100ms";
    assert_eq!(refused("dualpi2 typical_rtt 200ms max_rtt 100ms"), order);
    let both = "parameter 'target': '5ms' follows from typical_rtt and max_rtt: give either it or them";
    assert_eq!(refused("dualpi2 target 5ms max_rtt 100ms"), both);
}

#[test]
fn without_protection_the_l4s_queue_always_goes_first_and_with_all_of_it_the_classic_one() {
    let order = |spec: &str| {
        let mut host = standing(0, spec, &[0.5]);
        (0..12).filter_map(|_| host.get(ms(100))).collect::<Vec<_>>()
    };
    assert_eq!(order("classic_protection 0"), [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 0, 1]);
    assert_eq!(order("classic_protection 100%"), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21]);
}

#[test]
fn a_step_in_packets_counts_what_is_left_behind() {
    let mut host = Host::new("dualpi2 signals lot step_thresh 3p");
    (0..6).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
    while host.get(ms(9)).is_some() {}
    assert_eq!(host.marked(), [0, 1]); // five and four are left
}

#[test]
fn a_packet_that_found_few_is_spared_by_the_step() {
    let mut host = Host::new("dualpi2:linux min_qlen_step 2");
    (0..4).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
    while host.get(ms(9)).is_some() {}
    assert_eq!(host.marked(), [2, 3]);
}

#[test]
fn signals_to_arriving_packets_leave_those_that_wait_alone() {
    // p' = 0.3: 0.08 < 0.09 drops a classic packet, 0.59 < 0.6 marks an L4S packet.
    let mut host = standing(3, "drop_enqueue scheduler tsfifo tshift 0s", &[0.08, 0.59]);
    put(&mut host, ms(100), 50, Ecn::NotEct);
    put(&mut host, ms(100), 60, Ecn::Ect1);
    assert_eq!((host.dropped(), host.marked()), (alloc::vec![50], alloc::vec![60]));
    while host.get(ms(100)).is_some() {}
    assert_eq!((host.dropped(), host.marked()), (alloc::vec![50], alloc::vec![60]));
}

#[test]
fn with_overflow_p_stops_at_1_by_k_and_l4s_packets_are_marked_only() {
    let spec = "dualpi2 tupdate 100ms alpha 0hz beta 9hz step_thresh 1s signals lot overflow";
    let mut host = Host::scripted(spec, &[0.0]);
    (20..30).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::Ect1));
    host.wake_until(ms(100));
    assert_eq!(host.probe("base_probability"), 0.5);
    while host.get(ms(100)).is_some() {}
    // While more than two full packets wait: 20 to 27.
    assert_eq!((host.dropped().len(), host.marked().len()), (0, 8));
}

#[test]
fn memory_is_a_limit_beside_that_in_packets() {
    let mut host = Host::new("dualpi2 memlimit 4000b");
    (0..3).for_each(|cookie| put(&mut host, ms(0), cookie, Ecn::NotEct));
    assert_eq!(host.log.dropped, [(2, DropReason::Overlimit)]);
    host.qdisc.change(&[("memlimit", "2000b")], ms(1), &mut host.log).unwrap();
    assert_eq!(host.dropped(), [2, 1]);
}

#[test]
fn the_step_spares_the_last_packet_of_the_l4s_queue_but_in_linux() {
    let marked = |spec| {
        let mut host = Host::new(spec);
        put(&mut host, ms(0), 0, Ecn::Ect1);
        assert_eq!(host.get(ms(9)), Some(0));
        host.marked().len()
    };
    assert_eq!(["dualpi2", "dualpi2:linux", "dualpi2:linux step_alone off"].map(marked), [0, 1, 0]);
}
