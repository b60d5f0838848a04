//! A sender alone, in cases where a script (see `tests/packetdrill`) would not be shorter.

use super::*;
use crate::transport::Acknowledgment;
use crate::transport::flags;
use crate::transport::testing::{MSS, Wire, settings};
use aqm_core::units::Span;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// What the sender sends now: numbers of segments, retransmissions included.
fn sent(sender: &mut Sender, ms: u64) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll(at(ms))).map(|segment| segment.seq / MSS).collect()
}

/// An acknowledgment of `segments` whole segments, with blocks of segments beyond.
fn ack(sender: &mut Sender, ms: u64, segments: u64, blocks: &[(u64, u64)]) {
    let mut ack = Acknowledgment { ack: segments * MSS, echo: at(ms - 50), ..Acknowledgment::default() };
    for (slot, (first, last)) in ack.sack.iter_mut().zip(blocks) {
        *slot = (((first - segments) * MSS) as u32, ((last + 1 - segments) * MSS) as u32);
        ack.sack_count += 1;
    }
    sender.on_ack(&ack, at(ms));
}

fn bulk(tcp: &Tcp) -> Sender {
    let mut sender = Sender::new(tcp, Random::seeded(1));
    sender.write(u64::MAX);
    sender
}

#[test]
fn with_prr_a_recovery_sends_every_other_time_instead_of_pausing() {
    let mut sender = bulk(&settings("newreno recovery.prr on iw 40"));
    sent(&mut sender, 0);
    for (ms, last, new) in [(50, 1, vec![40]), (51, 2, vec![41])] {
        ack(&mut sender, ms, 0, &[(1, last)]);
        assert_eq!(sent(&mut sender, ms), new);
    }
    // Recovery with 42 outstanding, two by limited transmit: ssthresh 20. The retransmission goes at once; then 20 of 42 that
    // arrived are due.
    let counts: Vec<usize> = (3..13)
        .map(|last| {
            ack(&mut sender, 50 + last, 0, &[(1, last)]);
            sent(&mut sender, 50 + last).len()
        })
        .collect();
    assert_eq!(counts, [1, 0, 0, 0, 1, 0, 1, 0, 1, 0]);
}

#[test]
fn a_loss_halves_the_flight_or_if_set_the_pipe_or_the_window() {
    // Ten segments, and one more for each of the first two reports, which do not count in the flight: twelve outstanding, of
    // which three have arrived and one is lost.
    for (halved, segments) in [("flight", 5), ("pipe", 4), ("cwnd", 5)] {
        let mut sender = bulk(&settings(&format!("newreno recovery.ssthresh {halved}")));
        sent(&mut sender, 0);
        for last in 1..=3 {
            ack(&mut sender, 50 + last, 0, &[(1, last)]);
            sent(&mut sender, 50 + last);
        }
        assert_eq!(sender.cwnd(), segments * MSS);
    }
}

/// Segments as sent from the first retransmission of segment 14 on, with `lost` in a row from 14 on, over 800 kbit/s and
/// 200 ms.
fn losses_in_a_row(lost: u64) -> Vec<u64> {
    let tcp = settings("newreno iw 1 sack off minrto 1s");
    let mut wire = Wire::new(&tcp, 200 * MSS);
    // The segments of the first window are lost before any acknowledgment: the connection begins with the first.
    wire.delay = Span::from_millis(190);
    wire.lossy = (14..14 + lost).collect();
    while wire.step(at(9000)) {}
    let sent: Vec<u64> = wire.sent.iter().map(|(_, number)| *number).collect();
    let again = sent.iter().enumerate().position(|(index, number)| sent[..index].contains(number));
    sent[again.expect("something was lost")..].to_vec()
}

#[test]
fn the_order_of_segments_after_losses_in_a_row_is_that_of_ns3() {
    // Facts of ns-3's loss tests of NewReno (RFC 5681, RFC 3042, RFC 6582): the order of segments.
    assert_eq!(losses_in_a_row(2)[..9], [14, 31, 32, 33, 34, 35, 15, 36, 37]);
    assert_eq!(losses_in_a_row(3)[..7], [14, 31, 32, 33, 34, 15, 35]);
}

