//! The streams of packets of a scenario: of each group as many as its flows have different paths.

use crate::headers::{self, FULL_IP_PACKET};
use crate::network::graph::{Capacity as LinkCapacity, LinkId, Network, Queue};
use crate::network::path::{Layout, Path, paths_of_group};
use crate::network::{dumbbell, topology};
use crate::report::{Monitor, RunError};
use crate::scenario::inputs::Inputs;
use crate::scenario::{Capacity, FlowGroup, Scenario, Source, Transport};
use crate::traffic::offer::Terms;
use crate::transport::Sender;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use std::collections::BTreeSet;

/// Most streams of a group in each direction, and as many as show several equal routes.
const MOST: u64 = 1024;
const ENOUGH: u64 = 16;
const UDP_HEADERS: f64 = headers::UDP_HEADERS as f64;
const TCP_HEADERS: f64 = headers::TCP_HEADERS as f64;
/// Nodes of the dumbbell that all flows share.
const ROUTERS: usize = 2;
/// A message over UDP is cut here.
const LARGEST_DATAGRAMS: f64 = 16_777_216.0;

/// Packets in one direction, of flows that are alike.
pub(super) struct Stream {
    /// How many flows.
    pub(super) flows: f64,
    pub(super) route: Vec<LinkId>,
    /// The path of what answers them.
    pub(super) back: Vec<LinkId>,
    /// Bytes of a packet and of an answer on a link.
    pub(super) length: f64,
    pub(super) answer: f64,
    /// Answers to a packet.
    pub(super) answers: f64,
    /// Packets that a flow sends if nothing holds it up, and those of its first window, before any feedback.
    pub(super) offered: f64,
    pub(super) opening: f64,
    /// Whether it slows down where there is no room.
    pub(super) reacts: bool,
    /// Events at the ends: for a packet, and for a flow.
    pub(super) per_packet: f64,
    pub(super) per_flow: f64,
    /// Further events for a flow that has to slow down.
    pub(super) per_slowed: f64,
}

/// All streams and their network.
pub(super) struct Streams {
    pub(super) network: Network,
    pub(super) all: Vec<Stream>,
    /// Flows of the scenario, in both directions.
    pub(super) flows: f64,
    /// Nodes from this number on are hosts that one flow has for itself.
    pub(super) own_nodes: usize,
    pub(super) seconds: f64,
    /// Packets that the links of a round trip hold.
    pub(super) pipe: f64,
}

impl Streams {
    pub(super) fn of(aqm: &Spec, scenario: &Scenario, inputs: &Inputs) -> Result<Streams, RunError> {
        let capacity = match &scenario.capacity {
            Capacity::RateBps(bits) => LinkCapacity::Rate(Rate::from_bits_per_sec((*bits).max(1))),
            Capacity::Trace(name) => LinkCapacity::Trace(inputs.link_trace(name)?.clone()),
        };
        let few = Scenario {
            flows: scenario.flows.iter().map(|group| sample(group, scenario)).collect(),
            ..scenario.clone()
        };
        let Layout { network, paths, recorded, .. } = match &few.topology {
            None => dumbbell::layout(&few, &capacity, aqm, inputs, &Monitor::default())?,
            Some(topology) => topology::layout(&few, topology, &capacity, aqm, inputs)?,
        };
        let nodes = scenario.topology.as_ref().map(|topology| {
            topology.links.iter().flat_map(|link| [&link.from, &link.to]).collect::<BTreeSet<_>>().len()
        });
        let mut streams = Streams {
            network,
            all: Vec::new(),
            flows: 0.0,
            own_nodes: nodes.unwrap_or(ROUTERS),
            seconds: scenario.duration_ns as f64 / 1e9,
            pipe: 0.0,
        };
        let signals = signals(aqm, &streams.network);
        let mut paths = paths.as_slice();
        for (group, few) in scenario.flows.iter().zip(&few.flows) {
            let (own, others) = paths.split_at(few.count as usize);
            streams.add(group, own, scenario, inputs, (capacity.mean_rate(), signals))?;
            paths = others;
        }
        for name in &scenario.captures {
            streams.add_capture(name, &recorded, scenario, inputs)?;
        }
        let rtts = scenario.flows.iter().map(|group| group.rtt_ns.unwrap_or(0)).chain([scenario.rtt_ns]);
        let rtt_s = rtts.max().unwrap_or(0) as f64 / 1e9;
        streams.pipe = capacity.mean_rate().as_bytes_per_sec_f64() * rtt_s / f64::from(FULL_IP_PACKET);
        Ok(streams)
    }

