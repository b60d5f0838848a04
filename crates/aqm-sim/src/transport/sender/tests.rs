//! A sender alone: acknowledgments in, segments out, by hand.

use super::*;
use crate::scenario::EcnMode;
use crate::transport::testing::{MSS, settings};

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
    let mut sender = Sender::new(tcp);
    sender.write(u64::MAX);
    sender
}

#[test]
fn slow_start_sends_two_segments_for_each_one_acknowledged() {
    let mut sender = bulk(&settings());
    assert_eq!(sent(&mut sender, 0), (0..10).collect::<Vec<_>>());
    ack(&mut sender, 50, 1, &[]);
    assert_eq!(sent(&mut sender, 50), [10, 11]);
    ack(&mut sender, 51, 3, &[]);
    assert_eq!(sent(&mut sender, 51), [12, 13, 14, 15]);
}

#[test]
fn three_sacked_segments_bring_back_the_one_below_and_halve_the_window() {
    let mut sender = bulk(&settings());
    sent(&mut sender, 0);
    ack(&mut sender, 50, 0, &[(1, 1)]);
    // The pipe is one segment shorter: limited transmit.
    assert_eq!(sent(&mut sender, 50), [10]);
    ack(&mut sender, 51, 0, &[(1, 2)]);
    assert_eq!(sent(&mut sender, 51), [11]);
    ack(&mut sender, 52, 0, &[(1, 3)]);
    // Twelve outstanding: ssthresh 6. Three sacked and one lost leave eight in the pipe: only the retransmission.
    assert_eq!(sent(&mut sender, 52), [0]);
    assert_eq!(sender.cwnd(), 6 * MSS);
    // Each further block takes one from the pipe of nine; the fourth makes room.
    for (ms, last) in [(53, 4), (54, 5), (55, 6)] {
        ack(&mut sender, ms, 0, &[(1, last)]);
        assert!(sent(&mut sender, ms).is_empty());
    }
    ack(&mut sender, 56, 0, &[(1, 7)]);
    assert_eq!(sent(&mut sender, 56), [12]);
    // The retransmission arrives: recovery lasts until segment 11, sent before it began, is acknowledged.
    ack(&mut sender, 102, 8, &[]);
    assert_eq!(sender.losses().recoveries, 1);
    assert_eq!(sender.cwnd(), 6 * MSS);
}

#[test]
fn without_sack_each_partial_acknowledgment_brings_back_one_segment() {
    let mut sender = bulk(&Tcp { sack: false, ..settings() });
    sent(&mut sender, 0);
    // Segments 0 and 4 are lost. RFC 3042: the first two duplicates release a new segment each.
    ack(&mut sender, 50, 0, &[]);
    assert_eq!(sent(&mut sender, 50), [10]);
    ack(&mut sender, 51, 0, &[]);
    assert_eq!(sent(&mut sender, 51), [11]);
    ack(&mut sender, 52, 0, &[]);
    // Twelve outstanding: ssthresh 6, window 6 + 3.
    assert_eq!(sent(&mut sender, 52), [0]);
    // Each duplicate inflates by one; twelve are in flight, so the fourth one makes room.
    for ms in 53..56 {
        ack(&mut sender, ms, 0, &[]);
        assert!(sent(&mut sender, ms).is_empty());
    }
    ack(&mut sender, 56, 0, &[]);
    assert_eq!(sent(&mut sender, 56), [12]);
    // Partial: 0 to 3 arrived. 4 comes back; the window deflates by four and inflates by one.
    ack(&mut sender, 102, 4, &[]);
    assert_eq!(sent(&mut sender, 102), [4, 13]);
    // Full: all that was outstanding when the loss was found.
    ack(&mut sender, 152, 12, &[]);
    assert_eq!(sender.cwnd(), 6 * MSS);
    assert_eq!(sent(&mut sender, 152), [14, 15, 16, 17]);
    assert_eq!((sender.losses().recoveries, sender.losses().retransmissions), (1, 2));
}

#[test]
fn a_timeout_starts_over_from_one_segment_and_doubles_the_timer() {
    let mut sender = bulk(&settings());
    sent(&mut sender, 0);
    ack(&mut sender, 50, 2, &[]);
    sent(&mut sender, 50);
    // SRTT 50 ms, RTTVAR 25 ms: 150 ms, but at least 200 ms.
    assert_eq!(sender.deadline(), Some(at(250)));
    sender.on_timer(at(249));
    assert_eq!(sender.losses().timeouts, 0);
    sender.on_timer(at(250));
    assert_eq!(sent(&mut sender, 250), [2]);
    assert_eq!(sender.cwnd(), MSS);
    assert_eq!(sender.deadline(), Some(at(650)));
    sender.on_timer(at(650));
    assert_eq!(sent(&mut sender, 650), [2]);
    assert_eq!((sender.losses().timeouts, sender.deadline()), (1, Some(at(1450))));
    // Slow start from there; what was sent before is sent again in order.
    ack(&mut sender, 700, 3, &[]);
    assert_eq!(sent(&mut sender, 700), [3, 4]);
}

