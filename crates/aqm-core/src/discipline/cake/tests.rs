//! CAKE as a whole, computed by hand: a link of 10 Mbit/s, full packets of 1514 bytes.

use crate::discipline::testing::{Host, ms};
use crate::packet::{Packet, TcpView};
use crate::signal::DropReason;
use crate::spec::Spec;
use crate::units::Time;
use alloc::string::ToString;
use alloc::vec::Vec;

/// A packet of 1000 bytes of flow `flow` from host `source` to host `destination`.
fn between(cookie: u64, flow: u64, source: u32, destination: u32) -> Packet {
    let mut packet = Packet::new(cookie, flow, 1000);
    (packet.source, packet.destination) = (source, destination);
    packet
}

fn with_code_point(cookie: u64, code_point: u8) -> Packet {
    let mut packet = Packet::new(cookie, u64::from(code_point), 1000);
    packet.dscp = code_point;
    packet
}

/// The next `count` packets, all asked for at `now`.
fn next(host: &mut Host, now: Time, count: usize) -> Vec<u64> {
    (0..count).filter_map(|_| host.get(now)).collect()
}

fn refusal(spec: &str) -> alloc::string::String {
    let spec = Spec::parse(spec).unwrap();
    let link = crate::link::Link::new(crate::units::Rate::from_bits_per_sec(1));
    spec.build(link, crate::random::Random::seeded(1)).err().unwrap().to_string()
}