    fn add(
        &mut self,
        group: &FlowGroup,
        paths: &[Path],
        scenario: &Scenario,
        inputs: &Inputs,
        (capacity, signals): (Rate, bool),
    ) -> Result<(), RunError> {
        let Some(path) = paths.first() else { return Ok(()) };
        let stop = match group.source {
            Source::Bulk { stop_ns: Some(at), .. } => at.min(scenario.duration_ns),
            _ => scenario.duration_ns,
        };
        // Starts are spread evenly; those after the end never come.
        let (earliest, latest) = (group.start_ns.0 as f64, group.start_ns.1 as f64);
        let starting = latest - earliest + group.spacing_ns as f64 * f64::from(group.count.saturating_sub(1));
        let left = (stop as f64 - earliest).max(0.0);
        let started = if left < starting { left / starting } else { 1.0 };
        let within = Span::from_nanos((left - starting.min(left) / 2.0) as u64);
        let seconds = within.as_secs_f64();
        let rates = path.forward.iter().map(|&link| self.network.links[link].capacity.mean_rate());
        let line = rates.min().unwrap_or(capacity);
        let rtt_s = path.rtt.as_secs_f64().max(1e-6);
        let carrier =
            Carrier::of(group, inputs, within, self.first_rate(path), signals, scenario.overhead_bytes)?;
        let conversations = match &group.source {
            Source::Replay { file } => inputs.conversations(file)?,
            _ => &[],
        };
        let members = f64::from(group.count);
        let offer = group.source.offer(&Terms {
            within,
            piece: carrier.piece,
            payload: carrier.payload,
            largest: if carrier.largest.is_finite() {
                carrier.largest
            } else {
                line.as_bytes_per_sec_f64() * seconds
            },
            capacity,
            line,
            rtt: path.rtt,
            members: group.count,
            conversations,
        });
        self.flows += offer.flows * members;
        let used = offer.directions.iter().filter(|load| load.bytes > 0.0).count().max(1) as f64;
        for (direction, load) in offer.directions.into_iter().enumerate().filter(|(_, load)| load.bytes > 0.0)
        {
            let packets = load.packets(carrier.payload);
            let flows_here = (offer.flows / used).max(1e-9);
            let payload = (load.bytes / packets).min(carrier.payload);
            // A window that doubles each round trip, up to its cap.
            let grown = match carrier.window {
                Some((first, cap)) => {
                    (first * (libm::exp2((seconds / rtt_s).min(500.0)) - 1.0)).min(cap * seconds / rtt_s)
                        * flows_here
                }
                None => carrier.most_packets,
            };
            let offered = packets.min(grown.max(1.0));
            let opening = carrier.window.map_or(0.0, |(first, _)| offered.min(first * flows_here));
            let timers = carrier.timers
                + if carrier.window.is_some() { (seconds / (2.0 * rtt_s)).min(offered) } else { 0.0 };
            for path in paths {
                let (route, back) = if direction == 0 {
                    (&path.forward, &path.reverse)
                } else {
                    (&path.reverse, &path.forward)
                };
                self.all.push(Stream {
                    flows: started * members / paths.len() as f64,
                    route: route.clone(),
                    back: back.clone(),
                    length: payload + carrier.headers,
                    answer: carrier.headers,
                    answers: carrier.answers,
                    offered,
                    opening,
                    reacts: carrier.reacts,
                    per_packet: carrier.per_packet,
                    per_flow: (if load.messages > 0.0 { load.messages.min(offered) } else { 1.0 }) + timers,
                    per_slowed: carrier.timers_notified - carrier.timers,
                });
            }
        }
        Ok(())
    }

