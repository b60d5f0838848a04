//! Every packet that is lost is in the log of its queue and in the capture, under the reason that counters have.

use super::build::Setup;
use super::program_tests::{ONE, scenario};
use crate::report::{Monitor, Place, Report};
use crate::reporting::results::report;
use crate::scenario::inputs::Inputs;
use crate::switch::control_plane::Program;
use crate::switch::pipeline::{Egress, Ingress, PacketView, Pipeline, QueueView, State};
use aqm_core::signal::DropReason;
use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const END: Time = Time::from_nanos(400_000_000);

/// Drops every third packet and marks the others.
#[derive(Default)]
struct Third(u32);

impl Pipeline for Third {
    fn on_ingress(&mut self, _: &PacketView<'_>, _: &mut State) -> Ingress {
        self.0 += 1;
        Ingress { drop: self.0.is_multiple_of(3), mark: true, ..Ingress::default() }
    }

    fn on_egress(&mut self, _: &PacketView<'_>, _: &QueueView, _: &mut State) -> Egress {
        Egress::default()
    }

    fn on_drop(&mut self, _: &PacketView<'_>, _: &mut State) {}
}

/// Losses by link, reason and place.
type Losses = BTreeMap<(String, &'static str, &'static str), u64>;

/// What counters say of a run whose settings change at half its time.
fn run(scenario: &Value, program: bool, change: &[(&str, &str)]) -> (Losses, Report) {
    let scenario: crate::scenario::Scenario = serde_json::from_value(scenario.clone()).unwrap();
    scenario.check().unwrap();
    let (aqm, monitor) = (Spec::parse(&scenario.aqm).unwrap(), Monitor::default());
    let mut setup = Setup::build(&scenario, &aqm, &Inputs::default(), 1, &monitor).unwrap();
    let simulation = &mut setup.simulation;
    if program {
        let program = Program::new(Box::<Third>::default(), State::default(), None);
        simulation.shared.switches.as_mut().unwrap().set_program(0, program);
    }
    simulation.begin(Time::ZERO, Span::from_nanos(scenario.sample_ns));
    simulation.advance(Time::from_nanos(END.as_nanos() / 2), &monitor, |_| false).unwrap();
    simulation.change(change).unwrap();
    simulation.advance(END, &monitor, |_| false).unwrap();
    simulation.end(END).unwrap();

    let mut losses = Losses::new();
    for (number, port) in simulation.ports.iter().enumerate() {
        let link = simulation.network.link_name(number);
        let mut count = |reason, place, packets: u64| {
            *losses.entry((link.clone(), reason, place)).or_default() += packets;
        };
        if let Some(switches) = &simulation.shared.switches {
            count("overlimit", "buffer", switches.refused(number).packets);
            count("congestion", "program", switches.filtered(number).packets);
        }
        let Some(extras) = &port.extras else { continue };
        if let Some(device) = &extras.device {
            let dropped = device.qdisc.counters().dropped;
            DropReason::ALL.iter().for_each(|&reason| count(reason.name(), "", dropped[reason as usize]));
        }
        if let Some(impairment) = &extras.impaired {
            count("random_loss", "wire", impairment.lost);
        }
    }
    losses.retain(|_, packets| *packets > 0);
    (losses, report(setup, END).unwrap())
}

fn logged(report: &Report) -> Losses {
    let known = DropReason::ALL.map(DropReason::name).into_iter().chain(["random_loss"]);
    let known: Vec<&'static str> = known.collect();
    let mut losses = Losses::new();
    for log in &report.logs {
        let Place::Queue(link) = &log.place else { continue };
        for record in log.events.split(|byte| *byte == 0x1e).filter(|record| !record.is_empty()) {
            let event: Value = serde_json::from_slice(record).unwrap();
            if event["name"] != "aqmlab:packet_dropped" {
                continue;
            }
            let reason = known.iter().find(|name| event["data"]["reason"] == **name).unwrap();
            let place =
                ["buffer", "program", "wire"].into_iter().find(|name| event["data"]["point"] == *name);
            *losses.entry((link.clone(), reason, place.unwrap_or_default())).or_default() += 1;
        }
    }
    losses
}

/// How many comments of the capture begin so.
fn commented(report: &Report, reason: &str, place: &str) -> u64 {
    let text = if place.is_empty() { format!("{reason}, after ") } else { format!("{reason}, {place}") };
    report.packets.windows(text.len()).filter(|window| *window == text.as_bytes()).count() as u64
}

#[test]
fn every_loss_is_in_the_log_and_in_the_capture_under_its_reason() {
    let datagrams = |aqm: &str, switch: Value| scenario(aqm, ONE, &switch, 400_000);
    let lossy = || {
        let mut lossy = datagrams("fifo limit 1000p", json!({}));
        for link in lossy["topology"]["links"].as_array_mut().unwrap() {
            link["wire"] = json!({ "loss": 0.05 });
        }
        lossy
    };
    // Acknowledgments of four senders at `b` fill the link under test, which carries 100 kbit/s.
    let acknowledgments = || {
        let mut one = datagrams("cake acks ack-filter", json!({}));
        one["topology"]["links"][2]["rate_bps"] = json!(200_000);
        one["flows"] = json!([{
            "name": "tcp", "count": 4, "start_ns": [0, 0], "from": ["b"], "to": ["a"],
            "transport": {"tcp": {"congestion_control": "newreno", "mss_bytes": 1448}}, "source": {"bulk": {}},
        }]);
        one
    };
    let shared = json!({"buffer": {"size_bytes": 3000, "alpha": 1.0}});
    let cases = [
        ("overlimit", "", datagrams("fifo limit 5p", json!({}))),
        ("overlimit", "buffer", datagrams("fifo limit 1000p", shared)),
        ("congestion", "program", datagrams("fifo limit 1000p", json!({}))),
        ("random_loss", "wire", lossy()),
        ("congestion", "", datagrams("pie limit 100000p", json!({}))),
        ("unfair", "", datagrams("sfb limit 1000p", json!({}))),
        ("reconfigured", "", datagrams("fifo limit 1000p", json!({}))),
        ("redundant", "", acknowledgments()),
    ];
    // No discipline of the registry has these.
    let of_others = [DropReason::Unspecified, DropReason::Other];
    for reason in DropReason::ALL.into_iter().filter(|reason| !of_others.contains(reason)) {
        assert!(cases.iter().any(|(name, ..)| *name == reason.name()), "no case for {reason:?}");
    }
    for (reason, place, mut case) in cases {
        (case["log"], case["record"]) = (json!(true), json!("queue"));
        let change: &[(&str, &str)] = if reason == "reconfigured" { &[("limit", "10p")] } else { &[] };
        let (counted, report) = run(&case, place == "program", change);
        let what = format!("{reason} {place} {counted:?}");
        assert!(counted.keys().any(|key| (key.1, key.2) == (reason, place)), "{what}");
        assert_eq!(logged(&report), counted, "{what}");
        let mut by_reason: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for ((_, reason, place), packets) in &counted {
            *by_reason.entry((*reason, *place)).or_default() += *packets;
        }
        for ((reason, place), packets) in by_reason {
            assert_eq!(commented(&report, reason, place), packets, "{what}");
        }
        // Rows of queues count the same, but for the wire, which is behind them.
        let rows: u64 =
            report.queues.iter().map(|row| row.dropped_early + row.dropped_overflow + row.ack_drops).sum();
        let queued: u64 = counted.iter().filter(|(key, _)| key.2 != "wire").map(|(_, packets)| packets).sum();
        assert_eq!(rows, queued, "{what}");
        let marked: u64 = report.queues.iter().map(|row| row.marked).sum();
        let marks = report.logs.iter().map(|log| {
            let name = b"\"aqmlab:packet_marked\"";
            log.events.windows(name.len()).filter(|window| window == name).count() as u64
        });
        assert_eq!(marks.sum::<u64>(), marked, "{what}");
    }
}
