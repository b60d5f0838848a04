//! The dumbbell: hosts on either side, one bottleneck in the middle, and what the run says in the end.

use crate::link_trace::LinkTrace;
use crate::metrics::Metrics;
use crate::network::{Capacity as LinkCapacity, LinkId, LinkSpec, Network, NodeId, Queue};
use crate::report::RunError;
use crate::scenario::{Capacity, CongestionControl, FlowGroup, Scenario, Source, Tcp, Transport};
use crate::simulation::{FlowSetup, Identity, Label, Simulation, Way};
use crate::traffic::Arrivals;
use aqm_core::packet::Ecn;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::path::Path;

/// IPv4 and UDP headers.
const UDP_HEADERS: u32 = 28;
/// IPv4 header, TCP header, timestamp option.
const TCP_HEADERS: u32 = 20 + 20 + 12;
const IPV6_EXTRA: u32 = 20;
/// Access links are this many times as fast as the bottleneck unless the scenario says otherwise.
const ACCESS_FACTOR: u64 = 10;

/// A dumbbell ready to run, and what its flows are called.
pub(crate) struct Dumbbell {
    pub(crate) simulation: Simulation,
    pub(crate) labels: Vec<Label>,
    pub(crate) capacity: LinkCapacity,
    pub(crate) aqm: Spec,
    pub(crate) link_names: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl Dumbbell {
    /// Builds the dumbbell of a scenario.
    pub(crate) fn build(scenario: &Scenario, seed: u64) -> Result<Dumbbell, RunError> {
        let input = |text: String| RunError::Input(text);
        let capacity = read_capacity(&scenario.capacity)?;
        let aqm = Spec::parse(&scenario.aqm).map_err(|error| input(error.to_string()))?;
        let captures = scenario
            .captures
            .iter()
            .map(|path| crate::replay::load(Path::new(path)))
            .collect::<Result<Vec<_>, _>>()?;

        let mut groups: Vec<String> = scenario.flows.iter().map(|group| group.name.clone()).collect();
        if !captures.is_empty() {
            groups.push(crate::replay::GROUP.to_owned());
        }
        let full = Bytes::new(u64::from(1500 + scenario.overhead_bytes));
        let metrics = Metrics::new(groups, capacity.mean_rate().time_for(full));

        let mut plan = Plan::new(scenario, capacity.clone(), aqm.clone());
        let mut paths = Vec::new();
        for group in &scenario.flows {
            for index in 0..group.count {
                let rtt = Span::from_nanos(group.rtt_ns.unwrap_or(scenario.rtt_ns));
                paths.push(plan.join(&format!("{}.{index}", group.name), rtt)?);
            }
        }
        let recorded_path = (!captures.is_empty()).then(|| plan.direct());

        let bottleneck = plan.bottleneck;
        let network = plan.network;
        let mut simulation = Simulation::new(&network, bottleneck, metrics, scenario.overhead_bytes, seed)
            .map_err(|error| input(error.to_string()))?;
        let mut labels = Vec::new();
        let mut paths = paths.into_iter();
        for (number, group) in scenario.flows.iter().enumerate() {
            for index in 0..group.count {
                let path = paths.next().expect("one path was laid for each flow");
                labels.push(add_flow(&mut simulation, number, group, index, &path, seed));
            }
        }
        let mut warnings = Vec::new();
        if let Some(path) = recorded_path {
            let group = scenario.flows.len();
            for capture in captures {
                warnings.extend(capture.warnings());
                crate::replay::add(&mut simulation, &mut labels, group, &path, &capture);
            }
        }
        let link_names = (0..network.links.len()).map(|link| network.link_name(link)).collect();
        Ok(Dumbbell { simulation, labels, capacity, aqm, link_names, warnings })
    }
}

/// Reads the capacity of a scenario.
fn read_capacity(capacity: &Capacity) -> Result<LinkCapacity, RunError> {
    match capacity {
        Capacity::RateBps(0) => Err(RunError::Input("the bottleneck's rate is zero".to_owned())),
        Capacity::RateBps(bits) => Ok(LinkCapacity::Rate(Rate::from_bits_per_sec(*bits))),
        Capacity::Trace(path) => match LinkTrace::read(Path::new(path)) {
            Ok(trace) => Ok(LinkCapacity::Trace(trace)),
            Err(error) => Err(RunError::Input(error.to_string())),
        },
    }
}

/// The graph while hosts are being added.
struct Plan {
    network: Network,
    left: NodeId,
    right: NodeId,
    bottleneck: LinkId,
    bottleneck_delay: Span,
    access: Rate,
    default_rtt: Span,
}

impl Plan {
    fn new(scenario: &Scenario, capacity: LinkCapacity, aqm: Spec) -> Plan {
        let mut network = Network::default();
        let left = network.node("left".to_owned());
        let right = network.node("right".to_owned());
        let rate = capacity.mean_rate();
        let access = scenario.access_rate_bps.unwrap_or(rate.as_bits_per_sec() * ACCESS_FACTOR);
        let rtts = scenario.flows.iter().map(|group| group.rtt_ns.unwrap_or(scenario.rtt_ns));
        // Half of the shortest one-way delay is the bottleneck's, the rest is on the access links.
        let bottleneck_delay = Span::from_nanos(rtts.chain([scenario.rtt_ns]).min().unwrap_or(0) / 4);
        let bottleneck = network.link(LinkSpec {
            from: left,
            to: right,
            capacity,
            delay: bottleneck_delay,
            queue: Queue::Discipline {
                spec: aqm,
                ring_packets: scenario.device_ring_packets,
                random: "bottleneck",
            },
            loss: scenario.loss,
            jitter: Span::from_nanos(scenario.jitter_ns),
        });
        network.link(LinkSpec::plain(right, left, rate, bottleneck_delay));
        Plan {
            network,
            left,
            right,
            bottleneck,
            bottleneck_delay,
            access: Rate::from_bits_per_sec(access),
            default_rtt: Span::from_nanos(scenario.rtt_ns),
        }
    }