    /// The rate of the first link that is more than a delay.
    fn first_rate(&self, path: &Path) -> Rate {
        let first = path.forward.get(usize::from(path.delayed));
        first.map_or(Rate::from_bits_per_sec(u64::MAX), |&link| self.network.links[link].capacity.mean_rate())
    }

    /// Recorded packets, as many as the run lasts for.
    fn add_capture(
        &mut self,
        name: &str,
        path: &Path,
        scenario: &Scenario,
        inputs: &Inputs,
    ) -> Result<(), RunError> {
        let capture = inputs.capture(name)?;
        let end = Span::from_nanos(scenario.duration_ns);
        let packets = capture.packets();
        let taken = &packets[..packets.partition_point(|packet| packet.time <= end)];
        let bytes: f64 = taken.iter().map(|packet| f64::from(packet.length + scenario.overhead_bytes)).sum();
        self.flows += capture.flows().len() as f64;
        self.all.push(Stream {
            flows: 1.0,
            route: path.forward.clone(),
            back: path.reverse.clone(),
            length: bytes / (taken.len() as f64).max(1.0),
            answer: 0.0,
            answers: 0.0,
            offered: taken.len() as f64,
            opening: 0.0,
            reacts: false,
            per_packet: 1.0,
            per_flow: 0.0,
            per_slowed: 0.0,
        });
        Ok(())
    }

    /// Whether answers share a link with nothing but answers, on their way to hosts.
    pub(super) fn back_is_of_answers(&self, stream: &Stream) -> bool {
        let is_shared = |link: &&LinkId| {
            let link = &self.network.links[**link];
            link.from < self.own_nodes && link.to < self.own_nodes
        };
        let carries_data = |link: &LinkId| self.all.iter().any(|one| one.route.contains(link));
        self.network.switches.is_empty()
            && stream.back.iter().find(is_shared).is_some_and(|link| !carries_data(link))
    }

    /// Of each link the one before it whose event it shares, if it does: it is plain, and reached by that one alone.
    pub(super) fn upstream(&self) -> Vec<Option<LinkId>> {
        let mut before: Vec<BTreeSet<Option<LinkId>>> = vec![BTreeSet::new(); self.network.links.len()];
        for route in self.all.iter().flat_map(|stream| [&stream.route, &stream.back]) {
            let mut last = None;
            for &link in route {
                before[link].insert(last);
                last = Some(link);
            }
        }
        let only = before.iter().zip(&self.network.links).map(|(before, link)| {
            let last = before.first().copied().flatten().filter(|_| before.len() == 1)?;
            let plain = matches!(link.queue, Queue::Plain) && link.wire.is_plain();
            (plain && !self.network.links[last].wire.is_irregular()).then_some(last)
        });
        only.collect()
    }
}

/// What the transport of a group makes of its data.
struct Carrier {
    piece: u32,
    payload: f64,
    /// Headers on a link.
    headers: f64,
    largest: f64,
    answers: f64,
    reacts: bool,
    per_packet: f64,
    /// Of a sender that has room, and of one that slows down.
    timers: f64,
    timers_notified: f64,
    /// First window and cap, in packets, of what has a window.
    window: Option<(f64, f64)>,
    most_packets: f64,
}

