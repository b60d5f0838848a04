//! Paused classes: their packets do not leave, none is lost, and a scheduler serves the others meanwhile.

use crate::common::{every_preset, link};
use aqm_core::discipline::Group;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::paused::PausedClasses;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};

/// Milliseconds as an instant.
fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn build(spec: &Spec) -> Qdisc {
    spec.build(link(), Random::seeded(1)).unwrap()
}

fn arrive(qdisc: &mut Qdisc, cookie: u64, class: u16, now: Time) {
    let mut packet = Packet::new(cookie, u64::from(class), 1000);
    (packet.class, packet.ecn, packet.source) = (class, Ecn::Ect0, u32::from(class));
    // Schedulers by type of service have the first classes in bands of their own (tc-prio(8)).
    packet.dscp = [0x10 >> 2, 0, 0x08 >> 2][usize::from(class % 3)];
    qdisc.enqueue(packet, now, &mut Unobserved);
}

fn wake_until(qdisc: &mut Qdisc, now: Time) {
    while let Some(due) = qdisc.next_wakeup().filter(|due| *due <= now) {
        qdisc.wake(due, &mut Unobserved);
    }
}

#[test]
fn no_packet_of_a_paused_class_leaves_and_none_is_lost() {
    for spec in every_preset() {
        let mut qdisc = build(&spec);
        for step in 0..600_u64 {
            let now = ms(step);
            wake_until(&mut qdisc, now);
            arrive(&mut qdisc, step, (step * 7 % 5) as u16, now);
            // One pause after the other, then two at once, then none.
            let paused = match step / 20 % 8 {
                class @ 0..5 => PausedClasses::NONE.with(class as u16),
                5 => PausedClasses::NONE.with(0).with(3),
                _ => PausedClasses::NONE,
            };
            let packet = qdisc.dequeue_unpaused(now, paused, &mut Unobserved);
            assert!(packet.is_none_or(|packet| !paused.contains(packet.class)), "{spec}");
            qdisc.check().unwrap_or_else(|violation| panic!("{spec}: {violation}"));
        }
        // After the pauses everything leaves.
        for step in 600..3000 {
            wake_until(&mut qdisc, ms(step));
            qdisc.dequeue_unpaused(ms(step), PausedClasses::NONE, &mut Unobserved);
        }
        assert_eq!(qdisc.backlog().packets, 0, "{spec}");
        qdisc.check().unwrap_or_else(|violation| panic!("{spec}: {violation}"));
    }
}

#[test]
fn a_scheduler_serves_the_other_classes_while_one_is_paused() {
    for spec in every_preset().filter(|spec| spec.info.group == Group::Class) {
        for paused_class in 0..3_u16 {
            let paused = PausedClasses::NONE.with(paused_class);
            let mut qdisc = build(&spec);
            (0..30).for_each(|cookie| arrive(&mut qdisc, cookie, (cookie % 3) as u16, ms(0)));
            let mut sent = [0; 3];
            while let Some(packet) = qdisc.dequeue_unpaused(ms(1), paused, &mut Unobserved) {
                sent[usize::from(packet.class)] += 1;
            }
            let mut expected = [10; 3];
            expected[usize::from(paused_class)] = 0;
            assert_eq!(sent, expected, "{spec}");
            let rest =
                std::iter::from_fn(|| qdisc.dequeue_unpaused(ms(2), PausedClasses::NONE, &mut Unobserved));
            assert_eq!(rest.filter(|packet| packet.class == paused_class).count(), 10, "{spec}");
        }
    }
}
