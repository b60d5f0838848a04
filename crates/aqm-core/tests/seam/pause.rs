//! Paused classes: a call names the classes that may not send. Here: a discipline with a queue for each of two
//! classes, and the shell's rule for a discipline with a single queue.

use super::{PLAIN, info, spec};
use crate::common::link;
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Info, Traits};
use aqm_core::packet::Packet;
use aqm_core::params::{ParamError, Params};
use aqm_core::paused::PausedClasses;
use aqm_core::qdisc::Qdisc;
use aqm_core::queue::Fifo;
use aqm_core::random::Random;
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::Time;

static LANES: Info = info("lanes", &[], Traits { reorders_flows: true, ..PLAIN }, build);

/// Class 0 before class 1, each unless it is paused.
#[derive(Default)]
struct Lanes([Fifo; 2]);

fn build(_: Blueprint<'_>) -> Built {
    Ok(Box::new(Lanes::default()))
}

impl Discipline for Lanes {
    fn enqueue(&mut self, packet: Packet, _cx: &mut Cx<'_>) {
        self.0[usize::from(packet.class)].push(packet);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        (0..2)
            .filter(|class| !cx.paused().contains(*class))
            .find_map(|class| self.0[usize::from(class)].pop())
    }

    fn backlog(&self) -> Backlog {
        let [first, second] = self.0.each_ref().map(Fifo::backlog);
        Backlog { packets: first.packets + second.packets, bytes: first.bytes + second.bytes }
    }

    fn change(&mut self, _params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.0.iter_mut().for_each(|queue| queue.purge(cx));
    }

    fn state_bytes(&self) -> usize {
        size_of::<Lanes>()
    }
}

/// `spec` with packets of these classes, numbered from zero.
fn filled(spec: &Spec, classes: &[u16]) -> Qdisc {
    let mut qdisc = spec.build(link(), Random::seeded(1)).unwrap();
    for (cookie, class) in classes.iter().enumerate() {
        let mut packet = Packet::new(cookie as u64, u64::from(*class), 1000);
        packet.class = *class;
        qdisc.enqueue(packet, Time::ZERO, &mut Unobserved);
    }
    qdisc
}

fn next(qdisc: &mut Qdisc, paused: PausedClasses) -> Option<u64> {
    let packet = qdisc.dequeue_unpaused(Time::ZERO, paused, &mut Unobserved);
    qdisc.check().unwrap();
    packet.map(|packet| packet.cookie)
}

const FIRST: PausedClasses = PausedClasses::NONE.with(0);

#[test]
fn a_discipline_with_a_queue_for_each_class_skips_a_paused_one() {
    let mut qdisc = filled(&spec(&LANES), &[0, 0, 1]);
    assert_eq!(next(&mut qdisc, FIRST), Some(2));
    assert_eq!((next(&mut qdisc, FIRST), qdisc.backlog().packets), (None, 2));
    assert_eq!([next(&mut qdisc, PausedClasses::NONE), next(&mut qdisc, FIRST)], [Some(0), None]);
}

#[test]
fn in_a_single_queue_all_wait_behind_a_paused_packet() {
    let mut qdisc = filled(&Spec::parse("fifo").unwrap(), &[1, 0, 1]);
    assert_eq!(next(&mut qdisc, FIRST), Some(0));
    assert_eq!((next(&mut qdisc, FIRST), next(&mut qdisc, FIRST)), (None, None)); // packet 2 may go, but is behind 1
    assert_eq!(qdisc.backlog().packets, 2);
    let all = PausedClasses::NONE.with(1);
    assert_eq!([next(&mut qdisc, all), next(&mut qdisc, all)], [Some(1), None]);
    assert_eq!(qdisc.dequeue(Time::ZERO, &mut Unobserved).map(|packet| packet.cookie), Some(2));
}

#[test]
fn a_queue_of_several_classes_in_a_scheduler_waits_by_itself() {
    // Classes 2 and 3 share the last queue of three.
    let mut qdisc = filled(&Spec::parse("sp classes 3").unwrap(), &[3, 2, 1]);
    let paused = PausedClasses::NONE.with(3);
    assert_eq!([next(&mut qdisc, paused), next(&mut qdisc, paused)], [Some(2), None]);
    assert_eq!([(); 2].map(|()| next(&mut qdisc, FIRST)), [Some(0), Some(1)]);
}
