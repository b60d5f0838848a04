//! The recorded events of `tests/meter`, played by a live link: its device sends, and a discipline that follows the record
//! decides.

use super::tests::{direction, frame, line};
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Group, Info, Traits};
use aqm_core::link::Link;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{ParamError, Params, Preset};
use aqm_core::queue::Fifo;
use aqm_core::random::Random;
use aqm_core::signal::{DropReason, MarkReason};
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Time};
use aqm_path::meter::totals::QUANTILES;
use std::collections::{BTreeMap, BTreeSet};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/meter");

static RECORD: Info = Info {
    name: "record",
    group: Group::Queue,
    summary: "Made for a test",
    reference: "none",
    params: &[],
    presets: &[Preset { name: "test", source: "made for the test", values: &[] }],
    probes: &[],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: u64::MAX,
        flow_state_bytes: 0,
    },
    deviations: "none",
    build,
};

/// One line of the record.
struct Event {
    at: Time,
    what: String,
    packet: u64,
    bytes: usize,
}

fn events() -> Vec<Event> {
    let text = std::fs::read_to_string(format!("{FOLDER}/events.csv")).unwrap();
    let lines = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let number = |word: &str| word.parse::<u64>().unwrap();
    lines
        .map(|words| Event {
            at: Time::from_nanos(number(words[0])),
            what: words[1].to_string(),
            packet: number(words[2]),
            bytes: number(words[3]) as usize,
        })
        .collect()
}

/// Drops and marks the packets that the record says, in the order of their arrival.
#[derive(Default)]
struct Record {
    queue: Fifo,
    early: BTreeSet<u64>,
    overlimit: BTreeSet<u64>,
    marked: BTreeSet<u64>,
}

fn build(_: Blueprint<'_>) -> Built {
    let mut record = Record::default();
    for event in events() {
        let of_kind = match event.what.as_str() {
            "early" => &mut record.early,
            "overlimit" => &mut record.overlimit,
            "mark" => &mut record.marked,
            _ => continue,
        };
        of_kind.insert(event.packet);
    }
    Ok(Box::new(record))
}

/// Arrivals are numbered in the upper half of a packet's cookie.
fn number(packet: &Packet) -> u64 {
    packet.cookie >> 32
}

impl Discipline for Record {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        if self.overlimit.contains(&number(&packet)) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let mut packet = self.queue.pop()?;
            if self.early.contains(&number(&packet)) {
                cx.drop(packet, DropReason::Congestion);
                continue;
            }
            if self.marked.contains(&number(&packet)) {
                cx.mark(&mut packet, MarkReason::Congestion);
            }
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, _params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Record>()
    }
}

#[test]
fn recorded_events_on_a_live_link_give_the_metrics_of_their_definitions() {
    let text = std::fs::read_to_string(format!("{FOLDER}/metrics.json")).unwrap();
    let wanted: serde_json::Value = serde_json::from_str(&text).unwrap();
    let [since, until] = ["since_ns", "until_ns"].map(|key| Time::from_nanos(wanted[key].as_u64().unwrap()));
    let mut link = direction(&line("fifo limit 20p"));
    let of_link = Link { rate: Rate::from_mbit(10), mtu: 1514, overhead: 14 };
    link.qdisc = Spec::of(&RECORD, &RECORD.presets[0]).build(of_link, Random::seeded(1)).unwrap();
    let mut began = false;
    for event in events().iter().filter(|event| event.what == "arrive") {
        if event.at >= since && !began {
            link.restart(since);
            began = true;
        }
        let frame = frame(1, event.bytes);
        assert_eq!(frame[15] & 3, Ecn::Ect0 as u8);
        link.arrive(&frame, event.at);
    }
    link.finish(until);
    let seconds = until.since(since).as_secs_f64();
    let meter = &link.meter().queue;
    let found: BTreeMap<_, _> =
        meter.packets(seconds).chain(meter.whole(until, link.qdisc().backlog())).collect();
    let wanted = wanted["metrics"].as_object().unwrap();
    assert_eq!(found.len(), wanted.len());
    for (name, value) in found {
        let wanted = wanted[name].as_f64().unwrap();
        let within = if QUANTILES.iter().any(|(one, _)| *one == name) { 1.0 / 64.0 } else { 1e-12 };
        assert!((value - wanted).abs() <= within * wanted, "{name}: {value}, not {wanted}");
    }
}
