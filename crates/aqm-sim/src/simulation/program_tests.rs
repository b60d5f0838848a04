//! Programs on switches in running simulations, with numbers worked out by hand.
//!
//! There is no link-layer overhead. The host's link has 80 Mbit/s, 10 bytes a microsecond, and propagation takes 50 us: a
//! packet of 1000 bytes that is sent at 0 is at the switch at 150 us. From there it takes 400 us at 20 Mbit/s.

use super::build::Setup;
use crate::measure::metrics::SenderState;
use crate::measure::observer::{AtHost, Dropped, DroppedBy, PacketObserver};
use crate::report::{Monitor, Report};
use crate::reporting::results::report;
use crate::scenario::inputs::Inputs;
use crate::switch::control_plane::Program;
use crate::switch::pipeline::{Egress, Ingress, PacketView, Pipeline, QueueView, RegisterId, State};
use aqm_core::signal::Emission;
use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One flow of packets of 1000 bytes at 80 Mbit/s, one every 100 us, through these nodes; the last link has 20 Mbit/s.
pub(super) fn scenario(aqm: &str, nodes: &[&str], switch: &Value, micros: u64) -> Value {
    let mut links = Vec::new();
    for (hop, ends) in nodes.windows(2).enumerate() {
        let last = hop + 2 == nodes.len();
        let (rate, queue) = if last { (20_000_000, "under_test") } else { (80_000_000, "plain") };
        let link = |from, to, rate, queue| json!({"from": from, "to": to, "rate_bps": rate, "delay_ns": 50_000, "queue": queue});
        links.push(link(ends[0], ends[1], rate, queue));
        links.push(link(ends[1], ends[0], 80_000_000, "plain"));
    }
    let inner = &nodes[1..nodes.len() - 1];
    let switches: serde_json::Map<String, Value> =
        inner.iter().map(|name| ((*name).to_owned(), switch.clone())).collect();
    json!({
        "aqm": aqm, "capacity": {"rate_bps": 20_000_000}, "rtt_ns": 200_000, "overhead_bytes": 0,
        "duration_ns": micros * 1000, "warmup_ns": 0, "sample_ns": 1_000_000,
        "topology": {"links": links, "measured": 2 * (nodes.len() - 2), "switches": switches},
        "flows": [{
            "name": "cbr", "count": 1, "start_ns": [0, 0], "from": [nodes[0]], "to": [nodes[nodes.len() - 1]],
            "transport": {"udp": {"packet_bytes": 1000, "ecn": "classic"}},
            "source": {"cbr": {"rate_bps": 80_000_000}}, "dscp": 26,
        }],
    })
}

/// Builds, lets `change` what was built, and runs.
fn run(scenario: &Value, change: impl FnOnce(&mut Setup)) -> Setup {
    let scenario: crate::scenario::Scenario = serde_json::from_value(scenario.clone()).unwrap();
    scenario.check().unwrap();
    let mut setup = Setup::build(
        &scenario,
        &Spec::parse(&scenario.aqm).unwrap(),
        &Inputs::default(),
        1,
        &Monitor::default(),
    )
    .unwrap();
    change(&mut setup);
    let end = Time::from_nanos(scenario.duration_ns);
    setup.simulation.run(end, Time::ZERO, Span::from_nanos(scenario.sample_ns), &Monitor::default()).unwrap();
    setup
}

/// The report of such a run with `program` on each switch.
fn with_program(program: &str, nodes: &[&str], micros: u64) -> Report {
    let scenario = scenario("fifo limit 1000p", nodes, &json!({ "program": program }), micros);
    report(run(&scenario, |_| ()), Time::from_nanos(micros * 1000)).unwrap()
}

pub(super) const ONE: &[&str] = &["a", "s", "b"];

#[test]
fn the_control_plane_changes_a_threshold_after_its_delay_and_packets_are_marked() {
    // At 10 ms it has seen 24 packets go (one every 400 us from 150 us on), and sets the threshold to a tenth of their
    // bytes; that is in force 5 ms later. Packets come 150 us + n x 100 us; those from 15.05 ms to 19.95 ms are 50.
    let program = |delay| format!("dscp threshold 1mb target 1ms period 10ms delay {delay}");
    let marks = |delay| with_program(&program(delay), ONE, 20_000).metrics["marks"];
    assert_eq!(marks("5ms"), 50.0);
    assert_eq!(marks("6ms"), 40.0);
    assert_eq!(marks("0s"), 100.0);
    // Nothing is marked where the threshold is not reached: 25 packets have left for 100 that came.
    assert_eq!(with_program("dscp threshold 80kb", ONE, 10_000).metrics["marks"], 0.0);
}