#[test]
fn a_timeout_behind_a_hole_does_not_count_what_has_arrived_beyond_it() {
    let mut sender = bulk(&settings());
    sent(&mut sender, 0);
    // Segment 0 is lost, and so is its retransmission; meanwhile everything else arrives for two hundred milliseconds.
    let mut last = 9;
    for step in 0..3 {
        ack(&mut sender, 50 + 50 * step, 0, &[(1, last)]);
        last = sent(&mut sender, 50 + 50 * step).into_iter().max().unwrap_or(last);
    }
    assert!(last > 15, "new data went on beyond the hole, to {last}");
    let deadline = sender.deadline().unwrap();
    sender.on_timer(deadline);
    // The window was halved to five when the loss was found: half of at most five is left, not half of all since.
    assert!(sender.control.window.ssthresh <= 3 * MSS, "{}", sender.control.window.ssthresh);
}

#[test]
fn an_echo_halves_the_window_once_a_round_trip_and_is_answered_on_new_data() {
    let mut sender = bulk(&Tcp { ecn: EcnMode::Classic, ..settings() });
    sent(&mut sender, 0);
    let echo = |sender: &mut Sender, ms, segments: u64| {
        let ack =
            Acknowledgment { ack: segments * MSS, echo: at(ms - 50), ece: true, ..Acknowledgment::default() };
        sender.on_ack(&ack, at(ms));
        std::iter::from_fn(|| sender.poll(at(ms)))
            .map(|s| (s.seq / MSS, s.ecn == Ecn::Ect0, s.cwr))
            .collect::<Vec<_>>()
    };
    // Ten outstanding when the echo comes: window 5, pipe 9.
    assert!(echo(&mut sender, 50, 1).is_empty());
    assert_eq!(sender.cwnd(), 5 * MSS);
    // Still the same window of data.
    assert!(echo(&mut sender, 51, 5).is_empty());
    assert_eq!(sender.cwnd(), 5 * MSS);
    assert_eq!(echo(&mut sender, 52, 6), [(10, true, true)]);
    assert_eq!(echo(&mut sender, 53, 7), [(11, true, false)]);
    assert_eq!(sender.cwnd(), 5 * MSS);
    // Segment 10 was sent after the reduction: its echo is news.
    echo(&mut sender, 102, 11);
    assert!(sender.cwnd() < 5 * MSS);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut sender = Sender::new(&settings());
    for step in 0..20 {
        sender.write(2 * MSS);
        assert_eq!(sent(&mut sender, 100 * step).len(), 2);
        ack(&mut sender, 100 * step + 50, 2 * (step + 1), &[]);
    }
    assert_eq!(sender.cwnd(), 10 * MSS);
}

#[test]
fn an_idle_connection_starts_again_from_the_initial_window() {
    let mut sender = Sender::new(&settings());
    sender.write(30 * MSS);
    sent(&mut sender, 0);
    ack(&mut sender, 50, 10, &[]);
    // One acknowledgment grows the window by two segments at most: twelve more.
    assert_eq!(sent(&mut sender, 50).len(), 12);
    ack(&mut sender, 100, 22, &[]);
    assert_eq!(sent(&mut sender, 100).len(), 8);
    ack(&mut sender, 150, 30, &[]);
    let grown = sender.cwnd();
    assert!(grown > 10 * MSS);
    sender.write(30 * MSS);
    assert_eq!(sent(&mut sender, 1000).len(), 10);
}

#[test]
fn the_cap_on_the_window_bounds_what_is_outstanding() {
    let mut sender = bulk(&Tcp { window_bytes: Some(4 * MSS), ..settings() });
    assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3]);
    ack(&mut sender, 50, 1, &[]);
    assert_eq!(sent(&mut sender, 50), [4]);
}

#[test]
fn with_prr_a_recovery_sends_every_other_time_instead_of_pausing() {
    let mut sender = bulk(&Tcp { prr: true, initial_window: 40, ..settings() });
    sent(&mut sender, 0);
    for (ms, last, new) in [(50, 1, vec![40]), (51, 2, vec![41])] {
        ack(&mut sender, ms, 0, &[(1, last)]);
        assert_eq!(sent(&mut sender, ms), new);
    }
    // Recovery with 42 outstanding, ssthresh 21. The retransmission goes at once; then half of what arrived is due.
    let counts: Vec<usize> = (3..13)
        .map(|last| {
            ack(&mut sender, 50 + last, 0, &[(1, last)]);
            sent(&mut sender, 50 + last).len()
        })
        .collect();
    assert_eq!(counts, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1]);
}

fn rack() -> Tcp {
    Tcp { rack: true, ..settings() }
}

