//! A queue behind the border decides as the discipline itself, for every discipline.
#![allow(unsafe_code, reason = "pointers, as from C")]

use aqm_core::link::Link;
use aqm_core::packet::{Ecn, Packet, TcpView};
use aqm_core::random::Random;
use aqm_core::registry::DISCIPLINES;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Time};
use aqmlab::{
    Counters, Departure, Event, EventKind, Handle, Packet as CPacket, Status, Tcp, aqmlab_change,
    aqmlab_dequeue, aqmlab_enqueue, aqmlab_free, aqmlab_get_counters, aqmlab_hash, aqmlab_new,
    aqmlab_next_event, aqmlab_next_wakeup, aqmlab_reason, aqmlab_reset, aqmlab_wake,
};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::ptr::from_ref;

const PACKETS: u64 = 1000;

/// What became of packets, in words.
#[derive(Default)]
struct Reports(Vec<String>);

impl Observer for Reports {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, _point: DropPoint) {
        self.0.push(format!("dropped {} {}", packet.cookie, reason as u8));
    }

    fn on_mark(&mut self, packet: &Packet, reason: MarkReason) {
        self.0.push(format!("marked {} {}", packet.cookie, reason as u8));
    }

    fn on_emit(&mut self, emission: Emission) {
        unreachable!("{emission:?}");
    }
}

/// Packets of five flows and classes, twice as many as the link carries. Those of the first flow are pure ACKs of TCP.
fn packet(cookie: u64) -> Packet {
    let mut packet = Packet::new(cookie, Random::stream(cookie % 5, "flow").next_u64(), 1000);
    (packet.source, packet.destination, packet.class) = (1, 2, (cookie % 5) as u16);
    (packet.dscp, packet.ecn) =
        ((cookie % 3 * 10) as u8, [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][cookie as usize % 3]);
    if cookie.is_multiple_of(5) {
        packet.protocol = 6;
        let ack = cookie as u32 * 1000;
        packet.tcp = Some(TcpView { seq: 1, ack, payload: 0, flags: 16, has_sack: false });
    }
    packet
}

/// Its TCP header for C.
fn header(packet: &Packet) -> Option<Tcp> {
    let TcpView { seq, ack, payload, flags, has_sack } = packet.tcp?;
    Some(Tcp { seq, ack, payload, flags, has_sack: u8::from(has_sack) })
}

/// The same for C, with its TCP header.
fn described(packet: Packet, tcp: Option<&Tcp>) -> CPacket {
    let Packet { cookie, flow, source, destination, length, class, ingress, dscp, ecn, protocol, .. } =
        packet;
    let (traffic_class, ecn, tcp) = (class, ecn as u8, tcp.map_or(std::ptr::null(), from_ref));
    CPacket { cookie, flow, source, destination, length, traffic_class, ingress, dscp, ecn, protocol, tcp }
}

/// A queue for the link of `by_itself`.
fn made(text: &str) -> *mut Handle {
    let text = CString::new(text).unwrap();
    answer(|queue| unsafe { aqmlab_new(text.as_ptr(), c"8mbit".as_ptr(), 14, 7, queue) }).unwrap()
}

fn arrive(queue: *mut Handle, packet: Packet, now: u64) -> Status {
    let tcp = header(&packet);
    unsafe { aqmlab_enqueue(queue, &described(packet, tcp.as_ref()), now) }
}

/// A packet arrives each half of a millisecond, one may leave each millisecond.
fn calls() -> impl Iterator<Item = (u64, Option<u64>)> {
    (0..PACKETS).flat_map(|cookie| {
        let now = cookie * 500_000;
        [Some((now, Some(cookie))), (cookie % 2 == 1).then_some((now + 100, None))].into_iter().flatten()
    })
}

