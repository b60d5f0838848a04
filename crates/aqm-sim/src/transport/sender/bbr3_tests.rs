//! BBRv3 over the path of BBRv1's tests: 10 000 bytes a second, a round trip of 110 ms, eleven segments of 100 bytes.

use super::*;
use crate::transport::testing::{MSS, Wire, settings};
use aqm_core::units::Span;
use std::collections::BTreeSet;

fn bbr3() -> Tcp {
    settings("bbr3 recovery.rack off")
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn bulk() -> Wire {
    Wire::new(&bbr3(), u64::MAX)
}

/// Runs until the pacing rate is `pace` times that of the bottleneck. Returns when that was.
fn until_pace(wire: &mut Wire, pace: f64) -> u64 {
    while wire.step(at(60_000)) {
        if (wire.sender.control.rate().expect("it has a rate") / 10_000.0 - pace).abs() < 0.003 {
            return wire.now.as_nanos() / 1_000_000;
        }
    }
    panic!("the pace is never {pace}");
}

#[test]
fn startup_begins_with_the_initial_window_in_a_round_trip_times_2_77() {
    let mut wire = bulk();
    while wire.step(at(130)) {}
    // Unknown round trip: 2.77 times ten segments in a millisecond, 36 101 ns each. Then 2.77 times 1000 bytes in 110 ms,
    // a segment every 3971 us; each acknowledgment lets two of them go.
    let micros: Vec<u64> = wire.sent.iter().map(|sent| sent.0.as_nanos() / 1000).collect();
    assert_eq!(micros[..4], [0, 36, 72, 108]);
    assert_eq!(micros[10..], [110_000, 113_971, 120_000, 123_971, 130_000]);
}

#[test]
fn three_rounds_without_growth_end_startup_and_drain_ends_at_the_bandwidth_delay_product() {
    let mut wire = bulk();
    // Rounds begin at 220 ms (rate 0.91), 410 (0.99), and with 27 segments outstanding at 680 and 950 ms.
    let paces = wire.paces(at(1300), 0.008);
    assert_eq!(paces[paces.len() - 3..], [(410, 2.742), (950, 0.495), (1210, 0.99)]);
    let mut wire = bulk();
    until_pace(&mut wire, 0.495);
    assert_eq!(wire.sender.cwnd(), 2300); // twice eleven, and one by which acknowledgments run ahead
    until_pace(&mut wire, 0.99);
    assert_eq!(wire.sender.board.pipe(), 1100);
}

#[test]
fn six_ranges_lost_in_a_round_end_startup_and_bound_the_flight() {
    let with = |ranges: u64| {
        let mut wire = bulk();
        wire.lossy = (0..ranges).map(|range| 35 + 3 * range).collect();
        let drain = until_pace(&mut wire, 0.495);
        until_pace(&mut wire, 0.99);
        (drain, wire.sender.cwnd())
    };
    // Five ranges leave it to the plateau. The first of six is known at 480 ms; the round trip that begins then, with 22
    // segments outstanding, ends at 700 ms.
    let ((few, unbounded), (many, bounded)) = (with(5), with(6));
    assert_eq!((few, many), (900, 700));
    assert!(bounded < unbounded, "{bounded} {unbounded}");
}

#[test]
fn probe_bw_probes_for_three_rounds_drains_and_cruises() {
    let mut wire = bulk();
    let up = until_pace(&mut wire, 1.238);
    // Reno would gain eleven segments in eleven round trips; one of 110 ms less by chance, and one of REFILL.
    assert!((10..=12).contains(&((up - 1210) / 110)), "{up}");
    while wire.step(at(up + 100)) {}
    assert_eq!(wire.sender.cwnd(), 2775); // 2.25 times eleven, one for aggregation, two for probing
    let down = until_pace(&mut wire, 0.891);
    // Three rounds of 110 to 170 ms, as the queue grows by a quarter of a segment with each that arrives.
    assert!((3 * 110..3 * 170).contains(&(down - up)), "{up} {down}");
    assert_eq!(wire.sender.cwnd(), 2300);
    let excess = wire.sender.board.pipe() / MSS - 11;
    let cruise = until_pace(&mut wire, 0.99);
    // The excess leaves at 0.109 segments every 10 ms.
    assert!((cruise - down).abs_diff(excess * 10_000 / 109) < 30, "{excess}: {down} {cruise}");
    assert_eq!(wire.sender.board.pipe(), 1100);
}

#[test]
fn the_wait_between_probes_depends_on_the_random_numbers() {
    let up = |seed| {
        let mut wire = Wire::new(&bbr3(), 0);
        wire.sender = Sender::new(&bbr3(), Random::seeded(seed));
        wire.sender.write(u64::MAX);
        wire.pump();
        until_pace(&mut wire, 1.238)
    };
    let ups: BTreeSet<u64> = (0..20).map(up).collect();
    assert_eq!(ups.len(), 2, "{ups:?}"); // a round more or less
}

#[test]
fn probe_rtt_after_five_seconds_halves_the_flight_for_200_ms() {
    let mut wire = bulk();
    let mut small = Vec::new();
    while wire.step(at(17_000)) {
        if wire.now > at(1000) && (wire.sender.cwnd() == 550) != (small.len() % 2 == 1) {
            small.push(wire.now.as_nanos() / 1_000_000);
        }
    }
    // The last sample of 110 ms that counts is that of 110 ms: it expires with the first acknowledgment after 5110
    // ms. Twenty segments are five after fifteen more; then 200 ms, and the next acknowledgment. Five seconds later
    // it is eleven segments, which are five after six more.
    assert_eq!(small, [5115, 5495, 10_497, 10_787, 15_790, 16_080]);
}

#[test]
fn a_loss_while_cruising_costs_three_tenths_of_the_window_until_the_next_probe() {
    let mut wire = bulk();
    until_pace(&mut wire, 0.495);
    until_pace(&mut wire, 0.99);
    while wire.step(at(1500)) {}
    wire.lossy.insert(wire.sender.stream.next / MSS);
    let up = {
        let mut smallest = u64::MAX;
        while wire.step(at(2200)) {
            smallest = smallest.min(wire.sender.cwnd());
        }
        // 0.7 times 2300; in the round eleven were delivered, at the full rate.
        assert_eq!((smallest, wire.sender.losses().recoveries), (1610, 1));
        until_pace(&mut wire, 1.238)
    };
    assert!(up < 2500 && wire.sender.cwnd() >= 2300, "{up} {}", wire.sender.cwnd());
}

#[test]
fn a_probe_that_loses_too_much_bounds_the_flight_and_the_next_one_is_careful() {
    let mut wire = bulk();
    until_pace(&mut wire, 0.495);
    until_pace(&mut wire, 0.99);
    wire.buffer = 8; // eighteen segments fit: eight here, ten on their way back
    until_pace(&mut wire, 1.238);
    until_pace(&mut wire, 0.891);
    // The plateau ends the probe before its loss is known; the loss still counts as the probe's. The 19th segment was
    // lost, 5.3 % of the data in flight: 2 % is reached at 1800 bytes and 36.7 more. CRUISE leaves 15 % of that free.
    until_pace(&mut wire, 0.99);
    assert_eq!((wire.sender.cwnd(), wire.sender.losses().recoveries), (1836 - 275, 1));
    until_pace(&mut wire, 1.238);
    assert_eq!(wire.sender.cwnd(), 1836);
    let down = until_pace(&mut wire, 0.891);
    assert_eq!((wire.sender.cwnd(), wire.sender.losses().recoveries), (1836, 1)); // careful: eighteen are enough
    // All of that probe is acknowledged after a round trip of 180 ms; one round of REFILL, then the next probe.
    let up = until_pace(&mut wire, 1.238);
    assert!((300..400).contains(&(up - down)), "{down} {up}");
}

#[test]
fn samples_of_a_pausing_application_do_not_lower_the_estimate() {
    let mut wire = Wire::new(&bbr3(), 300 * MSS);
    while wire.step(at(5000)) {}
    assert!(wire.sender.board.is_empty());
    for second in 5..40 {
        wire.sender.write(MSS); // 100 bytes a second
        wire.pump();
        let pace = wire.sender.control.rate().unwrap() / 10_000.0;
        assert!((pace - 0.99).abs() < 0.001, "{pace}"); // after a pause at the bandwidth, less the margin
        while wire.step(at(1000 * (second + 1))) {}
    }
}