#[test]
fn a_window_that_the_receiver_bounds_grows_to_twice_what_was_sent() {
    // All of the window of ten goes out: the window fills it. Later flights are the receiver's ten.
    let mut sender = bulk(&settings("newreno window 10p"));
    sent(&mut sender, 0);
    for (ms, segments) in (1..=15).map(|ack| (50 + ack, 2 * ack)) {
        ack(&mut sender, ms, segments, &[]);
        sent(&mut sender, ms);
    }
    assert_eq!((sender.cwnd(), sender.control.window.cwnd), (10 * MSS, 20 * MSS));
}

fn rack() -> Tcp {
    settings("newreno recovery.rack on")
}

#[test]
fn with_rack_one_sacked_segment_suffices_after_a_quarter_of_a_round_trip() {
    let mut sender = bulk(&rack());
    sent(&mut sender, 0);
    // Segment 1 arrives after 50 ms, 0 does not: 50 ms and a quarter of them after its sending, it is lost.
    ack(&mut sender, 50, 0, &[(1, 1)]);
    assert_eq!(sent(&mut sender, 50), [10]);
    let due = Time::ZERO + Span::from_micros(62_500);
    assert_eq!(sender.deadline(), Some(due));
    sender.on_timer(due);
    assert_eq!(sender.poll(due).map(|segment| segment.seq), Some(0));
    assert_eq!((sender.losses().recoveries, sender.cwnd()), (1, 500)); // half of ten segments
}

#[test]
fn with_rack_three_sacked_segments_suffice_at_once() {
    let mut sender = bulk(&rack());
    sent(&mut sender, 0);
    ack(&mut sender, 50, 0, &[(1, 3)]);
    assert_eq!(sent(&mut sender, 50)[0], 0);
}

#[test]
fn with_rack_an_acknowledgment_that_advances_and_tells_of_later_segments_is_no_reordering() {
    let mut sender = bulk(&rack());
    sent(&mut sender, 0);
    // Segments 0, 1 and 3 arrive, and one delayed acknowledgment covers all.
    ack(&mut sender, 50, 2, &[(3, 3)]);
    sent(&mut sender, 50);
    ack(&mut sender, 51, 2, &[(3, 5)]);
    // Three segments beyond the hole suffice at once only where nothing was ever reordered.
    assert_eq!(sent(&mut sender, 51)[0], 2);
}

#[test]
fn with_rack_a_lost_retransmission_is_found_when_a_later_segment_arrives() {
    let mut sender = bulk(&rack());
    sent(&mut sender, 0);
    ack(&mut sender, 50, 0, &[(1, 9)]);
    assert_eq!(sent(&mut sender, 50), [0, 10, 11, 12, 13]);
    // Segment 10, sent right after the retransmission, arrives: so should the retransmission have.
    assert_eq!(sender.cwnd(), 5 * MSS);
    ack(&mut sender, 101, 0, &[(1, 10)]);
    assert_eq!(sender.cwnd(), 5 * MSS / 2); // RFC 5681 section 4.3
    assert!(sent(&mut sender, 101).is_empty()); // segments 11 to 13 are in the network
    ack(&mut sender, 102, 0, &[(1, 12)]);
    assert_eq!(sent(&mut sender, 102), [0]);
    // Nothing sent since the second reduction is lost: there is no third.
    ack(&mut sender, 103, 0, &[(1, 13)]);
    assert_eq!(sender.cwnd(), 5 * MSS / 2);
    assert_eq!((sender.losses().timeouts, sender.losses().recoveries), (0, 1));
}