fn by_itself(text: &str) -> Vec<String> {
    let link = Link { rate: Rate::from_mbit(8), mtu: 1514, overhead: 14 };
    let mut qdisc = Spec::parse(text).unwrap().build(link, Random::stream(7, "bottleneck")).unwrap();
    assert!(!qdisc.emits(), "{text}: the library has no way to send packets");
    let mut decisions = Reports::default();
    for (now, arriving) in calls() {
        while let Some(due) = qdisc.next_wakeup().filter(|due| due.as_nanos() <= now) {
            qdisc.wake(due, &mut decisions);
        }
        let now = Time::from_nanos(now);
        if let Some(cookie) = arriving {
            qdisc.enqueue(packet(cookie), now, &mut decisions);
        } else if let Some(packet) = qdisc.dequeue(now, &mut decisions) {
            let waited = now.since(packet.arrival).as_nanos();
            decisions.0.push(format!("left {} {waited} {}", packet.cookie, packet.ecn as u8));
        }
    }
    let counters = qdisc.counters();
    decisions.0.push(format!("{} {} {}", counters.departed, counters.dropped_total(), counters.marked));
    decisions.0
}

/// The answer of a call that writes one.
fn answer<T>(call: impl FnOnce(*mut T) -> Status) -> Option<T> {
    let mut answer = MaybeUninit::uninit();
    match call(answer.as_mut_ptr()) {
        Status::AqmlabOk => Some(unsafe { answer.assume_init() }),
        Status::AqmlabNone => None,
        other => panic!("{other:?}"),
    }
}

fn fetch(queue: *mut Handle, decisions: &mut Vec<String>) {
    while let Some(event) = answer::<Event>(|event| unsafe { aqmlab_next_event(queue, event) }) {
        let what = if event.kind == EventKind::AqmlabDropped { "dropped" } else { "marked" };
        decisions.push(format!("{what} {} {}", event.cookie, event.reason));
    }
}

fn behind_the_border(text: &str) -> Vec<String> {
    let queue = made(text);
    let mut decisions = Vec::new();
    for (now, arriving) in calls() {
        while let Some(due) =
            answer(|due| unsafe { aqmlab_next_wakeup(queue, due) }).filter(|due| *due <= now)
        {
            assert_eq!(aqmlab_wake(queue, due), Status::AqmlabOk);
            fetch(queue, &mut decisions);
        }
        if let Some(cookie) = arriving {
            assert_eq!(arrive(queue, packet(cookie), now), Status::AqmlabOk);
            fetch(queue, &mut decisions);
        } else {
            let left = answer::<Departure>(|departure| unsafe { aqmlab_dequeue(queue, now, departure) });
            fetch(queue, &mut decisions);
            if let Some(Departure { cookie, sojourn_ns, ecn }) = left {
                decisions.push(format!("left {cookie} {sojourn_ns} {ecn}"));
            }
        }
    }
    let counters = answer::<Counters>(|counters| unsafe { aqmlab_get_counters(queue, counters) }).unwrap();
    assert_eq!(counters.arrived, counters.departed + counters.dropped + counters.queued);
    assert_eq!(aqmlab_free(queue), Status::AqmlabOk);
    decisions.push(format!("{} {} {}", counters.departed, counters.dropped, counters.marked));
    decisions
}

#[test]
fn every_discipline_decides_as_without_the_border() {
    for info in DISCIPLINES {
        for preset in info.presets {
            let text = format!("{}:{}", info.name, preset.name);
            let decisions = behind_the_border(&text);
            assert!(decisions.len() > PACKETS as usize / 4, "{text}");
            assert!(decisions == by_itself(&text), "{text}");
        }
    }
}

#[test]
fn an_ack_filter_reads_the_headers_of_tcp() {
    let text = "cake bandwidth 8mbit ack-filter";
    let decisions = behind_the_border(text);
    let redundant = format!(" {}", DropReason::Redundant as u8);
    assert!(decisions.iter().any(|fate| fate.starts_with("dropped") && fate.ends_with(&redundant)));
    assert!(decisions == by_itself(text));
}

