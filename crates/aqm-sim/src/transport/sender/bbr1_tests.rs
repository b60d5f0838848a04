//! BBRv1 with a bottleneck that sends a segment of 100 bytes every 10 ms, and 100 ms of other delay: 10 000 bytes a
//! second, a round trip of 110 ms, a bandwidth-delay product of eleven segments.

use super::*;
use crate::transport::testing::{MSS, Wire, settings};
use aqm_core::units::Span;
use std::collections::BTreeSet;

fn bbr1() -> Tcp {
    settings("bbr1 recovery.rack off")
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// The window, and how much of it is used, in segments.
fn window(wire: &Wire) -> (u64, u64) {
    (wire.sender.cwnd() / MSS, wire.sender.board.pipe() / MSS)
}

#[test]
fn startup_begins_with_the_initial_window_in_a_round_trip_times_2_89() {
    let mut wire = Wire::new(&bbr1(), u64::MAX);
    while wire.step(at(130)) {}
    // Unknown round trip: 2.89 times ten segments in a millisecond, 34 602 ns each. Then 2.89 times 1000 bytes in 110 ms,
    // a segment every 3806 us; each acknowledgment lets two of them go.
    let micros: Vec<u64> = wire.sent.iter().map(|sent| sent.0.as_nanos() / 1000).collect();
    assert_eq!(micros[..4], [0, 34, 69, 103]);
    assert_eq!(micros[10..], [110_000, 113_806, 120_000, 123_806, 130_000]);
}

#[test]
fn three_rounds_without_growth_end_startup_and_drain_empties_the_queue() {
    let mut wire = Wire::new(&bbr1(), u64::MAX);
    let paces = wire.paces(at(1500), 0.01);
    // Rounds begin at 220 ms (rate 0.91), 420 (1.0), about 760 and 1100 ms, with 35 segments outstanding: 2.89 times
    // eleven and three quanta of one. Drain at 1 / 2.89 takes 21 segments away at 0.654 segments every 10 ms: 320 ms.
    assert_eq!(paces[paces.len() - 3..], [(410, 2.89), (1100, 0.346), (1410, 1.0)]);
    let mut wire = Wire::new(&bbr1(), u64::MAX);
    while wire.step(at(1099)) {}
    assert_eq!(window(&wire), (35, 35));
    while wire.step(at(1410)) {}
    assert_eq!(window(&wire), (25, 14)); // twice eleven and three; eleven and three
}

#[test]
fn probe_bw_goes_through_eight_phases_of_a_round_trip_each() {
    let mut wire = Wire::new(&bbr1(), u64::MAX);
    let paces = wire.paces(at(6000), 0.01);
    // An acknowledgment every 10 ms: the first beyond 110 ms comes after 120. Six phases of 1.0 are one here.
    let steady: Vec<_> = paces.into_iter().filter(|pace| pace.0 > 2900).collect();
    let mut expected = Vec::new();
    for cycle in 0..3 {
        let begin = 2950 + 960 * cycle;
        expected.extend([(begin, 1.25), (begin + 120, 0.75), (begin + 240, 1.0)]);
    }
    assert_eq!(steady[..expected.len()], expected);
}

#[test]
fn the_first_phase_depends_on_the_random_numbers() {
    let first = |seed| {
        let mut wire = Wire::new(&bbr1(), 0);
        wire.sender = Sender::new(&bbr1(), Random::seeded(seed));
        wire.sender.write(u64::MAX);
        wire.pump();
        wire.paces(at(2600), 0.01).into_iter().find(|pace| pace.1 == 1.25).map(|pace| pace.0)
    };
    let firsts: BTreeSet<_> = (0..60).filter_map(first).collect();
    // ProbeBW begins at 1410 ms with any of the phases but the one that drains: 1.25 follows after up to six others.
    assert_eq!(firsts, (0..7).map(|phases| 1410 + 120 * phases).collect());
}

#[test]
fn probe_rtt_after_ten_seconds_leaves_four_segments_for_200_ms() {
    let mut wire = Wire::new(&bbr1(), u64::MAX);
    let mut small = Vec::new();
    while wire.step(at(25_000)) {
        if wire.now > at(1000) && (wire.sender.cwnd() == 4 * MSS) != (small.len() % 2 == 1) {
            small.push(wire.now.as_nanos() / 1_000_000);
        }
    }
    // Segment 10 was the last to take 110 ms, from 110 to 220: they expire with the acknowledgment after 10 220 ms.
    // Thirteen outstanding segments are four after nine more; then 200 ms, and the next acknowledgment after that.
    assert_eq!(small[..2], [10_230, 10_550]);
    // The first segment of the next phase of 1.25, sent at 11 150 ms, is the last without a queue.
    assert_eq!(small[2], 21_270);
}

#[test]
fn a_loss_costs_a_round_of_packet_conservation_but_no_pacing_rate() {
    let mut wire = Wire::new(&bbr1(), u64::MAX);
    while wire.step(at(2500)) {}
    let lost = wire.sender.stream.next / MSS;
    wire.lossy.insert(lost);
    let mut windows = Vec::new();
    while wire.step(at(3000)) {
        if wire.sender.recovery.phase != Phase::Open {
            windows.push(window(&wire).0);
        }
        let pace = wire.sender.control.rate().unwrap() / 10_000.0;
        assert!([0.75, 1.0, 1.25].iter().any(|gain| (pace / gain - 1.0).abs() < 0.01), "{pace}");
    }
    // At the third report thirteen are outstanding, less the lost one; one was delivered just now.
    assert!(windows.iter().all(|window| *window == 13), "{windows:?}");
    assert_eq!(wire.sender.losses().recoveries, 1);
    assert_eq!(window(&wire).0, 25); // as before
}

#[test]
fn samples_of_a_pausing_application_do_not_lower_the_estimate() {
    let mut wire = Wire::new(&bbr1(), 300 * MSS);
    while wire.step(at(5000)) {}
    assert!(wire.sender.board.is_empty());
    for second in 5..40 {
        wire.sender.write(MSS); // 100 bytes a second
        wire.pump();
        assert_eq!((wire.sender.control.rate().unwrap() / 10.0).round(), 1000.0); // after a pause at exactly the bandwidth
        while wire.step(at(1000 * (second + 1))) {}
    }
}