#[test]
fn a_probe_follows_two_round_trips_after_the_tail_and_its_success_counts_as_a_loss() {
    let mut sender = Sender::new(&rack(), Random::seeded(1));
    sender.write(12 * MSS);
    sent(&mut sender, 0);
    ack(&mut sender, 50, 10, &[]);
    assert_eq!(sent(&mut sender, 50), [10, 11]);
    // Both are lost. SRTT 50 ms: the probe goes at 150 ms, long before the timeout at 250 ms.
    assert_eq!(sender.deadline(), Some(at(150)));
    sender.on_timer(at(150));
    assert_eq!(sent(&mut sender, 150), [11]);
    // It arrives: segment 10, sent a hundred milliseconds before it, is lost.
    ack(&mut sender, 200, 10, &[(11, 11)]);
    assert_eq!(sent(&mut sender, 200), [10]);
    assert_eq!((sender.losses().timeouts, sender.losses().recoveries), (0, 1));
}

#[test]
fn a_probe_that_repairs_the_only_loss_halves_the_window_and_a_spurious_one_does_not() {
    let run = |lost: bool| {
        let mut sender = Sender::new(&rack(), Random::seeded(1));
        sender.write(11 * MSS);
        sent(&mut sender, 0);
        ack(&mut sender, 50, 10, &[]);
        assert_eq!(sent(&mut sender, 50), [10]);
        let before = sender.cwnd();
        // A lone segment: two round trips and the longest delay of an acknowledgment, but not after the timeout.
        sender.on_timer(at(250));
        assert_eq!(sent(&mut sender, 250), [10]);
        ack(&mut sender, 251, 11, &[]);
        if !lost {
            ack(&mut sender, 252, 11, &[]); // the original came first, the probe is a duplicate
        }
        sender.write(MSS);
        sent(&mut sender, 300);
        ack(&mut sender, 350, 12, &[]);
        sender.cwnd() < before
    };
    assert_eq!((run(true), run(false)), (true, false));
}

#[test]
fn data_wait_for_the_syn_ack() {
    let mut sender = bulk(&settings("newreno handshake on"));
    let syn = sender.poll(at(0)).unwrap();
    assert_eq!((syn.payload, syn.flags), (0, flags::SYN));
    assert_eq!((sender.poll(at(0)), sender.deadline()), (None, Some(at(1000))));
    sender.on_syn_answered(at(0), at(50));
    assert_eq!(sent(&mut sender, 50), (0..10).collect::<Vec<_>>());
    // SRTT 50 ms, RTTVAR 25 ms from the handshake: at least 200 ms.
    assert_eq!(sender.deadline(), Some(at(250)));
}

#[test]
fn a_lost_syn_costs_a_second_the_initial_window_and_the_short_timeout() {
    let mut sender = bulk(&settings("newreno handshake on"));
    sender.poll(at(0));
    sender.on_timer(at(1000));
    assert_eq!(sender.poll(at(1000)).unwrap().flags, flags::SYN);
    assert_eq!(sender.deadline(), Some(at(3000)));
    sender.on_syn_answered(at(1000), at(1050));
    assert_eq!(sent(&mut sender, 1050), [0]);
    assert_eq!(sender.deadline(), Some(at(4050)));
}

#[test]
fn a_lost_syn_costs_ecn_if_set() {
    for (falls_back, codepoint) in [("off", Ecn::Ect0), ("on", Ecn::NotEct)] {
        let mut sender =
            bulk(&settings(&format!("newreno handshake on ecn classic recovery.ecn_fallback {falls_back}")));
        sender.poll(at(0));
        sender.on_timer(at(1000));
        sender.poll(at(1000));
        sender.on_syn_answered(at(1000), at(1050));
        assert_eq!(sender.poll(at(1050)).unwrap().ecn, codepoint);
    }
}

#[test]
fn the_last_segment_of_a_finite_flow_carries_fin_each_time() {
    let mut sender = Sender::new(&settings("newreno"), Random::seeded(1));
    sender.write(2 * MSS);
    sender.close();
    let flags: Vec<u8> = std::iter::from_fn(|| sender.poll(at(0))).map(|segment| segment.flags).collect();
    assert_eq!(flags, [flags::ACK, flags::ACK | flags::FIN]);
    ack(&mut sender, 50, 1, &[]);
    let due = sender.deadline().unwrap();
    sender.on_timer(due);
    assert_eq!(sender.poll(due).map(|segment| segment.flags), Some(flags::ACK | flags::FIN));
}