#[test]
fn what_a_program_emits_is_a_packet_that_takes_its_time_to_the_source() {
    // The first packet is being sent, the second waits; the third finds 1000 bytes at 350 us. A notice of 64 bytes takes
    // 6.4 us and 50 us.
    let delivered = |nanos: u64| {
        let mut scenario =
            scenario("fifo limit 1000p", ONE, &json!({ "program": "dscp threshold 1b notify" }), 1);
        scenario["duration_ns"] = json!(nanos);
        let setup = run(&scenario, |_| ());
        let delivered = setup.simulation.flows[0].session.ledger.received.feedback;
        let metrics = report(setup, Time::from_nanos(nanos)).unwrap().metrics;
        assert_eq!(metrics["feedback_delivered"], delivered as f64);
        (metrics["feedback_sent"], delivered)
    };
    assert_eq!(delivered(406_399), (1.0, 0));
    assert_eq!(delivered(406_400), (1.0, 1));
}

#[test]
fn the_receiver_reads_what_three_hops_say_and_packets_grow_by_it() {
    // 100 packets are sent within 10 ms. Where links are equal nothing waits; in front of the last, four come for one
    // that leaves.
    let report = with_program("dscp int", &["a", "s1", "s2", "s3", "s4", "b"], 10_000);
    let delivered = report.metrics["telemetry_packets"];
    assert_eq!(report.metrics["telemetry_hops"], 3.0 * delivered, "the fourth finds no room");
    let mean = |link: &str| {
        let row = report.queues.iter().find(|row| row.link == link).unwrap();
        row.arrived_bytes as f64 / row.arrived as f64
    };
    let lengths = ["s1->s2", "s2->s3", "s3->s4", "s4->b"].map(mean);
    assert_eq!(lengths, [1000.0, 1016.0, 1028.0, 1040.0]);

    // With one switch: packet n leaves the queue at 150 us + n x 406.4 us, for its 16 bytes more take 6.4 us, and is read
    // 456.4 us later. Up to 5 ms, eleven are. When the last of them left, at 4214 us, 41 had come: 30 were behind it.
    let report = with_program("dscp int", ONE, 5_000);
    assert_eq!(report.metrics["telemetry_packets"], 11.0);
    assert_eq!(report.metrics["telemetry_hops"], 11.0);
    assert_eq!(report.metrics["telemetry_queue_max_packets"], 30.0);
}

#[test]
fn a_class_that_a_program_chooses_is_the_one_that_is_queued() {
    // DSCP 26 is the program's second class and 46 its first; both are class 0 by themselves.
    let of_class = |program: &str, dscp: u8| {
        let switch = if program.is_empty() { json!({}) } else { json!({ "program": program }) };
        let mut scenario = scenario("sp classes 2 limit 1000p", ONE, &switch, 100_000);
        let mut urgent = scenario["flows"][0].clone();
        urgent["name"] = json!("urgent");
        urgent["dscp"] = json!(dscp);
        scenario["flows"].as_array_mut().unwrap().push(urgent);
        scenario["flows"][0]["dscp"] = json!(26);
        let report = report(run(&scenario, |_| ()), Time::from_nanos(100_000_000)).unwrap();
        report.metrics["class.urgent.goodput_mbit"] / report.metrics["class.cbr.goodput_mbit"]
    };
    assert!(of_class("dscp codepoints 46", 46) > 50.0);
    assert!((0.5..2.0).contains(&of_class("dscp codepoints 46", 26)));
    assert!((0.5..2.0).contains(&of_class("", 46)));
}

/// Drops every second packet as it comes in and counts the others while they wait.
struct Filter {
    arrived: RegisterId,
    waiting: RegisterId,
}

impl Pipeline for Filter {
    fn on_ingress(&mut self, view: &PacketView<'_>, state: &mut State) -> Ingress {
        let arrived = &mut state.registers_mut(self.arrived)[view.egress];
        *arrived += 1;
        let drop = arrived.is_multiple_of(2);
        state.registers_mut(self.waiting)[view.egress] += u64::from(!drop);
        Ingress { drop, ..Ingress::default() }
    }

    fn on_egress(&mut self, view: &PacketView<'_>, _: &QueueView, state: &mut State) -> Egress {
        state.registers_mut(self.waiting)[view.egress] -= 1;
        Egress::default()
    }

    fn on_drop(&mut self, view: &PacketView<'_>, state: &mut State) {
        state.registers_mut(self.waiting)[view.egress] -= 1;
    }
}