#[test]
fn by_time_one_reported_segment_is_enough_once_a_quarter_of_a_round_trip_has_passed() {
    let mut sender = bulk(&rack());
    sent(&mut sender, 0);
    // Segment 1 arrives after 50 ms, 0 does not: 50 ms and a quarter of them after its sending, it is lost.
    ack(&mut sender, 50, 0, &[(1, 1)]);
    assert_eq!(sent(&mut sender, 50), [10]);
    let due = Time::ZERO + Span::from_micros(62_500);
    assert_eq!(sender.deadline(), Some(due));
    sender.on_timer(due);
    assert_eq!(sender.poll(due).map(|segment| segment.seq), Some(0));
    assert_eq!((sender.losses().recoveries, sender.cwnd()), (1, 550)); // half of eleven segments
}

#[test]
fn by_time_three_reported_segments_are_enough_at_once() {
    let mut sender = bulk(&rack());
    sent(&mut sender, 0);
    ack(&mut sender, 50, 0, &[(1, 3)]);
    assert_eq!(sent(&mut sender, 50)[0], 0);
}

#[test]
fn by_time_a_lost_retransmission_is_found_when_something_sent_later_arrives() {
    let mut sender = bulk(&rack());
    sent(&mut sender, 0);
    ack(&mut sender, 50, 0, &[(1, 9)]);
    assert_eq!(sent(&mut sender, 50), [0, 10, 11, 12, 13]);
    // Segment 10, sent right after the retransmission, arrives: so should the retransmission have.
    ack(&mut sender, 101, 0, &[(1, 10)]);
    assert_eq!(sent(&mut sender, 101)[0], 0);
    assert_eq!(sender.losses().timeouts, 0);
}

#[test]
fn a_probe_follows_two_round_trips_after_the_tail_and_its_success_counts_as_a_loss() {
    let mut sender = Sender::new(&rack());
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
fn a_probe_that_repairs_the_only_loss_halves_the_window_and_a_needless_one_does_not() {
    let run = |lost: bool| {
        let mut sender = Sender::new(&rack());
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
fn data_wait_for_the_answer_to_the_syn() {
    let mut sender = bulk(&Tcp { handshake: true, ..settings() });
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
    let mut sender = bulk(&Tcp { handshake: true, ..settings() });
    sender.poll(at(0));
    sender.on_timer(at(1000));
    assert_eq!(sender.poll(at(1000)).unwrap().flags, flags::SYN);
    assert_eq!(sender.deadline(), Some(at(3000)));
    sender.on_syn_answered(at(1000), at(1050));
    assert_eq!(sent(&mut sender, 1050), [0]);
    assert_eq!(sender.deadline(), Some(at(4050)));
}

#[test]
fn the_last_segment_of_a_finite_flow_says_so_each_time_it_is_sent() {
    let mut sender = Sender::new(&settings());
    sender.write(2 * MSS);
    sender.close();
    let flags: Vec<u8> = std::iter::from_fn(|| sender.poll(at(0))).map(|segment| segment.flags).collect();
    assert_eq!(flags, [flags::ACK, flags::ACK | flags::FIN]);
    ack(&mut sender, 50, 1, &[]);
    let due = sender.deadline().unwrap();
    sender.on_timer(due);
    assert_eq!(sender.poll(due).map(|segment| segment.flags), Some(flags::ACK | flags::FIN));
}

#[test]
fn a_needless_timeout_is_taken_back_where_asked() {
    let run = |eifel| {
        let mut sender = bulk(&Tcp { eifel, ..settings() });
        sent(&mut sender, 0);
        ack(&mut sender, 50, 2, &[]);
        assert_eq!(sent(&mut sender, 50), [10, 11, 12, 13]);
        let before = sender.cwnd();
        sender.on_timer(at(250));
        assert_eq!(sent(&mut sender, 250), [2]);
        // The acknowledgment was only late: it echoes what was sent at 0, before the retransmission.
        let late = Acknowledgment { ack: 10 * MSS, echo: at(0), ..Acknowledgment::default() };
        sender.on_ack(&late, at(260));
        (before, sender.cwnd(), sent(&mut sender, 260))
    };
    // Four outstanding and eight acknowledged: a window of twelve again, as was outstanding at the timeout.
    let (before, after, next) = run(true);
    assert_eq!((before, after), (12 * MSS, 12 * MSS));
    assert_eq!(next, (14..22).collect::<Vec<_>>());
    let (_, after, next) = run(false);
    assert_eq!(after, 3 * MSS); // slow start from one
    assert_eq!(next, [10, 11, 12]);
}

#[test]
fn a_needless_fast_retransmit_is_taken_back_where_asked() {
    let mut sender = bulk(&Tcp { eifel: true, ..settings() });
    sent(&mut sender, 0);
    ack(&mut sender, 50, 0, &[(1, 3)]); // segment 0 was overtaken
    assert_eq!((sent(&mut sender, 50)[0], sender.cwnd()), (0, 5 * MSS));
    let original = Acknowledgment { ack: 4 * MSS, echo: at(0), ..Acknowledgment::default() };
    sender.on_ack(&original, at(51));
    assert!(sender.cwnd() >= 10 * MSS, "{}", sender.cwnd());
    assert_eq!(sent(&mut sender, 51), [10, 11, 12, 13]);
}
