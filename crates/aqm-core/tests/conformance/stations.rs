//! Stations of a shared medium: a dequeue for one gives its packets alone, none is lost, and where there is a queue for
//! each station no other waits behind one.

use crate::common::{every_preset, link};
use aqm_core::discipline::Group;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::sent::Sent;
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span, Time};

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn build(spec: &Spec) -> Qdisc {
    spec.build(link(), Random::seeded(1)).unwrap()
}

fn arrive(qdisc: &mut Qdisc, cookie: u64, station: u8, now: Time) {
    let mut packet = Packet::new(cookie, u64::from(station), 1000);
    (packet.station, packet.ecn, packet.class) = (station, Ecn::Ect0, u16::from(station) % 3);
    packet.source = u32::from(station);
    qdisc.enqueue(packet, now, &mut Unobserved);
}

fn wake_until(qdisc: &mut Qdisc, now: Time) {
    while let Some(due) = qdisc.next_wakeup().filter(|due| *due <= now) {
        qdisc.wake(due, &mut Unobserved);
    }
}

fn sent(station: u8, class: u16, micros: u64) -> Sent {
    let (airtime, expected) = (Span::from_micros(micros), Some(Rate::from_mbit(5)));
    Sent { station, class, delivered: 1, attempts: 2, airtime, received: micros % 2 == 1, expected }
}

#[test]
fn an_aggregate_has_packets_of_one_station_and_none_is_lost() {
    for spec in every_preset() {
        let mut qdisc = build(&spec);
        for step in 0..600_u64 {
            let now = ms(step);
            wake_until(&mut qdisc, now);
            (0..3).for_each(|number| arrive(&mut qdisc, 3 * step + number, (step * 7 % 5) as u8, now));
            // Any, then more for the same station; at times for a station that nobody chose.
            let first = if step % 4 == 3 {
                qdisc.dequeue_for((step % 5) as u8, now, &mut Unobserved)
            } else {
                qdisc.dequeue(now, &mut Unobserved)
            };
            if let Some(first) = first {
                assert!(step % 4 != 3 || first.station == (step % 5) as u8, "{spec}");
                if let Some(next) = qdisc.dequeue_for(first.station, now, &mut Unobserved) {
                    assert_eq!(next.station, first.station, "{spec}");
                }
                qdisc.sent(&sent(first.station, first.class, 100 + step), now, &mut Unobserved);
            }
            qdisc.check().unwrap_or_else(|violation| panic!("{spec}: {violation}"));
        }
        for step in 600..4000 {
            wake_until(&mut qdisc, ms(step));
            qdisc.dequeue(ms(step), &mut Unobserved);
        }
        assert_eq!(qdisc.backlog().packets, 0, "{spec}");
        qdisc.check().unwrap_or_else(|violation| panic!("{spec}: {violation}"));
    }
}

#[test]
fn with_a_queue_for_each_station_none_waits_behind_another() {
    for spec in every_preset().filter(|spec| spec.info.group == Group::Station) {
        let mut qdisc = build(&spec);
        (0..30).for_each(|cookie| arrive(&mut qdisc, cookie, (cookie % 3) as u8, ms(0)));
        for station in [2, 0, 1] {
            let of_station = std::iter::from_fn(|| qdisc.dequeue_for(station, ms(1), &mut Unobserved));
            assert_eq!(of_station.filter(|packet| packet.station == station).count(), 10, "{spec}");
        }
        assert_eq!(qdisc.backlog().packets, 0, "{spec}");
    }
}

#[test]
fn a_station_that_is_slow_or_leaves_does_not_stop_the_others() {
    for spec in every_preset().filter(|spec| spec.info.group == Group::Station) {
        let mut qdisc = build(&spec);
        (0..20).for_each(|cookie| arrive(&mut qdisc, cookie, (cookie % 2) as u8, ms(0)));
        let mut served = [0; 2];
        for step in 0..200_u64 {
            // Station 0 gets no more packets, and its transmissions take a second each.
            arrive(&mut qdisc, 100 + step, 1, ms(step));
            let Some(packet) = qdisc.dequeue(ms(step), &mut Unobserved) else { continue };
            served[usize::from(packet.station)] += 1;
            let micros = if packet.station == 0 { 1_000_000 } else { 300 };
            qdisc.sent(&sent(packet.station, 0, micros), ms(step), &mut Unobserved);
        }
        assert!(served[1] >= 150, "{spec}: {served:?}");
    }
}