#[test]
fn counters_of_what_waits_are_what_waits_however_packets_are_dropped() {
    // By the program itself, by the shared buffer, by a full queue, and by CoDel from the queue.
    for (aqm, buffer) in [
        ("fifo limit 1000p", None),
        ("fifo limit 1000p", Some(20_000)),
        ("fifo limit 5p", None),
        ("codel:linux target 1ms interval 2ms limit 50p", None),
    ] {
        let mut scenario = scenario(aqm, ONE, &json!({}), 100_000);
        if let Some(size) = buffer {
            scenario["topology"]["switches"]["s"]["buffer"] = json!({"size_bytes": size, "alpha": 1.0});
        }
        let mut state = State::default();
        let (arrived, waiting) = (state.add_registers(2), state.add_registers(2));
        let program = Program::new(Box::new(Filter { arrived, waiting }), state, None);
        let setup = run(&scenario, |setup| {
            setup.simulation.shared.switches.as_mut().unwrap().set_program(0, program);
        });
        let simulation = &setup.simulation;
        let port = simulation.measured[0];
        let backlog = simulation.ports[port].device().unwrap().qdisc.backlog().packets;
        let state = simulation.shared.switches.as_ref().unwrap().program_state(0).unwrap();
        assert_eq!(state.registers(waiting).iter().sum::<u64>(), backlog, "{aqm} {buffer:?}");
        assert_eq!(state.registers(arrived).iter().sum::<u64>(), 999, "those at 150 us, 250 us and so on");
        let report = report(setup, Time::from_nanos(100_000_000)).unwrap();
        assert_eq!(report.metrics["program_drops"], 499.0, "{aqm}");
        let row = report.queues.iter().find(|row| row.link == "s->b").unwrap();
        let lost = row.dropped_early + row.dropped_overflow;
        assert_eq!(row.arrived, row.departed + lost + row.backlog);
        assert!(buffer.is_none() || report.metrics["buffer_drops"] > 100.0, "{aqm} {buffer:?}");
    }
}

#[test]
fn the_virtual_queues_of_dscp_equal_the_backlog_under_drops() {
    let switch =
        json!({"program": "dscp threshold 1b notify int", "buffer": {"size_bytes": 20_000, "alpha": 1.0}});
    for aqm in ["fifo limit 1000p", "fifo limit 5p", "codel:linux target 1ms interval 2ms limit 50p ecn"] {
        let setup = run(&scenario(aqm, ONE, &switch, 100_000), |_| ());
        let simulation = &setup.simulation;
        let backlog = simulation.ports[simulation.measured[0]].device().unwrap().qdisc.backlog().bytes;
        let state = simulation.shared.switches.as_ref().unwrap().program_state(0).unwrap();
        let waiting: u64 = state.arrays().next().unwrap().iter().sum();
        assert_eq!(waiting, backlog, "{aqm}");
    }
}

/// One rate-based flow over the host's link of 80 Mbit/s and the bottleneck of 20 Mbit/s.
fn rated(control: Value, switch: &Value, micros: u64) -> Value {
    let mut scenario = scenario("fifo limit 10000p", ONE, switch, micros);
    let flow = &mut scenario["flows"][0];
    flow["transport"] = json!({ "rate": control });
    flow["source"] = json!({ "bulk": { "size_bytes": null } });
    scenario
}

#[test]
fn qcn_keeps_the_queue_near_its_set_point() {
    let switch = json!({"program": "qcn setpoint 20kb interval 30kb"});
    let control = json!({"rate_control": "qcn", "packet_bytes": 1000, "bytecounter_bytes": 30_000, "timer_ns": 3_000_000});
    let mut scenario = rated(control, &switch, 3_000_000);
    scenario["warmup_ns"] = json!(1_000_000_000);
    let report = report(run(&scenario, |_| ()), Time::from_nanos(3_000_000_000)).unwrap();
    assert!(report.metrics["utilization"] > 0.9, "{}", report.metrics["utilization"]);
    let queue = report.metrics["queue_mean_bytes"];
    assert!((5_000.0..40_000.0).contains(&queue), "{queue}");
    assert_eq!(report.metrics["feedback_ignored"], 0.0);
    assert!(report.metrics["feedback_delivered"] > 20.0);
}

#[test]
fn feedback_that_is_lost_does_not_arrive_and_the_sender_does_not_slow_down() {
    let switch = json!({"program": "qcn setpoint 20kb interval 30kb"});
    let control = json!({"rate_control": "qcn", "packet_bytes": 1000});
    let mut scenario = rated(control, &switch, 100_000);
    let back = scenario["topology"]["links"].as_array_mut().unwrap();
    back.iter_mut().find(|link| link["from"] == "s" && link["to"] == "a").unwrap()["wire"] =
        json!({ "loss": 1.0 });
    let setup = run(&scenario, |_| ());
    let state = setup.simulation.flows[0].sender_state();
    assert!(matches!(state, Some(SenderState::Rate { rate: 80e6, .. })));
    let metrics = report(setup, Time::from_nanos(100_000_000)).unwrap().metrics;
    assert!(metrics["feedback_sent"] > 10.0);
    assert_eq!((metrics["feedback_delivered"], metrics["feedback_lost"]), (0.0, metrics["feedback_sent"]));
}

