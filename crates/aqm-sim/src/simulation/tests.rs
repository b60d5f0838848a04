//! Packets that disciplines emit, and what the checks catch, with times worked out by hand.

use super::state::Simulation;
use crate::endpoint::flow::{Endpoints, FlowSetup, Identity};
use crate::endpoint::recorded::{Recorded, Replay};
use crate::measure::metrics::Metrics;
use crate::network::graph::{Capacity, LinkId, LinkSpec, Network, NodeId, Queue};
use crate::report::{Monitor, RunError};
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Group, Info, LIMIT, Traits};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{ParamError, ParamSpec, Params, Preset};
use aqm_core::queue::Fifo;
use aqm_core::signal::Emission;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span, Time};
use aqm_path::wire::Loss;

/// One byte takes a microsecond.
const RATE: Rate = Rate::from_bits_per_sec(8_000_000);

const PARAMS: &[ParamSpec] = &[LIMIT];
const PRESETS: &[Preset] = &[Preset { name: "test", source: "made for the test", values: &[] }];
const TRAITS: Traits = Traits {
    wakes: false,
    ecn: false,
    drops_queued: false,
    reorders_flows: false,
    reorders_within_flow: false,
    quiet_packets: u64::MAX,
    flow_state_bytes: 0,
};

const fn info(name: &'static str, build: fn(Blueprint<'_>) -> Built) -> Info {
    Info {
        name,
        group: Group::Queue,
        summary: "Made for a test",
        reference: "none",
        params: PARAMS,
        presets: PRESETS,
        probes: &[],
        traits: TRAITS,
        deviations: "none",
        build,
    }
}

/// Tells the source of every packet of 64 bytes or more how much waits, and knows no limit.
static TELLER: Info =
    info("teller", |_| Ok(Box::new(Test { queue: Fifo::default(), tells: true, admits: true })));
/// The same, but says that it never tells.
static SECRET: Info =
    info("secret", |_| Ok(Box::new(Test { queue: Fifo::default(), tells: true, admits: false })));
/// Takes whatever comes, whatever its limit.
static GREEDY: Info =
    info("greedy", |_| Ok(Box::new(Test { queue: Fifo::default(), tells: false, admits: true })));

struct Test {
    queue: Fifo,
    tells: bool,
    /// Whether it admits that it tells.
    admits: bool,
}

impl Discipline for Test {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        if self.tells {
            let values = [self.queue.backlog().packets, 7, 0];
            cx.emit(Emission { flow: packet.flow, to: packet.source, length: 100, class: 5, values });
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.queue.pop()
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

    fn emits(&self) -> bool {
        self.tells && self.admits
    }

