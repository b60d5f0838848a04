//! Wake-ups: a shaper releases one packet per period and says when to ask again.

use super::{PLAIN, info, spec};
use crate::common::rig::{Rig, What};
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Info, Traits};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{Kind, ParamError, ParamSpec, Params, Value};
use aqm_core::queue::Fifo;
use aqm_core::units::{Span, Time};

const PARAMS: &[ParamSpec] = &[ParamSpec::new(
    "period",
    Kind::Span,
    Value::Span(Span::from_millis(10)),
    (1.0, 1e10),
    "Time between two packets",
    "none",
)];
static SHAPER: Info = info("shaper", PARAMS, Traits { wakes: true, ..PLAIN }, build);

struct Shaper {
    queue: Fifo,
    period: Span,
    next: Time,
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(Shaper { queue: Fifo::default(), period: params.span("period"), next: Time::ZERO }))
}

impl Discipline for Shaper {
    fn enqueue(&mut self, packet: Packet, _cx: &mut Cx<'_>) {
        self.queue.push(packet);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        if cx.now < self.next {
            return None;
        }
        let packet = self.queue.pop()?;
        self.next = cx.now + self.period;
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.period = params.span("period");
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    fn next_wakeup(&self) -> Option<Time> {
        (!self.queue.is_empty()).then_some(self.next)
    }

    fn state_bytes(&self) -> usize {
        size_of::<Shaper>()
    }
}

/// A host with an idle link: serves at once, and again whenever the shaper requests it.
fn host(rig: &mut Rig) -> Vec<u64> {
    let mut times = Vec::new();
    loop {
        if rig.serve().is_some() {
            times.push(rig.now().as_nanos() / 1_000_000);
        } else if let Some(due) = rig.qdisc().next_wakeup() {
            rig.skip_to(due);
        } else {
            return times;
        }
    }
}

fn with_three_packets() -> Rig {
    let mut rig = Rig::new(&spec(&SHAPER), 1);
    (0..3).for_each(|flow| {
        rig.arrive(flow, 1000, Ecn::NotEct);
    });
    rig
}

#[test]
fn packets_leave_at_the_shaped_times_and_then_no_wakeup_is_requested() {
    let mut rig = with_three_packets();
    assert_eq!(host(&mut rig), [0, 10, 20]);
    assert_eq!(rig.qdisc().next_wakeup(), None);
}

#[test]
fn without_a_packet_but_with_a_backlog_the_next_wakeup_is_known() {
    let mut rig = with_three_packets();
    assert_eq!(rig.serve(), Some(0));
    assert_eq!(rig.serve(), None);
    assert_eq!(rig.qdisc().backlog().packets, 2);
    assert_eq!(rig.qdisc().next_wakeup(), Some(Time::from_nanos(10_000_000)));
}

#[test]
fn asking_too_early_changes_nothing() {
    let mut rig = with_three_packets();
    let mut times = Vec::new();
    for _ in 0..2500 {
        rig.wake();
        if rig.serve().is_some() {
            times.push(rig.now().as_nanos() / 10_000);
        }
        rig.skip_to(rig.now() + Span::from_micros(10));
    }
    assert_eq!(times, [0, 1000, 2000]);
}

#[test]
fn a_shorter_period_applies_from_the_next_packet_on() {
    let mut rig = with_three_packets();
    rig.serve();
    rig.change("period", "2ms").unwrap();
    assert_eq!(host(&mut rig), [10, 12]);
}

#[test]
fn peeking_at_a_shaper_holds_the_packet_back_for_no_one_else() {
    let mut rig = with_three_packets();
    assert_eq!((rig.peek(), rig.serve()), (Some(0), Some(0)));
    assert_eq!(rig.peek(), None);
    assert!(matches!(rig.events(), [event] if event.what == What::Departed(0)));
}