    /// Adds a sender and a receiver whose round trip takes `rtt`, and the routes between them.
    fn join(&mut self, name: &str, rtt: Span) -> Result<Way, RunError> {
        let sender = self.network.node(format!("{name}.sender"));
        let receiver = self.network.node(format!("{name}.receiver"));
        let forward = rtt / 2;
        let reverse = rtt.saturating_sub(forward);
        for (one_way, from, to) in [(forward, sender, receiver), (reverse, receiver, sender)] {
            let (near, far) = if from == sender { (self.left, self.right) } else { (self.right, self.left) };
            let outside = one_way.saturating_sub(self.bottleneck_delay);
            let first = outside / 2;
            self.network.link(LinkSpec::plain(from, near, self.access, first));
            self.network.link(LinkSpec::plain(far, to, self.access, outside.saturating_sub(first)));
        }
        let mut route = |from, to| {
            let missing = || RunError::Check(format!("no route for {name}"));
            self.network.route(from, to).ok_or_else(missing)
        };
        let (forward_route, reverse_route) = (route(sender, receiver)?, route(receiver, sender)?);
        Ok(Way { forward: forward_route, reverse: reverse_route, propagation: forward, rtt })
    }

    /// The way of recorded traffic: straight into the bottleneck, with the timing of the capture.
    fn direct(&self) -> Way {
        let propagation = self.bottleneck_delay;
        Way { forward: vec![self.bottleneck], reverse: Vec::new(), propagation, rtt: self.default_rtt }
    }
}

fn add_flow(
    simulation: &mut Simulation,
    number: usize,
    group: &FlowGroup,
    index: u32,
    path: &Way,
    seed: u64,
) -> Label {
    let name = format!("{}.{index}", group.name);
    let (earliest, latest) = group.start_ns;
    let spread = Random::stream(seed, &format!("{name} start")).below(latest.saturating_sub(earliest) + 1);
    let mut hashes = Random::stream(0, &name);
    let size = match group.source {
        Source::Bulk { size_bytes } => size_bytes,
        _ => None,
    };
    let (tcp, headers, piece, kind, protocol, ecn) = match &group.transport {
        Transport::Udp { packet_bytes, ecn } => {
            (None, UDP_HEADERS, *packet_bytes, "udp", 17, ecn.codepoint())
        }
        Transport::Tcp(tcp) => {
            let headers = TCP_HEADERS + if tcp.ipv6 { IPV6_EXTRA } else { 0 };
            (
                Some(tcp),
                headers,
                tcp.mss_bytes,
                tcp_kind(tcp),
                6,
                if tcp.ecn_syn { tcp.ecn.codepoint() } else { Ecn::NotEct },
            )
        }
    };
    let source = Arrivals::new(&group.source, piece, Random::stream(seed, &format!("{name} source")));
    simulation.add_flow(FlowSetup {
        group: number,
        forward: &path.forward,
        reverse: &path.reverse,
        propagation: path.propagation,
        identity: Identity {
            hash: hashes.next_u64(),
            source: hashes.next_u64() as u32,
            destination: hashes.next_u64() as u32,
            class: group.class,
            dscp: group.dscp,
            protocol,
            ecn,
        },
        tcp,
        headers,
        source,
        piece,
        start: Time::from_nanos(earliest + spread),
        size,
    });
    Label { group: group.name.clone(), kind, rtt: path.rtt, recorded: false }
}

fn tcp_kind(tcp: &Tcp) -> &'static str {
    match tcp.congestion_control {
        CongestionControl::Newreno => "newreno",
        CongestionControl::Cubic => "cubic",
        CongestionControl::Dctcp => "dctcp",
        CongestionControl::Ledbat => "ledbat",
        CongestionControl::Prague => "prague",
        CongestionControl::Fixed => "fixed",
    }
}
