use super::*;
use crate::log::replay;
use aqm_core::random::Random;
use aqm_path::wire::{Impairments, Loss, Reorder, Slots};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) fn line(aqm: &str) -> Line {
    Line {
        aqm: aqm.to_string(),
        rate_bps: 10_000_000,
        trace: None,
        overhead: 14,
        classes: Vec::new(),
        delay_ns: 20_000_000,
        wire: Impairments::default(),
        log: None,
    }
}

pub(super) fn direction(line: &Line) -> Direction {
    Direction::new(line, "down", 1, Span::from_millis(100)).unwrap()
}

/// An Ethernet frame of `length` bytes with UDP from `port`, ECT(0).
pub(super) fn frame(port: u16, length: usize) -> Vec<u8> {
    let mut frame = vec![0; length];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14..16].copy_from_slice(&[0x45, 2]);
    frame[16..18].copy_from_slice(&((length - 14) as u16).to_be_bytes());
    (frame[22], frame[23]) = (64, 17);
    frame[34..36].copy_from_slice(&port.to_be_bytes());
    frame
}

fn micros(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// When and with which bytes packets leave, looked at whenever something is due.
fn left(direction: &mut Direction, until: Time) -> Vec<(Time, Vec<u8>)> {
    let (mut found, mut packets) = (Vec::new(), Vec::new());
    while direction.next() <= until {
        let now = direction.next();
        direction.advance(now);
        direction.leave(now, 32, &mut packets);
        for packet in packets.drain(..) {
            found.push((now, direction.frame(packet).to_vec()));
            direction.sent(packet, now, true);
        }
    }
    found
}

#[test]
fn packets_leave_after_their_serialisation_and_the_delay_one_behind_the_other() {
    let mut direction = direction(&line("fifo limit 100p"));
    for _ in 0..3 {
        direction.arrive(&frame(1, 1514), Time::ZERO);
    }
    // 1514 bytes at 10 Mbit/s take 1211.2 us.
    let times: Vec<Time> =
        left(&mut direction, Time::MAX - Span::from_nanos(1)).iter().map(|it| it.0).collect();
    let expected = [1, 2, 3].map(|n| Time::from_nanos(20_000_000 + n * 1_211_200));
    assert_eq!(times, expected);
    direction.finish(micros(100_000));
    assert_eq!(direction.qdisc().counters().sojourn_max, Span::from_nanos(2 * 1_211_200));
    assert_eq!(direction.used() / direction.offered(micros(100_000)), 3.0 * 1514.0 * 8.0 / 1e6);
}

#[test]
fn decisions_and_times_are_the_same_however_late_it_is_looked_at() {
    let run = |step: u64| {
        let mut direction = direction(&line("codel target 2ms interval 20ms limit 1000p ecn"));
        let mut random = Random::seeded(1);
        let mut at = Time::ZERO;
        let mut packets = Vec::new();
        let mut due = Vec::new();
        for n in 0..2000 {
            at += Span::from_nanos(random.below(1_800_000));
            direction.arrive(&frame(n % 7, 1514), at);
            if n % step as u16 == 0 {
                direction.advance(at);
                due.extend(direction.in_flight.iter().map(|it| (it.due, it.arrival)));
                direction.leave(Time::MAX, usize::MAX, &mut packets);
                packets.drain(..).for_each(|packet| direction.sent(packet, Time::MAX, true));
            }
        }
        direction.finish(at + Span::from_secs(5));
        due.extend(direction.in_flight.iter().map(|it| (it.due, it.arrival)));
        assert!(direction.qdisc().counters().marked > 10);
        (due, direction.qdisc().counters().clone())
    };
    assert_eq!(run(1), run(400));
}

#[test]
fn what_was_before_measuring_began_is_not_counted() {
    let mut direction = direction(&line("fifo limit 100p"));
    (0..3).for_each(|n| direction.arrive(&frame(1, 1514), micros(n)));
    direction.restart(micros(10_000));
    let counters = direction.qdisc().counters();
    assert_eq!((counters.arrived, counters.departed, direction.meter().began()), (3, 3, micros(10_000)));
    (0..2).for_each(|n| direction.arrive(&frame(1, 1514), micros(20_000 + n)));
    direction.finish(micros(110_000));
    assert_eq!(direction.meter().queue.sojourn.iter().map(|(_, count)| count).sum::<u32>(), 2);
    assert_eq!(direction.used() / direction.offered(micros(110_000)), 2.0 * 1514.0 * 8.0 / 1e6);
}

#[test]
fn drops_and_marks_are_of_what_arrived_since_measuring_began_and_the_longest_queue_of_all() {
    for ecn in ["ecn", "noecn"] {
        let mut direction = direction(&line(&format!("codel target 1ms interval 5ms limit 1000p {ecn}")));
        (0..300).for_each(|n| direction.arrive(&frame(1, 1514), micros(n)));
        direction.restart(micros(10_000));
        let (waiting, before) = (direction.qdisc().backlog().packets, direction.qdisc().counters().clone());
        direction.finish(micros(1_000_000));
        let counters = direction.qdisc().counters();
        assert!(counters.dropped_total() + counters.marked > before.dropped_total() + before.marked + 3);
        let meter = &direction.meter().queue;
        let signals = &meter.signals;
        assert_eq!((signals.early, signals.overflow, signals.marks), (0, 0, 0), "{ecn}");
        assert_eq!(meter.queue.max_packets, waiting);
        (0..300).for_each(|n| direction.arrive(&frame(1, 1514), micros(1_000_000 + n)));
        direction.finish(micros(2_000_000));
        let signals = &direction.meter().queue.signals;
        assert!(signals.early + signals.marks > 3, "{ecn}");
    }
}

#[test]
fn the_meter_agrees_with_the_books_of_the_discipline() {
    let mut direction = direction(&line("codel target 1ms interval 5ms limit 200p ecn"));
    (0..300).for_each(|n| direction.arrive(&frame(1, 1514), micros(10 * n)));
    direction.finish(micros(1_000_000));
    let counters = direction.qdisc().counters();
    let found: BTreeMap<_, _> = direction.meter().queue.packets(1.0).collect();
    assert_eq!(found["packets_arrived"], counters.arrived as f64);
    assert_eq!(found["marks"], counters.marked as f64);
    assert_eq!(found["loss_ratio"], counters.lost() as f64 / counters.arrived as f64);
    assert_eq!(found["throughput_mbit"], counters.departed_bytes as f64 * 8.0 / 1e6);
    let mean = counters.sojourn_sum.as_nanos() as f64 / counters.departed as f64 / 1e6;
    assert_eq!(found["qdelay_mean_ms"], mean);
    assert!(counters.lost() > 10 && counters.departed > 100);
}

#[test]
fn a_packet_that_the_end_refuses_is_not_delivered() {
    let mut direction = direction(&line("fifo limit 100p"));
    (0..2).for_each(|n| direction.arrive(&frame(1, 1514), micros(n)));
    let mut packets = Vec::new();
    direction.advance(micros(50_000));
    direction.leave(micros(50_000), 32, &mut packets);
    direction.sent(packets[0], micros(50_000), true);
    direction.sent(packets[1], micros(50_000), false);
    let meter = direction.meter();
    assert_eq!((meter.delivered, meter.refused, meter.one_way_sum), (1, 1, 50_000_000));
}

#[test]
fn a_mark_is_in_the_packet_that_leaves() {
    let mut direction = direction(&line("dctcp_step limit 100p"));
    for _ in 0..60 {
        direction.arrive(&frame(1, 1514), Time::ZERO);
    }
    let marked = left(&mut direction, micros(1_000_000)).iter().filter(|(_, it)| it[15] & 3 == 3).count();
    assert_eq!(marked as u64, direction.qdisc().counters().marked);
    assert!(marked > 0);
}

#[test]
fn a_trace_carries_1500_bytes_of_ip_at_each_opportunity() {
    let path = temporary("trace");
    std::fs::write(&path, "10\n20\n30\n40\n").unwrap();
    let mut direction = direction(&Line { trace: Some(path.clone()), ..line("fifo limit 100p") });
    std::fs::remove_file(path).unwrap();
    // Two small packets leave together, a full one needs what is left and the next opportunity.
    for length in [514, 514, 1514] {
        direction.arrive(&frame(1, length), micros(1000));
    }
    let times: Vec<Time> = left(&mut direction, micros(500_000)).iter().map(|it| it.0).collect();
    assert_eq!(times, [30_000, 30_000, 40_000].map(micros));
}

#[test]
fn jitter_lets_packets_overtake_and_loss_takes_its_share() {
    let mut direction = direction(&Line {
        wire: Impairments { jitter_ns: 50_000_000, loss: Loss::Random(0.25), ..Default::default() },
        ..line("fifo limit 5000p")
    });
    let sent: Vec<Vec<u8>> = (0..2000).map(|port| frame(port, 100)).collect();
    sent.iter().for_each(|frame| direction.arrive(frame, Time::ZERO));
    let found = left(&mut direction, micros(10_000_000));
    assert!(found.is_sorted_by_key(|it| it.0));
    assert!(!found.is_sorted_by_key(|it| it.1[34..36].to_vec()));
    let lost = direction.meter().lost;
    assert_eq!(lost + found.len() as u64, 2000);
    assert!((430..570).contains(&lost), "{lost}");
}

#[test]
fn every_fifth_packet_overtakes_by_the_delay() {
    let reorder = Some(Reorder { share: 1.0, gap: 5 });
    let mut direction =
        direction(&Line { wire: Impairments { reorder, ..Default::default() }, ..line("fifo limit 100p") });
    (0..10).for_each(|port| direction.arrive(&frame(port, 1514), Time::ZERO));
    let ports: Vec<u8> = left(&mut direction, micros(1_000_000)).iter().map(|it| it.1[35]).collect();
    assert_eq!(ports, [4, 9, 0, 1, 2, 3, 5, 6, 7, 8]);
}

#[test]
fn packets_are_sent_twice_with_all_their_bytes() {
    let mut direction = direction(&Line {
        wire: Impairments { duplicate: 0.25, ..Default::default() },
        ..line("fifo limit 3000p")
    });
    (0..2000).for_each(|port| direction.arrive(&frame(port, 100), Time::ZERO));
    let found = left(&mut direction, micros(10_000_000));
    let twice = found.windows(2).filter(|pair| pair[0].1 == pair[1].1).count();
    assert_eq!((twice as u64, found.len()), (direction.meter().duplicated, 2000 + twice));
    assert!((430..570).contains(&twice), "{twice}");
}

#[test]
fn packets_are_of_the_class_of_their_code_point() {
    let mut direction = direction(&Line { classes: vec![46, 26], ..line("sp classes 3 limit 100p") });
    // The first packet is being sent when the others come: best effort, AF31, EF, and a code point without a class.
    for (port, dscp) in [(1, 0), (2, 0), (3, 26), (4, 46), (5, 8)] {
        let mut frame = frame(port, 1000);
        frame[15] = dscp << 2;
        direction.arrive(&frame, micros(u64::from(port)));
    }
    let found = left(&mut direction, micros(60_000));
    let ports: Vec<u8> = found.iter().map(|(_, frame)| frame[35]).collect();
    assert_eq!(ports, [1, 4, 3, 2, 5]);
}

#[test]
fn slots_hold_packets_back_and_let_them_go_together() {
    let slots = Some(Slots { min_ns: 5_000_000, max_ns: 5_000_000, packets: Some(3), bytes: None });
    let mut direction =
        direction(&Line { wire: Impairments { slots, ..Default::default() }, ..line("fifo limit 100p") });
    (0..7).for_each(|port| direction.arrive(&frame(port, 1514), Time::ZERO));
    let times: Vec<Time> = left(&mut direction, micros(1_000_000)).iter().map(|it| it.0).collect();
    // The first is due after 21.2112 ms.
    let [first, second, third] = [26_211_200, 31_211_200, 36_211_200].map(Time::from_nanos);
    assert_eq!(times, [first, first, first, second, second, second, third]);
}

#[test]
fn samples_are_of_link_time_however_late_it_is_looked_at() {
    let rows = |step: usize| {
        let mut direction = direction(&line("fifo limit 100p"));
        let mut found = Vec::new();
        for n in 0..400 {
            direction.arrive(&frame(1, 1514), micros(n as u64 * 1000));
            if n % step == 0 {
                found.extend(direction.samples(micros(n as u64 * 1000)));
            }
        }
        found.extend(direction.samples(micros(500_000)));
        found
    };
    assert_eq!(rows(1), rows(150));
    assert_eq!(rows(1).len(), 5);
}

#[test]
fn what_is_no_frame_of_this_link_is_counted_and_left_out() {
    let mut direction = direction(&line("fifo limit 10p"));
    for length in [0, 13, LARGEST_FRAME + 1, 9000] {
        direction.arrive(&vec![0xff; length], Time::ZERO);
    }
    direction.arrive(&[0xff; 14], Time::ZERO);
    direction.arrive(&vec![0xff; LARGEST_FRAME], Time::ZERO);
    assert_eq!((direction.meter().oversized, direction.qdisc().counters().arrived), (4, 2));
}

#[test]
fn every_discipline_repeats_a_log_of_its_calls_row_by_row() {
    for info in aqm_core::registry::DISCIPLINES {
        let path = temporary(info.name);
        let has_limit = info.params.iter().any(|param| param.name == "limit");
        let aqm = if has_limit { format!("{} limit 60p", info.name) } else { info.name.to_string() };
        let line = Line { log: Some(path.clone()), ..line(&aqm) };
        let mut direction = direction(&line);
        let mut random = Random::seeded(3);
        let mut at = Time::ZERO;
        for n in 0..3000 {
            at += Span::from_nanos(random.below(2_000_000));
            direction.arrive(&frame((n % 11) as u16, 60 + random.below(1455) as usize), at);
        }
        direction.finish(at + Span::from_secs(3));
        let (rows, failed) = direction.log().unwrap();
        assert_eq!(failed, None);
        let replayed = replay(&line, "down", 1, &path).unwrap();
        assert_eq!(replayed.parts_at, None, "{}", info.name);
        assert!(replayed.calls > 5000 && replayed.calls <= rows, "{}: {replayed:?}", info.name);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_log_that_was_changed_is_not_repeated_from_there() {
    let path = temporary("changed");
    let line = Line { log: Some(path.clone()), ..line("fifo limit 10p") };
    let mut direction = direction(&line);
    (0..50).for_each(|n| direction.arrive(&frame(1, 1514), micros(n * 100)));
    direction.finish(micros(1_000_000));
    let mut bytes = std::fs::read(&path).unwrap();
    let first_drop = bytes.chunks(crate::log::ROW_BYTES).position(|row| row[44] == 4).unwrap();
    bytes[first_drop * crate::log::ROW_BYTES + 45] = 2;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(replay(&line, "down", 1, &path).unwrap().parts_at, Some(first_drop as u64));
    assert!(replay(&line, "down", 1, &PathBuf::from("/nowhere")).is_err());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_log_that_cannot_be_written_ends_and_the_link_does_not() {
    let line = Line { log: Some(PathBuf::from("/dev/full")), ..line("fifo limit 10p") };
    let mut direction = direction(&line);
    (0..20_000).for_each(|n| direction.arrive(&frame(1, 100), micros(n * 200)));
    direction.finish(micros(10_000_000));
    let (_, failed) = direction.log().unwrap();
    assert!(failed.unwrap().contains("No space left"));
    assert_eq!(direction.qdisc().counters().departed, 20_000);
}

proptest! {
    #[test]
    fn any_bytes_pass_unchanged_and_nothing_is_lost(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 14..200), 0..30)) {
        let mut direction = direction(&line("fq_codel limit 1000p noecn"));
        frames.iter().for_each(|frame| direction.arrive(frame, Time::ZERO));
        let mut found: Vec<Vec<u8>> = left(&mut direction, micros(10_000_000)).into_iter().map(|it| it.1).collect();
        let mut sent = frames;
        sent.sort();
        found.sort();
        prop_assert_eq!(found, sent);
    }
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("aqm-link-{}-{name}", std::process::id()))
}