    fn state_bytes(&self) -> usize {
        size_of::<Test>()
    }
}

fn spec(info: &'static Info) -> Spec {
    Spec::of(info, &info.presets[0])
}

fn queue(spec: Spec) -> Queue {
    Queue::Discipline { spec, ring_packets: 1, random: "test".to_owned() }
}

/// A chain of links of 8 Mbit/s there and back: `a -> s1 -> s2 -> s3 -> b`, 1, 2, 3 and 4 ms long. The discipline is in
/// front of the last.
struct Chain {
    network: Network,
    nodes: Vec<NodeId>,
    forward: Vec<LinkId>,
    reverse: Vec<LinkId>,
}

fn chain(discipline: Spec) -> Chain {
    let mut network = Network::default();
    let nodes: Vec<_> = ["a", "s1", "s2", "s3", "b"].map(|name| network.node(name.to_owned())).into();
    let (mut forward, mut reverse) = (Vec::new(), Vec::new());
    for (hop, ends) in nodes.windows(2).enumerate() {
        let delay = Span::from_millis(hop as u64 + 1);
        forward.push(network.link(LinkSpec::plain(ends[0], ends[1], RATE, delay)));
        reverse.push(network.link(LinkSpec::plain(ends[1], ends[0], RATE, delay)));
    }
    network.links[forward[3]].queue = queue(discipline);
    reverse.reverse();
    Chain { network, nodes, forward, reverse }
}

/// A simulation in which recorded packets of 1000 bytes leave at these microseconds.
fn simulation(network: Network, flows: &[(&[LinkId], &[LinkId], &[u64])]) -> Simulation {
    let metrics = Metrics::new(vec!["all".to_owned()], false);
    let bottleneck =
        network.links.iter().position(|link| matches!(link.queue, Queue::Discipline { .. })).unwrap();
    let mut simulation = Simulation::new(network, vec![bottleneck], metrics, 0, 1).unwrap();
    for &(forward, reverse, sends) in flows {
        let hash = 100 + simulation.flows.len() as u64;
        let (source, destination) = (1 + hash as u32, 1000 + hash as u32);
        let flow = simulation.add_flow(FlowSetup {
            group: 0,
            forward,
            reverse,
            propagation: Span::ZERO,
            identity: Identity {
                hash,
                source,
                destination,
                class: 0,
                headers: 0,
                dscp: 0,
                protocol: 17,
                ecn: Ecn::NotEct,
                back: false,
            },
            endpoints: Endpoints::Datagrams,
            rate_endpoints: None,
            stack: None,
            source: None,
            piece: 0,
            start: Time::from_nanos(u64::MAX),
            stop: Time::MAX,
            size: None,
        });
        let packet = |&at: &u64| Recorded {
            at: Span::from_micros(at),
            flow,
            ip_length: 1000,
            payload: 1000,
            ecn: Ecn::NotEct,
            tcp: None,
        };
        simulation.add_replay(Replay {
            packets: sends.iter().map(packet).collect(),
            next: 0,
            start: Time::ZERO,
        });
    }
    simulation
}

fn run(simulation: &mut Simulation, micros: u64) -> Result<(), RunError> {
    let end = Time::from_nanos(1000 * micros);
    simulation.run(end, Time::ZERO, Span::from_millis(1), &Monitor::default())
}

/// Whether the first flow's sender has been notified by then.
fn is_told(build: impl Fn() -> Simulation, micros: u64) -> bool {
    let mut simulation = build();
    run(&mut simulation, micros).unwrap();
    simulation.flows[0].session.ledger.received.feedback > 0
}

#[test]
fn an_emission_takes_the_time_of_three_links_back() {
    let build = || {
        let Chain { network, forward, reverse, .. } = chain(spec(&TELLER));
        simulation(network, &[(&forward, &reverse, &[0])])
    };
    // At s3 after three milliseconds of sending and six of propagation; 100 bytes back take three times 0.1 ms and 6 ms.
    assert!(!is_told(build, 15_299));
    assert!(is_told(build, 15_300));
    let mut simulation = build();
    run(&mut simulation, 20_000).unwrap();
    let feedback = &simulation.shared.metrics.feedback;
    assert_eq!((feedback.sent, feedback.delivered, feedback.lost, feedback.unaddressed), (1, 1, 0, 0));
    assert_eq!((simulation.shared.slab.alive(), simulation.shared.slab.records.alive()), (0, 0));
}

#[test]
fn an_emission_at_the_port_of_the_host_that_it_is_for_is_there_at_once() {
    let Chain { mut network, forward, reverse, .. } = chain(Spec::parse("fifo limit 10p").unwrap());
    network.links[forward[0]].queue = queue(spec(&TELLER));
    assert!(is_told(|| simulation(network.clone(), &[(&forward, &reverse, &[0])]), 1));
}

#[test]
fn an_emission_waits_behind_what_a_link_has_to_send() {
    let build = || {
        let Chain { network, forward, reverse, .. } = chain(spec(&TELLER));
        // From s1 to a: sent from 13.9 ms to 14.9 ms; the emission reaches s1 at 14.2 ms.
        simulation(network, &[(&forward, &reverse, &[0]), (&reverse[3..], &forward[..1], &[13_900])])
    };
    assert!(!is_told(build, 15_999));
    assert!(is_told(build, 16_000));
}

#[test]
fn an_emission_delays_the_packets_behind_it_and_queues_in_disciplines() {
    let Chain { mut network, forward, reverse, .. } = chain(spec(&TELLER));
    network.links[reverse[2]].queue = queue(Spec::parse("fifo limit 10p").unwrap());
    let mut simulation =
        simulation(network, &[(&forward, &reverse, &[0]), (&reverse[2..], &forward[..2], &[12_101])]);
    run(&mut simulation, 30_000).unwrap();
    let counters = simulation.ports[reverse[2]].device().unwrap().qdisc.counters().clone();
    assert_eq!((counters.arrived, counters.arrived_bytes), (2, 1100));
    // The emission is at s2 at 12.1 ms and keeps the wire for 0.1 ms, all but a microsecond of which the other packet waits:
    // 12.2 + 1 + 2 ms to s1, 1 + 1 ms to a.
    let owd = simulation.shared.metrics.flows[1].owd_sum;
    assert_eq!(owd, Span::from_micros(17_200 - 12_101));
}

#[test]
fn an_emission_is_lost_where_a_link_loses_it_and_nothing_leaks() {
    let Chain { mut network, forward, reverse, .. } = chain(spec(&TELLER));
    network.links[reverse[2]].wire.loss = Loss::Random(1.0);
    let mut simulation = simulation(network, &[(&forward, &reverse, &[0, 2000, 4000])]);
    run(&mut simulation, 30_000).unwrap();
    let feedback = &simulation.shared.metrics.feedback;
    assert_eq!((feedback.sent, feedback.delivered, feedback.lost), (3, 0, 3));
    assert_eq!((simulation.shared.slab.alive(), simulation.shared.slab.records.alive()), (0, 0));
    assert_eq!(simulation.flows[0].session.ledger.received.feedback, 0);
    assert_eq!(simulation.shared.metrics.flows[0].lost, 0);
}

#[test]
fn an_emission_about_another_emission_is_for_nobody() {
    let Chain { mut network, forward, reverse, nodes } = chain(spec(&TELLER));
    assert_eq!(nodes.len(), 5);
    network.links[reverse[1]].queue = queue(spec(&TELLER));
    let mut simulation = simulation(network, &[(&forward, &reverse, &[0])]);
    run(&mut simulation, 30_000).unwrap();
    let feedback = &simulation.shared.metrics.feedback;
    assert_eq!((feedback.sent, feedback.delivered, feedback.unaddressed), (1, 1, 1));
}

#[test]
fn a_discipline_that_emits_without_saying_so_fails_the_run() {
    let Chain { network, forward, reverse, .. } = chain(spec(&SECRET));
    let mut simulation = simulation(network, &[(&forward, &reverse, &[0])]);
    let problem = run(&mut simulation, 20_000).unwrap_err().to_string();
    assert!(problem.contains("s3->b: the discipline has emitted 1 packets, but says"), "{problem}");
}

#[test]
fn a_discipline_beyond_its_limit_in_packets_or_bytes_fails_the_run() {
    for (limit, longest) in [("2p", "3 packets"), ("2500b", "3000 bytes")] {
        let mut greedy = spec(&GREEDY);
        greedy.set_text("limit", limit).unwrap();
        let Chain { mut network, forward, reverse, .. } = chain(greedy);
        // Four packets at once: one is sent, three wait. The measured queue is another.
        network.links[forward[0]].queue = queue(Spec::parse("fifo").unwrap());
        network.links[forward[3]].capacity = Capacity::Rate(Rate::from_bits_per_sec(80_000));
        let mut simulation = simulation(network, &[(&forward, &reverse, &[0, 0, 0, 0])]);
        let problem = run(&mut simulation, 20_000).unwrap_err().to_string();
        assert!(problem.contains(&format!("s3->b: {longest} waited in a queue limited to")), "{problem}");
    }
}

/// Two hosts at a switch, from which a plain link leads on, and then one with a discipline: packets reach the plain link in
/// one queue of packets in flight.
#[test]
fn a_packet_that_overtakes_others_on_their_way_to_a_plain_port_is_sent_before_them() {
    let mut network = Network::default();
    let [a, b, m, n, c] = ["a", "b", "m", "n", "c"].map(|name| network.node(name.to_owned()));
    let (far, near) = (Span::from_millis(5), Span::from_millis(1));
    let [from_a, from_b, on, last] = [(a, m, far), (b, m, far), (m, n, near), (n, c, near)]
        .map(|(from, to, delay)| network.link(LinkSpec::plain(from, to, RATE, delay)));
    network.links[last].queue = queue(Spec::parse("fifo").unwrap());
    let (first, second) = ([from_a, on, last], [from_b, on, last]);
    let mut simulation = simulation(network, &[(&first, &[], &[0, 5000]), (&second, &[], &[5850])]);
    simulation.replays[1].packets[0].ip_length = 100;
    simulation.replays[1].packets[0].payload = 100;
    run(&mut simulation, 20_000).unwrap();
    // At m: 6 ms, 11 ms, and, sent later but shorter, 10.95 ms. The last one keeps the wire until 11.05 ms, and the second
    // waits for it.
    let [first, second] = [0, 1].map(|flow| simulation.shared.metrics.flows[flow].owd_sum);
    assert_eq!((first, second), (Span::from_micros(10_000 + 10_050), Span::from_micros(7300)));
}
