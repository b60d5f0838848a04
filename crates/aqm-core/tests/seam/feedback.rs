//! Emission, live parameters, probes: a queue that reports its length to senders, like QCN's congestion point.

use super::{PLAIN, info, spec};
use crate::common::rig::{Rig, What};
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Info, ProbeSpec};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{Kind, ParamError, ParamSpec, Params, Value};
use aqm_core::queue::Fifo;
use aqm_core::signal::{DropReason, Emission};
use aqm_core::units::{Size, Span, Time};

const fn size(name: &'static str, packets: u64) -> ParamSpec {
    let default = Value::Size(Size::Packets(packets));
    ParamSpec::new(name, Kind::Size, default, (1.0, 1e6), "Made for the test", "none")
}

const PARAMS: &[ParamSpec] = &[size("limit", 100), size("threshold", 3)];
static FEEDBACK: Info = Info {
    probes: &[
        ProbeSpec { name: "queue", unit: "packets", help: "What waits" },
        ProbeSpec { name: "reported", unit: "packets", help: "Feedback so far" },
    ],
    ..info("feedback", PARAMS, PLAIN, build)
};

struct Feedback {
    queue: Fifo,
    limit: Size,
    threshold: Size,
    reported: u64,
}

fn settings(params: &Params) -> Result<(Size, Size), ParamError> {
    let read = |name| params.size(name).expect("it has no auto");
    let (limit, threshold) = (read("limit"), read("threshold"));
    if threshold.count() > limit.count() {
        return Err(ParamError::relation("threshold", threshold, "must be at most limit"));
    }
    Ok((limit, threshold))
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let (limit, threshold) = settings(params)?;
    Ok(Box::new(Feedback { queue: Fifo::default(), limit, threshold, reported: 0 }))
}

impl Discipline for Feedback {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let backlog = self.queue.backlog();
        if backlog.would_exceed(self.limit, packet.length) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        if backlog.would_exceed(self.threshold, packet.length) {
            self.reported += 1;
            let values = [backlog.packets, self.reported, 0];
            cx.emit(Emission {
                flow: packet.flow,
                to: packet.source,
                length: 64,
                class: packet.class,
                values,
            });
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.queue.pop()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        (self.limit, self.threshold) = settings(params)?;
        self.queue.trim(self.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("queue", self.queue.len() as f64);
        sink("reported", self.reported as f64);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Feedback>()
    }
}

fn filled(packets: u64) -> Rig {
    let mut rig = Rig::new(&spec(&FEEDBACK), 1);
    for flow in 0..packets {
        rig.arrive(flow, 1000, Ecn::NotEct);
        rig.advance(Span::from_millis(1));
    }
    rig
}

#[test]
fn feedback_goes_to_the_source_of_the_packet_that_caused_it() {
    let rig = filled(5);
    let emissions: Vec<Emission> = rig
        .events()
        .iter()
        .filter_map(|event| if let What::Emitted(emission) = event.what { Some(emission) } else { None })
        .collect();
    let expect = |flow: u64, values| {
        let (to, class) = (flow as u32, (flow % 3) as u16);
        Emission { flow, to, length: 64, class, values }
    };
    assert_eq!(emissions, [expect(3, [3, 1, 0]), expect(4, [4, 2, 0])]);
    assert_eq!(rig.qdisc().counters().emitted, 2);
}

#[test]
fn an_emission_is_not_counted_as_a_packet_of_the_queue() {
    let mut rig = filled(5);
    assert_eq!(rig.qdisc().backlog().packets, 5);
    rig.drain();
    assert_eq!(rig.qdisc().counters().departed, 5);
}

#[test]
fn a_lowered_limit_drops_excess_packets_and_applies_to_later_ones() {
    let mut rig = filled(6);
    rig.change("limit", "4p").unwrap();
    assert_eq!(rig.qdisc().backlog().packets, 4);
    assert_eq!(rig.qdisc().counters().dropped[DropReason::Reconfigured as usize], 2);
    rig.arrive(9, 1000, Ecn::NotEct);
    assert_eq!(rig.qdisc().counters().dropped[DropReason::Overlimit as usize], 1);
}

#[test]
fn a_change_that_breaks_a_relation_is_refused_completely() {
    let mut rig = filled(6);
    let error = rig.change("limit", "2p").unwrap_err();
    assert_eq!(error.to_string(), "parameter 'threshold': '3p' must be at most limit");
    assert_eq!(rig.qdisc().backlog().packets, 6);
    assert_eq!(rig.qdisc().params().size("limit"), Some(Size::Packets(100)));
    rig.drain();
}

#[test]
fn probes_report_the_state_of_this_instant() {
    let mut rig = filled(5);
    rig.serve();
    let mut seen = Vec::new();
    rig.qdisc().probe(rig.now(), &mut |name, value| seen.push((name.to_owned(), value)));
    assert_eq!(seen, [("queue".to_owned(), 4.0), ("reported".to_owned(), 2.0)]);
}
