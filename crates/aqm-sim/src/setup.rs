//! From a scenario to a simulation: the graph of its topology, its flows, its captures.

use crate::dumbbell;
use crate::link_trace::LinkTrace;
use crate::metrics::Metrics;
use crate::network::{Capacity as LinkCapacity, LinkId, Network, Queue};
use crate::report::RunError;
use crate::scenario::{Capacity, CongestionControl, FlowGroup, Scenario, Source, Tcp, Transport};
use crate::simulation::{FlowSetup, Identity, Label, Simulation, Way};
use crate::topology;
use crate::traffic::Arrivals;
use aqm_core::packet::Ecn;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Time};
use std::path::Path;

/// IPv4 and UDP headers.
const UDP_HEADERS: u32 = 28;
/// IPv4 header, TCP header, timestamp option.
const TCP_HEADERS: u32 = 20 + 20 + 12;
const IPV6_EXTRA: u32 = 20;

/// A graph with the ways of all flows through it.
pub(crate) struct Graph {
    pub(crate) network: Network,
    /// The link whose queue is measured.
    pub(crate) measured: LinkId,
    /// One for each flow, group by group.
    pub(crate) ways: Vec<Way>,
    /// The way of recorded traffic.
    pub(crate) recorded: Way,
}

/// A simulation ready to run, and what its parts are called.
pub(crate) struct Setup {
    pub(crate) simulation: Simulation,
    pub(crate) labels: Vec<Label>,
    pub(crate) capacity: LinkCapacity,
    pub(crate) aqm: Spec,
    /// Of each link its name, and the discipline in front of it if there is one.
    pub(crate) links: Vec<(String, Option<String>)>,
    pub(crate) warnings: Vec<String>,
}

impl Setup {
    /// Builds what a scenario describes.
    pub(crate) fn build(scenario: &Scenario, seed: u64) -> Result<Setup, RunError> {
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

        let Graph { network, measured, ways, recorded } = match &scenario.topology {
            None => dumbbell::graph(scenario, &capacity, &aqm)?,
            Some(topology) => topology::graph(scenario, topology, &capacity, &aqm)?,
        };
        let mut simulation = Simulation::new(&network, measured, metrics, scenario.overhead_bytes, seed)
            .map_err(|error| input(error.to_string()))?;
        let mut labels = Vec::new();
        let mut ways = ways.into_iter();
        for (number, group) in scenario.flows.iter().enumerate() {
            for index in 0..group.count {
                let way = ways.next().expect("one way was laid for each flow");
                labels.push(add_flow(&mut simulation, number, group, index, &way, seed));
            }
        }
        let mut warnings = Vec::new();
        for capture in captures {
            warnings.extend(capture.warnings());
            let group = scenario.flows.len();
            crate::replay::add(&mut simulation, &mut labels, group, &recorded, &capture);
        }
        let links = (0..network.links.len()).map(|link| {
            let discipline = match &network.links[link].queue {
                Queue::Plain => None,
                Queue::Discipline { spec, .. } => Some(spec.to_string()),
            };
            (network.link_name(link), discipline)
        });
        let links = links.collect();
        Ok(Setup { simulation, labels, capacity, aqm, links, warnings })
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
