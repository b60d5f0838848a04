//! What a simulation consists of.

use crate::endpoint::backlogged_source::BackloggedSource;
use crate::endpoint::flow::{ENDLESS, Flow, FlowSetup, Session};
use crate::endpoint::rate_sender::Nic;
use crate::endpoint::recorded::Replay;
use crate::measure::ledger::Ledger;
use crate::measure::metrics::Metrics;
use crate::measure::port::PortMetrics;
use crate::metrics::registry::Part;
use crate::network::emissions::Emissions;
use crate::network::graph::{LinkId, Network};
use crate::network::in_flight::InFlightQueue;
use crate::network::packet::{PacketId, Slab};
use crate::network::port::{self, NONE, PortId};
use crate::network::routes::Route;
use crate::simulation::air_use::{AirUse, Waits};
use crate::simulation::event_queue::{EventKind, EventQueue, Target};
use crate::simulation::switches::Switches;
use crate::traffic::action::Action;
use crate::traffic::application::Application;
use aqm_core::backlog::Backlog;
use aqm_core::spec::SpecError;
use aqm_core::units::{Span, Time};
use aqm_path::device::supervised::Supervised;
use aqm_path::mac::category::Mapping;
use aqm_path::medium::Medium;
use std::collections::BTreeMap;

/// Events between two polls of the monitor.
pub(super) const MONITOR_PERIOD: u64 = 1 << 16;
/// End of a route.
pub(crate) const END: u32 = u32::MAX;
/// Upstream of a port that takes packets from a host, or from several ports.
const MANY: u32 = NONE - 1;

/// A port, its device and what is seen of its queue, with the measurements of this simulator.
pub(crate) type Port = port::Port<PortMetrics>;
pub(crate) type Device = port::Device<PortMetrics>;
pub(crate) type Observed = port::Observed<PortMetrics>;

/// What every port works with.
pub(crate) struct Shared {
    pub(crate) now: Time,
    pub(crate) events: EventQueue,
    pub(crate) slab: Slab,
    /// Packets that wait at their hosts for an address.
    pub(crate) resolving: u64,
    /// Routes one after the other, each with [`END`] behind it.
    pub(crate) routes: Vec<u32>,
    pub(crate) emissions: Emissions,
    /// What switches have beside their ports, if any has anything.
    pub(crate) switches: Option<Box<Switches>>,
    pub(crate) metrics: Metrics,
}

impl Shared {
    /// A port can send again at `free`.
    #[inline]
    pub(crate) fn ready_at(&mut self, free: Time, port: u32) {
        self.events.push_of_wire(self.now, free, Target::new(EventKind::PortReady, port));
    }

    /// Whether a switch may have something to say upstream.
    #[inline]
    pub(crate) fn switches_speak(&self) -> bool {
        self.switches.as_ref().is_some_and(|switches| switches.speaks())
    }

    /// The port behind which a packet is on its wire.
    pub(crate) fn sent_by(&self, id: PacketId) -> PortId {
        self.routes[self.slab[id].next as usize - 1] as PortId
    }
}

/// A running simulation.
pub(crate) struct Simulation {
    pub(crate) shared: Shared,
    pub(crate) ports: Vec<Port>,
    /// The ports with a discipline.
    pub(crate) devices: Vec<PortId>,
    /// What the ports and their wires were made from.
    pub(crate) network: Network,
    /// The queues that ports share, and those that one has alone.
    pub(crate) in_flight: Vec<InFlightQueue>,
    /// Links over which acknowledgments go on without an event of their own.
    pub(crate) ack_paths: Vec<AckPath>,
    /// Of each port, the queue that it has alone, if it ever needed one: an empty queue costs time at every sample.
    pub(crate) own_queues: Vec<u32>,
    pub(crate) flows: Vec<Flow>,
    /// Of each flow, what its source would write; empty if there are no such sources.
    pub(crate) backlogged: Vec<BackloggedSource>,
    /// Whether flows or packets are so many that most are in no cache.
    pub(crate) looks_ahead: bool,
    pub(crate) replays: Vec<Replay>,
    pub(crate) media: Vec<Medium>,
    /// Devices that send bursts.
    pub(crate) channels: Vec<Channel>,
    pub(crate) users: Vec<User>,
    /// The hosts' ports that rate-based senders share.
    pub(crate) nics: BTreeMap<PortId, Nic>,
    /// An application's actions; empty, and kept for the next.
    pub(crate) actions: Vec<Action>,
    /// How often the monitor was looked at, and the events until it is again: counting down costs least.
    pub(super) polls: u64,
    pub(super) until_poll: u64,
    /// Link-layer bytes of every packet.
    pub(crate) overhead: u32,
    pub(crate) sample_period: Span,
    /// How many samples were taken.
    pub(crate) samples: usize,
    /// The measured ports.
    pub(crate) measured: Vec<PortId>,
}

/// A link that only acknowledgments use, from hosts that are equally far away to hosts that are.
pub(crate) struct AckPath {
    pub(super) port: PortId,
    /// When the first packet enters it.
    pub(super) entered: Time,
    /// Until when the port, and the one behind it, were busy before.
    pub(super) before: [Time; 2],
    #[cfg(test)]
    pub(super) overtaken: usize,
}