#[test]
fn a_change_acts_from_then_on() {
    let queue = made("fifo limit 1p");
    let mut decisions = Vec::new();
    for cookie in 0..5 {
        if cookie == 2 {
            let changed = unsafe { aqmlab_change(queue, c"limit".as_ptr(), c"3p".as_ptr(), cookie) };
            assert_eq!(changed, Status::AqmlabOk);
        }
        assert_eq!(arrive(queue, packet(cookie), cookie), Status::AqmlabOk);
        fetch(queue, &mut decisions);
    }
    assert_eq!(decisions, ["dropped 1 1", "dropped 4 1"]);
    assert_eq!(aqmlab_free(queue), Status::AqmlabOk);
}

/// FNV-1a of "", "a" and "foobar" as its authors publish it, with splitmix64's last step, calculated apart.
#[test]
fn a_hash_stays_what_it_is() {
    for (bytes, hash) in
        [("", 0xf52a_15e9_a9b5_e89b), ("a", 0x02c0_bdbf_4814_20f8), ("foobar", 0x404d_a9e3_b740_78c2)]
    {
        assert_eq!(unsafe { aqmlab_hash(bytes.as_ptr().cast(), bytes.len()) }, hash, "{bytes}");
    }
}

#[test]
fn a_line_of_tc_makes_a_queue() {
    let queue = made("tc qdisc add dev eth0 root pie limit 2");
    for cookie in 0..3 {
        let (packet, tcp) = (packet(cookie), header(&packet(cookie)));
        assert_eq!(unsafe { aqmlab_enqueue(queue, &described(packet, tcp.as_ref()), 0) }, Status::AqmlabOk);
    }
    let mut event = MaybeUninit::<Event>::uninit();
    assert_eq!(unsafe { aqmlab_next_event(queue, event.as_mut_ptr()) }, Status::AqmlabOk);
    assert_eq!(unsafe { event.assume_init() }.cookie, 2);
    assert_eq!(aqmlab_free(queue), Status::AqmlabOk);
}

#[test]
fn reasons_of_marks_are_named_as_in_the_source() {
    for reason in [MarkReason::Unspecified, MarkReason::Congestion, MarkReason::Threshold] {
        let event = Event { cookie: 0, kind: EventKind::AqmlabMarked, reason: reason as u8 };
        let name = unsafe { CStr::from_ptr(aqmlab_reason(&raw const event)) };
        assert_eq!(name.to_str().unwrap(), format!("{reason:?}").to_lowercase());
    }
}

/// Whether a queue that is made and called at random ever says that aqmlab is at fault.
fn is_faulty(text: &str, random: &mut Random) -> bool {
    let queue = made(text);
    let mut now = 0_u64;
    let mut statuses = Vec::new();
    for cookie in 0..300 {
        // Some calls go back in time, and some are made at its end.
        now = match random.below(200) {
            0 => now.saturating_sub(1),
            1 if cookie > 250 => u64::MAX - random.below(2),
            _ => now.saturating_add(random.below(4_000_000)),
        };
        let mut departure = MaybeUninit::uninit();
        statuses.push(match random.below(16) {
            0 => aqmlab_wake(queue, now),
            1 => unsafe { aqmlab_change(queue, c"limit".as_ptr(), c"20p".as_ptr(), now) },
            2 if random.below(20) == 0 => aqmlab_reset(queue, now),
            3..6 => unsafe { aqmlab_dequeue(queue, now, departure.as_mut_ptr()) },
            _ => {
                let length = random.below(3000) as u32;
                let (ecn, dscp) = (random.below(5) as u8, random.below(66) as u8);
                let tcp = header(&packet(cookie));
                let packet = CPacket { ecn, dscp, length, ..described(packet(cookie), tcp.as_ref()) };
                unsafe { aqmlab_enqueue(queue, &packet, now) }
            }
        });
        let mut event = MaybeUninit::uninit();
        while random.below(20) > 0
            && unsafe { aqmlab_next_event(queue, event.as_mut_ptr()) } == Status::AqmlabOk
        {}
    }
    statuses.push(aqmlab_free(queue));
    statuses.contains(&Status::AqmlabDefect)
}

#[test]
fn calls_at_random_find_no_defect() {
    let mut random = Random::seeded(1);
    for info in DISCIPLINES {
        for _ in 0..20 {
            assert!(!is_faulty(info.name, &mut random), "{}", info.name);
        }
    }
}