impl Carrier {
    fn of(
        group: &FlowGroup,
        inputs: &Inputs,
        within: Span,
        first: Rate,
        signals: bool,
        overhead: u32,
    ) -> Result<Carrier, RunError> {
        let (overhead, seconds) = (f64::from(overhead), within.as_secs_f64());
        Ok(match &group.transport {
            Transport::Udp { packet_bytes, .. } => Carrier {
                piece: *packet_bytes,
                payload: (f64::from(*packet_bytes) - UDP_HEADERS).max(1.0),
                headers: UDP_HEADERS + overhead,
                largest: LARGEST_DATAGRAMS,
                answers: 0.0,
                reacts: false,
                per_packet: 0.0,
                timers: 0.0,
                timers_notified: 0.0,
                window: None,
                most_packets: f64::INFINITY,
            },
            Transport::Tcp(tcp) => {
                let mss = f64::from(tcp.mss().max(1));
                let cap = tcp.window_bytes().map_or(f64::INFINITY, |window| window as f64 / mss);
                let delayed = tcp.span("delack") > Span::ZERO;
                Carrier {
                    piece: tcp.mss(),
                    payload: mss,
                    headers: TCP_HEADERS + overhead,
                    largest: f64::INFINITY,
                    answers: if delayed { 0.5 } else { 1.0 },
                    reacts: true,
                    per_packet: f64::from(u8::from(Sender::new(tcp, Random::seeded(0)).is_paced())),
                    timers: 0.0,
                    timers_notified: 0.0,
                    window: Some((f64::from(tcp.count("iw")), cap)),
                    most_packets: f64::INFINITY,
                }
            }
            // A window of ten packets and an acknowledgment of every other, as of TCP; each packet is sent by a timer.
            Transport::Stack(_) => Carrier {
                piece: FULL_IP_PACKET,
                payload: f64::from(FULL_IP_PACKET) - UDP_HEADERS,
                headers: UDP_HEADERS + overhead,
                largest: f64::INFINITY,
                answers: 0.5,
                reacts: true,
                per_packet: 1.0,
                timers: 0.0,
                timers_notified: 0.0,
                window: Some((10.0, f64::INFINITY)),
                most_packets: f64::INFINITY,
            },
            Transport::Rate(named) => {
                let refused = |error| RunError::Input(group.refused(error));
                let rated = inputs.rate_sender(named).map_err(refused)?;
                let rehearsal = rated.rehearse(first, within);
                let packet = f64::from(rated.packet_bytes());
                Carrier {
                    piece: rated.packet_bytes(),
                    payload: packet - UDP_HEADERS,
                    headers: UDP_HEADERS + overhead,
                    largest: f64::INFINITY,
                    answers: 0.0,
                    reacts: signals,
                    per_packet: 1.0,
                    timers: rehearsal.timers,
                    timers_notified: rehearsal.timers_notified,
                    window: None,
                    most_packets: rehearsal.rate_bps / 8.0 / (packet + overhead) * seconds,
                }
            }
        })
    }
}

/// The group with fewer flows, on as many different paths.
fn sample(group: &FlowGroup, scenario: &Scenario) -> FlowGroup {
    let paths = lcm(group.from.len().max(1) as u64, group.to.len().max(1) as u64);
    let paths = if scenario.topology.is_some() { paths.max(ENOUGH) } else { 2 };
    let all = u64::from(group.count) * u64::from(paths_of_group(&FlowGroup { count: 1, ..group.clone() }));
    FlowGroup {
        count: all.min(paths).min(MOST) as u32,
        source: Source::Bulk { size_bytes: None, stop_ns: None },
        ..group.clone()
    }
}

fn lcm(left: u64, right: u64) -> u64 {
    let (mut a, mut b) = (left, right);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    left / a * right
}

/// Whether a network may signal congestion other than by loss.
fn signals(aqm: &Spec, network: &Network) -> bool {
    let marks = |spec: &Spec| spec.info.traits.ecn || spec.params.all_children().next().is_some();
    let links = network.links.iter().any(|link| match &link.queue {
        Queue::Plain => false,
        Queue::Discipline { spec, .. } => marks(spec),
    });
    marks(aqm)
        || links
        || network.switches.values().any(|options| options.program.is_some() || options.pfc.is_some())
}