/// A device that sends bursts, with the ports that it serves; the first of them has its events.
pub(crate) struct Channel {
    /// Out while it is asked: it asks for packets itself.
    pub(crate) device: Option<Box<Supervised>>,
    pub(crate) ports: Vec<PortId>,
    /// Of each link, the station that it leads to from the air; empty if the device has no stations.
    pub(crate) receivers: Vec<Option<u8>>,
    /// Which access category a packet has; none where nothing but best effort is sent.
    pub(crate) dscp_map: Option<Mapping>,
    /// What was taken from the discipline for each station.
    pub(crate) waits: Vec<Waits>,
    /// The use of the air before it was measured.
    pub(crate) before: Option<AirUse>,
    /// The use of the air at the last sample.
    pub(crate) sampled: Option<AirUse>,
    /// What its stations are called in results.
    pub(crate) parts: Vec<Part>,
}

impl Channel {
    /// The use of its air; none where stations do not share it.
    pub(crate) fn air_use(&self) -> Option<AirUse> {
        Some(AirUse::new(self.device.as_ref()?.air()?, &self.waits))
    }
}

/// An application with the flows of its directions.
pub(crate) struct User {
    pub(crate) application: Application,
    /// Group in metrics.
    pub(crate) group: usize,
    pub(crate) start: Time,
    /// Flow of each direction.
    pub(crate) directions: Vec<u32>,
}

impl Simulation {
    /// An empty simulation of `network`, with an observer at each of the `measured` ports.
    pub(crate) fn new(
        network: Network,
        measured: Vec<PortId>,
        metrics: Metrics,
        overhead: u32,
        seed: u64,
    ) -> Result<Simulation, SpecError> {
        let mut ports = Vec::with_capacity(network.links.len());
        for (id, spec) in network.links.iter().enumerate() {
            ports.push(Port::new(spec, &network.link_name(id), overhead, seed)?);
        }
        let devices = (0..ports.len()).filter(|&port| ports[port].device().is_some()).collect();
        for &port in &measured {
            let capacity = network.links[port].capacity.clone();
            if let Some(device) = ports[port].device_mut() {
                let name = network.port_name(port);
                let observer = PortMetrics::new(&name, capacity, metrics.groups.len());
                device.observed.metrics = Some(Box::new(observer));
            }
        }
        Ok(Simulation {
            shared: Shared {
                now: Time::ZERO,
                events: EventQueue::default(),
                slab: Slab::default(),
                resolving: 0,
                routes: Vec::new(),
                emissions: Emissions::default(),
                switches: None,
                metrics,
            },
            ports,
            devices,
            network,
            in_flight: Vec::new(),
            ack_paths: Vec::new(),
            own_queues: Vec::new(),
            flows: Vec::new(),
            backlogged: Vec::new(),
            looks_ahead: false,
            replays: Vec::new(),
            media: Vec::new(),
            channels: Vec::new(),
            users: Vec::new(),
            nics: BTreeMap::new(),
            actions: Vec::new(),
            polls: 0,
            until_poll: MONITOR_PERIOD,
            overhead,
            sample_period: Span::MAX,
            samples: 0,
            measured,
        })
    }

    /// What the observer of a measured port has seen, and what waits there.
    pub(crate) fn port_metrics(&mut self, number: usize) -> Option<(&mut PortMetrics, Backlog)> {
        let device = self.ports[self.measured[number]].device_mut()?;
        Some((device.observed.metrics.as_deref_mut()?, device.observed.queued))
    }

    /// Adds a flow.
    pub(crate) fn add_flow(&mut self, setup: FlowSetup<'_>) -> u32 {
        let forward = self.add_route(setup.forward);
        let reverse = self.add_route(setup.reverse);
        let route = if setup.identity.back { setup.reverse } else { setup.forward };
        let links = route.iter().map(|&link| &self.network.links[link]);
        let overtaken =
            links.fold(Span::ZERO, |sum, link| sum + link.delay.saturating_sub(link.least_delay()));
        let propagation = setup.propagation.saturating_sub(overtaken);
        self.shared.metrics.add_flow(setup.group, propagation, setup.identity.back);
        for number in 0..self.measured.len() {
            if let Some((metrics, _)) = self.port_metrics(number) {
                metrics.add_flow(setup.group as u32);
            }
        }
        self.flows.push(Flow {
            endpoints: setup.endpoints,
            identity: setup.identity,
            forward,
            reverse,
            notify_at: setup.size.unwrap_or(ENDLESS),
            session: Box::new(Session {
                source: setup.source,
                rate_endpoints: setup.rate_endpoints,
                stack: setup.stack,
                piece: setup.piece,
                user: None,
                written: 0,
                size: setup.size.unwrap_or(ENDLESS),
                start: setup.start,
                stop: setup.stop,
                finished: None,
                ledger: Ledger::default(),
            }),
        });
        (self.flows.len() - 1) as u32
    }

    /// Adds a replay of recorded packets.
    pub(crate) fn add_replay(&mut self, replay: Replay) {
        self.replays.push(replay);
    }

    /// Adds a route.
    pub(super) fn add_route(&mut self, links: &[LinkId]) -> Route {
        let start = self.shared.routes.len();
        for (position, &port) in links.iter().enumerate() {
            let before = if position == 0 { MANY } else { links[position - 1] as u32 };
            let upstream = &mut self.ports[port].upstream;
            *upstream = if *upstream == NONE || *upstream == before { before } else { MANY };
            self.shared.routes.push(port as u32);
        }
        self.shared.routes.push(END);
        Route { first: self.shared.routes[start], rest: start as u32 + 1 }
    }
}