/// Tells the source of each packet what the list says, in turn.
struct Forger {
    says: Vec<[u64; 3]>,
    next: usize,
}

impl Pipeline for Forger {
    fn on_ingress(&mut self, view: &PacketView<'_>, _: &mut State) -> Ingress {
        let values = self.says[self.next % self.says.len()];
        self.next += 1;
        let (flow, to) = (view.packet.flow, view.packet.source);
        Ingress { emit: Some(Emission { flow, to, length: 64, class: 0, values }), ..Ingress::default() }
    }

    fn on_egress(&mut self, _: &PacketView<'_>, _: &QueueView, _: &mut State) -> Egress {
        Egress::default()
    }

    fn on_drop(&mut self, _: &PacketView<'_>, _: &mut State) {}
}

#[test]
fn forged_feedback_is_ignored_and_counted_by_every_rate_control() {
    // Rates of zero, no rates, rates that no link has; an Fb of 0 and of 64; no notification.
    let lies = vec![[0, 0, 0], [64, 100, 0], [u64::MAX, 0, 100], [0, 5, u64::MAX], [0, u64::MAX, 0]];
    for name in ["qcn", "dcqcn"] {
        let control = json!({"rate_control": name, "packet_bytes": 1000});
        let scenario = rated(control, &json!({}), 50_000);
        let program = Program::new(Box::new(Forger { says: lies.clone(), next: 0 }), State::default(), None);
        let honest = run(&scenario, |_| ()).simulation.flows[0].sender_state();
        let setup = run(&scenario, |setup| {
            setup.simulation.shared.switches.as_mut().unwrap().set_program(0, program);
        });
        let (Some(SenderState::Rate { rate, .. }), Some(SenderState::Rate { rate: expected, .. })) =
            (setup.simulation.flows[0].sender_state(), honest)
        else {
            panic!("{name} has a rate")
        };
        assert_eq!(rate, expected, "{name}");
        let metrics = report(setup, Time::from_nanos(50_000_000)).unwrap().metrics;
        assert!(metrics["feedback_ignored"] > 4.0, "{name}");
        assert_eq!(metrics["feedback_ignored"], metrics["feedback_delivered"], "{name}");
    }
}

/// Counts the packets that a switch refuses.
struct Refusals(Arc<AtomicU64>);

impl PacketObserver for Refusals {
    fn on_sent(&mut self, _: &AtHost<'_>) {}

    fn on_received(&mut self, _: &AtHost<'_>) {}

    fn on_drop(&mut self, dropped: &Dropped<'_>) {
        self.0.fetch_add(u64::from(dropped.by == DroppedBy::Buffer), Ordering::Relaxed);
    }

    fn report(&mut self, _: &mut Report, _: Time) {}
}

/// Marks every packet.
struct Marker;

impl Pipeline for Marker {
    fn on_ingress(&mut self, _: &PacketView<'_>, _: &mut State) -> Ingress {
        Ingress { mark: true, ..Ingress::default() }
    }

    fn on_egress(&mut self, _: &PacketView<'_>, _: &QueueView, _: &mut State) -> Egress {
        Egress::default()
    }

    fn on_drop(&mut self, _: &PacketView<'_>, _: &mut State) {}
}

#[test]
fn a_packet_that_is_marked_and_then_refused_is_lost_and_counts_as_no_mark() {
    // A packet every 100 us, and 400 us for each: a buffer of 3000 bytes with alpha 1 holds 1500 of them in one queue.
    let mut scenario = scenario("fifo limit 1000p", ONE, &json!({}), 4_000);
    scenario["topology"]["switches"]["s"]["buffer"] = json!({"size_bytes": 3000, "alpha": 1.0});
    let refused = Arc::new(AtomicU64::new(0));
    let setup = run(&scenario, |setup| {
        let program = Program::new(Box::new(Marker), State::default(), None);
        setup.simulation.shared.switches.as_mut().unwrap().set_program(0, program);
        setup.simulation.shared.metrics.observers.push(Box::new(Refusals(Arc::clone(&refused))));
    });
    let report = report(setup, Time::from_nanos(4_000_000)).unwrap();
    let queue = &report.queues.iter().find(|queue| queue.link == "s->b").unwrap();
    assert!(queue.dropped_overflow > 20, "{queue:?}");
    assert_eq!(queue.marked, queue.arrived - queue.dropped_overflow);
    assert_eq!(report.metrics["marks"], queue.marked as f64);
    assert_eq!(refused.load(Ordering::Relaxed), queue.dropped_overflow, "observers see them");
}