#[test]
fn keywords_need_no_parameter_name_as_in_tc() {
    let text = "cake bandwidth 20mbit diffserv4 dual-srchost metro ack-filter pppoe-ptm noatm overhead -4b";
    let shown = Spec::parse(text).unwrap().to_string();
    let expected = "cake:linux bandwidth 20mbit tins diffserv4 isolation dual-srchost path metro acks ack-filter link_layer pppoe-ptm overhead -4b cells noatm";
    assert_eq!(shown, expected);
    assert_eq!(Spec::parse(&shown).unwrap().to_string(), expected);
    let unknown = Spec::parse("cake diffserv5").unwrap_err().to_string();
    assert!(unknown.contains("'diffserv5' is unknown"), "{unknown}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    assert!(refusal("cake queues 12").contains("'queues': '12' is not a multiple of eight"));
    let mut host = Host::new("cake");
    for (name, value) in [("tins", "besteffort"), ("isolation", "flows"), ("queues", "8"), ("fwmark", "7")] {
        let error = host.qdisc.change(&[(name, value)], ms(0), &mut host.log).unwrap_err().to_string();
        assert!(error.contains("cannot change while packets may wait"), "{error}");
    }
    host.qdisc.change(&[("bandwidth", "1mbit"), ("path", "lan")], ms(0), &mut host.log).unwrap();
}

#[test]
fn the_shaper_paces_packets_by_their_size_on_the_bottleneck() {
    // 1514 bytes are an IP packet of 1500; in 33 ATM cells 1749 bytes, at 1 Mbit/s 13.992 ms.
    let mut host = Host::new("cake bandwidth 1mbit besteffort conservative");
    (0..3).for_each(|cookie| host.put(ms(10), cookie, 1, 1514));
    assert_eq!(host.get(ms(10)), Some(0));
    assert_eq!((host.get(ms(11)), host.qdisc.next_wakeup()), (None, Some(Time::from_nanos(23_992_000))));
    assert_eq!(host.get(Time::from_nanos(23_991_999)), None);
    assert_eq!(host.get(Time::from_nanos(23_992_000)), Some(1));
    // Two packets fill the time up to 37.984 ms: a late request is served at once, and the rate is kept.
    assert_eq!([host.get(ms(45)), host.get(ms(45))], [Some(2), None]);
    assert_eq!(host.qdisc.next_wakeup(), None); // nothing waits
}

#[test]
fn tc_s_words_for_no_shaper_tags_and_directions_are_taken() {
    let shown = |text: &str| Spec::parse(text).unwrap().to_string();
    assert_eq!(shown("cake unlimited egress"), "cake:linux bandwidth auto direction egress");
    assert_eq!(shown("cake bandwidth unlimited fwmark 0xf0"), "cake:linux bandwidth auto fwmark 240");
    let tagged = "cake:linux link_layer ethernet ether_vlan via_ethernet";
    assert_eq!(shown("cake ethernet ether-vlan via-ethernet"), tagged);
    // 1500 + 38 + 4 bytes at 1 Mbit/s: 12.336 ms. A tag alone makes overhead count from the IP packet: 1504.
    for (words, nanos) in [("ethernet ether-vlan", 12_336_000), ("ether-vlan", 12_032_000)] {
        let mut host = Host::new(&alloc::format!("cake bandwidth 1mbit besteffort {words}"));
        (0..2).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        assert_eq!((host.get(ms(0)), host.get(ms(0))), (Some(0), None));
        assert_eq!(host.qdisc.next_wakeup(), Some(Time::from_nanos(nanos)), "{words}");
    }
}

#[test]
fn with_ingress_what_is_dropped_takes_the_shaper_s_time_too() {
    // 1000 bytes take 8 ms. Two packets are queued beyond the limit: dropped from the head at once.
    let wake = |direction: &str| {
        let mut host = Host::new(&alloc::format!("cake bandwidth 1mbit besteffort limit 4p {direction}"));
        (0..6).for_each(|cookie| host.put(ms(0), cookie, 1, 1000));
        assert_eq!(host.log.dropped, [(0, DropReason::Overlimit), (1, DropReason::Overlimit)]);
        (host.get(ms(0)), host.qdisc.next_wakeup())
    };
    assert_eq!(wake("egress").0, Some(2));
    // The link has carried two packets, but at two thirds of the rate one may always go: it is at once.
    assert_eq!(wake("ingress").0, Some(2));
    let after = |direction: &str| {
        let mut host = Host::new(&alloc::format!("cake bandwidth 1mbit besteffort limit 4p {direction}"));
        (0..5).for_each(|cookie| host.put(ms(0), cookie, 1, 1000));
        host.get(ms(0));
        host.get(ms(0));
        host.qdisc.next_wakeup()
    };
    assert_eq!((after("egress"), after("ingress")), (Some(ms(8)), Some(ms(12)))); // 16, but 12 at two thirds
}

#[test]
fn with_ingress_every_bulk_flow_keeps_two_packets() {
    // 3 flows of full packets at 10 Mbit/s, 1.2 ms each: up to 3 * 2 * 1.2 ms nothing is late; on egress 4 * 1.2 ms.
    let dropped = |direction: &str| {
        let mut host =
            Host::new(&alloc::format!("cake bandwidth 10mbit besteffort flows rtt 10ms {direction}"));
        let mut cookie = 0;
        for round in 0..400u64 {
            let now = Time::from_nanos(round * 1_211_200);
            while host.qdisc.backlog().packets < 6 {
                host.put(now, cookie, cookie % 3, 1514);
                cookie += 1;
            }
            host.get(now);
        }
        host.dropped().len()
    };
    assert!(dropped("egress") > 10, "{}", dropped("egress"));
    assert_eq!(dropped("ingress"), 0);
}

#[test]
fn a_flow_that_starts_goes_before_one_with_a_backlog() {
    let mut host = Host::new("cake besteffort");
    (0..4).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
    assert_eq!(host.get(ms(0)), Some(0));
    host.put(ms(0), 10, 2, 100);
    assert_eq!(next(&mut host, ms(0), 4), [10, 1, 2, 3]);
}

#[test]
fn hosts_share_before_flows_do() {
    // Host 1 has one flow (0 ..), host 2 has two (100 .., 200 ..), all to other destinations.
    let order = |spec: &str| {
        let mut host = Host::new(spec);
        for n in 0..6 {
            host.enqueue(ms(0), between(n, 1, 1, 11));
            host.enqueue(ms(0), between(100 + n, 2, 2, 12));
            host.enqueue(ms(0), between(200 + n, 3, 2, 13));
        }
        // Served until all flows have used up their first quantum and are bulk.
        next(&mut host, ms(0), 6);
        let served = next(&mut host, ms(0), 6);
        [0, 1, 2].map(|hundred| served.iter().filter(|cookie| **cookie / 100 == hundred).count())
    };
    assert_eq!(order("cake besteffort flows"), [2, 2, 2]);
    assert_eq!(order("cake besteffort dual-dsthost"), [2, 2, 2]);
    assert_eq!(order("cake besteffort dual-srchost"), [3, 2, 1]);
    assert_eq!(order("cake besteffort triple-isolate"), [3, 2, 1]);
}

#[test]
fn without_a_bandwidth_tins_take_turns_by_weight() {
    // DF, CS1 and EF in diffserv3: weights 1024, 64, 256. Forty packets of 1000 bytes each.
    let mut host = Host::new("cake");
    for n in 0..40 {
        [0, 8, 46]
            .iter()
            .for_each(|code| host.enqueue(ms(0), with_code_point(n + 100 * u64::from(*code), *code)));
    }
    let served = next(&mut host, ms(0), 42);
    let count = |code: u64| served.iter().filter(|cookie| **cookie / 100 == code).count();
    assert_eq!([count(0), count(8), count(46)], [32, 2, 8]);
}

#[test]
fn with_a_bandwidth_a_tin_goes_first_within_its_threshold() {
    // 8 Mbit/s: 1000 bytes take 1 ms; voice has a threshold of 2 Mbit/s: every fourth packet may be one.
    let mut host = Host::new("cake bandwidth 8mbit");
    for n in 0..20 {
        host.enqueue(ms(0), with_code_point(n, 0));
        host.enqueue(ms(0), with_code_point(100 + n, 46));
    }
    let served: Vec<_> = (0..12).filter_map(|millis| host.get(ms(millis))).collect();
    assert_eq!(served, [100, 0, 1, 2, 101, 3, 4, 5, 102, 6, 7, 8]);
    // Alone it has the whole bandwidth.
    let mut host = Host::new("cake bandwidth 8mbit");
    (0..4).for_each(|n| host.enqueue(ms(0), with_code_point(n, 46)));
    assert_eq!((0..4).filter_map(|millis| host.get(ms(millis))).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn a_full_buffer_drops_from_the_head_of_the_fattest_flow_of_all_tins() {
    let mut host = Host::new("cake memlimit 8000b");
    (0..4).for_each(|n| host.enqueue(ms(0), with_code_point(n, 0)));
    (10..14).for_each(|n| host.enqueue(ms(0), with_code_point(n, 46)));
    assert_eq!(host.dropped().len(), 0);
    host.enqueue(ms(0), with_code_point(14, 46));
    assert_eq!(host.log.dropped, [(10, DropReason::Overlimit)]);
    host.qdisc.change(&[("memlimit", "6500b")], ms(1), &mut host.log).unwrap();
    assert_eq!(host.log.dropped[1..], [(0, DropReason::Reconfigured), (11, DropReason::Reconfigured)]);
    assert_eq!((host.probe("best_effort_drops"), host.probe("priority_drops")), (1.0, 2.0));
}

#[test]
fn the_buffer_holds_four_bandwidth_delay_products() {
    let most = |spec: &str| {
        let mut host = Host::new(spec);
        (0..20_000).for_each(|cookie| host.put(ms(0), cookie, cookie % 50, 1000));
        host.qdisc.backlog().packets
    };
    assert_eq!(most("cake"), 10_240);
    assert_eq!(most("cake bandwidth 10mbit"), 4194); // 4 MiB
    assert_eq!(most("cake bandwidth 100mbit"), 5000); // 4 * 12.5 MB/s * 0.1 s
    assert_eq!(most("cake bandwidth 10gbit"), 10_240);
    assert_eq!(
        [most("cake limit 700p"), most("cake limit 700p memlimit 5000b"), most("cake limit 64kb")],
        [700, 5, 65]
    );
}

#[test]
fn the_keyword_of_the_round_trip_sets_cobalt() {
    // Late, at a tenth of the round trip, by more than the target, which is a twentieth: the first signal is due a
    // round trip later.
    let marks = |spec: &str, micros: u64, early: u64| {
        let mut host = Host::scripted(spec, &[0.999]);
        (0..9).for_each(|cookie| host.put_ect(ms(0), cookie, 1, 1000));
        let at = |micros: u64| Time::from_nanos(micros * 1000);
        host.get(at(0));
        host.get(at(micros / 10));
        host.get(at(micros / 10 + micros - early));
        host.marked().len()
    };
    for (spec, micros) in [
        ("cake", 100_000),
        ("cake datacentre", 100),
        ("cake lan", 1000),
        ("cake metro", 10_000),
        ("cake regional", 30_000),
        ("cake oceanic", 300_000),
        ("cake satellite", 1_000_000),
        ("cake interplanetary", 3_600_000_000),
        ("cake rtt 50ms oceanic", 50_000),
    ] {
        assert_eq!([marks(spec, micros, 1), marks(spec, micros, 0)], [0, 1], "{spec}");
    }
}

#[test]
fn a_slow_tin_has_a_larger_target() {
    // 1 Mbit/s: a full packet takes 12.112 ms, so nothing below four of them, 48.448 ms, is late. The target is one and
    // a half, 18.168 ms, and the interval grows by as much: 100 + 18.168 - 5 = 113.168 ms.
    let marks = |late: u64, later: u64| {
        let mut host = Host::scripted("cake bandwidth 1mbit besteffort", &[0.999]);
        (0..40).for_each(|cookie| host.put_ect(ms(0), cookie, 1, 1514));
        [0, late, late + later].iter().for_each(|nanos| {
            host.get(Time::from_nanos(*nanos));
        });
        host.marked().len()
    };
    assert_eq!(marks(48_448_001, 113_168_000), 1);
    assert_eq!([marks(48_448_001, 113_167_999), marks(48_448_000, 113_168_000)], [0, 0]);
}

#[test]
fn a_queue_is_kept_until_its_law_has_decayed() {
    let mut host = Host::scripted("cake besteffort", &[0.999]);
    let flows = |host: &Host| ["sparse_flows", "bulk_flows", "decaying_flows"].map(|name| host.probe(name));
    (0..2).for_each(|cookie| host.put(ms(0), cookie, 1, 500));
    next(&mut host, ms(0), 2);
    assert_eq!(flows(&host), [1.0, 0.0, 0.0]);
    (10..12).for_each(|cookie| host.put(ms(1), cookie, 2, 500));
    assert_eq!(host.get(ms(1)), Some(10)); // flow 1 was empty; its law decays at 100 ms
    assert_eq!(flows(&host), [1.0, 0.0, 1.0]);
    assert_eq!(host.get(ms(2)), Some(11));
    assert_eq!(flows(&host), [1.0, 0.0, 1.0]);
    host.put(ms(200), 20, 3, 500);
    assert_eq!(host.get(ms(200)), Some(20)); // the laws of flows 1 and 2 have decayed
    assert_eq!(flows(&host), [1.0, 0.0, 0.0]);
}

#[test]
fn a_ninth_flow_shares_a_queue_and_stays_in_order() {
    let mut host = Host::new("cake besteffort flows queues 8");
    (0..8).for_each(|flow| host.put(ms(0), 10 * flow, flow, 1000));
    assert_eq!(host.probe("collisions"), 0.0);
    (0..3).for_each(|n| host.put(ms(0), 80 + n, 8, 1000));
    assert_eq!((host.probe("collisions"), host.probe("sparse_flows")), (3.0, 8.0));
    let mut order = Vec::new();
    while let Some(cookie) = host.get(ms(0)) {
        order.push(cookie);
        // Other queues become free, but flow 8 keeps using the one with its packets.
        if order.len() == 7 {
            host.put(ms(0), 83, 8, 1000);
        }
    }
    let ninth: Vec<_> = order.iter().filter(|cookie| **cookie >= 80).collect();
    assert_eq!(ninth, [&80, &81, &82, &83]);
    assert_eq!(order.len(), 12);
}

#[test]
fn redundant_acknowledgments_are_dropped() {
    let acknowledgment = |cookie: u64| {
        let mut packet = Packet::new(cookie, 1, 66);
        let ack = 1000 * cookie as u32;
        packet.tcp = Some(TcpView { seq: 0, ack, payload: 0, flags: 16, has_sack: false });
        packet
    };
    let left = |spec: &str| {
        let mut host = Host::new(spec);
        (0..6).for_each(|cookie| host.enqueue(ms(0), acknowledgment(cookie)));
        let all_said = host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Redundant);
        assert!(all_said && host.probe("best_effort_drops") == host.log.dropped.len() as f64);
        next(&mut host, ms(0), 6)
    };
    assert_eq!(left("cake"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(left("cake ack-filter"), [4, 5]);
    assert_eq!(left("cake ack-filter-aggressive"), [5]);
}
